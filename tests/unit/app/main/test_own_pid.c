/* getpid() of the program: one call in each process, and the right answer after a fork. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/main/own_pid.h"
#include "unit/test.h"

static int
is_right(void)
{
	return getpid() == (pid_t)syscall(SYS_getpid);
}

/* The child's code: 0 when it knows its own number. */
static int
ask_in_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(is_right() && is_right() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
the_number_is_right(void **st)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)st;
	assert_int_equal(madvise(page, 4096, MADV_WIPEONFORK), 0);
	assert_true(is_right());
	assert_int_equal(ask_in_child(), 0);
	own_pid_keep(page);
	assert_true(is_right());
	assert_true(is_right());
	assert_int_equal(ask_in_child(), 0);
	assert_true(is_right());
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_number_is_right) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
