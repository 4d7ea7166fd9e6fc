#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/activation.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static struct activation a;

static void
read_env(const char *pid, const char *fds, const char *names)
{
	char texts[3][64];
	const char *env[] = { "LISTEN_FDNAMESX=no", texts[0], texts[1], texts[2], NULL };

	sys_init(&sys, &sys_linux, NULL);
	snprintf(texts[0], sizeof(texts[0]), "LISTEN_PID=%s", pid);
	snprintf(texts[1], sizeof(texts[1]), "LISTEN_FDS=%s", fds);
	snprintf(texts[2], sizeof(texts[2]), "LISTEN_FDNAMES=%s", names);
	activation_read(&a, &sys, env);
	assert_int_equal(a.names != NULL, a.n > 0);
}

static void
only_what_is_meant_for_us(void **st)
{
	static const char *const none[] = { NULL };
	char pid[16];

	(void)st;
	snprintf(pid, sizeof(pid), "%d", getpid());
	read_env(pid, "2", "a:b");
	assert_int_equal(a.n, 2);
	read_env("1", "2", "a:b");
	assert_int_equal(a.n, 0);
	read_env("", "2", "a:b");
	assert_int_equal(a.n, 0);
	read_env(pid, "99999999", "a:b");
	assert_int_equal(a.n, ACTIVATION_MAX);
	activation_read(&a, &sys, none);
	assert_int_equal(a.n, 0);
}

/* By name and by address; what is named wrongly is reported with its place. */
static void
listeners_get_their_sockets(void **st)
{
	struct sockaddr_un un;
	char *text = NULL;
	size_t len = 0;
	int fd, saved;

	(void)st;
	assert_int_equal(bench_open("", "listen n\n bind fd@web\n bind fd@wrong"), 0);
	fclose(report.to);
	report.to = open_memstream(&text, &len);
	un = bench_addr("front");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(fd, 1), 0);
	saved = fcntl(ACTIVATION_FIRST, F_DUPFD, 50);
	dup2(fd, ACTIVATION_FIRST);
	a = (struct activation){ .n = 1, .names = "other" };
	assert_true(activation_apply(&a, &sys, &cfg, &report) < 0);
	fflush(report.to);
	assert_non_null(strstr(text, "'fd@web' : no socket of this name"));
	assert_non_null(strstr(text, "'fd@wrong' : no socket of this name"));
	assert_int_equal(list_first(&list_first(&proxies_find(&cfg.proxies, "l", PROXY_FE)->binds,
					    struct bind_conf, link)->listeners,
		struct listener, link)->inherit_fd, ACTIVATION_FIRST);
	assert_true(fcntl(ACTIVATION_FIRST, F_GETFD) & FD_CLOEXEC);
	dup2(saved, ACTIVATION_FIRST);
	close(saved);
	close(fd);
	bench_close();
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_meant_for_us),
		cmocka_unit_test(listeners_get_their_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
