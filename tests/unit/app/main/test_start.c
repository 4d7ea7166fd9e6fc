#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/wait.h>

#include "app/main/start.h"
#include "base/compiler.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

/* Runs the program in a child process: its exit code, and what it printed. */
static char console[8192];

static int
program(const char *line)
{
	static const char *const env[] = { "PORT=65000", NULL };
	char words[512];
	char *argv[32];
	int argc = 0, status = 0, out = open(files_path("out"), O_CREAT | O_TRUNC | O_RDWR, 0600);
	ssize_t n;
	pid_t pid;

	snprintf(words, sizeof(words), "tacit %s", line);
	for (char *p = strtok(words, " "); p && argc < 31; p = strtok(NULL, " "))
		argv[argc++] = p;
	argv[argc] = NULL;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int r;

		dup2(out, 1);
		dup2(out, 2);
		r = start_main(argc, argv, env);
		fflush(NULL);
		_exit(r);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = pread(out, console, sizeof(console) - 1, 0);
	console[n > 0 ? n : 0] = '\0';
	close(out);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
program_on(const char *options, const char *config)
{
	char line[256];

	snprintf(line, sizeof(line), "%s -f %s", options, files_write("t.cfg", config));
	return program(line);
}

static void
without_files(void **state)
{
	static const struct { const char *line; int code; const char *text; } t[] = {
		{ "-v", 0, "tacit version " }, { "-vv", 0, "TARGET  = linux-glibc" },
		{ "-h", 1, "Usage : tacit" },  { "", 1, "Usage : tacit" },
		{ "-z", 1, "'-z'" },	       { "-cc 1", 0, "" },
		{ "-cc 0", 1, "" },	       { "-cc bad(", 1, "ALERT" },
		{ "-dKall", 0, "maxconn" },    { "-dKhelp", 0, "cfg" },
		{ "-f /nonexistent", 1, "/nonexistent" },
		{ "-C /nonexistent -f x", 1, "cannot change to directory /nonexistent" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(program(t[i].line), t[i].code);
		assert_non_null(strstr(console, t[i].text));
	}
}

/* Returns the exit code of --health with a socket that sends this answer. NULL: none listens. */
static int
health_of(const char *answer)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), code;
	char line[200], asked[64] = "";
	pid_t pid = -1;

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", files_path("sock"));
	(void)unlink(un.sun_path);
	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	if (answer) {
		assert_int_equal(listen(s, 1), 0);
		fflush(NULL);
		pid = fork();
	}
	if (pid == 0) {
		int c = accept(s, NULL, NULL);

		_exit(recv(c, asked, sizeof(asked), 0) != 12 ||
			memcmp(asked, "show health\n", 12) != 0 ||
			write(c, answer, strlen(answer)) < 0);
	}
	snprintf(line, sizeof(line), "--health %s", un.sun_path);
	code = program(line);
	if (pid > 0) {
		int status;

		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	close(s);
	return code;
}

static void
health_is_an_exit_code_and_a_line(void **state)
{
	(void)state;
	assert_int_equal(health_of("healthy: yes\nstate: serving\n\n"), 0);
	assert_string_equal(console, "healthy: yes\n");
	assert_int_equal(health_of("unhealthy: it stops\nstate: draining\n\n"), 1);
	assert_string_equal(console, "unhealthy: it stops\n");
	assert_int_equal(health_of("Unknown command.\n\n"), 1);
	assert_non_null(strstr(console, ": not a stats socket of tacit: Unknown command.\n"));
	assert_int_equal(health_of(""), 1);
	assert_non_null(strstr(console, ": the process ends\n"));
	assert_int_equal(health_of(NULL), 1);
	assert_non_null(strstr(console, "/sock: Connection refused\n"));
	assert_int_equal(program("--health /nonexistent/sock"), 1);
	assert_string_equal(console,
		"unhealthy: /nonexistent/sock: No such file or directory\n");
}

#define GOOD                                                                                 \
	"defaults\n mode tcp\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n" \
	"listen l\n bind \"127.0.0.1:${PORT}\"\n server s 127.0.0.1:1\n"

static void
checks(void **state)
{
	(void)state;
	assert_int_equal(program_on("-c", GOOD), 0);
	assert_string_equal(console, "Configuration file is valid\n");
	assert_int_equal(program_on("-c -q", GOOD), 0);
	assert_string_equal(console, "");
	assert_int_equal(program_on("-c", GOOD "nonsense\n"), 1);
	assert_non_null(strstr(console, "t.cfg:9"));
	assert_int_equal(program_on("-c", "global\n maxconn 1\n"), 2);
	assert_int_equal(program_on("", "global\n maxconn 1\n"), 1);
	assert_non_null(strstr(console, "No enabled listener"));
}

static void
cannot_start(void **state)
{
	(void)state;
	/* one message for each address that cannot be bound */
	assert_int_equal(
		program_on("-db", GOOD " bind unix@/nonexistent/a\n bind unix@/nonexistent/b\n"),
		1);
	assert_non_null(strstr(console, "/nonexistent/a"));
	assert_non_null(strstr(console, "/nonexistent/b"));
	/* in the foreground the pid file is not needed: the start continues to the next failure */
	assert_int_equal(
		program_on("-db -p /nonexistent/pid", GOOD " bind unix@/nonexistent/a\n"), 1);
	assert_non_null(strstr(console, "cannot create pidfile /nonexistent/pid"));
	assert_non_null(strstr(console, "/nonexistent/a"));
	assert_int_equal(
		program_on("-D -p /nonexistent/pid", GOOD " bind unix@/nonexistent/a\n"), 1);
	assert_non_null(strstr(console, "cannot create pidfile /nonexistent/pid"));
	assert_null(strstr(console, "/nonexistent/a"));
	assert_int_equal(program_on("-db", "global\n chroot /nonexistent\n" GOOD), 1);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, files_open, files_close)
	const struct CMUnitTest tests[] = { T(without_files), T(checks), T(cannot_start),
		T(health_is_an_exit_code_and_a_line) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
