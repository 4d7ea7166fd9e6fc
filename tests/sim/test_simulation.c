/*
 * Worlds by random_world, each a seed: SEED=n plays one of them (SHOW=1 with its calls), SEEDS=n so
 * many instead of the usual number; HTTP_SEED and HTTP_SEEDS for those of mode http, both: so many
 * from that one on. What fails prints its seed. SLICES processes play them, each a slice of the
 * seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/random_world.h"
#include "sim/world_rules.h"
#include "unit/test.h"

#define SEEDS 2000
#define HTTP_SEEDS 4500
#define CLIENTS 24
#define BYTES 200000
#define HTTP_CLIENTS 16
#define HTTP_BYTES 60000
#define REPORTS_MAX 10
/* More than most machines have CPUs for: the last ones to end leave few idle. */
#define SLICES 8

struct totals {
	unsigned int worlds, kind, tls, clients, bad;
	uint64_t bytes, spliced, bulk_waits, calls, buf_waits, memory_holds, zerocopied;
};

struct http_totals {
	struct totals all;
	unsigned int requests, whole, own, again, reused;
	unsigned int bound, told, logged, stopped, multiplexed;
	unsigned int grown; /* worlds in which a head grew by more than tune.maxrewrite */
};

/* Totals of all worlds. */
static uint32_t rows[STREAM_STATES];
static uint32_t session_rows[SESSION_STATES];
static int is_partial;

static void
add(struct totals *t, const struct random_world_result *r)
{
	t->worlds++;
	t->kind += (unsigned int)r->kind;
	t->tls += (unsigned int)r->tls;
	t->clients += r->clients;
	t->bytes += r->bytes;
	t->spliced += r->spliced;
	t->bulk_waits += r->bulk_waits;
	t->calls += r->calls;
	t->buf_waits += r->buf_waits;
	t->zerocopied += r->zerocopied;
	t->memory_holds += r->memory_holds;
	for (int i = 0; i < STREAM_STATES; i++)
		rows[i] |= r->rows[i];
	for (unsigned int i = 0; i < SESSION_STATES; i++)
		session_rows[i] |= r->session_rows[i];
}

static void
add_totals(struct totals *t, const struct totals *part)
{
	t->worlds += part->worlds;
	t->kind += part->kind;
	t->tls += part->tls;
	t->clients += part->clients;
	t->bad += part->bad;
	t->bytes += part->bytes;
	t->spliced += part->spliced;
	t->bulk_waits += part->bulk_waits;
	t->calls += part->calls;
	t->buf_waits += part->buf_waits;
	t->memory_holds += part->memory_holds;
	t->zerocopied += part->zerocopied;
}

static void
add_http_totals(struct http_totals *t, const struct http_totals *part)
{
	add_totals(&t->all, &part->all);
	t->requests += part->requests;
	t->whole += part->whole;
	t->own += part->own;
	t->again += part->again;
	t->reused += part->reused;
	t->bound += part->bound;
	t->told += part->told;
	t->logged += part->logged;
	t->stopped += part->stopped;
	t->grown += part->grown;
	t->multiplexed += part->multiplexed;
}

static void
play(uint64_t seed, int show, struct totals *t)
{
	struct dice d = dice_seed(seed);
	struct random_world_result r;
	int bad = random_world_play(&d, CLIENTS, BYTES, show, &r);

	add(t, &r);
	if (!bad)
		return;
	t->bad++;
	print_message("SEED=%llu: %s\n", (unsigned long long)seed, r.why);
}

static void
play_http(uint64_t seed, int show, struct http_totals *t)
{
	struct dice d = dice_seed(seed);
	struct http_random_result r;
	int bad = http_random_play(&d, HTTP_CLIENTS, HTTP_BYTES, show, &r);

	add(&t->all, &r.base);
	t->requests += r.requests;
	t->whole += r.whole;
	t->own += r.own;
	t->again += r.again;
	t->reused += r.reused;
	t->bound += r.bound;
	t->told += r.told;
	t->logged += r.logged;
	t->stopped += r.stopped;
	t->multiplexed += r.multiplexed;
	t->grown += r.grown > 1024;
	if (!bad)
		return;
	t->all.bad++;
	print_message("HTTP_SEED=%llu: %s\n", (unsigned long long)seed, r.base.why);
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/* --- slices of the seeds --- */

/* The results of one process, in memory that it shares with the first one. */
struct slice {
	struct http_totals t; /* of worlds of mode tcp only t.all */
	uint32_t rows[STREAM_STATES];
	uint32_t session_rows[SESSION_STATES];
};

typedef void slice_fn(uint64_t seed, struct http_totals *t);

static void
play_slice(struct slice *s, slice_fn *fn, uint64_t first, uint64_t end)
{
	for (uint64_t seed = first; seed < end && s->t.all.bad < REPORTS_MAX; seed += SLICES)
		fn(seed, &s->t);
	memcpy(s->rows, rows, sizeof(rows));
	memcpy(s->session_rows, session_rows, sizeof(session_rows));
	/* As any program ends: it is examined for leaks. */
	exit(0);
}

static void
take_slice(const struct slice *s, struct http_totals *t)
{
	add_http_totals(t, &s->t);
	for (int i = 0; i < STREAM_STATES; i++)
		rows[i] |= s->rows[i];
	for (unsigned int i = 0; i < SESSION_STATES; i++)
		session_rows[i] |= s->session_rows[i];
}

/* Plays n seeds from `first` on. A process that does not end well fails the test. */
static void
play_all(slice_fn *fn, uint64_t first, uint64_t n, struct http_totals *t)
{
	struct slice *s = mmap(NULL, SLICES * sizeof(*s), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[SLICES];

	assert_ptr_not_equal(s, MAP_FAILED);
	fflush(NULL);
	for (unsigned int i = 0; i < SLICES; i++) {
		pid[i] = fork();
		assert_int_not_equal(pid[i], -1);
		if (pid[i] == 0)
			play_slice(&s[i], fn, first + i, first + n);
	}
	for (unsigned int i = 0; i < SLICES; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		if (status)
			fail_msg("the process of slice %u ends with %#x", i, (unsigned int)status);
		take_slice(&s[i], t);
	}
	munmap(s, SLICES * sizeof(*s));
}

static void
play_one_of_all(uint64_t seed, struct http_totals *t)
{
	play(seed, 0, &t->all);
}

static void
play_http_of_all(uint64_t seed, struct http_totals *t)
{
	play_http(seed, 0, t);
}

/* --- rows that random worlds do not take --- */

/* The only row that no world takes: a subrequest without memory, which test_torture_process plays
 * (process/auth_request.txt). */
static int
is_of_subrequest(enum session_state st, enum session_event ev)
{
	return st == SESSION_INIT && ev == SESSION_EV_KILL;
}

#define TIMES .to = { .connect = 5000, .client = 5000, .server = 5000, .queue = 5000 }

static struct world_rules *backend_rules;

/* Lets the backend inspect, and not the frontend. */
static void
inspect(struct proxy *px)
{
	static char why[200];

	backend_rules = world_rules_new(px,
		"tcp-request inspect-delay 1s\ntcp-request content accept if { req.len gt 1 }\n",
		why, sizeof(why));
	if (!backend_rules)
		fail_msg("%s", why);
}

static const struct world_config rare[] = {
	/* A frontend in mode tcp before a backend with rules, and in mode http */
	{ TIMES, .texts = 1, .upgraded = 1, .prepare = inspect },
	{ TIMES, .http = 1, .upgraded = 1 },
	/* HTTP/2 over TLS, and a rule that denies the client after its handshake */
	{ TIMES, .http = 1, .tls = 1u << CLIENT, .proto = MUX_H2 },
	{ TIMES, .http = 1, .tls = 1u << CLIENT, .rules = "tcp-request session reject\n" },
	/* Memory for a session, but not for its connection of HTTP/2 */
	{ TIMES, .http = 1, .proto = MUX_H2, .memory = 2 * SESSION_SIZE },
};

static void
play_rare(const struct world_config *cfg)
{
	static const struct step client[] = { SAY(GET "\r\n"), EOF_CLOSE };
	static const struct step origin[] = { { STEP_END, 0 } };
	static struct world w;

	if (world_open(&w, cfg) < 0)
		fail_msg("%s", w.why);
	w.origin_steps = origin;
	(void)world_client(&w, client, 0);
	world_run(&w, 60 * FAKE_SEC);
	for (int i = 0; i < STREAM_STATES; i++)
		rows[i] |= w.rows[i];
	for (unsigned int i = 0; i < SESSION_STATES; i++)
		session_rows[i] |= w.session_rows[i];
	if (world_close(&w) < 0)
		fail_msg("%s", w.why);
	world_rules_free(&backend_rules);
}

static unsigned int
rows_not_taken_by_sessions(void)
{
	unsigned int n = 0;
	struct fsm_row row;

	for (enum session_state st = 0; st < SESSION_STATES; st++)
		for (enum session_event ev = 0; ev < SESSION_EVENTS; ev++) {
			if (session_rows[st] >> ev & 1 || is_of_subrequest(st, ev) ||
			    fsm_session_row(st, ev, &row) < 0)
				continue;
			print_message("never: %s in %s\n", session_event_name(ev),
				      session_state_name(st));
			n++;
		}
	return n;
}

/* Each row of the tables of sessions and streams was used in one of the worlds. */
static void
test_every_row_was_taken(void **state)
{
	struct fsm_row row;
	unsigned int n;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rare); i++)
		play_rare(&rare[i]);
	n = rows_not_taken_by_sessions();
	if (is_partial)
		skip();
	for (enum stream_state st = 0; st < STREAM_STATES; st++)
		for (enum stream_event ev = 0; ev < STREAM_EVENTS; ev++) {
			if (rows[st] >> ev & 1 || fsm_stream_row(st, ev, &row) < 0)
				continue;
			print_message("never: %s in %s\n", stream_event_name(ev),
				      stream_state_name(st));
			n++;
		}
	assert_int_equal(n, 0);
}

static void
test_random_worlds(void **state)
{
	uint64_t one = number("SEED", 0), n = number("SEEDS", SEEDS / test_every());
	struct http_totals all = { 0 };
	struct totals t;

	(void)state;
	if (one)
		play(one, getenv("SHOW") != NULL, &all.all);
	else
		play_all(play_one_of_all, 1, n, &all);
	t = all.all;
	print_message("%u worlds (%u of them kind), %u clients, %llu bytes, %llu spliced, "
		      "%llu calls\n",
		      t.worlds, t.kind, t.clients, (unsigned long long)t.bytes,
		      (unsigned long long)t.spliced, (unsigned long long)t.calls);
	assert_int_equal(t.bad, 0);
	is_partial |= one || n < SEEDS;
	if (is_partial)
		return;
	/* Memory was short often enough. */
	assert_true(t.buf_waits > 1000 && t.memory_holds > 100);
	assert_true(t.bulk_waits > 1000);
	/* Each way of forwarding was used often enough. */
	assert_true(t.spliced > t.bytes / 20 && t.spliced < t.bytes / 10 * 9);
	assert_true(t.zerocopied > t.bytes / 100);
	assert_true(t.tls > n / 6);
}

/* No response is ever given to another request, whatever servers and clients do. */
static void
test_random_http_worlds(void **state)
{
	uint64_t one = number("HTTP_SEED", 0), n;
	uint64_t first = one ? one : 1;
	struct http_totals t = { 0 };

	(void)state;
	n = number("HTTP_SEEDS", one ? 1 : HTTP_SEEDS / test_every());
	if (n == 1)
		play_http(first, getenv("SHOW") != NULL, &t);
	else
		play_all(play_http_of_all, first, n, &t);
	print_message("%u worlds (%u of them kind), %u requests, %u answers (%u own), %u sent "
		      "again, %u connections reused, %llu bytes, %llu calls\n",
		t.all.worlds, t.all.kind, t.requests, t.whole, t.own, t.again, t.reused,
		(unsigned long long)t.all.bytes, (unsigned long long)t.all.calls);
	print_message("%u requests named a server, %u clients were told of one, %u requests were "
		      "logged with captures, %u worlds were stopped, in %u heads grew much, "
		"in %u sessions had several streams\n",
		t.bound, t.told, t.logged, t.stopped, t.grown, t.multiplexed);
	assert_int_equal(t.all.bad, 0);
	is_partial |= one || n < HTTP_SEEDS;
	if (is_partial)
		return;
	assert_true(t.all.tls > n / 6);
	assert_true(t.bound > 3000 && t.told > 1000 && t.logged > 5000 && t.stopped > 400);
	assert_true(t.grown > 200 && t.multiplexed > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_random_http_worlds),
		cmocka_unit_test(test_every_row_was_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
