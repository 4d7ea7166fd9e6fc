/* show stat: each column has the number of its own counter. All of them differ here. */
#include "unit/app/app_rig.h"

#include "proxy/config/proxy_life.h"
#include "proxy/model/proxies.h"

#define WEB                                                                                       \
	"listen web\n mode http\n bind \"abns@tacit-unit-web-${UNIT_PID}\" maxconn 55\n"          \
	" option socket-stats\n"                                                                  \
	" fullconn 77\n rate-limit sessions 88\n maxconn 66\n cookie C insert\n balance source\n" \
	" server s 127.0.0.1:1 cookie v maxconn 5 maxqueue 6 pool-max-conn 0 weight 30\n"         \
	"backend none\n"

static struct proxy *web;
static struct server *srv;
static struct listener *ln;

static int
setup(void **st)
{
	(void)st;
	rig_open("", WEB);
	web = proxies_find(&cfg.proxies, "web", PROXY_BE);
	srv = list_first(&web->servers, struct server, link);
	ln = proxy_next_listener(web, NULL);
	return 0;
}

/* Gives each of these words a number of its own. */
static void
fill(void *words, size_t size, uint64_t first)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		((uint64_t *)words)[i] = first + i;
}

static void
fill_times(struct stat_times *t, unsigned int n)
{
	t->qtime = (uint64_t)STAT_AVERAGE_OVER * n;
	t->ctime = (uint64_t)STAT_AVERAGE_OVER * (n + 1);
	t->rtime = (uint64_t)STAT_AVERAGE_OVER * (n + 2);
	t->ttime = (uint64_t)STAT_AVERAGE_OVER * (n + 3);
	t->qtime_max = n + 4;
	t->ctime_max = n + 5;
	t->rtime_max = n + 6;
	t->ttime_max = n + 7;
}

/* The column of this name in a row of the answer. */
static const char *
cell(const char *answer, const char *row, const char *name)
{
	static char text[64];
	const char *h = answer + strlen("# "), *line;
	char key[64];

	(void)snprintf(key, sizeof(key), "\nweb,%s,", row);
	line = strstr(answer, key);
	if (!line)
		fail_msg("no row %s", row);
	for (line++; strncmp(h, name, strlen(name)) != 0 || h[strlen(name)] != ','; line++) {
		h = strchr(h, ',') + 1;
		line = strchr(line, ',');
		assert_true(*h != '\n' && line);
	}
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, ","), line);
	return text;
}

/* Gauges are zero again when it is there: nothing is left when a test fails. */
static const char *answer;

static void
shows(const char *row, const char *name, uint64_t n)
{
	char want[24];

	(void)snprintf(want, sizeof(want), "%llu", (unsigned long long)n);
	if (strcmp(cell(answer, row, name), want) != 0)
		fail_msg("%s of %s is %s, not %s", name, row, cell(answer, row, name), want);
}

static void
shows_classes(const char *row, const _Atomic uint64_t *hrsp)
{
	static const char *const names[] = { "hrsp_other", "hrsp_1xx", "hrsp_2xx", "hrsp_3xx",
		"hrsp_4xx", "hrsp_5xx" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		shows(row, names[i], hrsp[i]);
}

static void
shows_times(const char *row, unsigned int n)
{
	static const char *const names[] = { "qtime", "ctime", "rtime", "ttime", "qtime_max",
		"ctime_max", "rtime_max", "ttime_max" };

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		shows(row, names[i], n + i);
}

static void
shows_h1(const char *row, const struct h1_stat *h)
{
	shows(row, "h1_bytes_in", h->in);
	shows(row, "h1_bytes_out", h->out);
	shows(row, "h1_spliced_bytes_in", h->spliced_in);
	shows(row, "h1_spliced_bytes_out", h->spliced_out);
}

static void
those_of_a_frontend(void **st)
{
	struct proxy_stat *fe = &web->shard[0].fe;
	uint64_t sec = loop_now_ms(w->loop) / 1000;

	(void)st;
	fill(fe, offsetof(struct proxy_stat, cur_max), 1000);
	fe->h2.open_connections = 5;
	fe->h2.total_connections = 7;
	fe->cur_max = 41;
	fe->h1.streams_over = fe->h1.streams - 14;
	fe->sess_rate = (struct freq){ .sec = sec, .cur = 11, .max = 111 };
	fe->conn_rate = (struct freq){ .sec = sec, .cur = 12, .max = 112 };
	fe->req_rate = (struct freq){ .sec = sec, .cur = 13, .max = 113 };
	web->fe_gate.n = 16;
	answer = rig_command("show stat web -1 -1");
	web->fe_gate.n = 0;
	shows("FRONTEND", "scur", 16);
	shows("FRONTEND", "smax", 41);
	shows("FRONTEND", "slim", 66);
	shows("FRONTEND", "stot", fe->cum_sess);
	shows("FRONTEND", "bin", fe->bytes_in);
	shows("FRONTEND", "bout", fe->bytes_out);
	shows("FRONTEND", "dreq", fe->denied_req);
	shows("FRONTEND", "dresp", fe->denied_resp);
	shows("FRONTEND", "ereq", fe->failed_req);
	shows("FRONTEND", "rate", 11);
	shows("FRONTEND", "rate_lim", 88);
	shows("FRONTEND", "rate_max", 111);
	shows("FRONTEND", "conn_rate", 12);
	shows("FRONTEND", "conn_rate_max", 112);
	shows("FRONTEND", "conn_tot", fe->cum_conn);
	shows("FRONTEND", "req_rate", 13);
	shows("FRONTEND", "req_rate_max", 113);
	shows("FRONTEND", "req_tot", fe->req_tot);
	shows("FRONTEND", "intercepted", fe->intercepted);
	shows("FRONTEND", "dcon", fe->denied_conn);
	shows("FRONTEND", "dses", fe->denied_sess);
	shows("FRONTEND", "wrew", fe->failed_rewrites);
	shows("FRONTEND", "h1_open_connections", 16 - 5);
	shows("FRONTEND", "h2_open_connections", 5);
	shows("FRONTEND", "h2_total_connections", 7);
	shows("FRONTEND", "h2_headers_rcvd", fe->h2.headers_rcvd);
	shows("FRONTEND", "h2_data_rcvd", fe->h2.data_rcvd);
	shows("FRONTEND", "h2_settings_rcvd", fe->h2.settings_rcvd);
	shows("FRONTEND", "h2_rst_stream_rcvd", fe->h2.rst_stream_rcvd);
	shows("FRONTEND", "h2_goaway_rcvd", fe->h2.goaway_rcvd);
	shows("FRONTEND", "h2_detected_conn_protocol_errors", fe->h2.conn_errors);
	shows("FRONTEND", "h2_detected_strm_protocol_errors", fe->h2.stream_errors);
	shows("FRONTEND", "h2_rst_stream_resp", fe->h2.rst_stream_resp);
	shows("FRONTEND", "h2_goaway_resp", fe->h2.goaway_resp);
	shows("FRONTEND", "h2_backend_open_streams", fe->h2.open_streams);
	shows("FRONTEND", "h2_backend_total_streams", fe->h2.total_streams);
	shows("FRONTEND", "h1_open_streams", 14);
	shows("FRONTEND", "h1_total_connections", fe->cum_sess - 7);
	shows("FRONTEND", "h1_total_streams", fe->h1.streams);
	shows_classes("FRONTEND", fe->hrsp);
	shows_h1("FRONTEND", &fe->h1);
}

static void
those_of_a_listener(void **st)
{
	(void)st;
	ln->stat = (struct listener_stat){ .cum_conn = 1, .bytes_in = 2, .bytes_out = 3,
		.denied_req = 4, .denied_resp = 5, .denied_conn = 6, .denied_sess = 7,
		.failed_req = 8, .failed_rewrites = 9, .cur = 10, .cur_max = 11 };
	answer = rig_command("show stat web -1 -1");
	ln->stat.cur = 0;
	shows("sock-1", "scur", 10);
	shows("sock-1", "smax", 11);
	shows("sock-1", "slim", 55);
	shows("sock-1", "stot", 1);
	shows("sock-1", "bin", 2);
	shows("sock-1", "bout", 3);
	shows("sock-1", "dreq", 4);
	shows("sock-1", "dresp", 5);
	shows("sock-1", "dcon", 6);
	shows("sock-1", "dses", 7);
	shows("sock-1", "ereq", 8);
	shows("sock-1", "wrew", 9);
}

static void
fill_load(unsigned int cur, unsigned int queued, unsigned int idle, unsigned int safe,
	unsigned int least)
{
	struct idle_list *l = &srv->shard[0].idle;

	srv->cur = cur;
	srv->queued = queued;
	l->n = idle;
	l->n_safe = safe;
	l->least = least;
}

static void
those_of_a_server(void **st)
{
	struct server_stat *s = &srv->shard[0].stat;
	uint64_t now = loop_now_ms(w->loop);

	(void)st;
	fill(s, offsetof(struct server_stat, cur_max), 3000);
	s->cur_max = 31;
	s->queued_max = 32;
	s->rate_max = 33;
	s->last_sess_ms = now - 6000;
	fill_times(&s->times, 50);
	fill_load(8, 3, 9, 4, 2);
	srv->sess_rate = (struct freq){ .sec = now / 1000, .cur = 17, .max = 33 };
	srv->last_change_ms = now - 5000;
	answer = rig_command("show stat web -1 -1");
	fill_load(0, 0, 0, 0, 0);
	shows("s", "qcur", 3);
	shows("s", "qmax", 32);
	shows("s", "scur", 8);
	shows("s", "smax", 31);
	shows("s", "slim", 5);
	shows("s", "qlimit", 6);
	shows("s", "stot", s->cum_sess);
	shows("s", "bin", s->bytes_in);
	shows("s", "bout", s->bytes_out);
	shows("s", "dresp", s->denied_resp);
	shows("s", "econ", s->econ);
	shows("s", "eresp", s->eresp);
	shows("s", "wretr", s->wretr);
	shows("s", "wredis", s->wredis);
	shows("s", "weight", 30);
	shows("s", "uweight", 30);
	shows("s", "act", 1);
	shows("s", "bck", 0);
	shows("s", "lastchg", 5);
	shows("s", "lbtot", s->lbtot);
	shows("s", "rate", 17);
	shows("s", "rate_max", 33);
	shows("s", "req_tot", s->req_tot);
	shows("s", "cli_abrt", s->cli_abrt);
	shows("s", "srv_abrt", s->srv_abrt);
	shows("s", "lastsess", 6);
	shows("s", "wrew", s->failed_rewrites);
	shows("s", "connect", s->connect);
	shows("s", "reuse", s->reuse);
	shows("s", "srv_icur", 9);
	shows("s", "src_ilim", 0);
	shows("s", "idle_conn_cur", 5);
	shows("s", "safe_conn_cur", 4);
	shows("s", "used_conn_cur", 8);
	shows("s", "need_conn_est", 8 + 9 - 2);
	shows_classes("s", s->hrsp);
	shows_times("s", 50);
	assert_string_equal(cell(answer, "s", "cookie"), "v");
}

static void
those_of_a_backend(void **st)
{
	struct proxy_stat *be = &web->shard[0].be;
	uint64_t now = loop_now_ms(w->loop);

	(void)st;
	fill(be, offsetof(struct proxy_stat, cur_max), 2000);
	be->cur_max = 21;
	be->queued_max = 22;
	be->rate_max = 23;
	be->last_sess_ms = now - 7000;
	fill_times(&be->times, 60);
	fill_load(8, 3, 9, 4, 2);
	web->queued = 18;
	web->be_cur = 19;
	web->be_rate = (struct freq){ .sec = now / 1000, .cur = 20, .max = 23 };
	web->downs = 24;
	web->last_change_ms = now - 8000;
	answer = rig_command("show stat web -1 -1");
	fill_load(0, 0, 0, 0, 0);
	web->queued = web->be_cur = 0;
	shows("BACKEND", "qcur", 18);
	shows("BACKEND", "qmax", 22);
	shows("BACKEND", "scur", 19);
	shows("BACKEND", "smax", 21);
	shows("BACKEND", "slim", 77);
	shows("BACKEND", "stot", be->cum_sess);
	shows("BACKEND", "bin", be->bytes_in);
	shows("BACKEND", "bout", be->bytes_out);
	shows("BACKEND", "dreq", be->denied_req);
	shows("BACKEND", "dresp", be->denied_resp);
	shows("BACKEND", "econ", be->econ);
	shows("BACKEND", "eresp", be->eresp);
	shows("BACKEND", "wretr", be->wretr);
	shows("BACKEND", "wredis", be->wredis);
	shows("BACKEND", "chkdown", 24);
	shows("BACKEND", "lastchg", 8);
	shows("BACKEND", "lbtot", be->lbtot);
	shows("BACKEND", "rate", 20);
	shows("BACKEND", "rate_max", 23);
	shows("BACKEND", "req_tot", be->req_tot);
	shows("BACKEND", "cli_abrt", be->cli_abrt);
	shows("BACKEND", "srv_abrt", be->srv_abrt);
	shows("BACKEND", "lastsess", 7);
	shows("BACKEND", "wrew", be->failed_rewrites);
	shows("BACKEND", "connect", be->connect);
	shows("BACKEND", "reuse", be->reuse);
	shows("BACKEND", "h1_open_connections", 8 + 9);
	shows("BACKEND", "h1_open_streams", 8);
	shows("BACKEND", "h1_total_connections", be->connect);
	shows("BACKEND", "h1_total_streams", be->connect + be->reuse);
	shows_classes("BACKEND", be->hrsp);
	shows_times("BACKEND", 60);
	shows_h1("BACKEND", &be->h1);
	assert_string_equal(cell(answer, "BACKEND", "cookie"), "C");
	assert_string_equal(cell(answer, "BACKEND", "algo"), "source");
	/* One without servers is up. */
	assert_non_null(strstr(rig_command("show stat none -1 -1"), ",UP,"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(those_of_a_frontend),
		RIG_CASE_SETUP(those_of_a_listener),
		RIG_CASE_SETUP(those_of_a_server),
		RIG_CASE_SETUP(those_of_a_backend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
