/*
 * Whole sessions over the real TLS, on one side or both: the dialogues of xprt_dialogues.h, TLS 1.2
 * and 1.3, with keys that change, small socket buffers, and the k-th system call failing for all
 * k; for two of them the k-th allocation, too, OpenSSL's included. What the ends read and how
 * sessions end must be as on plain sockets; the world checks the bytes, and that no cut stream
 * looks complete.
 */
#include "sim/xprt_dialogues.h"

#include <errno.h>
#include <stdio.h>

#include "sim/faults.h"

#define CHOICES_MAX 8
#define CALLS_MAX   400
#define ALLOCS_MAX  5000

static const enum interest_mode modes[] = { INTEREST_EDGE, INTEREST_MERGED, INTEREST_UNMERGED };

/* The use of TLS. */
struct way {
	unsigned int sides; /* bit 0: the client's, bit 1: the server's */
	int is_12;
	unsigned int update_every;
	unsigned int buffer; /* of sockets; 0: the fake's own */
};

static const struct way ways[] = {
	{ 1, 0, 0, 0 }, { 2, 0, 0, 0 }, { 3, 0, 0, 0 },
	{ 1, 1, 0, 0 }, { 2, 1, 0, 0 }, { 3, 1, 0, 0 },
	{ 3, 0, 1, 4096 }, { 1, 0, 2, 2048 }, { 2, 0, 2, 2048 }, { 3, 1, 0, 2048 },
};

static struct world_config
with(struct world_config cfg, const struct way *way, enum interest_mode mode)
{
	cfg.mode = mode;
	cfg.tls = way->sides;
	cfg.tls_12 = way->is_12;
	cfg.update_every = way->update_every;
	if (way->buffer)
		cfg.sndbuf = cfg.rcvbuf = way->buffer;
	return cfg;
}

static const char *
named(const char *name, const struct way *way, enum interest_mode mode)
{
	static char text[100];

	(void)snprintf(text, sizeof(text), "%s (sides %u, TLS 1.%d, updates %u, buffers %u, %s)",
		name, way->sides, way->is_12 ? 2 : 3, way->update_every, way->buffer,
		interest_mode_name(mode));
	return text;
}

#define ALL_WAYS(way, mode)                                                         \
	for (const struct way *way = ways; way < ways + ARRAY_LEN(ways); way++)     \
		for (size_t mode = 0; mode < ARRAY_LEN(modes); mode++)

static void
bytes_are_forwarded_over_tls(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(tcp_dialogues); i++)
		ALL_WAYS(way, mode)
		{
			const struct tcp_dialogue *d = &tcp_dialogues[i];
			struct world_config cfg = with((struct world_config){ RIG_WORLD,
				.bufsize = 2048 }, way, modes[mode]);

			rig_play(&cfg, d->client, d->origin);
			if (strcmp(rig_terms(), d->terms) != 0)
				fail_msg("%s: ends are %s", named(d->name, way, modes[mode]),
					rig_terms());
			if (world_close(&w) < 0)
				fail_msg("%s: %s", named(d->name, way, modes[mode]), w.why);
		}
}

static void
requests_are_served_over_tls(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(http_dialogues); i++)
		ALL_WAYS(way, mode)
		{
			struct http_dialogue d = http_dialogues[i];

			d.name = named(d.name, way, modes[mode]);
			d.cfg = with(d.cfg, way, modes[mode]);
			http_play(&d);
		}
}

/* --- cut streams --- */

/* A FIN without the closing message: the other side sees no clean end. */
static void
a_truncated_stream_does_not_end_cleanly(void **st)
{
	static const struct step cuts[] = { { STEP_SEND, 5000 }, { STEP_CUT, 0 },
		{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step stays[] = { { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 },
		{ STEP_END, 0 } };

	(void)st;
	for (unsigned int side = 0; side < 2; side++)
		ALL_WAYS(way, mode)
		{
			struct world_config cfg =
				with((struct world_config){ RIG_WORLD }, way, modes[mode]);
			const struct agent *other;

			/* A plain end that sends FIN has sent all. */
			if (!(way->sides & 1u << side))
				continue;
			rig_play(&cfg, side == CLIENT ? cuts : stays,
				side == CLIENT ? stays : cuts);
			other = side == CLIENT ? &w.served[0] : &w.client[0];
			assert_true(other->over && other->err && !other->eof);
			/* A client may be cut before the server's handshake is over. */
			assert_int_equal(rig_terms()[0], side == CLIENT ? 'C' : 'S');
			rig_close();
		}
}

/* --- a socket that is full when its connection ends --- */

#define CLOSED "HTTP/1.0 200 OK\r\n"

/* The server ends later than it sends, and the closing message finds no room: whichever send that
 * is, the client sees a clean end. */
static void
the_closing_message_waits_for_room(void **st)
{
	static const char *const bodies[] = { CLOSED "\r\nok",
		CLOSED "Content-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" };
	static const struct step waits[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step half[] = { SAY(GET_CLOSE), { STEP_SHUT, 0 }, EOF_CLOSE };

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(bodies); i++)
		ALL_WAYS(way, mode)
		for (unsigned int nth = 1;; nth++) {
			const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(bodies[i / 2]),
				{ STEP_PAUSE, 50 }, { STEP_CLOSE, 0 } };
			struct world_config cfg =
				with((struct world_config){ HTTP_WORLD }, way, modes[mode]);
			int failed;

			if (!(way->sides & 1u << CLIENT))
				break;
			rig_open(&cfg, origin);
			fake_fail(w.k, SYS_CALL_sendto, nth, EAGAIN);
			(void)world_client(&w, i % 2 ? half : waits, 0);
			world_run(&w, RIG_LIMIT);
			failed = fake_failed_call(w.k) == SYS_CALL_sendto;
			if (!w.client[0].eof || !strstr(w.client[0].text, "ok") ||
				strcmp(rig_terms(), "--") != 0)
				fail_msg("%s, send %u: errno %d after \"%s\", ends are %s",
					named("a close", way, modes[mode]), nth, w.client[0].err,
					w.client[0].text, rig_terms());
			rig_close();
			if (!failed)
				break;
		}
}

/* When the session has left the worker, by the clock of the fake kernel; 0: not yet. It is logged
 * before. */
static uint64_t left_at;

static void
note_end(struct world *of)
{
	if (of->n_ends && !left_at && list_is_empty(&of->engine.streams))
		left_at = fake_now(of->k);
}

/* A response of so many bytes to a client that does not read it for a minute. The time that the
 * session lives after the server has closed, in milliseconds. */
static uint64_t
close_before(struct world_config *cfg, char *text, size_t len)
{
	static const struct step client[] = { SAY(GET_CLOSE), { STEP_STALL, 0 },
		{ STEP_PAUSE, 60000 }, { STEP_READ, 0 }, EOF_CLOSE };
	const struct step origin[] = { AWAIT("\r\n\r\n"), { STEP_SAY, (uintptr_t)text },
		{ STEP_PAUSE, 50 }, { STEP_CLOSE, 0 } };
	char kept = text[len];

	text[len] = '\0';
	left_at = 0;
	rig_open(cfg, origin);
	w.meddle = note_end;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	text[len] = kept;
	assert_true(left_at > w.opened);
	return (left_at - w.opened) / 1000000 - 50;
}

/* A client that never makes that room: the session, which is whole, lives for as long as the client
 * may be idle, and then its end does not look clean. */
static void
the_closing_message_waits_no_longer_than_the_client_may_be_idle(void **st)
{
	static const struct way narrow[] = { { 1, 0, 0, 2048 }, { 1, 1, 0, 2048 } };
	char text[4200] = CLOSED "\r\n";
	const size_t head = strlen(text);

	(void)st;
	memset(text + head, 'x', sizeof(text) - 1 - head);
	for (size_t i = 0; i < 2 * ARRAY_LEN(narrow) * ARRAY_LEN(modes); i++) {
		struct world_config cfg = with((struct world_config){ HTTP_WORLD },
			&narrow[i % 2], modes[i / 2 % ARRAY_LEN(modes)]);
		unsigned int waited = 0;
		uint64_t limit = cfg.to.client;

		if (i >= ARRAY_LEN(narrow) * ARRAY_LEN(modes))
			limit = cfg.to.client_fin = 7000;
		/* Lengths around the limit: the first fit, the last exceed it by less than a
		 * closing message. */
		for (size_t len = 3600; len < sizeof(text) - 1; len += 12) {
			uint64_t ms = close_before(&cfg, text, len);

			if (strcmp(rig_terms(), "--") == 0 && !w.client[0].eof) {
				waited++;
				assert_int_equal(ms, limit);
			}
			rig_close();
		}
		assert_true(waited > 0);
	}
}

/* --- with a call or an allocation that fails --- */

struct fault {
	uint64_t call, alloc; /* 0: none */
	unsigned int choice;  /* of the call's errors */
};

/* One connection with a fault: 0 when there was no such call or allocation. */
static int
play_fault(const struct world_config *cfg, const struct step *client, const struct step *origin,
	const char *terms, const struct fault *f)
{
	int failed, harmless;

	rig_open(cfg, origin);
	if (f->call)
		fake_torture(w.k, fake_calls(w.k) + f->call, f->choice);
	faults_set(f->alloc);
	w.mem_faults = 1;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	failed = f->call ? fake_failed_call(w.k) != SYS_CALLS : faults_hit();
	harmless = f->call && failed && fake_failed_call(w.k) != SYS_CALL_connect &&
		(fake_failed_errno(w.k) == EAGAIN || fake_failed_errno(w.k) == EINTR);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	faults_set(0);
	w.non_strict = fake_failed_call(w.k) == SYS_CALL_setsockopt;
	if ((!failed || harmless) && strcmp(rig_terms(), terms) != 0)
		fail_msg("call %u, choice %u: ends are %s", (unsigned int)f->call, f->choice,
			rig_terms());
	if (world_close(&w) < 0)
		fail_msg("call %u, choice %u, allocation %u: %s", (unsigned int)f->call, f->choice,
			(unsigned int)f->alloc, w.why);
	return failed;
}

static void
play_faults(const char *name, const struct world_config *cfg, const struct step *client,
	const struct step *origin, const char *terms, int allocs)
{
	struct fault f = { .call = 1 };

	for (; f.call < CALLS_MAX; f.call += test_every()) {
		for (f.choice = 0; f.choice < CHOICES_MAX; f.choice++)
			if (!play_fault(cfg, client, origin, terms, &f))
				break;
		if (!f.choice)
			break;
	}
	if (f.call < 10 || f.call >= CALLS_MAX)
		fail_msg("%s: %u calls", name, (unsigned int)f.call);
	if (!allocs)
		return;
	f = (struct fault){ .alloc = 1 };
	while (f.alloc < ALLOCS_MAX && play_fault(cfg, client, origin, terms, &f))
		f.alloc += test_every();
	if (f.alloc < 100 || f.alloc >= ALLOCS_MAX)
		fail_msg("%s: %u allocations", name, (unsigned int)f.alloc);
}

static void
faults_are_survived_over_tls(void **st)
{
	static const struct way both[] = { { 3, 0, 1, 4096 }, { 3, 1, 0, 4096 } };
	unsigned int n = 0;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(tcp_dialogues); i++) {
		const struct tcp_dialogue *d = &tcp_dialogues[i];
		struct world_config cfg = with((struct world_config){ RIG_WORLD, .bufsize = 2048 },
			&both[n++ % 2], INTEREST_EDGE);

		/* Short ones. */
		if (!d->crosses && d->terms[0] == '-')
			play_faults(d->name, &cfg, d->client, d->origin, d->terms, i == 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(http_dialogues); i++) {
		const struct http_dialogue *d = &http_dialogues[i];
		struct world_config cfg = with(d->cfg, &both[n++ % 2], INTEREST_EDGE);

		cfg.http = 1;
		if (!d->reuses)
			cfg.persistence = HTTP_SERVER_CLOSE;
		play_faults(d->name, &cfg, d->client, d->origin, d->terms, i == 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_forwarded_over_tls),
		cmocka_unit_test(requests_are_served_over_tls),
		cmocka_unit_test(a_truncated_stream_does_not_end_cleanly),
		cmocka_unit_test(the_closing_message_waits_for_room),
		cmocka_unit_test(
			the_closing_message_waits_no_longer_than_the_client_may_be_idle),
		cmocka_unit_test(faults_are_survived_over_tls),
	};

	if (openssl_faults_begin() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
