/* show stat: HAProxy's columns in HAProxy's order, rows, filters, and the meaning of the
 * numbers. */
#include "unit/app/app_rig.h"

#include <signal.h>

#include "proxy/model/check.h"

/* The header line of HAProxy 2.6. */
static const char header[] =
	"# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,"
	"wredis,status,weight,act,bck,chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,"
	"throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,check_code,"
	"check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,"
	"req_rate,req_rate_max,req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,"
	"lastsess,last_chk,last_agt,qtime,ctime,rtime,ttime,agent_status,agent_code,"
	"agent_duration,check_desc,agent_desc,check_rise,check_fall,check_health,agent_rise,"
	"agent_fall,agent_health,addr,cookie,mode,algo,conn_rate,conn_rate_max,conn_tot,"
	"intercepted,dcon,dses,wrew,connect,reuse,cache_lookups,cache_hits,srv_icur,src_ilim,"
	"qtime_max,ctime_max,rtime_max,ttime_max,eint,idle_conn_cur,safe_conn_cur,"
	"used_conn_cur,need_conn_est,uweight,agg_server_status,agg_server_check_status,"
	"agg_check_status,-,ssl_sess,ssl_reused_sess,ssl_failed_handshake,h2_headers_rcvd,"
	"h2_data_rcvd,h2_settings_rcvd,h2_rst_stream_rcvd,h2_goaway_rcvd,"
	"h2_detected_conn_protocol_errors,h2_detected_strm_protocol_errors,h2_rst_stream_resp,"
	"h2_goaway_resp,h2_open_connections,h2_backend_open_streams,h2_total_connections,"
	"h2_backend_total_streams,h1_open_connections,h1_open_streams,h1_total_connections,"
	"h1_total_streams,h1_bytes_in,h1_bytes_out,h1_spliced_bytes_in,h1_spliced_bytes_out,";

#define MORE                                                                                      \
	"backend two\n balance leastconn\n server a 127.0.0.1:1 weight 50 maxconn 9\n"            \
	" server b 127.0.0.1:2 backup id 7\nfrontend f\n bind abns@tacit-unit-off\n disabled\n"
#define CHECKED                                                               \
	"backend three\n server x 127.0.0.1:1 check inter 1h observe layer4\n" \
	" server y 127.0.0.1:1 track three/x\n server z 127.0.0.1:1\n"

static int
setup(void **st)
{
	(void)st;
	rig_open("", MORE);
	return 0;
}

static int
setup_checked(void **st)
{
	(void)st;
	rig_open("", CHECKED);
	return 0;
}

static unsigned int
commas(const char *line)
{
	unsigned int n = 0;

	for (; *line; line++)
		n += *line == ',';
	return n;
}

/* A field of a line by its number. */
static const char *
field(const char *line, unsigned int n)
{
	static char text[4][128];
	static unsigned int next;
	char *out = text[next++ % 4];

	while (n--) {
		line = strchr(line, ',');
		assert_non_null(line);
		line++;
	}
	snprintf(out, sizeof(text[0]), "%.*s", (int)strcspn(line, ",\n"), line);
	return out;
}

/* A field of a line by its name in the header. */
static const char *
named(const char *line, const char *name)
{
	char key[64];
	const char *at;
	unsigned int n = 0;

	snprintf(key, sizeof(key), ",%s,", name);
	at = strstr(header, key);
	assert_non_null(at);
	for (const char *p = header; p <= at; p++)
		n += *p == ',';
	return field(line, n);
}

/* The row of a proxy and server. */
static const char *
row(const char *answer, const char *px, const char *sv)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\n%s,%s,", px, sv);
	at = strstr(answer, key);
	if (!at)
		fail_msg("no row for %s/%s", px, sv);
	return at + 1;
}

static void
the_header_is_haproxys(void **st)
{
	(void)st;
	assert_string_equal(rig_line(rig_command("show stat"), 0), header);
	assert_string_equal(rig_line(rig_command("show stats"), 0), header);
}

static void
every_row_is_as_wide_as_the_header(void **st)
{
	const char *a = rig_command("show stat");

	(void)st;
	rig_check_shape(a);
	/* l: frontend, server, backend; two: two servers, backend; f is disabled. */
	assert_int_equal(rig_lines(a), 1 + 3 + 3);
	assert_true(commas(header) >= 51);
	for (unsigned int i = 1; i < rig_lines(a); i++)
		assert_int_equal(commas(rig_line(a, (int)i)), commas(header));
}

/* Fields that tools read as numbers are numbers or empty: all before column 51 except the texts. */
static void
numeric_columns_are_numbers(void **st)
{
	static const char *const texts[] = { "svname", "status", "tracked", "check_status",
					     "hanafail" };
	const char *a = rig_command("show stat");

	(void)st;
	for (unsigned int i = 1; i < rig_lines(a); i++) {
		const char *line = rig_line(a, (int)i);

		for (unsigned int c = 1; c < 51; c++) {
			const char *f = field(line, c), *name = field(header, c);
			int is_text = 0;

			for (size_t t = 0; t < ARRAY_LEN(texts); t++)
				is_text |= strcmp(name, texts[t]) == 0;
			if (!is_text && strspn(f, "0123456789") != strlen(f))
				fail_msg("%s is '%s'", name, f);
		}
		assert_string_equal(named(line, "mode"), "tcp");
		assert_true(atoi(named(line, "iid")) > 0);
	}
}

static void
the_type_column_is_right(void **st)
{
	static const struct {
		const char *px, *sv, *type, *sid, *status, *weight, *act, *bck, *algo;
	} t[] = {
		{ "l", "FRONTEND", "0", "0", "OPEN", "", "", "", "" },
		{ "l", "s", "2", "1", "no check", "1", "1", "0", "" },
		{ "l", "BACKEND", "1", "0", "UP", "1", "1", "0", "roundrobin" },
		{ "two", "a", "2", "1", "no check", "50", "1", "0", "" },
		{ "two", "b", "2", "7", "no check", "1", "0", "1", "" },
		{ "two", "BACKEND", "1", "0", "UP", "50", "1", "1", "leastconn" },
	};
	const char *a = rig_command("show stat"), *r;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		r = row(a, t[i].px, t[i].sv);
		assert_string_equal(named(r, "type"), t[i].type);
		assert_string_equal(named(r, "sid"), t[i].sid);
		assert_string_equal(named(r, "status"), t[i].status);
		assert_string_equal(named(r, "weight"), t[i].weight);
		assert_string_equal(named(r, "act"), t[i].act);
		assert_string_equal(named(r, "bck"), t[i].bck);
		assert_string_equal(named(r, "algo"), t[i].algo);
		assert_string_equal(named(r, "pid"), "1");
	}
	assert_string_equal(named(row(a, "two", "a"), "slim"), "9");
	assert_string_equal(named(row(a, "two", "a"), "addr"), "127.0.0.1:1");
	assert_string_equal(named(row(a, "two", "b"), "slim"), "");
	assert_string_equal(named(row(a, "two", "b"), "lastsess"), "-1");
	assert_string_not_equal(named(row(a, "l", "s"), "iid"), named(row(a, "two", "a"), "iid"));
}

static void
filters_select(void **st)
{
	static const struct {
		const char *arg;
		unsigned int rows;
	} t[] = {
		{ "-1 -1 -1", 6 }, { "-1 7 -1", 6 }, { "-1 0 -1", 0 }, { "-1 1 -1", 1 },
		{ "-1 2 -1", 2 }, { "-1 4 -1", 3 }, { "-1 3 -1", 3 }, { "-1 4 1", 2 },
		{ "-1 -1 7", 1 }, { "l -1 -1", 3 }, { "two -1 -1", 3 }, { "two 4 7", 1 },
		{ "two 4 8", 0 }, { "f 1 -1", 0 }, { "l 1 -1", 1 }, { "999 -1 -1", 0 },
	};
	char line[80];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(line, sizeof(line), "show stat %s", t[i].arg);
		if (rig_lines(rig_command(line)) != t[i].rows + 1)
			fail_msg("%s: %u rows", line, rig_lines(rig_command(line)) - 1);
		rig_check_shape(rig_command(line));
	}
	snprintf(line, sizeof(line), "show stat %d 4 -1",
		 proxies_find(&cfg.proxies, "two", PROXY_BE)->id);
	assert_int_equal(rig_lines(rig_command(line)), 3);
}

static void
other_filters_are_refused(void **st)
{
	static const struct {
		const char *args, *answer;
	} bad[] = {
		{ "1", "Invalid argument '1'" }, { "1 2", "Invalid argument '1'" },
		{ "l json", "Invalid argument 'l'" }, { "l -1 -1 x", "Invalid argument 'x'" },
		{ "typed l -1", "Invalid argument 'l'" }, { "nobody -1 -1", "No such proxy." },
		{ "-2 -1 -1", "No such proxy." }, { "l x -1", "Invalid filter" },
		{ "l -1 x", "Invalid filter" }, { "l 99999999999 -1", "Invalid filter" },
		{ "domain", "Invalid statistics domain." },
		{ "domain dns", "Invalid statistics domain." },
		{ "domain proxy l", "Invalid argument 'l'" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *a;
		char line[80];

		snprintf(line, sizeof(line), "show stat %s", bad[i].args);
		a = rig_command(line);
		if (strncmp(a, bad[i].answer, strlen(bad[i].answer)) != 0)
			fail_msg("%s: %s", line, a);
	}
}

/* A value of the typed form: the text behind its tags and type. */
static const char *
typed(const char *args, const char *field)
{
	static char found[160];
	char line[80], head[80];
	const char *at;

	snprintf(line, sizeof(line), "show stat %s", args);
	snprintf(head, sizeof(head), "\n%s:", field);
	at = strstr(rig_command(line), head);
	if (!at)
		fail_msg("%s: no %s", line, field);
	snprintf(found, sizeof(found), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	return found + strlen(head) - 1;
}

static void
values_are_shown_with_their_type(void **st)
{
	(void)st;
	assert_string_equal(typed("two -1 -1 typed", "S.3.7.1.svname.1"), "KNS:str:b");
	assert_string_equal(typed("two -1 -1 typed", "S.3.7.28.sid.1"), "KGS:u32:7");
	assert_string_equal(typed("two -1 -1 typed", "S.3.7.20.bck.1"), "SGP:u32:1");
	assert_string_equal(typed("two -1 -1 typed", "B.3.0.19.act.1"), "MGP:u32:1");
	assert_string_equal(typed("two -1 -1 typed", "B.3.0.55.lastsess.1"), "MAP:s32:-1");
	assert_string_equal(typed("two -1 -1 typed", "B.3.0.103.ssl_sess.1"), "MCP:u64:0");
	assert_string_equal(typed("two -1 -1 desc typed", "B.3.0.28.sid.1"),
		"KGS:u32:0:\"Number of the server in its proxy\"");
	assert_null(strstr(rig_command("show stat typed"), "separator"));
	rig_check_shape(rig_command("show stat typed"));
}

static void
rows_are_arrays_in_json(void **st)
{
	const char *a;

	(void)st;
	assert_string_equal(rig_command("show stat two 4 8 json"), "[]\n\n");
	a = rig_command("show stat two 6 -1 json");
	rig_check_shape(a);
	rig_check_start(a,
		"[[{\"objType\":\"Server\",\"proxyId\":3,\"id\":1,\"field\":"
		"{\"pos\":0,\"name\":\"pxname\"},\"processNum\":1,\"tags\":"
		"{\"origin\":\"Key\",\"nature\":\"Name\",\"scope\":\"Service\"},"
		"\"value\":{\"type\":\"str\",\"value\":\"two\"}},{");
	assert_non_null(strstr(a, "}}],[{\"objType\":\"Backend\",\"proxyId\":3,\"id\":0,"));
	assert_string_equal(a + strlen(a) - 5, "}]]\n\n");
}

static void
servers_that_are_down_may_be_hidden(void **st)
{
	(void)st;
	assert_int_equal(rig_lines(rig_command("show stat two 4 -1 up")), 1 + 2);
	(void)rig_command("disable server two/#7");
	assert_int_equal(rig_lines(rig_command("show stat two 4 -1")), 1 + 2);
	assert_int_equal(rig_lines(rig_command("show stat two 4 -1 up")), 1 + 1);
	assert_int_equal(rig_lines(rig_command("show stat two 4 -1 no-maint")), 1 + 1);
}

static void
connections_and_bytes_are_counted(void **st)
{
	int c = bench_connect("front"), s;
	char buf[16];
	const char *a;

	(void)st;
	assert_int_equal(send(c, "hello", 5, 0), 5);
	bench_turns();
	s = accept(origin, NULL, NULL);
	assert_int_equal(recv(s, buf, sizeof(buf), 0), 5);
	assert_int_equal(send(s, "answer!", 7, 0), 7);
	bench_turns();
	a = rig_command("show stat l -1 -1");
	for (unsigned int i = 1; i < rig_lines(a); i++) {
		const char *line = rig_line(a, (int)i);

		assert_string_equal(named(line, "scur"), "1");
		assert_string_equal(named(line, "smax"), "1");
		assert_string_equal(named(line, "stot"), "1");
		assert_string_equal(named(line, "bin"), "5");
		assert_string_equal(named(line, "bout"), "7");
	}
	assert_string_equal(named(row(a, "l", "FRONTEND"), "conn_tot"), "1");
	assert_string_equal(named(row(a, "l", "s"), "connect"), "1");
	assert_string_equal(named(row(a, "l", "s"), "lbtot"), "1");
	assert_string_equal(named(row(a, "l", "s"), "lastsess"), "0");
	assert_int_equal(recv(c, buf, sizeof(buf), 0), 7);
	close(c);
	close(s);
	bench_turns();
	a = rig_command("show stat l -1 -1");
	for (unsigned int i = 1; i < rig_lines(a); i++) {
		assert_string_equal(named(rig_line(a, (int)i), "scur"), "0");
		assert_string_equal(named(rig_line(a, (int)i), "stot"), "1");
	}
}

/* Averages run over the last 1024 sessions at most, as in HAProxy. */
static void
states_limits_and_times_show(void **st)
{
	struct proxy *p = proxies_find(&cfg.proxies, "two", PROXY_BE);
	struct server *s = list_first(&p->servers, struct server, link);
	struct server_stat *sum = &s->shard->stat;
	const char *a;

	(void)st;
	sum->cum_sess = 4;
	sum->times.qtime = 40;
	sum->times.ctime = 400;
	sum->times.ttime = 4000;
	sum->times.ttime_max = 2222;
	(void)rig_command("disable server two/a");
	a = rig_command("show stat two -1 -1");
	assert_string_equal(named(row(a, "two", "a"), "status"), "MAINT");
	assert_string_equal(named(row(a, "two", "a"), "qtime"), "10");
	assert_string_equal(named(row(a, "two", "a"), "ctime"), "100");
	assert_string_equal(named(row(a, "two", "a"), "ttime"), "1000");
	assert_string_equal(named(row(a, "two", "a"), "ttime_max"), "2222");
	assert_string_equal(named(row(a, "two", "BACKEND"), "act"), "0");
	assert_string_equal(named(row(a, "two", "BACKEND"), "status"), "UP");
	(void)rig_command("disable server two/b");
	a = rig_command("show stat two -1 -1");
	assert_string_equal(named(row(a, "two", "BACKEND"), "status"), "DOWN");
	assert_string_equal(named(row(a, "two", "BACKEND"), "downtime"), "0");
	assert_string_equal(named(row(a, "two", "BACKEND"), "chkdown"), "1");
	/* The time of earlier downs, and that of the present one. */
	p->down_ms = 20000;
	p->down_since_ms -= 3000;
	a = rig_command("show stat two -1 -1");
	assert_string_equal(named(row(a, "two", "BACKEND"), "downtime"), "23");
	process_on_signal(&proc, SIGUSR1, 0);
	assert_string_equal(
		named(row(rig_command("show stat"), "l", "FRONTEND"), "status"), "STOP");
}

/* A star is before the last result while the next check runs. A result has no code, unless an
 * answer had one. */
static void
results_of_checks_show(void **st)
{
	struct proxy *p = proxies_find(&cfg.proxies, "three", PROXY_BE);
	struct check *c = list_first(&p->servers, struct server, link)->check;
	const char *x, *a;

	(void)st;
	assert_non_null(c);
	c->status = CHECK_L4CON;
	c->code = 0;
	c->is_running = 1;
	x = row(rig_command("show stat three -1 -1"), "three", "x");
	assert_string_equal(named(x, "check_status"), "* L4CON");
	assert_string_equal(named(x, "check_code"), "");
	assert_string_equal(named(x, "last_chk"), "");
	c->is_running = 0;
	c->status = CHECK_L7STS;
	c->code = 503;
	c->fails = 4;
	c->observed_fails = 3;
	c->rise = 2;
	c->fall = 5;
	c->health = 1;
	c->srv->downs = 6;
	a = rig_command("show stat three -1 -1");
	x = row(a, "three", "x");
	assert_string_equal(named(x, "check_status"), "L7STS");
	assert_string_equal(named(x, "check_code"), "503");
	assert_string_equal(named(x, "chkfail"), "4");
	assert_string_equal(named(x, "hanafail"), "3");
	assert_string_equal(named(x, "check_rise"), "2");
	assert_string_equal(named(x, "check_fall"), "5");
	assert_string_equal(named(x, "check_health"), "1");
	assert_string_equal(named(x, "chkdown"), "6");
	/* The server that follows it has no findings of its own, and one without checks none. */
	assert_string_equal(named(row(a, "three", "y"), "hanafail"), "0");
	assert_string_equal(named(row(a, "three", "z"), "hanafail"), "");
}

/* Buckets add up; what has no session has no percentiles. */
static void
times_are_listed_with_their_buckets(void **st)
{
	struct proxy *p = proxies_find(&cfg.proxies, "two", PROXY_BE);
	struct server *s = list_first(&p->servers, struct server, link);
	struct latency_times t = { .has = 0 };
	const char *a;

	(void)st;
	latency_set(&t, LATENCY_TOTAL, 70);
	latency_count(&s->latency, 0, &t);
	latency_set(&t, LATENCY_TOTAL, 300000000);
	latency_count(&s->latency, 0, &t);
	a = rig_command("show latency two csv");
	assert_int_equal(rig_lines(a), 1 + 3 * 3);
	assert_int_equal(strncmp(rig_line(a, 0),
		"# pxname,svname,time,count,sum_us,p50_us,p90_us,p99_us,le_50,le_100,", 68), 0);
	assert_int_equal(commas(rig_line(a, 0)), 7 + LATENCY_BUCKETS);
	assert_string_equal(rig_line(a, 3),
		"two,a,total,2,300000070,100,250000000,250000000,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		"1,1,1,1,1,1,2");
	assert_string_equal(rig_line(a, 1),
		"two,a,queue,0,0,,,,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	assert_int_equal(strncmp(rig_line(a, 9), "two,BACKEND,total,0,0,", 22), 0);
	assert_non_null(strstr(rig_command("show latency csv"), "\nl,FRONTEND,total,0,"));
	assert_non_null(strstr(rig_command("show latency no"), "No such proxy."));
	/* For people: what was measured, with the shape of its histogram. */
	a = rig_command("show latency two");
	assert_int_equal(rig_lines(a), 2);
	assert_string_equal(rig_line(a, 0), "# proxy/server                 time            count"
		"     mean      p50      p90      p99  |....m........s........|");
	assert_string_equal(rig_line(a, 1), "two/a                          total               2"
		"     150s    100us     250s     250s  | @                   @|");
	assert_int_equal(rig_lines(rig_command("show latency")), 2);
	a = rig_command("show latency two json");
	rig_check_shape(a);
	assert_string_equal(rig_line(a, 2),
		"{\"pxname\":\"two\",\"svname\":\"a\",\"time\":\"total\",\"count\":2,"
		"\"sum_us\":300000070,\"p50_us\":100,\"p90_us\":250000000,\"p99_us\":250000000,"
		"\"buckets\":[{\"le_us\":50,\"count\":0},{\"le_us\":100,\"count\":1},"
		"{\"le_us\":250,\"count\":1},{\"le_us\":500,\"count\":1},"
		"{\"le_us\":1000,\"count\":1},{\"le_us\":2500,\"count\":1},"
		"{\"le_us\":5000,\"count\":1},{\"le_us\":10000,\"count\":1},"
		"{\"le_us\":25000,\"count\":1},{\"le_us\":50000,\"count\":1},"
		"{\"le_us\":100000,\"count\":1},{\"le_us\":250000,\"count\":1},"
		"{\"le_us\":500000,\"count\":1},{\"le_us\":1000000,\"count\":1},"
		"{\"le_us\":2500000,\"count\":1},{\"le_us\":5000000,\"count\":1},"
		"{\"le_us\":10000000,\"count\":1},{\"le_us\":25000000,\"count\":1},"
		"{\"le_us\":50000000,\"count\":1},{\"le_us\":100000000,\"count\":1},"
		"{\"le_us\":250000000,\"count\":1},{\"le_us\":null,\"count\":2}]},");
	assert_non_null(strstr(rig_line(a, 0), "\"time\":\"queue\",\"count\":0,\"sum_us\":0,"
					       "\"p50_us\":null,"));
	assert_int_equal(rig_lines(a), 3 * 3);
	/* show stat has their sums, of times that there are. */
	a = rig_command("show stat two 4 -1 json");
	assert_non_null(strstr(a, "\"field\":{\"pos\":1015,\"name\":\"total_time_count\"},"));
	assert_non_null(strstr(a, "\"field\":{\"pos\":1016,\"name\":\"total_time_sum_us\"},"));
	assert_non_null(strstr(a, "{\"type\":\"u64\",\"value\":300000070}}"));
	assert_non_null(strstr(a, "\"name\":\"total_time_p99_us\"},"));
	assert_null(strstr(a, "queue_time_"));
}

/* A comma in a name must not move the columns after it. */
static void
odd_names_are_quoted(void **st)
{
	struct proxy *p = proxies_find(&cfg.proxies, "two", PROXY_BE);
	char *was = p->name, odd[] = "t,\"o";

	(void)st;
	p->name = odd;
	assert_int_equal(strncmp(rig_line(rig_command("show stat -1 2 -1"), 2),
		"\"t,\"\"o\",BACKEND,", 16), 0);
	p->name = was;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(the_header_is_haproxys),
		RIG_CASE_SETUP(every_row_is_as_wide_as_the_header),
		RIG_CASE_SETUP(numeric_columns_are_numbers),
		RIG_CASE_SETUP(the_type_column_is_right),
		RIG_CASE_SETUP(filters_select),
		RIG_CASE_SETUP(other_filters_are_refused),
		RIG_CASE_SETUP(values_are_shown_with_their_type),
		RIG_CASE_SETUP(rows_are_arrays_in_json),
		RIG_CASE_SETUP(servers_that_are_down_may_be_hidden),
		RIG_CASE_SETUP(connections_and_bytes_are_counted),
		RIG_CASE_SETUP(states_limits_and_times_show),
		cmocka_unit_test_setup_teardown(
			results_of_checks_show, setup_checked, rig_teardown),
		RIG_CASE_SETUP(times_are_listed_with_their_buckets),
		RIG_CASE_SETUP(odd_names_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
