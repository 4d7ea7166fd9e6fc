/* Findings of sessions about a server, and their receivers. The layer of each finding, and the
 * statuses, are those of HAProxy 2.6 (observed). */
#include "unit/test.h"

#include <string.h>

#include "proxy/backend/server_observe.h"

static struct engine e;
static struct server s;
static unsigned int told, mailed;

static void
on_alarm(struct engine *by, struct server *srv)
{
	assert_ptr_equal(by, &e);
	assert_ptr_equal(srv, &s);
	told++;
}

static void
wake_for_alarm(struct engine *by, unsigned int target, struct server *srv)
{
	assert_ptr_equal(by, &e);
	assert_ptr_equal(srv, &s);
	assert_int_equal(target, 0);
	mailed++;
}

static void
start(enum check_observe mode, int limit)
{
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	e.hooks.on_alarm = on_alarm;
	e.hooks.wake_for_alarm = wake_for_alarm;
	s.conf.check.observe = mode;
	s.conf.check.error_limit = limit;
	told = mailed = 0;
}

/* '-': ignored, '+': success, '!': error. */
static char
outcome(enum check_observe mode, enum server_finding f)
{
	start(mode, 10);
	s.errors = 5;
	server_observe(&e, &s, f);
	return s.errors == 5 ? '-' : s.errors == 0 ? '+' : s.errors == 6 ? '!' : '?';
}

static void
layers_count_different_findings(void **state)
{
	static const char *const expected[] = { "--------", "+!------", "-!+!!!!!" };

	(void)state;
	for (int mode = CHECK_OBSERVE_NONE; mode <= CHECK_OBSERVE_LAYER7; mode++)
		for (int f = SERVER_CONNECTED; f <= SERVER_CLOSED_EARLY; f++)
			assert_int_equal(outcome((enum check_observe)mode,
				(enum server_finding)f), expected[mode][f]);
}

static void
some_statuses_are_errors(void **state)
{
	static const struct {
		unsigned int status, errors;
	} t[] = { { 100, 0 }, { 200, 0 }, { 302, 0 }, { 400, 0 }, { 499, 0 }, { 500, 2 },
		{ 501, 0 }, { 502, 2 }, { 503, 2 }, { 504, 2 }, { 505, 0 }, { 506, 2 },
		{ 600, 2 }, { 99, 2 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		start(CHECK_OBSERVE_LAYER7, 10);
		s.errors = 1;
		server_observe_status(&e, &s, t[i].status);
		assert_int_equal(s.errors, t[i].errors);
	}
}

static void
consecutive_errors_raise_an_alarm(void **state)
{
	enum server_finding last;

	(void)state;
	start(CHECK_OBSERVE_LAYER7, 3);
	server_observe(&e, &s, SERVER_READ_ERROR);
	server_observe(&e, &s, SERVER_READ_ERROR);
	server_observe(&e, &s, SERVER_GOOD_STATUS);
	server_observe(&e, &s, SERVER_READ_ERROR);
	server_observe(&e, &s, SERVER_READ_ERROR);
	assert_int_equal(told, 0);
	assert_int_equal(server_take_alarms(&s, &last), 0);
	server_observe(&e, &s, SERVER_READ_TIMEOUT);
	assert_int_equal(told, 1);
	assert_int_equal(server_take_alarms(&s, &last), 1);
	assert_string_equal(server_finding_text(last), "Read timeout (http)");
	assert_int_equal(server_take_alarms(&s, &last), 0);
	server_observe(&e, &s, SERVER_READ_ERROR);
	server_observe(&e, &s, SERVER_READ_ERROR);
	server_forget_errors(&s);
	server_observe(&e, &s, SERVER_READ_ERROR);
	assert_int_equal(told, 1);
	assert_int_equal(mailed, 0);
}

static void
other_workers_send_messages(void **state)
{
	enum server_finding last;

	(void)state;
	start(CHECK_OBSERVE_LAYER4, 1);
	e.index = 2;
	server_observe(&e, &s, SERVER_CONNECT_FAILED);
	server_observe(&e, &s, SERVER_CONNECT_FAILED);
	assert_int_equal(mailed, 2);
	assert_int_equal(told, 0);
	assert_int_equal(server_take_alarms(&s, &last), 2);
	/* No checker runs, as at the end of a process. */
	start(CHECK_OBSERVE_LAYER4, 1);
	e.hooks.on_alarm = NULL;
	server_observe(&e, &s, SERVER_CONNECT_FAILED);
	assert_int_equal(s.alarms, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_count_different_findings),
		cmocka_unit_test(some_statuses_are_errors),
		cmocka_unit_test(consecutive_errors_raise_an_alarm),
		cmocka_unit_test(other_workers_send_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
