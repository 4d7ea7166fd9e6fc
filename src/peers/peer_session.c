/* Sessions with peers: their start and end, handshakes, and the messages that are received. */
#include "peers/peer_session.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "peers_int.h"

#define PEER_HELLO_MAX 1024u
/* Lessons of a peer that end with their connection: it is not asked again after the last one. */
#define LESSONS_CUT_MOST 2u

static struct peer *
find_peer(const struct peer_group *g, struct str name)
{
	for (unsigned int i = 0; i < g->n_peers; i++)
		if (str_is(name, str_of(g->peer[i].name)))
			return &g->peer[i];
	return NULL;
}

struct str
peer_session_output(const struct peer_session *s)
{
	return (struct str){ (const char *)s->out + s->out_at, s->out_len - s->out_at };
}

void
peer_session_sent(struct peer_session *s, size_t n, const struct table_caller *by)
{
	s->out_at += n;
	s->sent_ms = by->now_ms;
	if (s->out_at == s->out_len)
		s->out_at = s->out_len = 0;
}

/* --- sessions --- */

/* The session ends; a message that says why goes first, if there is room. */
static void
fail_session(struct peer_session *s, enum error_type type)
{
	if (s->peer && s->state == PEER_UP) {
		s->peer->errors++;
		if (out_room(s) >= 2)
			put_control(s, CLASS_ERROR, type);
	}
	s->state = PEER_ENDING;
}

/* Begins with a peer, and what was sent on its previous connection and not acknowledged. A lesson
 * that was cut off is over: a peer that had asked for it may ask again. */
static void
begin_with_peer(struct peer_session *s, struct peer *p)
{
	s->peer = p;
	p->session = s;
	p->needs_teaching = p->needs_sums = 0;
	for (unsigned int i = 0; i < p->group->n_tables; i++) {
		struct peer_cursor *c = &p->cursor[i];

		stop_search(c);
		c->next = c->acked;
		c->sent = c->acked - 1;
		c->remote_id = 0;
		c->got = 0;
		c->has_news = 0;
	}
}

static void
send_hello(struct peer_session *s)
{
	char hello[PEER_HELLO_MAX];
	int n = snprintf(hello, sizeof(hello), "HAProxyS 2.%u\n%s\n%s %u 1\n", s->peer->minor,
		s->peer->name, s->group->local, s->group->pid);

	put_out(s, hello, MIN((size_t)n, sizeof(hello) - 1));
	s->peer->status = PEER_STATUS_HELLO;
}

int
peer_session_begin(struct peer_session *s, struct peer_group *g, struct peer *peer, uint64_t now_ms)
{
	*s = (struct peer_session){ .group = g, .heard_ms = now_ms, .sent_ms = now_ms,
		.state = peer ? PEER_HELLO_OUT : PEER_HELLO_IN, .is_client = peer != NULL };
	s->in = mem_alloc(PEER_BUFFER);
	s->out = mem_alloc(PEER_BUFFER);
	if (!s->in || !s->out) {
		peer_session_end(s);
		return -ERR_NOMEM;
	}
	if (!peer)
		return 0;
	begin_with_peer(s, peer);
	send_hello(s);
	return 0;
}

/* The time until which the peer's connections count. */
static void
bound_connections(const struct peer_session *s, uint64_t until_ms)
{
	for (unsigned int i = 0; i < s->group->n_tables; i++)
		if (s->group->table[i].adds_up)
			table_part_until(s->group->table[i].table, peer_part(s->peer), until_ms);
}

/* The connection with the peer that was asked for its entries is lost: it is asked again when it is
 * connected again, except after LESSONS_CUT_MOST of them, since own changes wait. */
static void
lose_asked(struct peer_session *s)
{
	if (++s->peer->lessons_cut < LESSONS_CUT_MOST)
		s->peer->was_asked = 0;
	ask_another(s->group, s->heard_ms);
	s->group->resync_ms += PEER_RESYNC_MS;
}

void
peer_session_end(struct peer_session *s)
{
	struct peer_group *g = s->group;

	if (s->peer && s->peer->session == s) {
		s->peer->session = NULL;
		for (unsigned int i = 0; i < g->n_tables; i++)
			stop_search(&s->peer->cursor[i]);
		if (s->peer->status == PEER_STATUS_UP)
			bound_connections(s, MAX(s->heard_ms, s->sent_ms) + PEER_SILENCE_MS);
		if (g->asked == s->peer)
			lose_asked(s);
	}
	table_wire_names_free(&s->names);
	mem_free(s->in);
	mem_free(s->out);
	*s = (struct peer_session){ .group = g, .state = PEER_ENDING };
}

uint64_t
peer_session_deadline(const struct peer_session *s)
{
	if (s->state != PEER_UP)
		return s->heard_ms + PEER_HELLO_MS;
	if (s->out_len)
		return s->heard_ms + PEER_SILENCE_MS;
	return MIN(s->heard_ms + PEER_SILENCE_MS, s->sent_ms + PEER_HEARTBEAT_MS);
}

int
peer_session_is_over(const struct peer_session *s)
{
	return s->state == PEER_ENDING && s->out_at == s->out_len;
}

/* --- handshakes --- */

static void
begin_messages(struct peer_session *s, unsigned int minor)
{
	struct peer *p = s->peer;

	s->state = PEER_UP;
	s->last = minor ? TABLE_DATA_TYPES - 1 : TABLE_WIRE_LAST_2_0;
	p->status = PEER_STATUS_UP;
	p->connections++;
	bound_connections(s, UINT64_MAX);
}

static void
answer_hello(struct peer_session *s, enum peer_status status)
{
	char line[8];

	(void)snprintf(line, sizeof(line), "%03d\n", (int)status);
	put_out(s, line, 4);
	if (status != PEER_STATUS_UP)
		s->state = PEER_ENDING;
}

/* The next line of the bytes, which it is cut off. False: there is none. */
static int
cut_hello_line(struct str *bytes, struct str *line)
{
	const char *lf = bytes->len ? memchr(bytes->p, '\n', bytes->len) : NULL;

	if (!lf)
		return 0;
	*line = (struct str){ bytes->p, (size_t)(lf - bytes->p) };
	bytes->p = lf + 1;
	bytes->len -= line->len + 1;
	return 1;
}

/*
 * The peer has connected while we have a connection with it, or are about to have one. The latest
 * one is used, since an old one may be dead. Only when both have connected at the same time one of
 * the two has to stay: that of the peer with the smaller name.
 */
static enum peer_status
replace_session(const struct peer_session *s, struct peer *p)
{
	struct peer_session *old = p->session;

	if (!old)
		return PEER_STATUS_UP;
	if (old->state == PEER_HELLO_OUT) {
		p->collisions++;
		if (strcmp(s->group->local, p->name) < 0)
			return PEER_STATUS_RETRY;
		p->had_collision = 1;
	}
	s->group->on_replaced(old);
	return PEER_STATUS_UP;
}

/* The minor number of a version that is spoken: 2.x, or -1. */
static int
minor_of(struct str version)
{
	if (version.len != 3 || version.p[0] != '2' || version.p[1] != '.' ||
		version.p[2] < '0' || version.p[2] > '9')
		return -1;
	return version.p[2] - '0';
}

/* Reads the lines of a hello: the answer to it. */
static enum peer_status
read_hello(struct peer_session *s, struct str first, struct str called, struct str caller,
	unsigned int *minor)
{
	const struct str protocol = STR("HAProxyS ");
	const char *end = memchr(caller.p, ' ', caller.len);
	enum peer_status status;
	struct peer *p;
	int version;

	if (first.len < protocol.len || memcmp(first.p, protocol.p, protocol.len) != 0 || !end)
		return PEER_STATUS_PROTOCOL;
	version = minor_of((struct str){ first.p + protocol.len, first.len - protocol.len });
	if (version < 0)
		return PEER_STATUS_VERSION;
	*minor = (unsigned int)version;
	if (!str_is(called, str_of(s->group->local)))
		return PEER_STATUS_NAME;
	p = find_peer(s->group, (struct str){ caller.p, (size_t)(end - caller.p) });
	if (!p)
		return PEER_STATUS_UNKNOWN;
	status = replace_session(s, p);
	if (status == PEER_STATUS_UP)
		begin_with_peer(s, p);
	return status;
}

/* A hello of three lines. Returns how many bytes it had, 0: more are to come. */
static size_t
receive_hello(struct peer_session *s)
{
	struct str bytes = { (const char *)s->in, s->in_len }, first, called, caller;
	unsigned int minor = 0;
	enum peer_status status;

	if (!cut_hello_line(&bytes, &first) || !cut_hello_line(&bytes, &called) ||
		!cut_hello_line(&bytes, &caller)) {
		if (s->in_len >= PEER_HELLO_MAX)
			answer_hello(s, PEER_STATUS_PROTOCOL);
		return 0;
	}
	status = read_hello(s, first, called, caller, &minor);
	answer_hello(s, status);
	if (status == PEER_STATUS_UP)
		begin_messages(s, minor);
	return s->in_len - bytes.len;
}

static int
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The answer to our hello: three digits and a line feed. Returns how many bytes it had. */
static size_t
receive_status(struct peer_session *s)
{
	const uint8_t *b = s->in;
	struct peer *p = s->peer;

	if (s->in_len < 4)
		return 0;
	s->state = PEER_ENDING;
	p->status = PEER_STATUS_PROTOCOL;
	if (!is_digit(b[0]) || !is_digit(b[1]) || !is_digit(b[2]) || b[3] != '\n')
		return 4;
	p->status = (enum peer_status)((b[0] - '0') * 100 + (b[1] - '0') * 10 + (b[2] - '0'));
	if (p->status == PEER_STATUS_UP)
		begin_messages(s, p->minor);
	else if (p->status == PEER_STATUS_VERSION)
		p->minor = !p->minor;
	return 4;
}

/* --- messages in --- */

/* The peer has all of a lesson. */
static void
end_lesson(struct peer_session *s, int of_sums)
{
	struct peer *p = s->peer;

	if (!s->lesson.is_sent || s->lesson.of_sums != of_sums)
		return;
	s->lesson = (struct peer_lesson){ .is_on = 0 };
	*(of_sums ? &p->needs_sums : &p->needs_teaching) = 0;
	for (unsigned int i = 0; i < s->group->n_tables; i++)
		if (s->group->table[i].adds_up == of_sums)
			note_acked(&p->cursor[i], MAX(p->cursor[i].acked, p->cursor[i].taught));
}

/* The peer has begun: its connections are new, and it has none of our counts. A lesson that is on
 * does not return what it had counted itself, and begins again. */
static void
receive_sum_begin(struct peer_session *s)
{
	const struct peer_group *g = s->group;

	for (unsigned int i = 0; i < g->n_tables; i++)
		if (g->table[i].adds_up)
			table_part_begins(g->table[i].table, peer_part(s->peer));
	s->peer->wants_sums = 1;
	s->peer_begins = 1;
	if (!s->lesson.is_on || !s->lesson.of_sums)
		return;
	s->old_lessons += (unsigned int)s->lesson.is_sent;
	s->lesson = (struct peer_lesson){ .is_on = 0 };
	s->peer->needs_sums = 1;
}

static void
receive_control(struct peer_session *s, unsigned int type, const struct table_caller *by)
{
	struct peer_group *g = s->group;
	struct peer *p = s->peer;

	switch (type) {
	case RESYNC_REQUEST:
		/* A lesson that is on has all it asks for. */
		if (!s->lesson.is_on || s->lesson.of_sums)
			p->needs_teaching = 1;
		break;
	case RESYNC_FINISHED:
	case RESYNC_PARTIAL:
		s->confirms++;
		s->is_taught = 0;
		if (g->asked != p)
			break;
		if (type == RESYNC_FINISHED)
			end_resync(g);
		else
			ask_another(g, by->now_ms);
		g->asked = NULL;
		break;
	case RESYNC_CONFIRM:
		end_lesson(s, 0);
		break;
	case SUM_CONFIRM:
		if (s->old_lessons)
			s->old_lessons--;
		else
			end_lesson(s, 1);
		break;
	case SUM_BEGIN:
		receive_sum_begin(s);
		break;
	case SUM_REQUEST:
		s->peer_asks = 1;
		if (!s->lesson.is_on || !s->lesson.of_sums)
			p->needs_sums = 1;
		break;
	case SUM_FINISHED:
		s->sum_confirms++;
		/* A peer that asks has had our SUM_BEGIN; before it nothing was returned. */
		if (!p->knows_us && !s->peer_asks)
			break;
		p->wants_sums = 0;
		p->knows_us = 1;
		break;
	case HEARTBEAT:
		p->rx_heartbeats++;
		break;
	default:
		break;
	}
}

/* The table of the group that a definition is about, if its keys are the same. */
static struct peer_cursor *
cursor_of(const struct peer_session *s, const struct table_wire_def *d, int *returned)
{
	for (unsigned int i = 0; i < s->group->n_tables; i++) {
		const struct peer_table *t = &s->group->table[i];

		*returned = t->returned && str_is(d->name, str_of(t->returned));
		if (*returned || str_is(d->name, str_of(t->name)))
			return table_wire_fits(t->table, d) ? &s->peer->cursor[i] : NULL;
	}
	return NULL;
}

/* The table that the cursor is about. */
static struct peer_table *
table_of(const struct peer_session *s, const struct peer_cursor *c)
{
	return &s->group->table[c - s->peer->cursor];
}

/* 0 or -1. */
static int
receive_define(struct peer_session *s, struct wire_in *r)
{
	struct peer_cursor *c;

	s->has_def = 0;
	if (table_wire_take_def(r, &s->def) < 0)
		return -1;
	c = cursor_of(s, &s->def, &s->is_returned);
	s->def.name = (struct str){ "", 0 };
	s->has_def = 1;
	s->reading = c;
	if (!c)
		return 0;
	if (s->is_returned)
		return 0;
	c->remote_id = s->def.id;
	c->def = s->def;
	s->peer_adds_up |= table_of(s, c)->adds_up;
	return 0;
}

/* The updates that follow are about a table that was defined before. 0 or -1. */
static int
receive_switch(struct peer_session *s, struct wire_in *r)
{
	uint64_t id = wire_take_number(r);

	s->has_def = 0;
	s->reading = NULL;
	for (unsigned int i = 0; i < s->group->n_tables && id; i++)
		if (s->peer->cursor[i].remote_id == id) {
			s->reading = &s->peer->cursor[i];
			s->is_returned = 0;
			s->def = s->reading->def;
			s->has_def = 1;
		}
	return r->failed ? -1 : 0;
}

/* Notes what has arrived: not what is taught, which is confirmed. 0 or -1. */
static int
receive_ack(const struct peer_session *s, struct wire_in *r)
{
	uint64_t id = wire_take_number(r), number;
	uint32_t low = wire_take_u32(r);
	struct peer_cursor *c;

	if (r->failed)
		return -1;
	if (!id || id > s->group->n_tables ||
		(s->lesson.is_on && s->lesson.of_sums == s->group->table[id - 1].adds_up))
		return 0;
	c = &s->peer->cursor[id - 1];
	/* The last change with this number that was sent. */
	number = c->next - 1 - (uint32_t)((uint32_t)(c->next - 1) - low);
	if (number + 1 > c->acked && number < c->next)
		note_acked(c, number < c->sent ? number + 1 : c->next);
	return 0;
}

/* 0, -1 or -ERR_NOMEM. */
static int
receive_update(struct peer_session *s, unsigned int type, struct wire_in *r,
	const struct table_caller *by)
{
	int has_time = type == TABLE_TIMED_UPDATE || type == TABLE_NEXT_TIMED_UPDATE, rc;
	int is_next = type == TABLE_NEXT_UPDATE || type == TABLE_NEXT_TIMED_UPDATE;
	struct table_caller as_peer = { .sys = by->sys, .now_ms = by->now_ms, .is_peer = 1,
		.part = peer_part(s->peer), .returns = s->is_returned };
	uint32_t id = is_next ? 0 : wire_take_u32(r), left_ms = has_time ? wire_take_u32(r) : 0;
	struct peer_cursor *c = s->reading;
	int is_used;

	if (r->failed)
		return -1;
	if (!s->has_def)
		return 0;
	/* A lesson has older values of what other peers have sent since the start. */
	as_peer.teaches = s->is_taught && c && !table_of(s, c)->adds_up;
	/* Before it is complete its own changes are the older ones: they begin from nothing. */
	as_peer.keeps = s->group->resync == PEER_RESYNC_DONE;
	/* Names are noted in any case. Returned counts are expected once. */
	is_used = c && !(s->is_returned && (s->group->has_own || !s->peer->wants_sums));
	rc = table_wire_learn(is_used ? table_of(s, c)->table : NULL, &s->def, r, &s->names,
		has_time, left_ms, &as_peer);
	if (rc < 0 || !c || s->is_returned)
		return rc;
	c->got = is_next ? c->got + 1 : id;
	c->has_news = 1;
	if (s->group->asked == s->peer)
		s->group->resync_ms = by->now_ms + PEER_RESYNC_MS;
	return 0;
}

/* 0, -1 or -ERR_NOMEM. */
static int
receive_table_message(struct peer_session *s, unsigned int type, struct wire_in *r,
	const struct table_caller *by)
{
	switch (type) {
	case TABLE_UPDATE:
	case TABLE_NEXT_UPDATE:
	case TABLE_TIMED_UPDATE:
	case TABLE_NEXT_TIMED_UPDATE:
		return receive_update(s, type, r, by);
	case TABLE_DEFINE:
		return receive_define(s, r);
	case TABLE_SWITCH:
		return receive_switch(s, r);
	case TABLE_ACK:
		return receive_ack(s, r);
	default:
		return 0;
	}
}

/* A message. Classes and types that are not known are skipped. */
static void
receive_message(struct peer_session *s, unsigned int class, unsigned int type, struct wire_in *r,
	const struct table_caller *by)
{
	if (class == CLASS_CONTROL)
		receive_control(s, type, by);
	else if (class == CLASS_ERROR && type <= ERROR_SIZE)
		s->state = PEER_ENDING;
	else if (class == CLASS_TABLE && receive_table_message(s, type, r, by) < 0)
		fail_session(s, ERROR_PROTOCOL);
}

/* The bytes of the first message, 0: more are to come. */
static size_t
receive_one(struct peer_session *s, const uint8_t *p, size_t n, const struct table_caller *by)
{
	struct wire_in r = { p + 2, p + n, 0 };
	uint64_t len;

	if (n < 2)
		return 0;
	if (p[1] < TYPE_HAS_BODY) {
		receive_message(s, p[0], p[1], &r, by);
		return 2;
	}
	len = wire_take_number(&r);
	if (r.failed) {
		if (n >= HEAD_MAX)
			fail_session(s, ERROR_PROTOCOL);
		return 0;
	}
	if (len > PEER_BUFFER - HEAD_MAX)
		fail_session(s, ERROR_SIZE);
	if (s->state != PEER_UP || len > wire_left(&r))
		return 0;
	r.end = r.p + len;
	n = (size_t)(r.end - p);
	receive_message(s, p[0], p[1], &r, by);
	return n;
}

static size_t
receive_any(struct peer_session *s, size_t at, const struct table_caller *by)
{
	switch (s->state) {
	case PEER_HELLO_IN:
		return receive_hello(s);
	case PEER_HELLO_OUT:
		return receive_status(s);
	case PEER_UP:
		return receive_one(s, s->in + at, s->in_len - at, by);
	case PEER_ENDING:
		break;
	}
	return 0;
}

uint8_t *
peer_session_room(struct peer_session *s, size_t *n)
{
	*n = s->state == PEER_ENDING ? 0 : PEER_BUFFER - s->in_len;
	return s->in + s->in_len;
}

void
peer_session_receive(struct peer_session *s, size_t n, const struct table_caller *by)
{
	int was_up = s->state == PEER_UP;
	size_t at = 0, took;

	s->in_len += n;
	while ((took = receive_any(s, at, by)) > 0)
		at += took;
	if (!was_up && at && s->peer)
		s->peer->hello_ms = by->now_ms;
	/* A handshake has one time for all its bytes. */
	if (s->state == PEER_UP)
		s->heard_ms = by->now_ms;
	s->in_len -= at;
	memmove(s->in, s->in + at, s->in_len);
}
