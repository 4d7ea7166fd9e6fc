/*
 * Whole sessions over transports: the same dialogues with the scripted transport of fake/xprt.h on
 * one side or both, whatever it does to the bytes. What the ends read and how sessions end must be
 * as on plain sockets; the world checks the bytes.
 */
#include "sim/xprt_dialogues.h"

#include <errno.h>
#include <stdio.h>

#include "proxy/relay/direction.h"
#include "sim/faults.h"

/* Properties of a transport. */
static const struct fake_script ways[] = {
	FAKE_SCRIPT(.caps = 0),
	FAKE_SCRIPT(.caps = XPRT_MORE, .record = 7),
	FAKE_SCRIPT(.read_max = 1, .record = 100),
	FAKE_SCRIPT(.read_max = 3, .ask_every = 1),
	FAKE_SCRIPT(.read_max = 5, .ask_every = 3, .record = 300),
};
static const enum interest_mode modes[] = { INTEREST_EDGE, INTEREST_MERGED, INTEREST_UNMERGED };

static struct fake_script client_side, server_side;

/* The scripts of a world: bit 0 of sides the client's, bit 1 the server's. */
static void
choose(struct world_config *cfg, size_t way, unsigned int sides, unsigned int update_every)
{
	client_side = server_side = ways[way];
	server_side.is_client = 1;
	cfg->client_xprt = sides & 1 ? &client_side : NULL;
	cfg->server_xprt = sides & 2 ? &server_side : NULL;
	cfg->update_every = update_every;
}

/* For messages: the current combination. */
static char combination[80];

static const char *
named(const char *name, size_t way, unsigned int sides, size_t mode, unsigned int update)
{
	(void)snprintf(combination, sizeof(combination), "%s (way %zu, sides %u, %s, update %u)",
		name, way, sides, interest_mode_name(modes[mode]), update);
	return combination;
}

static void
check_scripts(void)
{
	assert_int_equal(client_side.live, 0);
	assert_int_equal(server_side.live, 0);
}

#define ALL_WAYS(way, sides, mode, update)                                                 \
	for (size_t way = 0; way < ARRAY_LEN(ways); way++)                                 \
		for (unsigned int sides = 1; sides <= 3; sides++)                          \
			for (size_t mode = 0; mode < ARRAY_LEN(modes); mode++)             \
				for (unsigned int update = 0; update <= 2; update++)

/* --- mode tcp --- */

static void
play_tcp(const struct tcp_dialogue *d, const char *name, struct world_config *cfg)
{
	rig_play(cfg, d->client, d->origin);
	if (strcmp(rig_terms(), d->terms) != 0)
		fail_msg("%s: ends are %s", name, rig_terms());
	rig_close();
	check_scripts();
}

static void
bytes_are_forwarded_over_transports(void **st)
{
	unsigned int up = 0, held = 0, read_waits = 0, write_waits = 0;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(tcp_dialogues); i++)
		ALL_WAYS(way, sides, mode, update)
		{
			const struct tcp_dialogue *d = &tcp_dialogues[i];
			struct world_config cfg = { RIG_WORLD, .sndbuf = 4096, .rcvbuf = 4096,
						    .bufsize = 2048 };

			/* Otherwise the responses that writers wait for would not be read. */
			if (d->crosses && ways[way].ask_every)
				continue;
			cfg.mode = modes[mode];
			choose(&cfg, way, sides, update);
			play_tcp(d, named(d->name, way, sides, mode, update), &cfg);
			up += client_side.up + server_side.up;
			held += client_side.held + server_side.held;
			read_waits += client_side.read_waited_to_write +
				server_side.read_waited_to_write;
			write_waits += client_side.write_waited_to_read +
				server_side.write_waited_to_read;
		}
	/* All of it has happened. */
	if (!up || !held || !read_waits || !write_waits)
		fail_msg("%u up, %u held, %u waits to write, %u waits to read", up, held,
			read_waits, write_waits);
}

/* --- mode http --- */

static void
requests_are_served_over_transports(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(http_dialogues); i++)
		ALL_WAYS(way, sides, mode, update)
		{
			struct http_dialogue d = http_dialogues[i];

			d.name = named(d.name, way, sides, mode, update);
			d.cfg.mode = modes[mode];
			choose(&d.cfg, way, sides, update);
			http_play(&d);
			check_scripts();
		}
}

/* The rows of the table are valid: they also hold without a transport. */
static void
the_dialogues_hold_on_plain_sockets(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(tcp_dialogues); i++) {
		struct world_config cfg = { RIG_WORLD, .sndbuf = 4096, .rcvbuf = 4096,
					    .bufsize = 2048 };

		play_tcp(&tcp_dialogues[i], tcp_dialogues[i].name, &cfg);
	}
	http_play_all(http_dialogues, ARRAY_LEN(http_dialogues));
}

/* --- with a call or an allocation that fails --- */

#define CHOICES_MAX 8

/* One connection with a fault: 0 when there was no such call or allocation. */
static int
play_fault(const struct world_config *cfg, const struct step *client, const struct step *origin,
	const char *terms, uint64_t call, unsigned int choice, uint64_t alloc)
{
	struct world_config c = *cfg;
	uint64_t before;
	int failed, harmless;

	choose(&c, 0, 3, 2);
	client_side.ask_every = server_side.ask_every = 2;
	rig_open(&c, origin);
	before = fake_calls(w.k);
	if (call)
		fake_torture(w.k, before + call, choice);
	faults_set(alloc);
	w.mem_faults = 1;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	failed = call ? fake_failed_call(w.k) != SYS_CALLS : faults_counted() >= alloc;
	harmless = call && failed && fake_failed_call(w.k) != SYS_CALL_connect &&
		(fake_failed_errno(w.k) == EAGAIN || fake_failed_errno(w.k) == EINTR);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	faults_set(0);
	w.non_strict = failed && !harmless;
	if ((!failed || harmless) && strcmp(rig_terms(), terms) != 0)
		fail_msg("call %u, choice %u: ends are %s", (unsigned int)call, choice,
			rig_terms());
	if (world_close(&w) < 0)
		fail_msg("call %u, choice %u, allocation %u: %s", (unsigned int)call, choice,
			(unsigned int)alloc, w.why);
	check_scripts();
	return failed;
}

static void
play_faults(const struct world_config *cfg, const struct step *client, const struct step *origin,
	const char *terms)
{
	unsigned int choice = 0;
	uint64_t call = 1, alloc = 1;

	for (; call < 1000; call += test_every()) {
		for (choice = 0; choice < CHOICES_MAX; choice++)
			if (!play_fault(cfg, client, origin, terms, call, choice, 0))
				break;
		if (!choice)
			break;
	}
	while (alloc < 1000 && play_fault(cfg, client, origin, terms, 0, 0, alloc))
		alloc += test_every();
	/* The number of calls. */
	assert_in_range(call, 20, 999);
	assert_in_range(alloc, 2, 999);
}

/* Nothing crashes, hangs or leaks, and no byte is wrong, whatever fails. */
static void
faults_are_survived_over_transports(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(tcp_dialogues); i++) {
		const struct tcp_dialogue *d = &tcp_dialogues[i];
		struct world_config cfg = { RIG_WORLD, .sndbuf = 4096, .rcvbuf = 4096,
					    .bufsize = 2048 };

		if (!d->crosses && d->terms[0] == '-')
			play_faults(&cfg, d->client, d->origin, d->terms);
	}
	for (size_t i = 0; i < ARRAY_LEN(http_dialogues); i++) {
		const struct http_dialogue *d = &http_dialogues[i];
		struct world_config cfg = d->cfg;

		cfg.http = 1;
		if (!d->reuses)
			cfg.persistence = HTTP_SERVER_CLOSE;
		play_faults(&cfg, d->client, d->origin, d->terms);
	}
}

/* --- without a buffer --- */

/* Where a plain socket is peeked at, a session with a transport waits for a buffer. */
static void
a_session_without_a_buffer_waits(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_PAUSE, 50 },
					      { STEP_SEND, 96 }, { STEP_WAIT, 300 },
					      { STEP_END, 0 } };
	static const struct step server[] = { { STEP_WAIT, 100 }, { STEP_SEND, 300 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

	(void)st;
	for (unsigned int sides = 1; sides <= 3; sides++) {
		struct world_config cfg = { RIG_WORLD };
		void *kept;

		choose(&cfg, 0, sides, 0);
		rig_open(&cfg, server);
		(void)world_client(&w, client, 0);
		world_run(&w, 20 * FAKE_MS);
		assert_int_equal(w.served[0].got, 4);
		kept = rig_exhaust_memory();
		world_run(&w, 200 * FAKE_MS);
		/* A side without a transport is served directly from its socket. */
		assert_int_equal(w.engine.n_sessions, 1);
		assert_true(w.engine.stat.buf_waits > 0);
		assert_int_equal(w.served[0].got, sides & 1 ? 4 : 100);
		assert_int_equal(w.client[0].got, 0);
		rig_restore_memory(kept);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(w.client[0].got, 300);
		assert_string_equal(rig_terms(), "--");
		rig_close();
		check_scripts();
	}
}

/* A connection whose transport cannot be made cannot be served. */
static void
a_transport_that_cannot_be_made_ends_the_connection(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step server[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

	(void)st;
	for (unsigned int sides = 1; sides <= 2; sides++) {
		struct world_config cfg = { RIG_WORLD };

		choose(&cfg, 0, sides, 0);
		(sides == 1 ? &client_side : &server_side)->refuses = 1;
		rig_play(&cfg, client, server);
		assert_int_equal(client_side.made + server_side.made, 0);
		if (sides == 2)
			assert_string_equal(rig_terms(), "RC");
		rig_close();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dialogues_hold_on_plain_sockets),
		cmocka_unit_test(bytes_are_forwarded_over_transports),
		cmocka_unit_test(requests_are_served_over_transports),
		cmocka_unit_test(faults_are_survived_over_transports),
		cmocka_unit_test(a_session_without_a_buffer_waits),
		cmocka_unit_test(a_transport_that_cannot_be_made_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
