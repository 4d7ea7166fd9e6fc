#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "app/process/process.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static char *text;
static size_t text_len;
static struct proxy *fe;

static struct listener *
first_listener(void)
{
	return list_first(&list_first(&fe->binds, struct bind_conf, link)->listeners,
		struct listener, link);
}

static int port_holder = -1;

/* A port of 127.0.0.1 that no other program gets before release_port(); its holder does not
 * listen. */
static unsigned int
hold_port(void)
{
	struct addr a = { .len = sizeof(a.u.in), .u.in.sin_family = AF_INET,
		.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	port_holder = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(port_holder, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(port_holder, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	assert_int_equal(bind(port_holder, &a.u.sa, a.len), 0);
	assert_int_equal(getsockname(port_holder, &a.u.sa, &a.len), 0);
	return addr_port(&a);
}

static void
release_port(void)
{
	close(port_holder);
	port_holder = -1;
}

/* A frontend on a port of its own; messages go to text. */
static void
start(const char *global, const char *options)
{
	char lines[200];

	snprintf(lines, sizeof(lines),
		"frontend f\n maxconn 10\n default_backend l\n bind 127.0.0.1:%u %s\n",
		hold_port(), options);
	assert_int_equal(bench_open(global, lines), 0);
	fclose(report.to);
	report.to = open_memstream(&text, &text_len);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	fe = proxies_find(&cfg.proxies, "f", PROXY_FE);
	assert_non_null(fe);
}

static void
stop(void)
{
	/* Takes connections that other workers have handed over. */
	bench_turns();
	process_on_signal(&proc, SIGTERM, 0);
	process_run(&proc);
	assert_int_equal(process_join(&proc), 0);
	bench_close();
	release_port();
	free(text);
	text = NULL;
}

static void
check_text(const char *want)
{
	fflush(report.to);
	if (!text || !strstr(text, want))
		fail_msg("'%s' is missing in '%s'", want, text ? text : "");
}

/* 0, or -errno. */
static int
try_connect(void)
{
	const struct addr *a = &first_listener()->addr;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int r = connect(fd, &a->u.sa, a->len) == 0 ? 0 : -errno;

	close(fd);
	return r;
}

static unsigned int
count_in_state(enum listener_state state)
{
	unsigned int n = 0;

	list_each(it, &list_first(&fe->binds, struct bind_conf, link)->listeners)
		n += list_entry(it, struct listener, link)->state == state;
	return n;
}

/* The listeners of all workers, with one socket or one each. */
static void
pauses_and_resumes(const char *global, const char *bind, unsigned int workers)
{
	start(global, bind);
	assert_int_equal(try_connect(), 0);
	frontend_pause(&proc, fe);
	check_text("Paused frontend f.");
	assert_int_equal(fe->listening, PROXY_PAUSED);
	assert_int_equal(count_in_state(LISTENER_SUSPENDED), workers);
	assert_int_equal(try_connect(), -ECONNREFUSED);
	assert_int_equal(frontend_resume(&proc, fe), 0);
	check_text("Resumed frontend f.");
	assert_int_equal(fe->listening, PROXY_LISTENS);
	assert_int_equal(count_in_state(LISTENER_READY), workers);
	for (int i = 0; i < 5; i++)
		assert_int_equal(try_connect(), 0);
	stop();
}

static void
all_listeners_are_paused_and_resumed(void **state)
{
	(void)state;
	pauses_and_resumes("", "", 1);
	pauses_and_resumes("nbthread 3", "", 3);
	pauses_and_resumes("nbthread 3", "shards by-thread", 3);
	pauses_and_resumes("nbthread 3", "shards 2 defer-accept", 3);
}

/* All of them are suspended again, also those that could listen. */
static void
a_busy_port_is_reported(void **state)
{
	char want[100];
	struct addr a;
	int other, on = 1;

	(void)state;
	start("nbthread 2", "shards by-thread");
	frontend_pause(&proc, fe);
	a = first_listener()->addr;
	other = socket(AF_INET, SOCK_STREAM, 0);
	/* The second socket of ours cannot listen beside one that does not share. */
	setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	assert_int_equal(bind(other, &a.u.sa, a.len), 0);
	assert_int_equal(listen(other, 1), 0);
	assert_true(frontend_resume(&proc, fe) < 0);
	snprintf(want, sizeof(want), "Port %u busy while trying to enable frontend f.",
		addr_port(&a));
	check_text(want);
	assert_int_equal(fe->listening, PROXY_PAUSED);
	assert_int_equal(count_in_state(LISTENER_SUSPENDED), 2);
	close(other);
	assert_int_equal(frontend_resume(&proc, fe), 0);
	assert_int_equal(try_connect(), 0);
	stop();
}

static void
a_stopped_one_is_closed(void **state)
{
	unsigned int before;

	(void)state;
	start("nbthread 2", "");
	before = process_listeners(&proc);
	frontend_pause(&proc, fe);
	frontend_stop(&proc, fe, NULL);
	check_text("Proxy f stopped (cumulated conns: FE: 0, BE: 0).");
	assert_int_equal(fe->listening, PROXY_STOPPED);
	assert_int_equal(count_in_state(LISTENER_CLOSED), 2);
	assert_int_equal(process_listeners(&proc), before - 2);
	assert_int_equal(bench_connect("front") >= 0, 1);
	/* The end of the process does not report it a second time. */
	fclose(report.to);
	free(text);
	report.to = open_memstream(&text, &text_len);
	process_on_signal(&proc, SIGUSR1, 0);
	check_text("Proxy l stopped");
	assert_null(strstr(text, "Proxy f stopped"));
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_listeners_are_paused_and_resumed),
		cmocka_unit_test(a_busy_port_is_reported),
		cmocka_unit_test(a_stopped_one_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
