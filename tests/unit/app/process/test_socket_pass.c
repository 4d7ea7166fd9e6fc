#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "app/process/inherited.h"
#include "app/process/former.c"
#include "net/listener_key.h"
#include "net/shards.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static const char several[] =
	"frontend two\n bind \"abns@tacit-a-${UNIT_PID},abns@tacit-b-${UNIT_PID}\"\n"
	"listen off\n disabled\n bind \"abns@tacit-c-${UNIT_PID}\"";

/* The names of the two sockets of "two". */
static char name_a[32], name_b[32];

static int
set_names(void **st)
{
	(void)st;
	snprintf(name_a, sizeof(name_a), "abns@tacit-a-%d", (int)getpid());
	snprintf(name_b, sizeof(name_b), "abns@tacit-b-%d", (int)getpid());
	return 0;
}

static struct listener *
listener_of(const char *proxy)
{
	return list_first(&list_first(&proxies_find(&cfg.proxies, proxy, PROXY_FE)->binds,
				 struct bind_conf, link)
				  ->listeners,
		struct listener, link);
}

/* The other process, as a child: takes the sockets with these names; 0 if all went well. */
static int
take_sockets(int fd, const char *const *names, unsigned int expected, int ends_well)
{
	struct inherited_sockets got;
	struct socket_fetch f;
	struct sys own;
	char why[200];

	sys_init(&own, &sys_linux, NULL);
	inherited_init(&got, &own);
	if (socket_fetch_from(&f, &own, fd, &got, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	if (got.n != expected)
		return 2;
	for (; *names; names++) {
		struct inherited_socket *s = inherited_take(&got, *names);
		int is_listening = 0;
		socklen_t len = sizeof(is_listening);

		if (!s || getsockopt(s->fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len) ||
			!is_listening)
			return 3;
	}
	return ends_well ? socket_fetch_done(&f, &got) != 0 : 0;
}

static int
pass_to_child(const char *const *names, unsigned int expected, int ends_well)
{
	int sv[2], status = -1;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(sv[0]);
		_exit(take_sockets(sv[1], names, expected, ends_well));
	}
	close(sv[1]);
	assert_int_equal(socket_pass_start(&proc.pass, sv[0]), 0);
	while (proc.pass.fd >= 0)
		assert_int_equal(loop_turn(w->loop, 1000), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
used_sockets_stay_open(void **st)
{
	const char *const names[] = { name_b, NULL };
	struct listener *a, *b;

	(void)st;
	bench_start("nbthread 3", several);
	a = listener_of("two");
	for (b = a; b->group == a->group;)
		b = list_entry(b->link.next, struct listener, link);
	assert_int_equal(pass_to_child(names, 3, 1), 0);
	assert_int_equal(listener_of("l")->kept_open, 0);
	for (unsigned int i = 0; i < a->group->n; i++)
		assert_int_equal(a->group->of[i]->kept_open, 0);
	for (unsigned int i = 0; i < b->group->n; i++)
		assert_int_equal(b->group->of[i]->kept_open, LISTENER_KEPT_NEXT);
	bench_stop();
}

static void
a_start_that_fails_changes_nothing(void **st)
{
	const char *const names[] = { name_a, name_b, NULL };

	(void)st;
	bench_start("", several);
	assert_int_equal(pass_to_child(names, 3, 0), 0);
	assert_int_equal(listener_of("two")->kept_open, 0);
	assert_true(listener_of("l")->made_ino != 0);
	bench_stop();
}

/* A start that failed, or a command _getsocks, came before. */
static void
sockets_are_passed_again(void **st)
{
	const char *const names[] = { name_b, NULL };

	(void)st;
	bench_start("", several);
	assert_int_equal(pass_to_child(names, 3, 0), 0);
	assert_int_equal(pass_to_child(names, 3, 1), 0);
	assert_int_equal(listener_of("l")->kept_open, 0);
	assert_int_equal(list_entry(listener_of("two")->link.next, struct listener, link)
				 ->kept_open,
		LISTENER_KEPT_NEXT);
	bench_stop();
}

/* Passed sockets stay in use, even if the other side has not confirmed them yet. */
static void
a_stop_meanwhile(void **st)
{
	char text[256];
	int sv[2];

	(void)st;
	bench_start("", several);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(socket_pass_start(&proc.pass, sv[0]), 0);
	for (int i = 0; i < 10 && proc.pass.sent < proc.pass.n; i++)
		assert_int_equal(loop_turn(w->loop, 6000), 0);
	assert_true(read(sv[1], text, sizeof(text)) > 0);
	assert_memory_equal(text, "X_SOCKETS=3\n", 12);
	socket_pass_assume(&proc.pass);
	assert_int_equal(listener_of("two")->kept_open, LISTENER_KEPT_NEXT);
	/* the path is the other's */
	assert_true(listener_of("l")->made_ino == 0);
	close(sv[1]);
	bench_stop();
}

/* Nonsense of the other side ends with its connection. */
static void
nonsense_is_ignored(void **st)
{
	static const char *const t[] = { "", "\n", "X_USES=\n", "X_USES=99999999999999999999\n",
		"X_USES=-1\n", "X_USES=3\nX_USES=4\n", "READY=0\n", "_getsocks\n" };
	char much[8000];

	(void)st;
	bench_start("", several);
	memset(much, 'x', sizeof(much));
	for (size_t i = 0; i <= ARRAY_LEN(t); i++) {
		const char *s = i < ARRAY_LEN(t) ? t[i] : much;
		size_t n = i < ARRAY_LEN(t) ? strlen(s) : sizeof(much);
		int sv[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
		assert_int_equal(socket_pass_start(&proc.pass, sv[0]), 0);
		assert_int_equal(loop_turn(w->loop, 100), 0);
		assert_int_equal(send(sv[1], s, n, 0), n);
		close(sv[1]);
		for (int k = 0; k < 10 && proc.pass.fd >= 0; k++)
			assert_int_equal(loop_turn(w->loop, 100), 0);
		assert_int_equal(proc.pass.fd, -1);
		assert_int_equal(listener_of("l")->kept_open, 0);
		assert_int_equal(listener_of("two")->kept_open, 0);
	}
	bench_stop();
}

/* Answers of a process that does not pass sockets. */
static void
answers_that_are_refused(void **st)
{
	static const char *const t[][2] = {
		{ "This socket has no 'expose-fd listeners'.\n\n",
			"This socket has no 'expose-fd listeners'." },
		{ "\n", "it does not pass sockets" }, { "", "it has closed the connection" },
		{ "X_SOCKETS=\n", "it passes too many sockets" },
		{ "X_SOCKETS=1x\n", "it passes too many sockets" },
		{ "X_SOCKETS=70000\n", "it passes too many sockets" },
		{ "X_SOCKETS=1\n127.0.0.1:80\n", "a socket is missing" },
		{ "X_SOCKETS=1\n", "it has closed the connection" },
	};

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct inherited_sockets got;
		struct socket_fetch f;
		char why[200] = "";
		int sv[2];

		inherited_init(&got, &sys);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
		assert_int_equal(write(sv[1], t[i][0], strlen(t[i][0])), strlen(t[i][0]));
		shutdown(sv[1], SHUT_WR);
		assert_true(socket_fetch_from(&f, &sys, sv[0], &got, why, sizeof(why)) < 0);
		assert_string_equal(why, t[i][1]);
		assert_int_equal(f.fd, -1);
		close(sv[1]);
		inherited_fini(&got);
	}
}

/* Sends a text with copies of a descriptor. */
static void
send_with_fds(int to, const char *text, int fd, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (char *)(uintptr_t)text, .iov_len = strlen(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	assert_true(n <= 2);
	control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &fd, sizeof(int));
	assert_int_equal(sendmsg(to, &msg, 0), iov.iov_len);
}

static int
next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* The other process keeps all its sockets then: none may stay open here, or be used. */
static void
nothing_stays_of_a_fetch_that_fails(void **st)
{
	static const struct {
		const char *text, *why;
		size_t n;
	} t[] = {
		{ "b", "a socket has no name", 1 },
		{ "\n\n", "a socket is missing", 1 },
		{ "b\n", "a socket cannot be received", 2 },
	};

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct inherited_sockets got;
		struct socket_fetch f;
		char why[200] = "";
		int sv[2], fd = next_fd();

		inherited_init(&got, &sys);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
		assert_int_equal(write(sv[1], "X_SOCKETS=3\n", 12), 12);
		send_with_fds(sv[1], "a\n", 0, 1);
		send_with_fds(sv[1], t[i].text, 0, t[i].n);
		shutdown(sv[1], SHUT_WR);
		assert_true(socket_fetch_from(&f, &sys, sv[0], &got, why, sizeof(why)) < 0);
		assert_string_equal(why, t[i].why);
		assert_int_equal(got.n, 0);
		close(sv[1]);
		assert_int_equal(next_fd(), fd);
		inherited_fini(&got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(used_sockets_stay_open),
		cmocka_unit_test(a_start_that_fails_changes_nothing),
		cmocka_unit_test(sockets_are_passed_again),
		cmocka_unit_test(a_stop_meanwhile),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(answers_that_are_refused),
		cmocka_unit_test(nothing_stays_of_a_fetch_that_fails),
	};

	return cmocka_run_group_tests(tests, set_names, NULL);
}
