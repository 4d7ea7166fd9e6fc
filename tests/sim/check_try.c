#define _GNU_SOURCE
#include "sim/check_world.h"

#include <string.h>

#define GAP_MAX_MS 30

/* --- the network --- */

static void
set_result(struct check_try *t, uint64_t at, enum check_model_answer passes)
{
	t->verdict_at = at < t->deadline ? at : t->deadline;
	t->passes = at < t->deadline ? passes : MODEL_FAILED;
}

static enum fake_path
path_of(const struct check_try *t)
{
	if (t->kind == TRY_REFUSED)
		return FAKE_REFUSED;
	if (t->kind == TRY_BLACKHOLE)
		return FAKE_BLACKHOLE;
	return t->one_way ? FAKE_FAR : FAKE_NEAR;
}

/* min("timeout connect", "inter") to connect and "timeout check" for the rest, or "inter" for all
 * (manual, timeout check). */
void
check_try_begin(struct check_try *t, struct fake *k, const struct check_limits *l,
	uint64_t one_way)
{
	unsigned int first = l->check && l->connect < l->inter ? l->connect : l->inter;
	uint64_t connected;

	t->k = k;
	t->start = fake_now(k);
	t->deadline = t->start + first * FAKE_MS;
	t->one_way = t->kind == TRY_FAR_LATE ? first * FAKE_MS : one_way;
	if (2 * t->one_way == first * FAKE_MS)
		t->one_way += FAKE_MS;
	connected = t->start + 2 * t->one_way;
	fake_route(k, t->port, path_of(t), t->one_way);
	set_result(t, t->deadline, MODEL_FAILED);
	if (t->kind == TRY_BLACKHOLE || connected > t->deadline)
		return;
	if (t->kind == TRY_REFUSED || t->how == TRY_CONNECT) {
		set_result(t, connected, t->kind == TRY_REFUSED ? MODEL_FAILED : MODEL_PASSED);
		return;
	}
	if (l->check)
		t->deadline = connected + l->check * FAKE_MS;
	set_result(t, t->deadline, MODEL_FAILED);
}

/* --- the server --- */

static void run(struct fake *k, void *arg);
static void piece_is_due(struct fake *k, void *arg);

/* SETTINGS, then the HEADERS of stream 1 with END_STREAM; the last byte is a status of the static
 * table. */
#define H2_TEXT(status) STR("\0\0\0\4\0\0\0\0\0" "\0\0\1\1\5\0\0\0\1" status)
#define H2_204 "\x89"
#define H2_404 "\x8d"
#define H2_500 "\x8e"

static struct str
good_text(const struct check_try *t)
{
	return t->how == TRY_TCP ? STR("+PONG")
		: t->how == TRY_HTTP2 ? H2_TEXT(H2_204)
				      : STR("HTTP/1.1 204 Fine\r\nX-A: b\r\n\r\n");
}

static struct str
wrong_text(const struct check_try *t)
{
	return t->how == TRY_TCP ? STR("-ERR loading")
		: t->how == TRY_HTTP2 ? H2_TEXT(H2_500)
				      : STR("HTTP/1.1 503 Out of order\r\nX-A: b\r\n\r\n");
}

static struct str
gone_text(const struct check_try *t)
{
	return t->how == TRY_TCP ? wrong_text(t)
		: t->how == TRY_HTTP2 ? H2_TEXT(H2_404)
				      : STR("HTTP/1.0 404 Gone\r\nX-A: b\r\n\r\n");
}

static int
is_in_pieces(const struct check_try *t)
{
	return t->kind == TRY_PIECES || t->kind == TRY_WRONG_PIECES;
}

/* Not when the deadline is: either could be first. */
static uint64_t
avoid_deadline(const struct check_try *t, uint64_t at)
{
	return at + t->one_way == t->deadline ? at + FAKE_MS : at;
}

static void
plan_text(struct check_try *t)
{
	uint64_t now = fake_now(t->k);

	if (t->kind < TRY_PASSES || t->kind == TRY_LATE || t->kind == TRY_CUT ||
		t->kind == TRY_CUT_RESET)
		t->text = good_text(t);
	else if (t->kind == TRY_WRONG || t->kind == TRY_WRONG_PIECES)
		t->text = wrong_text(t);
	else if (t->kind == TRY_404)
		t->text = gone_text(t);
	else
		t->text = STR("");
	t->len = t->text.len;
	if (t->kind == TRY_CUT || t->kind == TRY_CUT_RESET)
		t->len = 1 + dice(t->dice, (uint32_t)t->len - 1);
	t->stop = t->len;
	if (is_in_pieces(t)) {
		t->stop = 1 + dice(t->dice, (uint32_t)t->len);
		t->gap = dice(t->dice, GAP_MAX_MS) * FAKE_MS;
	}
	if (t->kind == TRY_LATE && t->deadline > now)
		fake_after(t->k, t->deadline - now + FAKE_MS, run, t);
}

/* The connection is over for the server, and the last thing it does decides. */
static void
end(struct check_try *t)
{
	enum check_model_answer passes = t->kind < TRY_PASSES ? MODEL_PASSED : MODEL_FAILED;

	if (t->kind == TRY_404 && t->how != TRY_TCP)
		passes = MODEL_404;
	t->closed = 1;
	set_result(t, fake_now(t->k) + t->one_way, passes);
	if (t->kind == TRY_RESET || t->kind == TRY_CUT_RESET)
		fake_peer_reset(t->s);
	/* A good answer needs no end, and HTTP needs none. */
	else if ((!passes && t->how == TRY_TCP) || t->len != t->text.len || !t->len ||
		dice_is(t->dice, 2))
		fake_peer_close(t->s);
}

static int
send_piece(struct check_try *t)
{
	while (t->sent < t->stop) {
		long r = fake_peer_send(t->s, t->text.p + t->sent, t->stop - t->sent);

		if (r < 0)
			return 0;
		t->sent += (size_t)r;
	}
	return 1;
}

static void
answer(struct check_try *t)
{
	uint64_t now = fake_now(t->k);

	if (avoid_deadline(t, now) != now) {
		fake_after(t->k, FAKE_MS, piece_is_due, t);
		return;
	}
	if (!send_piece(t)) {
		t->closed = 1;
		return;
	}
	if (t->sent < t->len) {
		t->stop += 1 + dice(t->dice, (uint32_t)(t->len - t->sent));
		fake_after(t->k, t->gap, piece_is_due, t);
		return;
	}
	end(t);
}

static int
has_request(struct check_try *t)
{
	const struct str last = t->how == TRY_TCP ? STR("PING\r\n")
		: t->how == TRY_HTTP2		  ? STR("\1\5\0\0\0\1")
						  : STR("\r\n\r\n");
	long r;

	while (t->n_asked < sizeof(t->asked) - 1 &&
		(r = fake_peer_recv(t->s, t->asked + t->n_asked,
			sizeof(t->asked) - 1 - t->n_asked)) > 0)
		t->n_asked += (size_t)r;
	/* HTTP/2: the type and the rest of the header of HEADERS. */
	return memmem(t->asked, t->n_asked, last.p, last.len) != NULL;
}

static void
run(struct fake *k, void *arg)
{
	struct check_try *t = arg;

	(void)k;
	if (t->closed || t->how == TRY_CONNECT || t->kind == TRY_SILENT || !has_request(t))
		return;
	if (!t->planned) {
		t->planned = 1;
		plan_text(t);
		if (t->kind != TRY_LATE)
			answer(t);
		return;
	}
	if (t->kind == TRY_LATE && fake_now(k) > t->deadline) {
		(void)!fake_peer_send(t->s, t->text.p, t->len);
		t->closed = 1;
	}
}

static void
piece_is_due(struct fake *k, void *arg)
{
	struct check_try *t = arg;

	(void)k;
	if (!t->closed)
		answer(t);
}

void
check_try_accepted(struct check_try *t, struct fake_sock *s)
{
	t->s = s;
	fake_peer_notify(s, 0, run, t);
}
