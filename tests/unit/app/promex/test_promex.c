/* The exporter, as a local service of a process with one worker. */
#include "unit/app/app_rig.h"
#include "unit/test.h"

#include "app/admin/stat_rows.h"
#include "app/promex/promex.c"
#include "base/sbuf.h"
#include "proxy/model/check.h"
#include "proxy/model/service.h"

#define SECTIONS                                                                             \
	"backend be\n server a 127.0.0.1:1\n server b 127.0.0.1:2 disabled\n"                \
	" server c 127.0.0.1:3\n"                                                            \
	"frontend fe\n mode http\n bind \"abns@tacit-unit-promex-${UNIT_PID}\"\n"            \
	" http-request use-service prometheus-exporter\n"                                    \
	"backend few\n stick-table type string size 7\n"                                     \
	"backend many\n stick-table type ip size 1k store gpc0\n"                            \
	"backend web\n mode http\n"                                                          \
	" server d 127.0.0.1:4 check maxconn 5 weight 7\n"

static int
setup(void **st)
{
	(void)st;
	return service_rig_open(SECTIONS);
}

static int
teardown(void **st)
{
	(void)st;
	bench_close();
	return 0;
}

/* The whole body for this target; the head is in job until the next call. */
static const char *
ask(const char *target)
{
	new_job(&promex_service, target);
	(void)run_job();
	assert_true(job->has_body);
	return rig_text;
}

static unsigned int
count_of(const char *text, const char *part)
{
	unsigned int n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

static void
the_head_names_the_format(void **st)
{
	(void)st;
	ask("/metrics");
	assert_int_equal(job->status, 200);
	assert_non_null(strstr(job->texts.p, "text/plain; version=0.0.4"));
}

static void
all_scopes_are_there(void **st)
{
	const char *text = ask("/metrics");

	(void)st;
	assert_non_null(strstr(text, "\nhaproxy_process_nbthread 1\n"));
	assert_non_null(strstr(text, "\nhaproxy_process_build_info{version=\""));
	assert_non_null(strstr(text, "\nhaproxy_frontend_status{proxy=\"fe\",state=\"UP\"} 1\n"));
	assert_non_null(strstr(text, "\nhaproxy_backend_status{proxy=\"be\",state=\"UP\"} 1\n"));
	assert_non_null(strstr(text,
		"\nhaproxy_server_status{proxy=\"be\",server=\"b\",state=\"MAINT\"} 1\n"));
	assert_int_equal(count_of(text, "# TYPE haproxy_server_status "), 1);
	assert_int_equal(count_of(text, "# HELP haproxy_server_status "), 1);
	/* No server has a value. */
	assert_null(strstr(text, "haproxy_server_queue_limit"));
}

/* The states of a backend with servers in several states. */
static void
states_are_counted(void **st)
{
	const char *text = ask("/metrics?metrics=haproxy_backend_agg_server_status");

	(void)st;
	assert_non_null(strstr(text, "{proxy=\"be\",state=\"UP\"} 2\n"));
	assert_non_null(strstr(text, "{proxy=\"be\",state=\"MAINT\"} 1\n"));
	assert_non_null(strstr(text, "{proxy=\"be\",state=\"DRAIN\"} 0\n"));
	assert_null(strstr(text, "proxy=\"fe\""));
}

/* Servers without checks, and those whose checks are disabled, have no result. */
static void
results_of_checks_are_counted(void **st)
{
	static const char name[] = "/metrics?metrics=haproxy_backend_agg_check_status";
	struct check *c = NULL;

	(void)st;
	list_each(it, &cfg.proxies.all) {
		list_each(at, &list_entry(it, struct proxy, link)->servers) {
			struct server *s = list_entry(at, struct server, link);

			c = s->check ? s->check : c;
		}
	}
	assert_non_null(c);
	c->status = CHECK_L7STS;
	assert_non_null(strstr(ask(name), "state=\"L7STS\"} 1\n"));
	assert_null(strstr(ask(name), "state=\"L4OK\"} 1\n"));
	c->enabled = 0;
	assert_null(strstr(ask(name), "state=\"L7STS\"} 1\n"));
	c->enabled = 1;
}

static void
servers_in_maintenance_can_be_hidden(void **st)
{
	(void)st;
	assert_int_equal(count_of(ask("/m?scope=server"), "server=\"b\"") > 30, 1);
	assert_int_equal(count_of(ask("/m?scope=server&no-maint"), "server=\"b\""), 0);
	assert_int_equal(count_of(rig_text, "haproxy_server_weight{"), 4);
}

/* The ledger, each call that was made with all its results. */
static void
system_calls_are_counted(void **st)
{
	char want[100];
	const char *text;

	(void)st;
	proc.sys->ledger.n[SYS_CALL_chown][SYS_OK] += 7;
	proc.sys->ledger.n[SYS_CALL_chown][SYS_AGAIN] += 2;
	text = ask("/m?metrics=tacit_syscalls_total");
	assert_memory_equal(text, "# HELP tacit_syscalls_total System calls by frontend, name", 58);
	assert_int_equal(count_of(text, "# TYPE tacit_syscalls_total counter\n"), 1);
	assert_non_null(strstr(text, "tacit_syscalls_total{call=\"chown\",result=\"ok\"} 7\n"
		"tacit_syscalls_total{call=\"chown\",result=\"again\"} 2\n"
		"tacit_syscalls_total{call=\"chown\",result=\"error\"} 0\n"));
	assert_null(strstr(text, "chroot"));
	/* No listener has accepted it: no account has begun. */
	assert_null(strstr(text, "proxy=\""));
	/* The start is among them. */
	assert_true(proc.at_start.n[SYS_CALL_listen][SYS_OK] > 0);
	(void)snprintf(want, sizeof(want), "{call=\"listen\",result=\"ok\"} %llu\n",
		(unsigned long long)proc.sys->ledger.n[SYS_CALL_listen][SYS_OK]);
	assert_non_null(strstr(text, want));
	assert_null(strstr(ask("/m?metrics=-tacit_syscalls_total"), "tacit_"));
	assert_null(strstr(ask("/m?scope=server"), "tacit_"));
}

static void
filters_may_leave_nothing(void **st)
{
	(void)st;
	assert_string_equal(ask("/m?scope="), "");
	assert_int_equal(job->status, 200);
	assert_string_equal(ask("/m?scope=listener"), ""); /* without option socket-stats */
	assert_string_equal(ask("/m?metrics=haproxy_no"), "");
	assert_non_null(strstr(ask("/m?scope=no"), "scope"));
	assert_int_equal(job->status, 400);
}

/* As HAProxy 2.6 writes them, the last table first. */
static void
tables_have_two_metrics(void **st)
{
	(void)st;
	assert_string_equal(ask("/m?scope=sticktable"),
		"# HELP haproxy_sticktable_size Stick table size.\n"
		"# TYPE haproxy_sticktable_size gauge\n"
		"haproxy_sticktable_size{name=\"many\",type=\"ip\"} 1024\n"
		"haproxy_sticktable_size{name=\"few\",type=\"string\"} 7\n"
		"# HELP haproxy_sticktable_used Number of entries used in this stick table.\n"
		"# TYPE haproxy_sticktable_used gauge\n"
		"haproxy_sticktable_used{name=\"many\",type=\"ip\"} 0\n"
		"haproxy_sticktable_used{name=\"few\",type=\"string\"} 0\n");
}

/* Cumulative buckets up to +Inf, and the same number as count; the sum in seconds. */
static void
histograms(void **st)
{
	struct proxy *p = proxies_find(&proc.cfg->proxies, "web", PROXY_BE);
	struct latency_times t = { .has = 0 };
	const char *text;

	(void)st;
	latency_set(&t, LATENCY_CONNECT, 600);
	latency_count(&p->latency[1], 0, &t);
	latency_set(&t, LATENCY_CONNECT, 1234567890);
	latency_count(&p->latency[1], 0, &t);
	text = ask("/m?scope=backend&metrics=haproxy_backend_connect_time_seconds");
	assert_non_null(strstr(text, "# TYPE haproxy_backend_connect_time_seconds histogram\n"));
#define WEB(rest) "\nhaproxy_backend_connect_time_seconds" rest
	assert_non_null(strstr(text, WEB("_bucket{proxy=\"web\",le=\"0.0005\"} 0\n")));
	assert_non_null(strstr(text, WEB("_bucket{proxy=\"web\",le=\"0.001\"} 1\n")));
	assert_non_null(strstr(text, WEB("_bucket{proxy=\"web\",le=\"250\"} 1\n")));
	assert_non_null(strstr(text, WEB("_bucket{proxy=\"web\",le=\"+Inf\"} 2\n")));
	assert_non_null(strstr(text, WEB("_sum{proxy=\"web\"} 1234.56849\n")));
	assert_non_null(strstr(text, WEB("_count{proxy=\"web\"} 2\n")));
	assert_non_null(strstr(text, WEB("_sum{proxy=\"be\"} 0\n")));
	/* In mode tcp there is no response. */
	text = ask("/m?metrics=haproxy_backend_response_time_seconds");
	assert_non_null(strstr(text, "_count{proxy=\"web\"} 0\n"));
	assert_null(strstr(text, "proxy=\"be\""));
}

/* --- rows of which one column is made --- */

static void
check_column(const struct stat_row *one, const struct stat_row *all, enum stat_col c)
{
	assert_int_equal(one->v[c].kind, all->v[c].kind);
	if (all->v[c].kind == VAL_INT)
		assert_int_equal(one->v[c].u.n, all->v[c].u.n);
	else if (all->v[c].kind == VAL_TEXT)
		assert_string_equal(one->v[c].u.s, all->v[c].u.s);
}

static void
check_metric(const struct metric *m, const struct stat_item *all)
{
	static struct stat_item one;
	unsigned int n = m->form == METRIC_CODES ? 6 : 1;

	/* Old memory is not taken for a value. */
	memset(&one, 0x55, sizeof(one));
	if (all->type == TYPE_SERVER)
		stat_server_row(&proc, all->server, (enum stat_col)m->value, &one.row, &one.texts);
	else
		stat_backend_row(&proc, all->proxy, (enum stat_col)m->value, &one.row);
	for (unsigned int i = 0; i < n; i++)
		check_column(&one.row, &all->row, (enum stat_col)(m->value + i));
}

/* Gives each counter another value, also those of a previous process. */
static void
fill_counters(struct server *s)
{
	static struct server_stat former;
	uint64_t *words = (uint64_t *)(void *)&s->shard->stat, *past = (uint64_t *)(void *)&former;

	for (size_t i = 0; i < offsetof(struct server_stat, cur_max) / sizeof(*words); i++) {
		words[i] = 1000 + i;
		past[i] = 5000 + 3 * i;
	}
	assert_int_equal(stat_past_add(&s->past, (struct stat_span){ &former, 0, 1, 0 }), 0);
}

static void
one_column_is_that_of_the_whole_row(void **st)
{
	unsigned int compared = 0;
	struct stat_walk walk;
	struct stat_item item;
	enum stat_step step;

	(void)st;
	stat_walk_init(&walk, &proc);
	while ((step = stat_walk_next(&walk, &proc, &item)) != STAT_END) {
		if (step == STAT_NOTHING || item.type == TYPE_FRONTEND)
			continue;
		if (item.type == TYPE_SERVER) {
			fill_counters((struct server *)(uintptr_t)item.server);
			stat_server_row(&proc, item.server, STAT_COLS, &item.row, &item.texts);
		}
		for (unsigned int i = 0; i < metric_count(); i++) {
			struct metric m = metric_at(i);

			if (m.form != METRIC_LATENCY &&
				metric_has_scope(&m,
				    item.type == TYPE_SERVER ? SCOPE_SERVER : SCOPE_BACKEND)) {
				check_metric(&m, &item);
				compared++;
			}
		}
	}
	assert_true(compared > 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_names_the_format),
		cmocka_unit_test(all_scopes_are_there),
		cmocka_unit_test(states_are_counted),
		cmocka_unit_test(results_of_checks_are_counted),
		cmocka_unit_test(servers_in_maintenance_can_be_hidden),
		cmocka_unit_test(system_calls_are_counted),
		cmocka_unit_test(filters_may_leave_nothing),
		cmocka_unit_test(tables_have_two_metrics),
		cmocka_unit_test(histograms),
		cmocka_unit_test(one_column_is_that_of_the_whole_row),
	};
	int r = cmocka_run_group_tests(tests, setup, teardown);

	end_job();
	return r;
}
