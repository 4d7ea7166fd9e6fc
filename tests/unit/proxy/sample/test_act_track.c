/* Lines of track-sc, of actions on what is tracked, of words about tables, and of stick rules: some
 * load, others are errors. What they do is compared with HAProxy (tests/system). */
#include "proxy/sample/act_track.h"
#include "cfg/ctx.h"
#include "table/table.h"

static int
begin_global(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static const struct cfg_section global_sections[] = {
	{ .name = "global", .bit = CFG_GLOBAL, .begin = begin_global },
	{ 0 },
};

static const struct cfg_module global_module = { .name = "global", .sections = global_sections };

#define WORLD_BEGINS() assert_int_equal(cfg_registry_add(&w->registry, &global_module), 0)
#define WORLD_ENDS() ((void)0)
#include "unit/proxy/proxies_rig.h"

#define TABLES "backend t\n stick-table type ip size 10 store gpc0,conn_cnt\n" \
	"backend n\n stick-table type integer size 10\n"

static const struct {
	const char *line;
	const char *error; /* "": none */
} lines[] = {
	{ "http-request track-sc0 src", "" },
	{ "http-request track-sc2 src table t if { src_conn_cnt(t) gt 1 }", "" },
	{ "http-response track-sc1 src table t", "" },
	{ "tcp-request connection track-sc0 src", "" },
	{ "tcp-request session track-sc0 dst_port table n", "" },
	{ "tcp-request content track-sc0 req.hdr(x) table n", "" },
	{ "http-request track-sc3 src", "there are 3 counters, from 0: see tune.stick-counters" },
	{ "http-request track-sc", "has no action 'track-sc'" },
	{ "http-request track-sc100 src", "has no action 'track-sc100'" },
	{ "http-request track-scx src", "has no action 'track-scx'" },
	{ "http-request track-sc0", "<key> [table <table>]" },
	{ "http-request track-sc0 src table", "<key> [table <table>]" },
	{ "http-request track-sc0 src table q", "there is no stick-table 'q'" },
	{ "http-request track-sc0 src table t x", "expects either 'if' or 'unless'" },
	{ "http-request track-sc0 nothing", "unknown fetch 'nothing'" },
	{ "http-request track-sc0 bool(true) table t", "keys of type ip" },
	{ "tcp-response content track-sc0 src", "is not for 'tcp-response content'" },
	{ "http-after-response track-sc0 src", "is not for 'http-after-response'" },
	{ "http-request sc-inc-gpc(0,1)", "" },
	{ "http-after-response sc-inc-gpc0(0)", "" },
	{ "tcp-request connection sc-inc-gpc1(2)", "" },
	{ "http-request sc-add-gpc(3,0) 7", "" },
	{ "http-request sc-add-gpc(3,0) req.hdr_cnt(x) if TRUE", "" },
	{ "http-request sc-set-gpt(99,0) 4294967295", "" },
	{ "tcp-response content sc-set-gpt0(0) int(3),add(1)", "" },
	{ "http-request sc-inc-gpc(0)", "expects (<idx>,<ctr>)" },
	{ "http-request sc-inc-gpc(0,0,0)", "expects (<idx>,<ctr>)" },
	{ "http-request sc-inc-gpc(x,0)", "expects (<idx>,<ctr>)" },
	{ "http-request sc-inc-gpc(100,0)", "100 is not below 100" },
	{ "http-request sc-inc-gpc0(3)", "3 is not below 3" },
	{ "http-request sc-inc-gpc0", "is followed by '(...)'" },
	{ "http-request sc-set-gpt0(0)", "<number>|<expr>" },
	{ "http-request sc-set-gpt0(0) 4294967296", "4294967296" },
	{ "http-request sc-set-gpt0(0) nothing", "unknown fetch" },
	{ "http-request deny if { sc_conn_cnt(0) gt 1 } { sc0_conn_cnt gt 1 }", "" },
	{ "http-request deny if { sc1_conn_cnt(t) gt 1 }", "" },
	{ "http-request deny if { sc_get_gpc(0,1) gt 1 } { src_get_gpc(0,t) gt 1 }", "" },
	{ "http-request deny if { src,in_table(t) } { src,table_conn_cnt(t) gt 1 }", "" },
	{ "http-request deny if { src,table_gpc(1,t) gt 1 } { table_avl(n) eq 0 }", "" },
	{ "http-request deny if { table_cnt gt 1 }", "" },
	{ "http-request set-header x %[sc_key(0)]%[sc0_key]%[src,table_expire(t,5)]", "" },
	{ "http-request deny if { src_conn_cnt(q) gt 1 }", "there is no such stick-table" },
	{ "http-request deny if { src,table_conn_cnt(q) gt 1 }", "there is no such stick-table" },
	{ "http-request deny if { sc0_conn_cnt(q) gt 1 }", "there is no such stick-table" },
	{ "http-request deny if { sc_conn_cnt gt 1 }", "sc_conn_cnt" },
	{ "http-request deny if { table_cnt(q) gt 1 }", "there is no such stick-table" },
};

static void
lines_load_or_are_refused(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[2048];
		struct world w;

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS
			" mode http\nlisten f\n bind 127.0.0.1:1\n server s 127.0.0.1:2\n"
			" stick-table type ip size 10 store conn_cnt\n %s\n" TABLES, lines[i].line);
		world_load(&w, text);
		if (lines[i].error[0] ? !strstr(w.printed, lines[i].error) : w.printed[0] != '\0')
			fail_msg("%s\n=> %s\nexpected: %s", text, w.printed, lines[i].error);
		world_fini(&w);
	}
}

/* A section without a table has to name one, and a defaults section has none. */
static void
own_tables_are_asked_for(void **st)
{
	(void)st;
	world_reports(WORLD_DEFAULTS " mode http\nfrontend f\n bind :1\n"
		" http-request track-sc0 src\n", -1, "there is no stick-table 'f'");
	world_reports(WORLD_DEFAULTS " mode http\nfrontend f\n bind :1\n"
		" http-request deny if { src_conn_cnt gt 1 }\n",
		-1, "this section has no stick-table: name one");
	world_reports(WORLD_DEFAULTS "defaults d\n mode http\n http-request track-sc0 src\n", -1,
		"a defaults section has none");
	world_reports(WORLD_DEFAULTS "defaults d\n mode http\n"
		" http-request deny if { src_conn_cnt gt 1 }\n",
		-1, "this section has no stick-table: name one");
}

/* Slots are allocated for the counters that are used. */
static void
used_counters_are_counted(void **st)
{
	struct world w;

	(void)st;
	world_good(&w, "global\n tune.stick-counters 20\n http-err-codes 404,410 -410\n"
		" http-fail-codes +501\n" WORLD_DEFAULTS " mode http\nfrontend f\n bind :1\n"
		" stick-table type ip size 10\n http-request track-sc0 src\n"
		" http-request track-sc12 src\n");
	assert_int_equal(w.proxies.stick_counters, 20);
	assert_int_equal(w.proxies.n_tracked, 13);
	assert_true(status_set_has(&w.proxies.err_codes, 404));
	assert_false(status_set_has(&w.proxies.err_codes, 410));
	assert_false(status_set_has(&w.proxies.err_codes, 400));
	assert_true(status_set_has(&w.proxies.fail_codes, 500));
	assert_true(status_set_has(&w.proxies.fail_codes, 501));
	world_fini(&w);
	world_good(&w, WORLD_DEFAULTS " mode http\nfrontend f\n bind :1\n");
	assert_int_equal(w.proxies.stick_counters, TRACK_SLOTS_DEFAULT);
	assert_int_equal(w.proxies.n_tracked, 0);
	world_fini(&w);
	world_reports("global\n tune.stick-counters 101\n", -1, "101");
	world_reports("global\n http-err-codes 99\n", -1, "codes from 100 to 599");
}

static const struct world_line sticks[] = {
	{ "stick on src", NULL },
	{ "stick match src table t", NULL },
	{ "stick store-request src table t if { dst_port 1 }", NULL },
	{ "stick store-response res.cook(a) table s", NULL },
	{ "stick on req.cook(a) table s unless { src 127.0.0.1 }", NULL },
	{ "stick on", "expects" },
	{ "stick at src", "stick" },
	{ "stick on src table", "'table' expects a name" },
	{ "stick on src table q", "there is no stick-table 'q'" },
	{ "stick on nothing", "unknown fetch 'nothing'" },
	{ "stick on bool(true) table t", "keys of type ip" },
	{ "stick on res.cook(a) table s", "is not available here" },
	{ "stick match src if { status 200 }", "is not available here" },
	{ "stick on src x", "'x'" },
};

static void
stick_lines_load_or_are_refused(void **st)
{
	(void)st;
	world_lines(" mode http\nbackend b\n stick-table type ip size 10\n server s 127.0.0.1:1\n ",
		sticks, ARRAY_LEN(sticks),
		"backend s\n stick-table type string size 10\n" TABLES);
}

/* The table stores servers, and rules of all kinds are noted. */
static void
tables_store_servers(void **st)
{
	struct proxy *p;
	struct world w;

	(void)st;
	world_good(&w, WORLD_DEFAULTS " mode http\nbackend b\n stick-table type ip size 10\n"
		" stick on src\n server s 127.0.0.1:1 non-stick\n");
	p = world_proxy(&w, "b");
	assert_int_equal(p->persist.stick_what, STICK_MATCH | STICK_STORE);
	assert_false(persist_conf_is_empty(&p->persist));
	assert_int_equal(table_conf_of(p->table)->store[TABLE_SERVER_ID].n, 1);
	assert_int_equal(table_conf_of(p->table)->store[TABLE_SERVER_KEY].n, 1);
	assert_true(world_server(p, 0)->conf.non_stick);
	world_fini(&w);
	world_good(&w, WORLD_DEFAULTS " mode http\nbackend b\n stick-table type string size 10\n"
		" stick store-response res.cook(a)\n server s 127.0.0.1:1\n");
	p = world_proxy(&w, "b");
	assert_int_equal(p->persist.stick_what, STICK_STORE_RESPONSE);
	assert_true(persist_conf_is_empty(&p->persist));
	world_fini(&w);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(own_tables_are_asked_for),
		cmocka_unit_test(used_counters_are_counted),
		cmocka_unit_test(stick_lines_load_or_are_refused),
		cmocka_unit_test(tables_store_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
