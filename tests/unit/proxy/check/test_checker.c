/* The checker over real sockets: what it connects to, sends and concludes, and the calls that it
 * makes for that. The servers are sockets of the test, served between two turns of the loop. The
 * clock is the test's: no time passes while the kernel and the servers work, so that a check that
 * is answered takes none, and one that is not takes its timeout. */
#include "unit/hand_clock.h"
#include "unit/proxy/proxies_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/ledger.h"
#include "base/log.h"
#include "proxy/backend/server_observe.h"
#include "proxy/backend/server_state.h"
#include "proxy/check/check_run.h"
#include "proxy/check/checker.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"

#define MS_MAX 4000     /* of the test's clock, until what is expected has happened */
#define LIMIT_MS 60000  /* of the real one, for what hangs */
#define WAIT_MS 2       /* of the real one, before the servers are served again */
#define HELD_MS 100     /* of the real one: the kernel holds an ACK back for 200 (TCP_DELACK_MAX) */

static struct world w;
static struct engine e;
static struct sys_ops ops;
static struct sys sys;
static struct log_sink sink;
static struct checker *checker;
static int listening[2];
static int keeper[2];      /* keeps the port from others while nothing listens */
static unsigned int port[2];
static int is_silent;      /* the first server takes no connection */
static const char *answer; /* to each connection; NULL: none */
static char heard[200];    /* what the last one has sent */
static unsigned int taken; /* connections */
static uint64_t connected; /* when the last one was begun, on the real clock */
static unsigned int late;  /* connections that were reset when their ACK may have been sent */
static const char *poller = "epoll";
static enum interest_mode mode = INTEREST_EDGE;

static int
bind_at(unsigned int at)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)at) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static int
listen_at(unsigned int at)
{
	int fd = bind_at(at);

	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static unsigned int
port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	return ntohs(a.sin_port);
}

/* The first port refuses connections from now on. */
static void
refuse(void)
{
	close(listening[0]);
	listening[0] = -1;
}

static uint64_t
real_ms(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* The servers are near however late the kernel is: a second call is answered when the connection is
 * there, or refused. */
static long
connect_near(void *ctx, int fd, const struct sockaddr *sa, socklen_t len)
{
	struct pollfd done = { .fd = fd, .events = POLLOUT };
	uint64_t began = real_ms();
	long r = sys_linux.connect(ctx, fd, sa, len);

	if (sa->sa_family == AF_UNSPEC) {
		late += real_ms() - connected >= HELD_MS;
	} else if (r == -EINPROGRESS) {
		connected = began;
	} else if (r == -EALREADY) {
		assert_int_equal(poll(&done, 1, LIMIT_MS), 1);
		r = sys_linux.connect(ctx, fd, sa, len);
	}
	return r;
}

/* Takes what has come to a listening socket, and answers. */
static void
serve(int lfd)
{
	int fd = accept(lfd, NULL, NULL);
	char text[sizeof(heard)];
	ssize_t n;

	if (fd < 0)
		return;
	taken++;
	if (answer) {
		n = recv(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (n > 0)
			memcpy(heard, text, sizeof(heard));
		(void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	}
	close(fd);
}

static void
serve_all(void)
{
	for (int i = 0; i < 2; i++)
		if (listening[i] >= 0 && !(i == 0 && is_silent))
			serve(listening[i]);
}

static int
is_running(void)
{
	const struct server *s = world_server(world_proxy(&w, "b"), 0);

	return s->check->is_running || (s->agent && s->agent->is_running);
}

/* Advances the clock, and does what is due; checks that are answered end. */
static void
turn(unsigned int ms)
{
	clock_ms += ms;
	assert_int_equal(loop_turn(e.loop, 0), 0);
	serve_all();
	for (int i = 0; is_running() && !is_silent; i++) {
		assert_in_range(i, 0, LIMIT_MS / WAIT_MS);
		assert_int_equal(loop_turn(e.loop, WAIT_MS), 0);
		serve_all();
	}
}

/* Advances the clock by this time. */
static void
pass(unsigned int ms)
{
	while (ms-- > 0)
		turn(1);
}

/* Advances the clock until the first server of the backend has this status. */
static void
until(const char *status)
{
	struct server *s = world_server(world_proxy(&w, "b"), 0);
	char text[SERVER_STATUS_MAX];

	for (int i = 0; i < MS_MAX; i++) {
		turn(1);
		if (strcmp(server_status_text(s, text), status) == 0)
			return;
	}
	fail_msg("'%s', not '%s'", server_status_text(s, text), status);
}

/* options: of the server line, where %u is the port of the second socket. */
static void
start(const char *lines, const char *options)
{
	static const struct log_ident id = { "tacit", NULL, 1, NULL };
	struct loop_config lc = { .poller = poller_find(poller), .mode = mode,
		.max_fd = 64, .max_events = 8, .lazy = 1 };
	struct checker_config cc = { .node = "n" };
	char more[200], text[1000];
	int why;

	for (int i = 0; i < 2; i++) {
		keeper[i] = bind_at(0);
		port[i] = port_of(keeper[i]);
		listening[i] = listen_at(port[i]);
	}
	(void)snprintf(more, sizeof(more), options, port[1]);
	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS
		"backend b\n mode http\n%s server s 127.0.0.1:%u check inter 10 %s\n",
		lines, port[0], more);
	world_good(&w, text);
	assert_int_equal(proxies_shard(&w.proxies, 1), 0);
	ops = sys_linux;
	ops.clock_gettime = read_clock;
	ops.connect = connect_near;
	clock_ms = 1000000;
	sys_init(&sys, &ops, NULL);
	log_sink_init(&sink, &sys, &id);
	assert_int_equal(engine_init(&e, &sys, loop_new(&sys, &lc, &why), 16384, 10), 0);
	e.log = &sink;
	answer = NULL;
	heard[0] = '\0';
	taken = late = 0;
	is_silent = 0;
	assert_int_equal(checker_new(&e, &w.proxies, &cc, &checker), 0);
	assert_non_null(checker);
}

static void
stop(void)
{
	checker_free(&checker);
	assert_int_equal(loop_turn(e.loop, 0), 0);
	engine_fini(&e);
	loop_free(&e.loop);
	log_sink_fini(&sink);
	world_fini(&w);
	for (int i = 0; i < 2; i++) {
		close(keeper[i]);
		if (listening[i] >= 0)
			close(listening[i]);
	}
}

static void
a_server_goes_down_and_comes_back(void **st)
{
	(void)st;
	start("", "rise 2 fall 2");
	until("UP");
	refuse();
	until("UP 1/2");
	until("DOWN");
	listening[0] = listen_at(port[0]);
	until("DOWN 1/2");
	until("UP");
	stop();
}

static uint64_t
calls(enum sys_call c)
{
	return ledger_sum(&sys.ledger, c);
}

/* One socket for all checks of a near server: hold back the ACK, connect, ask, reset. */
static void
a_connection_costs_four_calls(void **st)
{
	uint64_t connects, options, others;

	(void)st;
	start("", "");
	until("UP");
	connects = calls(SYS_CALL_connect);
	options = calls(SYS_CALL_setsockopt);
	others = calls(SYS_CALL_socket) + calls(SYS_CALL_close) + calls(SYS_CALL_close_range) +
		calls(SYS_CALL_epoll_ctl) + calls(SYS_CALL_getsockopt) + calls(SYS_CALL_sendto) +
		calls(SYS_CALL_recvfrom);
	while (calls(SYS_CALL_connect) - connects < 60)
		turn(1);
	assert_int_equal(calls(SYS_CALL_connect) - connects,
		3 * (calls(SYS_CALL_setsockopt) - options));
	/* The server has not been woken, unless this process was held up between two calls. */
	assert_in_range(taken, 0, late);
	assert_int_equal(calls(SYS_CALL_socket) + calls(SYS_CALL_close) +
		calls(SYS_CALL_close_range) + calls(SYS_CALL_epoll_ctl) +
		calls(SYS_CALL_getsockopt) + calls(SYS_CALL_sendto) +
		calls(SYS_CALL_recvfrom), others);
	stop();
}

static void
http_is_asked_and_understood(void **st)
{
	(void)st;
	start(" option httpchk GET /x HTTP/1.1\n http-check send hdr Host h\n", "fall 1");
	answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	for (int i = 0; i < MS_MAX && !heard[0]; i++)
		turn(1);
	assert_string_equal(heard, "GET /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
	answer = "HTTP/1.1 503 No\r\n\r\n";
	until("DOWN");
	assert_int_equal(world_server(world_proxy(&w, "b"), 0)->check->code, 503);
	assert_string_equal(world_server(world_proxy(&w, "b"), 0)->check->info, "No");
	stop();
}

/* A server cannot make lines in answers of the stats socket. */
static void
texts_of_servers_have_no_control_characters(void **st)
{
	(void)st;
	start(" option pgsql-check user u\n", "rise 1 fall 1");
	answer = "E12345no\nS.3.1.17.status.1:SOP:str:UP\x1b[2J\x7f\tx";
	until("DOWN");
	assert_string_equal(world_server(world_proxy(&w, "b"), 0)->check->info,
		"no S.3.1.17.status.1:SOP:str:UP [2J \tx");
	stop();
}

/* tune.http.maxhdr is the bound for checks, too. */
static void
a_response_may_have_many_fields(void **st)
{
	struct checker_config cc = { .node = "n" };
	static char text[4000];
	struct check *c;
	size_t n;

	(void)st;
	n = (size_t)snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "X-%d: 1\r\n", i);
	(void)snprintf(text + n, sizeof(text) - n, "Content-Length: 0\r\n\r\n");
	start(" option httpchk GET /\n", "rise 1 fall 1");
	checker_free(&checker);
	e.limits.maxhdr = 300;
	assert_int_equal(checker_new(&e, &w.proxies, &cc, &checker), 0);
	answer = text;
	c = world_server(world_proxy(&w, "b"), 0)->check;
	for (int i = 0; i < MS_MAX && c->status == CHECK_INI; i++)
		turn(1);
	assert_int_equal(c->status, CHECK_L7OK);
	assert_int_equal(c->code, 200);
	stop();
}

static void
send_state_reports_the_state_to_servers(void **st)
{
	char expected[200];

	(void)st;
	start(" option httpchk\n http-check send-state\n", "weight 3");
	answer = "HTTP/1.0 200 OK\r\n\r\n";
	until("UP");
	(void)snprintf(expected, sizeof(expected), "x-haproxy-server-state: UP; address=127.0.0.1; "
		"port=%u; name=b/s; node=n; weight=3/3; scur=0/0; qcur=0\r\n", port[0]);
	for (int i = 0; i < MS_MAX && !strstr(heard, expected); i++)
		turn(1);
	assert_non_null(strstr(heard, expected));
	stop();
}

/* A check that is not answered ends with its interval; the connection with it. */
static void
silence_is_a_failure(void **st)
{
	struct check *c;

	(void)st;
	start(" option tcp-check\n tcp-check expect string x\n", "rise 1 fall 1");
	is_silent = 1;
	until("DOWN");
	c = world_server(world_proxy(&w, "b"), 0)->check;
	assert_int_equal(c->status, CHECK_L7TOUT);
	assert_int_equal(c->duration_ms, 10);
	assert_int_equal(loop_fds(e.loop), 0);
	stop();
}

/* Advances the clock until a check of the first server has begun, or has ended; returns the time
 * that it took. */
static unsigned int
until_running(int wanted)
{
	struct check *c = world_server(world_proxy(&w, "b"), 0)->check;
	unsigned int ms = 0;

	for (; ms < MS_MAX && c->is_running != wanted; ms++)
		turn(1);
	assert_int_equal(c->is_running, wanted);
	return ms;
}

/* Checks that wait for their connection, as those of far servers do. */
static void
far_server_is_refused(const char *with, enum interest_mode how)
{
	struct check *c;

	poller = with;
	mode = how;
	start("", "rise 1 fall 1");
	until("UP");
	refuse();
	c = world_server(world_proxy(&w, "b"), 0)->check;
	c->run->far = CHECK_FAR_RUNS;
	until("DOWN");
	assert_int_equal(c->status, CHECK_L4CON);
	for (int i = 0; i < 60; i++) {
		c->run->far = CHECK_FAR_RUNS;
		turn(2);
		assert_int_equal(c->health, 0);
	}
	assert_string_equal(c->info, "Connection refused");
	stop();
	poller = "epoll";
	mode = INTEREST_EDGE;
}

/* With each poller and mode, also those that cannot report errors, or try before they wait. */
static void
a_far_server_that_refuses_is_down(void **st)
{
	(void)st;
	far_server_is_refused("epoll", INTEREST_EDGE);
	far_server_is_refused("epoll", INTEREST_MERGED);
	far_server_is_refused("epoll", INTEREST_UNMERGED);
	far_server_is_refused("ev:select", INTEREST_MERGED);
	far_server_is_refused("ev:poll", INTEREST_MERGED);
}

/* Starts with a server that never answers; returns when its second check begins. */
static void
start_silent(const char *options)
{
	start(" option tcp-check\n tcp-check expect string x\n", options);
	is_silent = 1;
	until("DOWN");
	assert_true(until_running(1) > 0);
}

/* Holds while checks are further apart than `inter`, or closer. */
static void
inter_is_the_timeout(void **st)
{
	static const char *const options[] = { "inter 30 downinter 400 fall 1",
		"inter 30 downinter 10 fall 1" };
	struct check *c;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		start_silent(options[i]);
		assert_int_equal(until_running(0), 30);
		c = world_server(world_proxy(&w, "b"), 0)->check;
		assert_int_equal(c->duration_ms, 30);
		stop();
	}
}

/* An interval begins at the end of a check, so that a server that does not answer is left alone for
 * a while. */
static void
intervals_begin_at_the_end_of_a_check(void **st)
{
	(void)st;
	start_silent("inter 400 downinter 300 fall 1");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(until_running(0), 400);
		/* 0 if it began with the check. */
		assert_int_equal(until_running(1), 300);
	}
	stop();
}

static void
variables_live_as_long_as_a_check(void **st)
{
	(void)st;
	start(" option tcp-check\n tcp-check set-var-fmt(check.word) %[str(ping)]\n"
	      " tcp-check set-var(check.word,ifset) str(never)\n"
	      " tcp-check unset-var(check.other)\n tcp-check connect\n"
	      " tcp-check send-lf %[var(check.word)]\n tcp-check expect string pong\n", "");
	answer = "pong";
	until("UP");
	assert_string_equal(heard, "never");
	stop();
}

static void
an_agent_sets_weight_state_and_limit(void **st)
{
	struct server *s;

	(void)st;
	start("", "weight 10 maxconn 9 agent-check agent-port %u agent-inter 10 agent-send hi\\n");
	s = world_server(world_proxy(&w, "b"), 0);
	answer = "50% maxconn:7\n";
	for (int i = 0; i < MS_MAX && s->uweight != 5; i++)
		turn(1);
	assert_int_equal(s->uweight, 5);
	assert_int_equal(s->conf.maxconn, 7);
	assert_string_equal(heard, "hi\n");
	answer = "down\n";
	until("DOWN (agent)");
	answer = "up drain\n";
	until("DRAIN (agent)");
	answer = "maint\n";
	until("MAINT");
	answer = "ready\n";
	until("UP");
	/* Its reachability decides nothing. */
	answer = "";
	pass(100);
	until("UP");
	stop();
}

/* A server in maintenance is left alone, and counts as up when it comes back. */
static void
maintenance_stops_checks(void **st)
{
	uint64_t connects;
	struct server *s;

	(void)st;
	start("", "rise 2 fall 2");
	s = world_server(world_proxy(&w, "b"), 0);
	until("UP");
	server_set_forced(&e, s, SERVER_MAINT_FORCED);
	pass(40);
	connects = calls(SYS_CALL_connect);
	pass(60);
	assert_int_equal(calls(SYS_CALL_connect), connects);
	server_set_forced(&e, s, SERVER_READY);
	assert_int_equal(s->check->health, 2);
	until("UP");
	stop();
}

/* The first statuses of a server whose checks pass, or fail. */
static void
begin(const char *options, int passes, const char *first, const char *second)
{
	char text[SERVER_STATUS_MAX], more[100];
	struct server *s;

	/* One check. */
	(void)snprintf(more, sizeof(more), "inter 600000 %s", options);
	start("", more);
	s = world_server(world_proxy(&w, "b"), 0);
	if (!passes) {
		refuse();
	}
	assert_string_equal(server_status_text(s, text), first);
	assert_int_equal(proxy_usable_servers(s->be), s->oper == SERVER_RUNNING);
	for (int i = 0; i < MS_MAX && s->check->status == CHECK_INI; i++)
		turn(1);
	assert_string_equal(server_status_text(s, text), second);
	assert_int_equal(s->downs, strncmp(first, "UP", 2) == 0 && strcmp(second, "DOWN") == 0);
	assert_int_equal(s->be->downs, s->downs);
	stop();
}

static void
the_initial_state_is_configured(void **st)
{
	(void)st;
	begin("rise 3 fall 4", 1, "UP 1/4", "UP");
	begin("rise 3 fall 4 init-state up", 0, "UP 1/4", "DOWN");
	begin("rise 3 fall 4 init-state fully-up", 1, "UP", "UP");
	begin("rise 3 fall 4 init-state fully-up", 0, "UP", "UP 3/4");
	begin("rise 3 fall 4 init-state down", 1, "DOWN 2/3", "UP");
	begin("rise 3 fall 4 init-state down", 0, "DOWN 2/3", "DOWN");
	begin("rise 3 fall 4 init-state fully-down", 1, "DOWN", "DOWN 1/3");
	begin("rise 3 fall 4 init-state fully-down", 0, "DOWN", "DOWN");
	begin("rise 1 init-state down", 1, "DOWN", "UP");
}

/* The initial state also follows maintenance. */
static void
maintenance_ends_in_the_initial_state(void **st)
{
	struct server *s;
	char text[SERVER_STATUS_MAX];

	(void)st;
	start("", "rise 2 fall 2 init-state down");
	s = world_server(world_proxy(&w, "b"), 0);
	until("UP");
	server_set_forced(&e, s, SERVER_MAINT_FORCED);
	server_set_forced(&e, s, SERVER_READY);
	/* The next check may be due already. */
	assert_string_equal(server_status_text(s, text), "DOWN 1/2");
	assert_int_equal(s->oper, SERVER_STOPPED);
	until("UP");
	stop();
}

/* A backend that has been down stays so in its counters when a server is added that is not up. */
static void
a_server_that_begins_stopped_clears_no_counter(void **st)
{
	struct server *s;

	(void)st;
	start("", "rise 2 fall 2");
	s = world_server(world_proxy(&w, "b"), 0);
	until("UP");
	s->be->downs = 3;
	server_begin_stopped(&e, s);
	assert_int_equal(s->be->downs, 3);
	assert_int_equal(s->downs, 0);
	stop();
}

/* Reports n errors of sessions, and what follows from them within this turn. */
static void
fail_sessions(struct server *s, int n)
{
	while (n-- > 0)
		server_observe(&e, s, SERVER_BAD_STATUS);
	assert_int_equal(loop_turn(e.loop, 0), 0);
}

#define OBSERVED "fall 3 observe layer7 error-limit 2 on-error "

static struct server *
start_observed(const char *options)
{
	start("", options);
	until("UP");
	/* No check of its own comes between. */
	world_server(world_proxy(&w, "b"), 0)->conf.check.inter_ms = 60000;
	until("UP");
	pass(40);
	return world_server(world_proxy(&w, "b"), 0);
}

static void
errors_of_sessions_count_as_a_failed_check(void **st)
{
	struct server *s;
	char text[SERVER_STATUS_MAX];

	(void)st;
	s = start_observed(OBSERVED "fail-check");
	fail_sessions(s, 1);
	server_observe(&e, s, SERVER_GOOD_STATUS);
	fail_sessions(s, 1);
	assert_string_equal(server_status_text(s, text), "UP");
	fail_sessions(s, 1);
	assert_string_equal(server_status_text(s, text), "UP 2/3");
	assert_int_equal(s->check->status, CHECK_HANA);
	assert_string_equal(s->check->info,
		"Detected 2 consecutive errors, last one was: Wrong http response");
	assert_int_equal(s->check->fails, 1);
	/* Each alarm counts, also two of one turn. */
	fail_sessions(s, 4);
	assert_string_equal(server_status_text(s, text), "DOWN");
	assert_int_equal(s->check->observed_fails, 3);
	assert_int_equal(s->check->fails, 3);
	/* A server that is down fails no more. */
	fail_sessions(s, 2);
	assert_int_equal(s->check->observed_fails, 4);
	assert_int_equal(s->check->fails, 3);
	stop();
}

static void
on_error_may_be_harder(void **st)
{
	struct server *s;
	char text[SERVER_STATUS_MAX];

	(void)st;
	s = start_observed(OBSERVED "sudden-death");
	fail_sessions(s, 2);
	assert_string_equal(server_status_text(s, text), "UP 1/3");
	fail_sessions(s, 2);
	assert_string_equal(server_status_text(s, text), "DOWN");
	stop();
	s = start_observed(OBSERVED "mark-down");
	fail_sessions(s, 2);
	assert_string_equal(server_status_text(s, text), "DOWN");
	stop();
}

/* The next check comes after fastinter, and its success forgets earlier errors. */
static void
on_error_hastens_the_next_check(void **st)
{
	uint64_t connects, now;
	struct server *s;

	(void)st;
	s = start_observed(OBSERVED "fastinter fastinter 10");
	connects = calls(SYS_CALL_connect);
	pass(60);
	assert_int_equal(calls(SYS_CALL_connect), connects);
	now = clock_ms;
	fail_sessions(s, 3);
	assert_int_equal(s->check->observed_fails, 1);
	assert_int_equal(s->check->status, CHECK_L4OK);
	assert_int_equal(s->errors, 1);
	for (int i = 0; i < MS_MAX && calls(SYS_CALL_connect) == connects; i++)
		turn(1);
	assert_int_equal(calls(SYS_CALL_connect), connects + 3);
	/* Checks begin at multiples of 10 ms. */
	assert_int_equal(clock_ms, (now + 10 + 9) / 10 * 10);
	assert_int_equal(s->errors, 0);
	stop();
}

static void
errors_of_servers_in_maintenance_are_ignored(void **st)
{
	struct server *s;

	(void)st;
	s = start_observed(OBSERVED "mark-down");
	server_set_forced(&e, s, SERVER_MAINT_FORCED);
	fail_sessions(s, 2);
	assert_int_equal(s->check->observed_fails, 0);
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_goes_down_and_comes_back),
		cmocka_unit_test(a_connection_costs_four_calls),
		cmocka_unit_test(http_is_asked_and_understood),
		cmocka_unit_test(texts_of_servers_have_no_control_characters),
		cmocka_unit_test(a_response_may_have_many_fields),
		cmocka_unit_test(send_state_reports_the_state_to_servers),
		cmocka_unit_test(silence_is_a_failure),
		cmocka_unit_test(a_far_server_that_refuses_is_down),
		cmocka_unit_test(inter_is_the_timeout),
		cmocka_unit_test(intervals_begin_at_the_end_of_a_check),
		cmocka_unit_test(variables_live_as_long_as_a_check),
		cmocka_unit_test(an_agent_sets_weight_state_and_limit),
		cmocka_unit_test(maintenance_stops_checks),
		cmocka_unit_test(the_initial_state_is_configured),
		cmocka_unit_test(maintenance_ends_in_the_initial_state),
		cmocka_unit_test(a_server_that_begins_stopped_clears_no_counter),
		cmocka_unit_test(errors_of_sessions_count_as_a_failed_check),
		cmocka_unit_test(on_error_may_be_harder),
		cmocka_unit_test(on_error_hastens_the_next_check),
		cmocka_unit_test(errors_of_servers_in_maintenance_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
