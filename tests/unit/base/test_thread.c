#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/thread.h"
#include "unit/test.h"

/* Properties of a thread, found out by itself. */
struct seen {
	pthread_t id;
	sigset_t blocked;
	char name[32];
	int n;
};

static void
look(void *arg)
{
	struct seen *s = arg;

	s->id = pthread_self();
	(void)pthread_sigmask(SIG_BLOCK, NULL, &s->blocked);
	(void)pthread_getname_np(pthread_self(), s->name, sizeof(s->name));
	s->n++;
}

static void
runs_elsewhere_until_joined(void **state)
{
	struct thread t;
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(thread_start(&t, look, &s, "worker/2"), 0);
	assert_int_equal(thread_join(&t), 0);
	assert_int_equal(s.n, 1);
	assert_true(pthread_equal(s.id, t.id));
	assert_false(pthread_equal(s.id, pthread_self()));
	assert_string_equal(s.name, "worker/2");
}

/* A name may have fifteen bytes. */
static void
names_that_fit(void **state)
{
	char own[32];
	static const struct { const char *given, *got;
	} t[] = {
		{ "123456789012345", "123456789012345" },
		{ "1234567890123456", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};

	(void)state;
	assert_int_equal(pthread_getname_np(pthread_self(), own, sizeof(own)), 0);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct thread th;
		struct seen s = { 0 };

		assert_int_equal(thread_start(&th, look, &s, t[i].given), 0);
		assert_int_equal(thread_join(&th), 0);
		assert_string_equal(s.name, t[i].got ? t[i].got : own);
	}
}

static void
inherits_what_is_blocked(void **state)
{
	struct thread t;
	struct seen s = { 0 };
	sigset_t all, before;

	(void)state;
	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
	assert_int_equal(thread_start(&t, look, &s, NULL), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
	assert_int_equal(thread_join(&t), 0);
	assert_int_equal(sigismember(&s.blocked, SIGTERM), 1);
	assert_int_equal(sigismember(&s.blocked, SIGUSR1), 1);
}

#define MANY 8

static void
many_at_once(void **state)
{
	struct thread t[MANY];
	struct seen s[MANY];

	(void)state;
	memset(s, 0, sizeof(s));
	for (int i = 0; i < MANY; i++)
		assert_int_equal(thread_start(&t[i], look, &s[i], "one-of-many"), 0);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(thread_join(&t[i]), 0);
		assert_int_equal(s[i].n, 1);
	}
}

/* If the system permits no more threads, an error is returned. */
static void
no_more_threads(void **state)
{
	pid_t pid;
	int status = 0;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		struct thread t;
		struct seen s = { 0 };
		int r;

		/* the limit does not apply to root */
		if (setrlimit(RLIMIT_NPROC, &none) || (getuid() == 0 && setuid(65534)))
			_exit(77);
		r = thread_start(&t, look, &s, "never");
		_exit(r == -EAGAIN && s.n == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Each thread has its own CPU set. */
struct bound {
	struct sys sys;
	cpu_set_t want, got;
	long set, get;
};

static void
bind_itself(void *arg)
{
	struct bound *b = arg;

	sys_init(&b->sys, &sys_linux, NULL);
	b->set = sys_sched_setaffinity(&b->sys, sizeof(b->want), &b->want);
	b->get = sys_sched_getaffinity(&b->sys, sizeof(b->got), &b->got);
}

static void
affinity_is_of_the_calling_thread(void **state)
{
	struct bound b;
	struct thread t;
	struct sys sys;
	cpu_set_t before, after;
	int last = 0;

	(void)state;
	memset(&b, 0, sizeof(b));
	sys_init(&sys, &sys_linux, NULL);
	assert_true(sys_sched_getaffinity(&sys, sizeof(before), &before) >= 0);
	assert_true(CPU_COUNT(&before) >= 1);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &before))
			last = i;
	CPU_SET(last, &b.want);
	assert_int_equal(thread_start(&t, bind_itself, &b, NULL), 0);
	assert_int_equal(thread_join(&t), 0);
	assert_int_equal(b.set, 0);
	assert_true(b.get >= 0);
	assert_true(CPU_EQUAL(&b.got, &b.want));
	assert_int_equal(b.sys.ledger.n[SYS_CALL_sched_setaffinity][SYS_OK], 1);
	assert_true(sys_sched_getaffinity(&sys, sizeof(after), &after) >= 0);
	assert_true(CPU_EQUAL(&before, &after));
	CPU_ZERO(&after);
	assert_int_equal(sys_sched_setaffinity(&sys, sizeof(after), &after), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_elsewhere_until_joined),
		cmocka_unit_test(names_that_fit),
		cmocka_unit_test(inherits_what_is_blocked),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(no_more_threads),
		cmocka_unit_test(affinity_is_of_the_calling_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
