/* show syscalls and clear syscalls: the numbers of the ledger. */
#include "app/process/totals.h"
#include "unit/app/app_rig.h"

/* A row of the answer. */
struct syscalls_row {
	unsigned long long sum, ok, again, error, since_last;
	double per_sec, per_conn, per_req;
};

/* Finds a row: 0, or -1 if there is none. */
static int
row_called(const char *answer, const char *name, struct syscalls_row *r)
{
	char found[64];

	for (unsigned int i = 1; i < rig_lines(answer); i++)
		if (sscanf(rig_line(answer, (int)i), "%63s %llu %llu %llu %llu %llu %lf %lf %lf",
			    found, &r->sum, &r->ok, &r->again, &r->error, &r->since_last,
			    &r->per_sec, &r->per_conn, &r->per_req) == 9 &&
			strcmp(found, name) == 0)
			return 0;
	return -1;
}

/* The number behind a name at the end of the answer. */
static double
value_called(const char *answer, const char *name)
{
	char found[64];
	double v;

	for (unsigned int i = 1; i < rig_lines(answer); i++)
		if (sscanf(rig_line(answer, (int)i), "%63s %lf", found, &v) == 2 &&
			strcmp(found, name) == 0)
			return v;
	fail_msg("no line '%s'", name);
	return 0;
}

/* All accounts. */
static struct ledger
ledger_now(void)
{
	struct ledger l = { 0 };

	ledger_add_all(&l, &sys);
	return l;
}

/* Compares a call's row with a ledger from which another one is subtracted. */
static void
check_row(const char *answer, enum sys_call call, const struct ledger *less)
{
	const struct ledger now = ledger_now();
	const uint64_t *n = now.n[call];
	struct syscalls_row r = { 0 };

	if (ledger_sum(&now, call) == ledger_sum(less, call)) {
		assert_int_equal(row_called(answer, ledger_name(call), &r), -1);
		return;
	}
	assert_int_equal(row_called(answer, ledger_name(call), &r), 0);
	assert_int_equal(r.sum, r.ok + r.again + r.error);
	assert_int_equal(r.ok, n[SYS_OK] - less->n[call][SYS_OK]);
	assert_int_equal(r.again, n[SYS_AGAIN] - less->n[call][SYS_AGAIN]);
	assert_int_equal(r.error, n[SYS_ERROR] - less->n[call][SYS_ERROR]);
	assert_float_equal(r.per_conn, (double)r.sum, 0.001);
}

static void
check_all_rows(const char *answer, const struct ledger *less)
{
	const struct ledger now = ledger_now();
	struct syscalls_row r = { 0 };

	rig_check_shape(answer);
	for (int i = 0; i < SYS_CALLS; i++)
		check_row(answer, (enum sys_call)i, less);
	assert_int_equal(row_called(answer, "total", &r), 0);
	assert_int_equal(r.sum, ledger_total(&now) - ledger_total(less));
	assert_int_equal(r.sum, r.ok + r.again + r.error);
	assert_true(value_called(answer, "connections") == 1);
	assert_true(value_called(answer, "requests") == 1);
	assert_true(value_called(answer, "at_start") == (double)ledger_total(&proc.at_start));
}

static void
syscalls_are_the_ledger(void **st)
{
	static const struct ledger nothing;

	(void)st;
	rig_forward_hello();
	assert_int_equal(w->engine.stat.cum_conns, 1);
	sys.ledger.n[SYS_CALL_accept4][SYS_AGAIN] += 3;
	sys.ledger.n[SYS_CALL_connect][SYS_ERROR] += 5;
	sys.ledger.n[SYS_CALL_clock_gettime][SYS_OK]++;
	assert_true(ledger_total(&proc.at_start) > 0);
	check_all_rows(rig_command("show syscalls"), &proc.at_start);
	check_all_rows(rig_command("show syscalls all"), &nothing);
	assert_non_null(strstr(rig_command("show syscalls"), " vdso\n"));
}

static void
calls_since_the_last_look(void **st)
{
	struct syscalls_row r;

	(void)st;
	sys.ledger.n[SYS_CALL_chown][SYS_OK] += 5;
	assert_int_equal(row_called(rig_command("show syscalls"), "chown", &r), 0);
	assert_int_equal(r.since_last, 5);
	sys.ledger.n[SYS_CALL_chown][SYS_ERROR] += 2;
	assert_int_equal(row_called(rig_command("show syscalls"), "chown", &r), 0);
	assert_int_equal(r.sum, 7);
	assert_int_equal(r.since_last, 2);
	sys.ledger.n[SYS_CALL_chown][SYS_OK]++;
	proc.shown.at_ms = loop_now_ms(w->loop) - 60000;
	assert_int_equal(row_called(rig_command("show syscalls"), "chown", &r), 0);
	assert_int_equal(r.since_last, 1);
	/* One call in a minute, which a turn of the loop has made a little longer. */
	assert_true(r.per_sec == 0);
	sys.ledger.n[SYS_CALL_chown][SYS_OK] += 6000;
	proc.shown.at_ms = loop_now_ms(w->loop) - 60000;
	assert_int_equal(row_called(rig_command("show syscalls"), "chown", &r), 0);
	assert_true(r.per_sec > 50 && r.per_sec <= 100);
}

static void
a_clear_begins_a_count(void **st)
{
	struct syscalls_row r;
	struct ledger before;

	(void)st;
	rig_forward_hello();
	sys.ledger.n[SYS_CALL_chown][SYS_OK] += 5;
	before = sys.ledger;
	assert_string_equal(rig_command("clear syscalls"), "\n");
	assert_true(sys.ledger.n[SYS_CALL_chown][SYS_OK] == before.n[SYS_CALL_chown][SYS_OK]);
	assert_int_equal(row_called(rig_command("show syscalls"), "chown", &r), -1);
	assert_true(value_called(rig_command("show syscalls"), "connections") == 0);
	assert_true(value_called(rig_command("show syscalls"), "requests") == 0);
	sys.ledger.n[SYS_CALL_chown][SYS_OK]++;
	assert_int_equal(row_called(rig_command("show syscalls workers"), "chown", &r), 0);
	assert_int_equal(r.sum, 1);
	assert_int_equal(row_called(rig_command("show syscalls all"), "chown", &r), 0);
	assert_int_equal(r.sum, 6);
	assert_true(value_called(rig_command("show syscalls all"), "connections") == 1);
}

static void
the_only_worker_makes_all_calls(void **st)
{
	(void)st;
	sys.ledger.n[SYS_CALL_chown][SYS_OK] += 5;
	assert_non_null(strstr(rig_command("show syscalls workers"), " [ 5 ]\n"));
	assert_null(strstr(rig_command("show syscalls"), "["));
}

static void
json_has_the_same_numbers(void **st)
{
	const char *a;

	(void)st;
	rig_forward_hello();
	sys.ledger.n[SYS_CALL_chown][SYS_OK] += 5;
	sys.ledger.n[SYS_CALL_chown][SYS_AGAIN]++;
	a = rig_command("show syscalls json");
	rig_check_start(a, "{\"connections\":1,\"requests\":1,\"seconds\":");
	assert_non_null(strstr(a, "{\"call\":\"chown\",\"total\":6,\"ok\":5,\"again\":1,"
		"\"error\":0,\"since_last\":6,\"per_sec\":"));
	assert_non_null(strstr(a, "\"per_conn\":6.000000,\"per_req\":6.000000,\"vdso\":false,"
		"\"workers\":[6]}"));
	assert_non_null(strstr(a, "\"total\":{\"call\":\"total\","));
}

/* --- by frontend --- */

/* A frontend's row in `show syscalls frontends`: its total, or 0 if there is none. */
static unsigned long long
count_for(const char *answer, const char *frontend, const char *call)
{
	char fe[64], name[64];
	unsigned long long sum;

	for (unsigned int i = 1; i < rig_lines(answer); i++)
		if (sscanf(rig_line(answer, (int)i), "%63s %63s %llu", fe, name, &sum) == 3 &&
			strcmp(fe, frontend) == 0 && strcmp(name, call) == 0)
			return sum;
	return 0;
}

static void
calls_are_of_frontends_or_of_none(void **st)
{
	struct ledger now;
	const char *a;

	(void)st;
	rig_forward_hello();
	a = rig_command("show syscalls frontends all");
	now = ledger_now();
	assert_int_equal(count_for(a, "l", "accept4"), 1);
	assert_int_equal(count_for(a, "l", "connect"), 1);
	assert_true(count_for(a, "l", "recvfrom") + count_for(a, "l", "recvmmsg") > 0);
	assert_true(count_for(a, "l", "close_range") + count_for(a, "l", "close") > 0);
	assert_int_equal(count_for(a, "l", "epoll_wait"), 0);
	assert_true(count_for(a, "-", "epoll_wait") > 0);
	assert_int_equal(count_for(a, "-", "connect"), 0);
	for (int i = 0; i < SYS_CALLS; i++) {
		const char *name = ledger_name((enum sys_call)i);

		assert_int_equal(count_for(a, "l", name) + count_for(a, "-", name),
			ledger_sum(&now, (enum sys_call)i));
	}
	assert_int_equal(count_for(a, "l", "total") + count_for(a, "-", "total"),
		ledger_total(&now));
}

static void
a_clear_begins_the_counts_of_frontends(void **st)
{
	const char *a;

	(void)st;
	rig_forward_hello();
	a = rig_command("show syscalls frontends json");
	assert_non_null(strstr(a, ",\n{\"frontend\":\"l\",\"connections\":1,\"requests\":1,"
		"\"total\":"));
	assert_non_null(strstr(a, "{\"call\":\"connect\",\"total\":1,\"ok\":1,\"again\":0,"
		"\"error\":0,\"per_conn\":1.000000,\"per_req\":1.000000}"));
	rig_check_start(a, "[{\"frontend\":null,\"connections\":0,\"requests\":0,\"total\":");
	assert_string_equal(rig_command("clear syscalls"), "\n");
	a = rig_command("show syscalls frontends json");
	assert_null(strstr(a, "\"l\""));
	rig_forward_hello();
	a = rig_command("show syscalls frontends");
	assert_int_equal(count_for(a, "l", "accept4"), 1);
	assert_int_equal(count_for(rig_command("show syscalls frontends all"), "l", "accept4"), 2);
}

static void
other_words_are_errors(void **st)
{
	(void)st;
	assert_string_equal(rig_command("show syscalls foo"),
		"Expects 'all', 'json', and 'workers' or 'frontends'.\n\n");
	assert_string_equal(rig_command("show syscalls frontends workers"),
		"Expects 'all', 'json', and 'workers' or 'frontends'.\n\n");
	assert_string_equal(rig_command("clear syscalls foo"),
		"'clear syscalls' takes no argument.\n\n");
}

/* Before the first connection the averages do not divide by zero. */
static void
before_the_first_connection(void **st)
{
	(void)st;
	assert_non_null(strstr(rig_command("show syscalls"), " 0.000"));
	assert_null(strstr(rig_command("show syscalls"), "nan"));
	assert_null(strstr(rig_command("show syscalls"), "inf"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(syscalls_are_the_ledger),
		RIG_CASE(calls_since_the_last_look),
		RIG_CASE(a_clear_begins_a_count),
		RIG_CASE(the_only_worker_makes_all_calls),
		RIG_CASE(json_has_the_same_numbers),
		RIG_CASE(calls_are_of_frontends_or_of_none),
		RIG_CASE(a_clear_begins_the_counts_of_frontends),
		RIG_CASE(other_words_are_errors),
		RIG_CASE(before_the_first_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
