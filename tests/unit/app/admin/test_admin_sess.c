/* show sess. */
#include "unit/app/app_rig.h"

#define CLIENTS 3

static int client[CLIENTS], served[CLIENTS];

static int
setup(void **st)
{
	(void)st;
	rig_open("", "");
	for (int i = 0; i < CLIENTS; i++) {
		client[i] = bench_connect("front");
		assert_int_equal(send(client[i], "hello", 5, 0), 5);
	}
	bench_turns();
	for (int i = 0; i < CLIENTS; i++) {
		served[i] = accept(origin, NULL, NULL);
		assert_true(served[i] >= 0);
	}
	assert_int_equal(w->engine.n_sessions, CLIENTS);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < CLIENTS; i++) {
		close(client[i]);
		close(served[i]);
	}
	bench_turns();
	rig_close();
	return 0;
}

static void
there_is_a_line_for_each_session(void **st)
{
	const char *a = rig_command("show sess");

	(void)st;
	rig_check_shape(a);
	assert_int_equal(rig_lines(a), CLIENTS);
	for (int i = 0; i < CLIENTS; i++) {
		const char *line = rig_line(a, i);
		unsigned long long id;

		assert_int_equal(sscanf(line, "0x%llx: proto=unix_stream src=", &id), 1);
		assert_int_equal(id, i + 1);
		assert_non_null(strstr(line, " fe=l be=l srv=s state=RELAY age="));
		assert_non_null(strstr(line, " rq[OPEN,bytes=5,pending=0] "));
		assert_non_null(strstr(line, " rp[OPEN,bytes=0,pending=0] "));
		assert_non_null(strstr(line, "c[fd="));
		assert_non_null(strstr(line, "s[fd="));
		assert_non_null(strstr(line, " retries=0 term=-- "));
		assert_non_null(strstr(line, " hist=INIT:ADMITTED,NEW:ACCEPTED,"));
		assert_non_null(strstr(line, ",CONNECT:UP"));
	}
	assert_int_equal(rig_lines(rig_command("show sess all")), CLIENTS);
}

static void
one_session_is_shown_by_its_id(void **st)
{
	const char *a = rig_command("show sess 0x2");

	(void)st;
	assert_int_equal(rig_lines(a), 1);
	assert_int_equal(strncmp(a, "0x2: ", 5), 0);
	assert_int_equal(strncmp(rig_command("show sess 3"), "0x3: ", 5), 0);
	assert_string_equal(rig_command("show sess 0x99"), "Session not found.\n\n");
}

static void
sessions_of_an_age_are_shown(void **st)
{
	struct stream *s = list_first(&w->engine.streams, struct stream, link);

	(void)st;
	assert_int_equal(rig_lines(rig_command("show sess older 0")), CLIENTS);
	assert_string_equal(rig_command("show sess older 1h"), "\n");
	s->sess->accept_ms -= 5000;
	assert_int_equal(rig_lines(rig_command("show sess older 5s")), 1);
	assert_int_equal(rig_lines(rig_command("show sess older 4900ms")), 1);
	assert_string_equal(rig_command("show sess older 1m"), "\n");
	rig_check_start(rig_command("show sess older"), "Invalid age");
	rig_check_start(rig_command("show sess older x"), "Invalid age");
}

static void
invalid_ids_are_rejected(void **st)
{
	static const char *const bad[] = { "0", "0x", "x", "2x" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char line[64];

		snprintf(line, sizeof(line), "show sess %s", bad[i]);
		assert_int_equal(strncmp(rig_command(line), "Invalid session", 15), 0);
	}
}

static void
the_deadline_is_shown_as_the_remaining_time(void **st)
{
	struct stream *s = list_first(&w->engine.streams, struct stream, link);
	const char *exp;
	unsigned int ms;

	(void)st;
	exp = strstr(rig_command("show sess 1"), "exp=");
	assert_non_null(exp);
	assert_int_equal(sscanf(exp, "exp=%ums ", &ms), 1);
	assert_int_equal(ms, s->timer.deadline - loop_now_ms(w->loop));
	timer_stop(loop_timers(w->loop), &s->timer);
	s->timer.deadline = TIMER_NEVER;
	assert_non_null(strstr(rig_command("show sess 1"), "exp= "));
}

/* Notes a pair as the machine does. */
static void
note_pair(struct stream *s, enum stream_state state, enum stream_event ev)
{
	uint8_t *h = s->hist[s->hist_n++ % STREAM_HISTORY];

	h[0] = (uint8_t)state;
	h[1] = (uint8_t)ev;
}

/* Only the last pairs are kept; they are shown oldest first. */
static void
the_history_is_a_ring(void **st)
{
	struct stream *s = list_first(&w->engine.streams, struct stream, link);
	const char *hist;

	(void)st;
	for (int i = 0; i < STREAM_HISTORY + 1; i++)
		note_pair(s, STREAM_RELAY, STREAM_EV_TIMEOUT);
	note_pair(s, STREAM_RELAY, STREAM_EV_RESET);
	hist = strstr(rig_command("show sess 1"), "hist=");
	assert_null(strstr(hist, "INIT"));
	hist += strlen("hist=");
	for (int i = 0; i < STREAM_HISTORY - 1; i++) {
		assert_int_equal(strncmp(hist, "RELAY:TIMEOUT,", 14), 0);
		hist += 14;
	}
	assert_string_equal(hist, "RELAY:RESET\n\n");
	for (int i = 0; i < 300; i++)
		note_pair(s, STREAM_RELAY, STREAM_EV_TIMEOUT);
	hist = strstr(rig_command("show sess 1"), "hist=");
	assert_int_equal(strlen(hist), 5 + STREAM_HISTORY * 14 + 1);
}

static void
without_sessions_the_answer_is_empty(void **st)
{
	(void)st;
	for (int i = 0; i < CLIENTS; i++) {
		close(client[i]);
		close(served[i]);
		client[i] = served[i] = -1;
	}
	bench_turns();
	assert_string_equal(rig_command("show sess"), "\n");
	assert_string_equal(rig_command("show sess all"), "\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(there_is_a_line_for_each_session),
		CASE(one_session_is_shown_by_its_id),
		CASE(sessions_of_an_age_are_shown),
		CASE(invalid_ids_are_rejected),
		CASE(the_deadline_is_shown_as_the_remaining_time),
		CASE(the_history_is_a_ring),
		CASE(without_sessions_the_answer_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
