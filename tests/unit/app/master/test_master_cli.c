#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "unit/app/master_rig.h"
#include "unit/test.h"

static struct master_cli cli;
static char why[160];

static int
parse(const char *value)
{
	bind_conf_free(&cli.bind);
	why[0] = '\0';
	return master_cli_parse(&cli, value, why, sizeof(why));
}

static void
an_address_and_options(void **st)
{
	(void)st;
	assert_int_equal(parse("/run/m"), 0);
	assert_string_equal(cli.listener.addr.u.un.sun_path, "/run/m");
	assert_int_equal(cli.bind->mode, 0600);
	assert_int_equal(cli.bind->level, BIND_ADMIN);
	assert_int_equal(parse("unix@/run/m,mode,660,uid,7,gid,8,level,operator"), 0);
	assert_int_equal(cli.bind->mode, 0660);
	assert_int_equal(cli.bind->uid, 7);
	assert_int_equal(cli.bind->gid, 8);
	assert_int_equal(cli.bind->level, BIND_OPERATOR);
	assert_int_equal(parse("/run/m,user,root,group,root"), 0);
	assert_int_equal(cli.bind->uid, 0);
	assert_int_equal(parse("127.0.0.1:99"), 0);
	assert_int_equal(addr_port(&cli.listener.addr), 99);
	assert_int_equal(parse("fd@3"), 0);
	assert_int_equal(cli.listener.inherit_fd, 3);
	bind_conf_free(&cli.bind);
}

static void
refused_commands(void **st)
{
	static const char *const t[][2] = {
		{ "", "" }, { "192.0.2.1:99", "loopback" }, { "127.0.0.1", "port" },
		{ "/m,mode,8", "'8'" }, { "/m,mode,0", "mode" }, { "/m,mode,7x", "mode" },
		{ "/m,uid,x", "uid" }, { "/m,gid,", "gid" }, { "/m,user,nobody at all", "user" },
		{ "/m,group,nobody at all", "group" }, { "/m,level,root", "level" },
		{ "/m,level", "level" }, { "/m,ssl,crt,x", "'ssl' is not supported" },
	};
	char much[2000];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_true(parse(t[i][0]) < 0);
		assert_non_null(strstr(why, t[i][1]));
	}
	memset(much, 'x', sizeof(much) - 1);
	much[0] = '/';
	much[sizeof(much) - 1] = '\0';
	assert_true(parse(much) < 0);
	bind_conf_free(&cli.bind);
}

/* Answers of a master that has no processes. */
static void
lines_have_commands(void **st)
{
	static const struct { const char *line; int prompt; const char *answer; } t[] = {
		{ "", 0, "" },
		{ " ; ;", 0, "" },
		{ "show cli level", 0, "operator\n\n" },
		{ "  show\tcli  level ; @ ; @master show cli level", 0,
			"operator\n\noperator\n\n" },
		{ "user;show cli level", 0, "user\n\n" },
		{ "user;reload", 0, "Permission denied\n\n" },
		{ "set severity-output number;user;reload;set severity-output string;reload;"
		  "set severity-output none;reload;set severity-output x", 0,
			"[3]: Permission denied\n\n[err]: Permission denied\n\n"
			"Permission denied\n\n"
			"one of 'none', 'number', 'string' is a required argument\n\n" },
		{ "set severity-output number;@2 show info", 0,
			"[3]: Can't find the target PID matching the prefix '@2'\n\n" },
		{ "echo  a  b;echo", 0, "a b\n\n\n\n" },
		{ "show env A;show env B;show env C", 0,
			"A=1\n\nB=\n\nVariable not found\n\n" },
		{ "show env", 0, "A=1\nB=\n\n" },
		{ "user;show env", 0, "Permission denied\n\n" },
		{ "_getsocks", 0, "Permission denied\n\n" },
		{ "help show v", 0,
			"The following commands are valid at this level:\n"
			"  show version                            : "
			"show version of the current process\n"
			"  help [<command>]                        : "
			"list matching or all commands\n"
			"  prompt                                  : "
			"toggle interactive mode with prompt\n"
			"  quit                                    : disconnect\n\n" },
		{ "reload", 0, "Success=0\n--\nThe master is starting or stopping.\n\n" },
		{ "prompt", 0, "master> " },
		{ "prompt", 1, "" },
		{ "", 1, "master> " },
		{ "@1 show info", 0,
			"Can't find the target PID matching the prefix '@1'\n\n" },
		{ "@", 1, "master> " },
		{ "@!4000000000 x;@x y;@-1;@1x z;@!;show cli level", 0,
			"Can't find the target PID matching the prefix '@!4000000000'\n\n"
			"Can't find the target PID matching the prefix '@x'\n\n"
			"Can't find the target PID matching the prefix '@-1'\n\n"
			"Can't find the target PID matching the prefix '@1x'\n\n"
			"Can't find the target PID matching the prefix '@!'\n\noperator\n\n" },
		{ "show cli level;quit;show cli level", 1, "operator\n\n" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		static const char *const env[] = { "A=1", "B=", NULL };
		struct master m = { .state = MASTER_STOPPING, .spawn.environment = env };
		struct master_conn c = { .master = &m, .prompt = t[i].prompt,
			.level = BIND_OPERATOR };

		sbuf_init(&c.out, 0);
		sbuf_init(&c.in, 0);
		sbuf_addf(&c.in, "%s\n", t[i].line);
		list_init(&m.workers);
		master_cli_begin(&c, c.in.len);
		master_cli_continue(&c);
		assert_false(c.has_line);
		assert_string_equal(c.out.p ? c.out.p : "", t[i].answer);
		sbuf_fini(&c.out);
		sbuf_fini(&c.in);
	}
}

/* The reload that runs stays soft: the one that follows is hard. */
static void
a_hard_reload_waits_for_the_present_one(void **st)
{
	struct master m = { .state = MASTER_RUNNING };
	struct master_conn c = { .master = &m, .level = BIND_ADMIN };
	struct worker_process starting = { .master = &m, .state = WORKER_STARTING };

	(void)st;
	list_init(&m.workers);
	list_append(&m.workers, &starting.link);
	sbuf_init(&c.out, 0);
	sbuf_init(&c.in, 0);
	sbuf_adds(&c.in, "hard-reload\n");
	master_cli_begin(&c, c.in.len);
	master_cli_continue(&c);
	assert_int_equal(c.waits_for, 1);
	assert_true(m.reload_again);
	assert_false(m.is_hard);
	assert_true(m.is_hard_next);
	sbuf_fini(&c.out);
	sbuf_fini(&c.in);
}

/* Half-closed it still reads. */
static void
a_client_that_left_is_noticed(void **st)
{
	struct master m = { .state = MASTER_STOPPING };
	struct master_conn c = { .master = &m };
	struct sys sys;
	int ends[2];

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	m.sys = &sys;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	c.conn.fd = ends[0];
	assert_true(master_cli_has_client(&c));
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	assert_true(master_cli_has_client(&c));
	assert_int_equal(close(ends[1]), 0);
	assert_false(master_cli_has_client(&c));
	assert_int_equal(close(ends[0]), 0);
}

/* --- on the fake kernel --- */

static struct master_rig rig;
static struct sbuf got;
static char asked[400000];
static size_t n_asked;
static const char *info_says; /* the worker process's answer */
static size_t next_command;   /* bytes that it waits for */

static struct fake_sock *worker_end;
static size_t command_ends; /* bytes of a command */

static void
take_relay(struct master_rig *r, struct fake_sock *end, const char *head)
{
	(void)r;
	assert_string_equal(head, "X_CLI=0,0,0");
	assert_null(worker_end);
	worker_end = end;
	command_ends = n_asked + next_command;
}

/* Reads a command, answers, and closes. 1: something has come. */
static int
answer_relay(void)
{
	size_t before = n_asked;
	long n;

	if (!worker_end)
		return 0;
	while ((n = fake_peer_recv(worker_end, asked + n_asked, sizeof(asked) - n_asked)) > 0)
		n_asked += (size_t)n;
	if (n_asked < command_ends)
		return n_asked > before;
	assert_true(fake_peer_send(worker_end, info_says, strlen(info_says)) > 0);
	fake_peer_close(worker_end);
	worker_end = NULL;
	return 1;
}

/* Sends a text as the client; the whole answer. */
static const char *
ask_master(const char *text, size_t len)
{
	char part[4096];
	long n;

	sbuf_fini(&got);
	sbuf_init(&got, 0);
	for (int quiet = 0; quiet < 8; quiet++) {
		long sent = len ? fake_peer_send(rig.client, text, len) : 0;

		if (sent > 0) {
			text += sent;
			len -= (size_t)sent;
			quiet = 0;
		}
		master_rig_turn(&rig);
		if (answer_relay())
			quiet = 0;
		while ((n = fake_peer_recv(rig.client, part, sizeof(part))) > 0) {
			sbuf_add(&got, part, (size_t)n);
			quiet = 0;
		}
	}
	return got.len ? got.p : "";
}

/* A worker process that waits for commands of this length. */
static void
open_rig(size_t command, unsigned int buffers)
{
	n_asked = 0;
	next_command = command;
	info_says = "an answer\n\n";
	rig.on_relay = take_relay;
	master_rig_open(&rig, "user", buffers);
}

static void
close_rig(void)
{
	fake_peer_close(rig.client);
	for (int i = 0; i < 4; i++)
		master_rig_turn(&rig);
	master_rig_close(&rig);
	sbuf_fini(&got);
}

/* Bytes that follow a line, whatever their number, do not touch the line. */
static void
a_line_stays_while_more_input_comes(void **st)
{
	static char text[30000];
	size_t n = (size_t)snprintf(text, sizeof(text), "@1 show info;show cli level\n");

	(void)st;
	memset(text + n, 'x', 12000);
	open_rig(strlen("show info\n"), 1 << 20);
	assert_string_equal(ask_master(text, n + 12000), "an answer\n\nuser\n\n");
	close_rig();
}

/* Each line is short: that many are not "too long". */
static void
many_lines_wait_in_the_socket(void **st)
{
	enum { LINES = 2000 };
	static const char line[] = "@1 show info;show cli level\n";
	static const char answer[] = "an answer\n\nuser\n\nmaster> ";
	struct sbuf text, want;

	(void)st;
	sbuf_init(&text, 0);
	sbuf_init(&want, 0);
	sbuf_adds(&text, "prompt\n");
	sbuf_adds(&want, "master> ");
	for (int i = 0; i < LINES; i++) {
		sbuf_adds(&text, line);
		sbuf_adds(&want, answer);
	}
	open_rig(strlen("show info\n"), 1 << 20);
	assert_string_equal(ask_master(text.p, text.len), want.p);
	assert_int_equal(rig.n_relays, LINES);
	close_rig();
	sbuf_fini(&text);
	sbuf_fini(&want);
}

/* A certificate with its chain, through sockets with little room. */
static void
a_payload_is_passed_on(void **st)
{
	enum { LINES = 2000 };
	struct sbuf text;

	(void)st;
	sbuf_init(&text, 0);
	sbuf_adds(&text, "@1 set ssl cert x <<\n");
	for (int i = 0; i < LINES; i++)
		sbuf_addf(&text, "%064d\n", i);
	sbuf_adds(&text, "\n");
	assert_true(text.len > 128000);
	open_rig(text.len - 3, 8192);
	assert_string_equal(ask_master(text.p, text.len), "an answer\n\n");
	assert_int_equal(n_asked, text.len - 3);
	assert_memory_equal(asked, text.p + 3, n_asked);
	close_rig();
	sbuf_fini(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_and_options),
		cmocka_unit_test(refused_commands),
		cmocka_unit_test(lines_have_commands),
		cmocka_unit_test(a_hard_reload_waits_for_the_present_one),
		cmocka_unit_test(a_client_that_left_is_noticed),
		cmocka_unit_test(a_line_stays_while_more_input_comes),
		cmocka_unit_test(many_lines_wait_in_the_socket),
		cmocka_unit_test(a_payload_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
