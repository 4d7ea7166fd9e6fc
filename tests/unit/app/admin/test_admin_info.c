/* show info and show version: HAProxy's keys, one line each, and what they count. */
#include "unit/app/app_rig.h"

#include "app/admin/info.h"
#include "app/config/version.h"
#include "dns/resolvers.h"
#include "proxy/relay/direction.h"
#include "tls/tls_counts.h"
#include "tls/tls_io.h"

#include <signal.h>

static int
setup(void **st)
{
	(void)st;
	rig_open("node here", "");
	return 0;
}

/* The value of a key, which must occur once. */
static const char *
value(const char *answer, const char *key)
{
	static char found[256];
	size_t len = strlen(key);
	int n = 0;

	for (const char *at = answer; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (strncmp(at, key, len) == 0 && strncmp(at + len, ": ", 2) == 0) {
			snprintf(found, sizeof(found), "%.*s", (int)strcspn(at + len + 2, "\n"),
				at + len + 2);
			n++;
		}
	if (n != 1)
		fail_msg("%d times %s", n, key);
	return found;
}

static unsigned long
number(const char *answer, const char *key)
{
	char *end;
	const char *text = value(answer, key);
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end)
		fail_msg("%s is '%s'", key, text);
	return n;
}

/* Tools split the lines at the colon. */
static void
every_line_is_a_key_and_a_value(void **st)
{
	const char *a = rig_command("show info");
	unsigned int n = rig_lines(a);

	(void)st;
	rig_check_shape(a);
	assert_true(n > 60);
	for (unsigned int i = 0; i < n; i++) {
		const char *line = rig_line(a, (int)i), *colon = strchr(line, ':');

		if (!colon || strchr(colon + 1, ':') || colon == line || colon[1] != ' ')
			fail_msg("'%s'", line);
	}
}

static void
has_what_hatop_and_the_exporters_read(void **st)
{
	static const char *const numbers[] = { "Nbthread", "Nbproc", "Process_num", "Pid",
		"Uptime_sec", "Memmax_MB", "PoolAlloc_MB", "PoolUsed_MB", "PoolFailed", "Ulimit-n",
		"Maxsock", "Maxconn", "Hard_maxconn", "CurrConns", "CumConns", "CumReq",
		"MaxSslConns", "CurrSslConns", "CumSslConns", "Maxpipes", "PipesUsed", "PipesFree",
		"ConnRate", "ConnRateLimit", "MaxConnRate", "SessRate", "SessRateLimit",
		"MaxSessRate", "SslRate", "SslRateLimit", "MaxSslRate", "Tasks", "Run_queue",
		"Idle_pct", "Stopping", "Jobs", "Unstoppable Jobs", "Listeners", "ActivePeers",
		"ConnectedPeers", "DroppedLogs", "BusyPolling", "FailedResolutions",
		"TotalBytesOut", "BytesOutRate", "Memmax_bytes", "PoolAlloc_bytes",
		"PoolUsed_bytes", "DebugCommandsIssued", "CumRecvLogs", "Start_time_sec",
		"Tainted" };
	char *a = strdup(rig_command("show info"));

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		(void)number(a, numbers[i]);
	assert_string_equal(value(a, "Name"), "HAProxy");
	assert_string_equal(value(a, "Version"), VERSION_COMPAT);
	assert_string_equal(value(a, "Release_date"), VERSION_DATE);
	assert_string_equal(value(a, "node"), "here");
	assert_int_equal(number(a, "Pid"), getpid());
	assert_int_equal(number(a, "Listeners"), 2);
	assert_int_equal(number(a, "Maxconn"), proc.limits.maxconn);
	assert_int_equal(number(a, "Nbproc"), 1);
	assert_int_equal(number(a, "Stopping"), 0);
	assert_int_equal(number(a, "Fsm_bugs"), 0);
	assert_int_equal(number(a, "Syscalls"), ledger_total(&sys.ledger));
	free(a);
}

static void
uptime_is_in_days_hours_minutes_seconds(void **st)
{
	static const struct {
		uint64_t sec;
		const char *text;
	} t[] = {
		{ 0, "0d 0h00m00s" }, { 59, "0d 0h00m59s" }, { 61, "0d 0h01m01s" },
		{ 3600, "0d 1h00m00s" }, { 86399, "0d 23h59m59s" }, { 86400, "1d 0h00m00s" },
		{ 1000000, "11d 13h46m40s" },
	};
	uint64_t now = loop_now_ms(w->loop);

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		/* The arithmetic is modular, so the test also works shortly after the machine has
		 * booted. */
		proc.started_ms = now - t[i].sec * 1000;
		assert_string_equal(value(rig_command("show info"), "Uptime"), t[i].text);
		assert_int_equal(number(rig_command("show info"), "Uptime_sec"), t[i].sec);
	}
}

static void
connections_are_counted(void **st)
{
	char *a;
	int c, s;

	(void)st;
	c = bench_connect("front");
	assert_int_equal(send(c, "hello", 5, 0), 5);
	bench_turns();
	s = accept(origin, NULL, NULL);
	assert_int_equal(send(s, "four", 4, 0), 4);
	bench_turns();
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "CurrConns"), 1);
	assert_int_equal(number(a, "CumConns"), 1);
	assert_int_equal(number(a, "CumReq"), 1);
	/* Bytes sent to the server count as well as those sent to the client. */
	assert_int_equal(number(a, "TotalBytesOut"), 9);
	assert_int_equal(number(a, "Jobs"), 1 + 2);
	free(a);
	close(c);
	close(s);
	bench_turns();
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "CurrConns"), 0);
	assert_int_equal(number(a, "CumConns"), 1);
	free(a);
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(number(rig_command("show info"), "Stopping"), 1);
}

/* Values that differ, so that none is shown in the place of another. */
static void
rates_are_shown(void **st)
{
	struct engine *e = &w->engine;
	uint64_t now = loop_now_ms(w->loop);
	char *a;

	(void)st;
	e->stat.conn_rate = (struct freq){ .sec = now / 1000, .cur = 7, .max = 70 };
	e->stat.sess_rate = (struct freq){ .sec = now / 1000, .cur = 5, .max = 50 };
	e->stat.sent_rate = (struct freq){ .sec = now / 1000, .cur = 3, .max = 30 };
	e->stat.requests = 9;
	e->pipes.used = 6;
	e->pipes.n_idle = 5;
	proc.admin->accepted = 4;
	proc.admin->n = 2;
	a = strdup(rig_command("show info"));
	proc.admin->n = 0;
	e->pipes.used = e->pipes.n_idle = 0;
	assert_int_equal(number(a, "PipesUsed"), 6);
	assert_int_equal(number(a, "PipesFree"), 5);
	assert_int_equal(number(a, "Jobs"), 2 + process_listeners(&proc));
	assert_int_equal(number(a, "ConnRate"), 7);
	assert_int_equal(number(a, "MaxConnRate"), 70);
	assert_int_equal(number(a, "SessRate"), 5);
	assert_int_equal(number(a, "MaxSessRate"), 50);
	assert_int_equal(number(a, "BytesOutRate"), 3 * SENT_PIECE);
	/* Connections of the socket are requests, too. */
	assert_int_equal(number(a, "CumReq"), 9 + 4);
	free(a);
}

/* The percentage is rounded as in HAProxy: two keys of three handshakes leave 33. */
static void
tls_is_counted(void **st)
{
	uint64_t sec = loop_now_ms(w->loop) / 1000;
	struct tls_counts *c;
	int reason = 0;
	char *a;

	(void)st;
	assert_null(w->tls);
	w->tls = tls_io_new(&reason);
	assert_non_null(w->tls);
	c = (struct tls_counts *)(uintptr_t)tls_io_counts(w->tls);
	c->live = 4;
	c->cum = 9;
	c->accepted = (struct freq){ .sec = sec, .cur = 3, .max = 13 };
	c->client_keys = (struct freq){ .sec = sec, .cur = 2, .max = 12 };
	c->server_keys = (struct freq){ .sec = sec, .cur = 1, .max = 11 };
	a = strdup(rig_command("show info"));
	c->live = 0;
	assert_int_equal(number(a, "CurrSslConns"), 4);
	assert_int_equal(number(a, "CumSslConns"), 9);
	assert_int_equal(number(a, "SslRate"), 3);
	assert_int_equal(number(a, "MaxSslRate"), 13);
	assert_int_equal(number(a, "SslFrontendKeyRate"), 2);
	assert_int_equal(number(a, "SslFrontendMaxKeyRate"), 12);
	assert_int_equal(number(a, "SslFrontendSessionReuse_pct"), 33);
	assert_int_equal(number(a, "SslBackendKeyRate"), 1);
	assert_int_equal(number(a, "SslBackendMaxKeyRate"), 11);
	free(a);
	(void)rig_command("clear counters");
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "MaxSslRate"), 0);
	assert_int_equal(number(a, "SslFrontendMaxKeyRate"), 0);
	assert_int_equal(number(a, "SslBackendMaxKeyRate"), 0);
	assert_int_equal(number(a, "CumSslConns"), 9);
	free(a);
	tls_io_free(&w->tls);
}

static int
is_maximum(unsigned int f)
{
	return f == INFO_maxconnrate;
}

/* Counters are added to those of previous processes; of the highest values the highest is shown,
 * and values of now are those of this process. */
static void
previous_processes_are_included(void **st)
{
	/* Own numbers, and the base of them that processes have left that have ended. */
	static uint64_t own[2 * INFO_FIELDS], former[INFO_FIELDS];
	uint64_t *past[2] = { own + INFO_FIELDS, former };
	struct keep_numbers kept = { .own = own, .n = INFO_FIELDS, .is_maximum = is_maximum,
		.past = { past[0], past[1] }, .n_past = 2 };
	struct engine *e = &w->engine;
	char *a;

	(void)st;
	e->stat.requests = 9;
	e->stat.conn_rate.max = 70;
	for (int i = 0; i < 2; i++) {
		past[i][INFO_cumreq] = 100 + (unsigned int)i;
		past[i][INFO_maxconnrate] = i ? 60 : 50;
		past[i][INFO_currconns] = 5;
	}
	proc.info = kept;
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "CumReq"), 9 + 100 + 101);
	assert_int_equal(number(a, "MaxConnRate"), 70);
	assert_int_equal(number(a, "CurrConns"), 0);
	free(a);
	/* Its own are noted for the next process. */
	assert_int_equal(own[INFO_cumreq], 9);
	assert_int_equal(own[INFO_maxconnrate], 70);
	past[1][INFO_maxconnrate] = 80;
	assert_int_equal(number(rig_command("show info"), "MaxConnRate"), 80);
	e->stat.conn_rate.max = 0;
	keep_numbers_clear(&proc.info);
	assert_int_equal(own[INFO_maxconnrate], 0);
	assert_int_equal(own[INFO_FIELDS + INFO_maxconnrate], 0);
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "MaxConnRate"), 0);
	assert_int_equal(number(a, "CumReq"), 9 + 100 + 101);
	free(a);
	proc.info = (struct keep_numbers){ .n = 0 };
}

static void
memory_is_shown(void **st)
{
	char *a;

	(void)st;
	assert_int_equal(number(rig_command("show info"), "Memmax_MB"), 0);
	cfg.global.memory = 5 << 20;
	w->engine.stat.memory_holds = 3;
	w->engine.stat.buf_waits = 4;
	w->engine.zerocopy.pinned = 5;
	w->engine.zerocopy.bytes = 6;
	w->engine.zerocopy.copied = 7;
	w->engine.zerocopy.refused = 8;
	w->engine.zerocopy.full = 9;
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "Memmax_MB"), 5);
	assert_int_equal(number(a, "Memory_holds"), 3);
	assert_int_equal(number(a, "Buffer_waits"), 4);
	assert_int_equal(number(a, "Zerocopy_pinned"), 5);
	assert_int_equal(number(a, "Zerocopy_bytes"), 6);
	assert_int_equal(number(a, "Zerocopy_copied"), 7);
	assert_int_equal(number(a, "Zerocopy_refused"), 8);
	assert_int_equal(number(a, "Zerocopy_full"), 9);
	free(a);
}

static void
pipes_are_counted(void **st)
{
	struct pipe *p, *q;
	char *a;

	(void)st;
	proc.limits.pipes = 9;
	engine_allow_splice(&w->engine, 9, 0);
	p = pipe_get(&w->engine.pipes, 0);
	q = pipe_get(&w->engine.pipes, 0);
	assert_true(p && q);
	pipe_put(&w->engine.pipes, q);
	w->engine.stat.spliced = 12345;
	w->engine.stat.splice_fallbacks = 6;
	a = strdup(rig_command("show info"));
	assert_int_equal(number(a, "Maxpipes"), 9);
	assert_int_equal(number(a, "PipesUsed"), 1);
	assert_int_equal(number(a, "PipesFree"), 1);
	assert_int_equal(number(a, "TotalSplicdedBytesOut"), 12345);
	assert_int_equal(number(a, "Splice_bytes"), 12345);
	assert_int_equal(number(a, "Splice_fallbacks"), 6);
	free(a);
	pipe_drop(&w->engine.pipes, p);
}

static void
fields_have_positions_tags_and_types(void **st)
{
	char want[80];
	char *a = strdup(rig_command("show info typed"));

	(void)st;
	rig_check_shape(a);
	rig_check_start(a,
		"0.Name.1:POS:str:HAProxy\n");
	snprintf(want, sizeof(want), "\n6.Pid.1:SGP:u32:%d\n", (int)getpid());
	assert_non_null(strstr(a, want));
	assert_non_null(strstr(a, "\n71.Tainted.1:SGP:str:0\n"));
	assert_non_null(strstr(a, "\n1000.Poller.1:COS:str:"));
	assert_int_equal(rig_lines(a), rig_lines(rig_command("show info")));
	free(a);
	a = strdup(rig_command("show info desc typed"));
	rig_check_start(a,
		"0.Name.1:POS:str:HAProxy:\"Name of the product\"\n");
	free(a);
	a = strdup(rig_command("show info desc"));
	rig_check_start(a,
		"Name: HAProxy:\"Name of the product\"\n");
	free(a);
	a = strdup(rig_command("show info json"));
	rig_check_start(a, "[{\"field\":{\"pos\":0,\"name\":\"Name\"},\"processNum\":1,");
	assert_non_null(strstr(a, "\"value\":{\"type\":\"str\",\"value\":\"0\"}},{"));
	assert_string_equal(a + strlen(a) - 5, "}}]\n\n");
	free(a);
}

static void
failed_lookups_of_names_are_counted(void **st)
{
	struct resolvers *one = resolvers_new("one"), *two = resolvers_new("two");

	(void)st;
	assert_true(one && two);
	assert_int_equal(number(rig_command("show info"), "FailedResolutions"), 0);
	one->failures = 3;
	two->failures = 4;
	list_append(&cfg.proxies.resolvers, &one->link);
	list_append(&cfg.proxies.resolvers, &two->link);
	assert_int_equal(number(rig_command("show info"), "FailedResolutions"), 7);
	list_remove(&one->link);
	list_remove(&two->link);
	resolvers_free(&one);
	resolvers_free(&two);
}

static void
some_numbers_may_be_floating_point(void **st)
{
	(void)st;
	proc.started_ms = loop_now_ms(w->loop) - 61500;
	proc.started_wall_ns = 1700000000250000000u;
	assert_string_equal(value(rig_command("show info"), "Uptime_sec"), "61");
	assert_string_equal(value(rig_command("show info float"), "Uptime_sec"), "61.5");
	assert_string_equal(value(rig_command("show info float"), "Start_time_sec"),
			    "1700000000.25");
	assert_string_equal(value(rig_command("show info float"), "ConnRate"), "0");
	assert_non_null(strstr(rig_command("show info typed float"),
		".Uptime_sec.1:MDP:flt:61.5\n"));
}

static void
other_forms_are_refused(void **st)
{
	(void)st;
	assert_string_equal(rig_command("show info typed xml"),
			    "Invalid argument 'xml': expects desc, float, json or typed.\n\n");
	assert_string_equal(rig_command("show version"), VERSION_COMPAT "\n\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(every_line_is_a_key_and_a_value),
		RIG_CASE_SETUP(has_what_hatop_and_the_exporters_read),
		RIG_CASE_SETUP(uptime_is_in_days_hours_minutes_seconds),
		RIG_CASE_SETUP(connections_are_counted),
		RIG_CASE_SETUP(rates_are_shown),
		RIG_CASE_SETUP(tls_is_counted),
		RIG_CASE_SETUP(previous_processes_are_included),
		RIG_CASE_SETUP(memory_is_shown),
		RIG_CASE_SETUP(pipes_are_counted),
		RIG_CASE_SETUP(fields_have_positions_tags_and_types),
		RIG_CASE_SETUP(failed_lookups_of_names_are_counted),
		RIG_CASE_SETUP(some_numbers_may_be_floating_point),
		RIG_CASE_SETUP(other_forms_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
