/* Actions of transitions: termination codes, times, lingering. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/stream_extras.h"
#include "proxy/model/termination.h"
#include "proxy/session/actions.h"
#include "proxy/session/session.h"
#include "unit/proxy/backend_rig.h"

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 }, { STEP_END, 0 } };
static const struct step waits[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

/* --- termination codes and log lines --- */

#define HOLE .n_servers = 1, .server = { { .path = FAKE_BLACKHOLE } }

static const struct {
	struct world_config cfg;
	struct step client[AGENT_STEPS], origin[AGENT_STEPS];
	int fail_call, err; /* the next call of that name fails */
	const char *term;
} ends[] = {
	{ { RIG_WORLD }, { { STEP_SEND, 9 }, { STEP_WAIT_EOF, 0 } },
		{ { STEP_WAIT, 9 }, { STEP_SEND, 9 } }, -1, 0, "--" },
	{ { RIG_WORLD, .n_servers = 1, .server = { { .absent = 1 } } }, { { STEP_WAIT_EOF, 0 } },
		{ { STEP_END, 0 } }, -1, 0, "SC" },
	{ { RIG_WORLD, HOLE }, { { STEP_WAIT_EOF, 0 } }, { { STEP_END, 0 } }, -1, 0, "sC" },
	{ { RIG_WORLD, HOLE }, { { STEP_PAUSE, 50 }, { STEP_RESET, 0 } }, { { STEP_END, 0 } }, -1,
		0, "CC" },
	{ { RIG_WORLD, HOLE }, { { STEP_PAUSE, 50 }, { STEP_CLOSE, 0 } }, { { STEP_END, 0 } }, -1,
		0, "CC" },
	{ { RIG_WORLD }, { { STEP_WAIT_EOF, 0 } }, { { STEP_END, 0 } }, SYS_CALL_socket, EMFILE,
		"RC" },
	{ { RIG_WORLD }, { { STEP_WAIT_EOF, 0 } }, { { STEP_END, 0 } }, SYS_CALL_connect,
		EADDRNOTAVAIL, "RC" },
	{ { RIG_WORLD }, { { STEP_WAIT_EOF, 0 } }, { { STEP_END, 0 } }, SYS_CALL_connect,
		EHOSTUNREACH, "SC" },
	{ { .mode = INTEREST_MERGED, .to = { .connect = 50, .client = 100, .server = 5000,
		.queue = 50 } }, { { STEP_WAIT_EOF, 0 } }, { { STEP_WAIT_EOF, 0 } }, -1, 0, "cD" },
	{ { .mode = INTEREST_MERGED, .to = { .connect = 50, .client = 5000, .server = 100,
		.queue = 50 } }, { { STEP_WAIT_EOF, 0 } }, { { STEP_WAIT_EOF, 0 } }, -1, 0, "sD" },
	{ { RIG_WORLD }, { { STEP_SEND, 9 }, { STEP_PAUSE, 9 }, { STEP_RESET, 0 } },
		{ { STEP_WAIT_EOF, 0 } }, -1, 0, "CD" },
	{ { RIG_WORLD }, { { STEP_SEND, 9 }, { STEP_WAIT_EOF, 0 } },
		{ { STEP_WAIT, 9 }, { STEP_RESET, 0 } }, -1, 0, "SD" },
};

static void
termination_codes_name_the_first_cause(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		rig_open(&ends[i].cfg, ends[i].origin);
		if (ends[i].fail_call >= 0)
			fake_fail(w.k, (enum sys_call)ends[i].fail_call,
				ledger_sum(&w.sys.ledger, (enum sys_call)ends[i].fail_call) + 1,
				ends[i].err);
		(void)world_client(&w, ends[i].client, 0);
		world_run(&w, RIG_LIMIT);
		if (strcmp(rig_terms(), ends[i].term) != 0)
			fail_msg("row %zu: %s, not %s", i, rig_terms(), ends[i].term);
		rig_close();
	}
}

static void
without_a_server_it_ends_at_once(void **st)
{
	struct world_config cfg = { RIG_WORLD };

	(void)st;
	rig_open(&cfg, answers);
	put_admin(w.srv[0], SERVER_MAINT_FORCED, 1);
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "SC");
	assert_int_equal(w.px->shard->be.econ, 1);
	assert_int_equal(w.srv[0]->shard->stat.connect, 0);
	assert_int_equal(w.px->shard->be.cum_sess, 1);
	rig_close();
}

static void
kills_log_the_state(void **st)
{
	struct world_config relay = { RIG_WORLD };
	struct world_config hole = { RIG_WORLD, HOLE };
	struct world_config full = { RIG_WORLD, .n_servers = 1, .server = { { .maxconn = 1 } } };

	(void)st;
	rig_open(&relay, waits);
	(void)world_client(&w, waits, 0);
	world_run(&w, FAKE_MS);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KD");
	assert_false(w.client[0].eof);
	rig_close();
	rig_open(&hole, waits);
	(void)world_client(&w, waits, 0);
	world_run(&w, FAKE_MS);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KC");
	rig_close();
	rig_open(&full, waits);
	(void)world_client(&w, waits, 0);
	(void)world_client(&w, waits, 0);
	world_run(&w, FAKE_MS);
	stream_kill(rig_session(1), 'K');
	stream_kill(rig_session(0), 'K');
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KQ KD");
	rig_close();
}

/* Times are sums over the connections: of the queue, of connecting, and in total. */
static void
times_are_counted(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 100 },
					      { STEP_SEND, 200 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .n_servers = 1,
		.server = { { .path = FAKE_FAR, .one_way = 10 * FAKE_MS, .maxconn = 1 } } };
	const struct server_stat *t;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	t = &w.srv[0]->shard->stat;
	assert_in_range(t->times.ctime, 40, 44);
	assert_in_range(t->times.ctime_max, 20, 22);
	assert_in_range(t->times.qtime, 130, 170);
	assert_int_equal(t->times.qtime_max, t->times.qtime);
	assert_in_range(t->times.ttime, 390, 470);
	assert_int_equal(w.px->shard->be.times.qtime, t->times.qtime);
	assert_int_equal(w.px->shard->be.times.ttime_max, t->times.ttime_max);
	assert_int_equal(t->cum_sess, 2);
	assert_int_equal(t->cur_max, 1);
	assert_int_equal(w.px->shard->be.cur_max, 2);
	assert_int_equal(w.px->shard->fe.cur_max, 2);
	assert_int_equal(w.px->shard->be.queued_max, 1);
	assert_int_equal(w.px->shard->be.rate_max, 2);
	assert_int_equal(t->rate_max, 2);
	assert_true(t->last_sess_ms != 0);
	assert_int_equal(w.px->shard->be.last_sess_ms, t->last_sess_ms);
	/* As in HAProxy, one that has waited is not counted as balanced. */
	assert_int_equal(t->lbtot, 1);
	assert_int_equal(w.px->shard->be.lbtot, 1);
	assert_int_equal(t->connect, 2);
	assert_int_equal(w.px->shard->be.connect, 2);
	assert_int_equal(w.px->shard->be.reuse, 0);
	rig_close();
}

/* The clock counts nanoseconds: half a millisecond is seen. Of the frontend there is the total time
 * only, and in mode tcp there is no response. */
static void
histograms_are_in_microseconds(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 },
					      { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .n_servers = 1,
		.server = { { .path = FAKE_FAR, .one_way = 200 * FAKE_MS / 1000 } } };
	struct latency of_server, of_backend, of_frontend;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	latency_sum(&w.srv[0]->latency, &of_server);
	latency_sum(&w.px->latency[1], &of_backend);
	latency_sum(&w.px->latency[0], &of_frontend);
	assert_in_range(of_server.sum_us[LATENCY_CONNECT], 400, 450);
	assert_in_range(of_server.sum_us[LATENCY_TOTAL], 800, 1100);
	assert_memory_equal(&of_backend, &of_server, sizeof(of_server));
	for (unsigned int k = 0; k < LATENCIES; k++) {
		assert_int_equal(latency_total(&of_server, k), k != LATENCY_RESPONSE);
		assert_int_equal(latency_total(&of_frontend, k), k == LATENCY_TOTAL);
	}
	assert_int_equal(
		of_frontend.sum_us[LATENCY_TOTAL], of_server.sum_us[LATENCY_TOTAL]);
	rig_close();
}

/* show stat divides the sums by 1024 from then on: they must not grow further. */
static void
sums_of_times_are_over_the_last_sessions(void **st)
{
	struct world_config cfg = { RIG_WORLD };
	struct server_stat *t;

	(void)st;
	rig_open(&cfg, NULL);
	t = &w.srv[0]->shard->stat;
	/* The backend has had sessions on other servers. */
	w.px->shard->be.cum_sess = 3000;
	for (int i = 0; i < 5000; i++) {
		struct stream *s = rig_hand_made();

		s->queued_ms = 30;
		s->connected_ms = 70;
		t->cum_sess++;
		w.px->shard->be.cum_sess++;
		w.px->be_cur++;
		s->has_joined = 1;
		(void)stream_do_close_tcp(s);
		w.n_ends = 0; /* no session had connected */
		if (i == 1023)
			assert_int_equal(t->times.ctime, 1024 * 40);
	}
	assert_in_range(t->times.qtime, 1000 * 30, 1024 * 30);
	assert_in_range(t->times.ctime, 1000 * 40, 1024 * 40);
	assert_in_range(w.px->shard->be.times.ctime, 900 * 40, 1024 * 40);
	rig_close();
}

/* A failure of the other side that follows is a consequence. */
static void
the_first_side_to_fail_has_aborted(void **st)
{
	struct world_config cfg = { RIG_WORLD };

	(void)st;
	for (int first = 0; first < SIDES; first++) {
		const struct server_stat *srv;
		const struct proxy_stat *be;
		struct stream *s;

		rig_open(&cfg, NULL);
		s = rig_hand_made();
		s->state = STREAM_RELAY;
		stream_note_failure(s, first);
		stream_note_failure(s, !first);
		stream_note_late(s, !first);
		srv = &w.srv[0]->shard->stat;
		be = &w.px->shard->be;
		assert_int_equal(s->term[0], first == CLIENT ? 'C' : 'S');
		assert_int_equal(srv->cli_abrt, first == CLIENT);
		assert_int_equal(be->cli_abrt, first == CLIENT);
		assert_int_equal(srv->srv_abrt, first == SERVER);
		assert_int_equal(be->srv_abrt, first == SERVER);
		rig_close();
	}
}

/* Sessions that take no time bring the average down to nothing. */
static void
an_average_falls_to_zero(void **st)
{
	static const struct latency_times none;
	struct stat_times t = { .qtime = 3 };

	(void)st;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(t.qtime, 3 - i);
		stat_times_count(&t, 5000, &none);
	}
	assert_int_equal(t.qtime, 0);
}

/* --- lingering --- */

static void
bytes_before_a_reset_are_delivered(void **st)
{
	static const struct step client[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 4000 },
					      { STEP_RESET, 0 } };
	struct world_config cfg = { RIG_WORLD, .client_delay = 100 * FAKE_MS };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	for (int i = 0; i < 1000 && !w.engine.stat.lingers; i++)
		world_run(&w, FAKE_MS);
	assert_int_equal(rig_session(0)->state, STREAM_LINGER);
	assert_true(w.client[0].got < 4000);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 4000);
	assert_int_equal(w.client[0].err, ECONNRESET);
	assert_int_equal(w.engine.stat.lingers, 1);
	assert_string_equal(rig_terms(), "SD");
	rig_close();
}

/* A client that does not read is given up after its idle timeout, at most 30 s. */
static void
lingering_is_limited(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 100 },
					      { STEP_PAUSE, 60000 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 8000 },
					      { STEP_PAUSE, 10 }, { STEP_RESET, 0 } };
	static const unsigned int t[][2] = { { 3000, 3000 }, { 40000, 30000 }, { 0, 30000 } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = { RIG_WORLD, .sndbuf = 16384, .rcvbuf = 4096 };

		cfg.to.client = t[i][0];
		rig_open(&cfg, origin);
		(void)world_client(&w, client, 0);
		world_run(&w, (t[i][1] - 100) * FAKE_MS);
		assert_int_equal(w.engine.n_sessions, 1);
		assert_int_equal(rig_session(0)->state, STREAM_LINGER);
		world_run(&w, 700 * FAKE_MS);
		assert_int_equal(w.engine.n_sessions, 0);
		world_run(&w, RIG_LIMIT);
		assert_string_equal(rig_terms(), "SD");
		rig_close();
	}
}

/* timeout client-fin and server-fin limit the rest of a connection after one end was seen, however
 * long it was idle before. */
static void
the_fin_timeouts_begin_with_the_fin(void **st)
{
	static const struct step leaves[] = { { STEP_SEND, 1 }, { STEP_PAUSE, 1800 },
					    { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
					    { STEP_END, 0 } };
	static const struct step stays[] = { { STEP_SEND, 1 }, { STEP_WAIT_EOF, 0 },
					     { STEP_PAUSE, 9000 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD };

	(void)st;
	cfg.to.client_fin = cfg.to.server_fin = 1000;
	for (int n = 0; n < 2; n++) {
		rig_open(&cfg, n ? leaves : stays);
		(void)world_client(&w, n ? stays : leaves, 0);
		world_run(&w, 2700 * FAKE_MS);
		assert_int_equal(w.engine.n_sessions, 1);
		world_run(&w, 200 * FAKE_MS);
		assert_int_equal(w.engine.n_sessions, 0);
		assert_string_equal(rig_terms(), n ? "cD" : "sD");
		world_run(&w, RIG_LIMIT);
		rig_close();
	}
}

/* option nolinger: a reset instead of a FIN, towards the side it is set for. */
static void
nolinger_resets(void **st)
{
	/* The response, which is sent last, comes with the server's FIN: it waits for ours. */
	static const struct step shuts[] = { { STEP_SEND, 100 }, { STEP_SHUT, 0 },
		{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step waits_first[] = { { STEP_WAIT_EOF, 0 }, { STEP_SEND, 200 },
		{ STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD };
	unsigned int n;

	(void)st;
	for (n = 0; n < 4; n++) {
		cfg.options = n % 2 ? OPT_NOLINGER : 0;
		rig_open(&cfg, n < 2 ? answers : waits_first);
		fake_trace_on(w.k, 1);
		(void)world_client(&w, n < 2 ? asks : shuts, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(strstr(fake_trace(w.k), "SO_LINGER") != NULL, n % 2);
		assert_int_equal(w.client[0].got, 200);
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

/* --- the last look --- */

static int stalls;

/* Once, while a rule waits, the worker does not run for so long that all its timers are due. */
static void
stall_in_a_pause(struct world *x)
{
	list_each(it, &x->engine.streams) {
		const struct stream *s = list_entry(it, const struct stream, link);

		if (!stalls && stream_awaits_answer(s)) {
			stalls++;
			fake_advance(x->k, 40 * FAKE_SEC);
		}
	}
}

/* The answer is there as well as the deadline of the rule that waits for it. */
static void
an_answer_comes_before_its_deadline(void **st)
{
	static const char *const rules[] = { "http-request pause 100",
		"http-response pause 100", "http-request pause 100\nhttp-request pause 200" };
	static const struct step asks_http[] = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_END, 0 } };
	static const struct step answers_http[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
		EOF_CLOSE };

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rules); i++) {
		struct world_config cfg = { HTTP_WORLD, .rules = rules[i / 2] };

		cfg.mode = i % 2 ? INTEREST_EDGE : INTEREST_MERGED;
		stalls = 0;
		rig_open(&cfg, answers_http);
		w.meddle = stall_in_a_pause;
		(void)world_client(&w, asks_http, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(stalls, 1);
		if (strcmp(w.client[0].text, OK2 "\r\nok") != 0 || strcmp(rig_terms(), "--") != 0)
			fail_msg("%s: the client read \"%s\", it ended with %s", rules[i / 2],
				w.client[0].text, rig_terms());
		rig_close();
	}
}

/* A rule of mode tcp that asks something, and gets its answer 100 ms later. */
static struct stream *asker;
static struct timer answer_timer;

static void
on_answer(struct timer *t)
{
	(void)t;
	stream_take_answer(asker);
}

static enum rule_result
run_question(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	if (asker && !stream_awaits_answer(asker)) {
		stream_forget_answer(asker);
		return RULE_CONT;
	}
	if (!asker) {
		asker = out->proxy;
		assert_non_null(stream_extras_get(asker));
		stream_await_answer(asker);
		timer_init(&answer_timer, on_answer);
		assert_int_equal(timer_set(loop_timers(w.loop), &answer_timer,
			loop_now_ms(w.loop) + 100), 0);
	}
	out->awaits_answer = 1;
	out->wait_ms = 1100;
	return RULE_YIELD;
}

/* The same in mode tcp, also when `timeout client` has passed meanwhile. */
static void
an_answer_comes_in_mode_tcp(void **st)
{
	static const struct rule_action action = { .run = run_question };
	struct rule question = { .action = &action };

	(void)st;
	for (int edge = 0; edge < 2; edge++) {
		struct world_config cfg = { RIG_WORLD, .rules = "tcp-request content accept" };

		cfg.mode = edge ? INTEREST_EDGE : INTEREST_MERGED;
		asker = NULL;
		stalls = 0;
		rig_open(&cfg, answers);
		list_append(w.px->rules.own[RULE_TCP_REQ_CONTENT].next, &question.link);
		w.meddle = stall_in_a_pause;
		(void)world_client(&w, asks, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(stalls, 1);
		assert_string_equal(rig_terms(), "--");
		list_remove(&question.link);
		rig_close();
	}
}

#define CROWD 40
#define CLOSES .persistence = HTTP_SERVER_CLOSE
#define IS_FAR .server = { { .path = FAKE_FAR, .one_way = 10 * FAKE_MS } }

static int is_crowd;
static enum stream_state crowd_state; /* NEW: any early one */
static unsigned int crowd_turns;

/* Once, when all clients wait, the worker does not run until bytes and deadlines are there. */
static void
stall_before_a_crowd(struct world *x)
{
	unsigned int n = 0;

	list_each(it, &x->engine.streams) {
		const struct stream *s = list_entry(it, const struct stream, link);

		if (crowd_state != STREAM_NEW)
			n += s->state == crowd_state;
		else
			n += s->state == STREAM_READ || s->state == STREAM_INSPECT ||
				s->state == STREAM_CONNECT ||
				s->sess->state == SESSION_PROXY_HEADER ||
				s->sess->state == SESSION_MULTIPLEX;
	}
	/* All requests have left in the turn before. */
	if (is_crowd || n < CROWD || (crowd_state == STREAM_RELAY && !crowd_turns++))
		return;
	is_crowd = 1;
	fake_advance(x->k, 40 * FAKE_SEC);
}

/* The server is its own SOCKS4 proxy. */
static void
ask_for_the_server(struct proxy *px)
{
	list_each(it, &px->servers) {
		struct server *s = list_entry(it, struct server, link);

		(void)addr_cell_get(&s->addr, &s->conf.socks4);
	}
}

/* More events than the turns have room for that deadlines wait for. */
static void
bytes_whose_event_is_left_come_before_a_deadline(void **st)
{
	static const struct step says[] = { { STEP_PAUSE, 1000 }, SAY(GET "\r\n"), EOF_CLOSE };
	static const struct step sends[] = { { STEP_PAUSE, 1000 }, { STEP_SEND, 100 },
		{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
	static const struct step replies[] = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 100 },
		SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct step is_asked[] = { { STEP_WAIT, 16 }, { STEP_PAUSE, 100 },
		SAY("?Z------"), { STEP_WAIT, 5 }, SAY("there"), { STEP_CLOSE, 0 } };
	static const struct step hello[] = { SAY("hello"), EOF_CLOSE };
	static const struct {
		struct world_config cfg;
		const struct step *client, *origin;
		enum stream_state state;
	} rows[] = {
		{ { HTTP_WORLD, CLOSES }, says, replies, STREAM_NEW },
		{ { RIG_WORLD, .rules = "tcp-request inspect-delay 60s\n"
			"tcp-request content accept if { req.len gt 0 }" },
			sends, answers, STREAM_NEW },
		/* A client of HTTP/2 that has asked nothing yet. */
		{ { HTTP_WORLD, CLOSES, .h2 = 1 }, says, replies, STREAM_NEW },
		/* connect() has succeeded. */
		{ { RIG_WORLD, IS_FAR }, sends, answers, STREAM_NEW },
		{ { HTTP_WORLD, CLOSES, IS_FAR, .h2_servers = 1, .reuse = HTTP_REUSE_NEVER },
			says, replies, STREAM_NEW },
		{ { RIG_WORLD, IS_FAR, .texts = 1, .prepare = ask_for_the_server }, hello,
			is_asked, STREAM_HANDSHAKE },
		/* The response is a stream of a server's connection. */
		{ { HTTP_WORLD, CLOSES, IS_FAR, .h2_servers = 1, .reuse = HTTP_REUSE_NEVER },
			says, replies, STREAM_RELAY },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world_config cfg = rows[i].cfg;

		cfg.max_events = 1;
		cfg.server[0].backlog = CROWD;
		is_crowd = 0;
		crowd_turns = 0;
		crowd_state = rows[i].state;
		rig_open(&cfg, rows[i].origin);
		w.meddle = stall_before_a_crowd;
		for (int n = 0; n < CROWD; n++)
			(void)world_client(&w, rows[i].client, 0);
		world_run(&w, RIG_LIMIT);
		if (!is_crowd)
			fail_msg("row %zu: no crowd", i);
		assert_int_equal(w.n_served, CROWD);
		assert_int_equal(w.n_ends, CROWD);
		assert_int_equal(w.px->shard[0].be.wretr, 0);
		for (unsigned int n = 0; n < w.n_ends; n++)
			if (strcmp(w.end[n].term, "--") != 0)
				fail_msg("row %zu: %s", i, w.end[n].term);
		rig_close();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(termination_codes_name_the_first_cause),
		cmocka_unit_test(without_a_server_it_ends_at_once),
		cmocka_unit_test(kills_log_the_state),
		cmocka_unit_test(times_are_counted),
		cmocka_unit_test(histograms_are_in_microseconds),
		cmocka_unit_test(sums_of_times_are_over_the_last_sessions),
		cmocka_unit_test(an_average_falls_to_zero),
		cmocka_unit_test(the_first_side_to_fail_has_aborted),
		cmocka_unit_test(bytes_before_a_reset_are_delivered),
		cmocka_unit_test(lingering_is_limited),
		cmocka_unit_test(the_fin_timeouts_begin_with_the_fin),
		cmocka_unit_test(nolinger_resets),
		cmocka_unit_test(an_answer_comes_before_its_deadline),
		cmocka_unit_test(an_answer_comes_in_mode_tcp),
		cmocka_unit_test(bytes_whose_event_is_left_come_before_a_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
