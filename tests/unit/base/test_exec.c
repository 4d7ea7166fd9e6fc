/* Commands that are run, on the real kernel. */
#include "base/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/sys.h"
#include "unit/test.h"

static struct sys sys;
static char out[64], dir[64], path[80];
static int status;

static int
setup(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	strcpy(dir, "/tmp/tacit-exec-XXXXXX");
	status = -1;
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char cmd[128];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

static void
write_script(const char *name, const char *text, mode_t mode)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static long
shell(const char *script)
{
	const char *const args[] = { "/bin/sh", "-c", script, NULL };
	const char *const env[] = { "PATH=/usr/bin:/bin", "WORD=blue", NULL };

	return exec_output(&sys, args, env, out, sizeof(out), &status);
}

/* No child is left. */
static void
assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
test_output(void **state)
{
	(void)state;
	assert_int_equal(shell("echo a $WORD; echo b"), 9);
	assert_string_equal(out, "a blue\nb\n");
	assert_int_equal(status, 0);
	assert_int_equal(shell(":"), 0);
	assert_string_equal(out, "");
	assert_no_child();
}

static void
test_status(void **state)
{
	(void)state;
	assert_int_equal(shell("echo x; exit 3"), 2);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(shell("kill -KILL $$"), 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_no_child();
}

/* One that writes without an end is killed. */
static void
test_bound(void **state)
{
	(void)state;
	assert_int_equal(shell("printf %063d 1"), 63);
	assert_int_equal(shell("printf %064d 1"), -EFBIG);
	assert_int_equal(shell("while :; do echo more; done"), -EFBIG);
	assert_no_child();
}

static void
test_not_executed(void **state)
{
	const char *args[] = { "/no/such/command", NULL };
	const char *const env[] = { "PATH=/no/such:/tmp", NULL };

	(void)state;
	assert_int_equal(exec_output(&sys, args, env, out, sizeof(out), &status), -ENOENT);
	args[0] = "no-such-command-of-tacit";
	assert_int_equal(exec_output(&sys, args, env, out, sizeof(out), &status), -ENOENT);
	write_script("locked", "echo x\n", 0644);
	args[0] = path;
	assert_int_equal(exec_output(&sys, args, env, out, sizeof(out), &status), -EACCES);
	assert_no_child();
}

/* In the directories of PATH in their order; a file without "#!" is a script of the shell. */
static void
test_path(void **state)
{
	char variable[128];
	const char *const args[] = { "say", "one", "two", NULL };
	const char *const env[] = { variable, NULL };

	(void)state;
	write_script("say", "echo $# $2\n", 0755);
	snprintf(variable, sizeof(variable), "PATH=/no/such:%s:/bin", dir);
	assert_int_equal(exec_output(&sys, args, env, out, sizeof(out), &status), 6);
	assert_string_equal(out, "2 two\n");
}

/* The command has the standard streams and nothing else, no signal is ignored, and its status is
 * known even if this process was started with SIGCHLD ignored. */
static void
test_clean_process(void **state)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, 40), 40);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	assert_true(shell("for f in 3 4 5 40; do [ -e /proc/$$/fd/$f ] && echo $f; done; "
			  "kill -USR1 $$; echo lives") >= 0);
	assert_string_equal(out, "");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	close(40);
	close(fd);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_output), T(test_status), T(test_bound), T(test_not_executed), T(test_path),
		T(test_clean_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
