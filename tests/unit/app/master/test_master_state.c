#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/master/master.h"
#include "app/master/master_state.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "unit/test.h"
/* The units themselves, instead of the library's. */
#include "app/master/master.c"
#include "app/master/master_state.c"

static struct sys sys;
static struct master m;
static unsigned int n_descriptors;

static int
setup(void **st)
{
	static char *const argv[] = { (char *)"/bin/true", NULL };

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	m = (struct master){ .sys = &sys, .notify.fd = -1, .spawn.argv = argv };
	master_init(&m);
	return master_open_loop(&m);
}

static int
teardown(void **st)
{
	(void)st;
	list_each_safe(it, &m.workers)
		master_drop_worker(list_entry(it, struct worker_process, link));
	signals_close(&m.signals);
	loop_free(&m.loop);
	fd_store_fini(&m.store);
	mem_free(m.startup_log);
	mem_free(m.pidfile);
	return 0;
}

static void
count_descriptor(const struct master *of, int fd)
{
	assert_ptr_equal(of, &m);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	n_descriptors++;
}

/* A state that was read is written again, word for word. */
static void
a_written_state_is_read(void **st)
{
	char text[2048], copy[sizeof(text)];
	int link[2], former[2];
	int file = dup(0), socket_fd = dup(0), unix_fd = dup(0);
	struct sbuf out;

	(void)st;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, link), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, former), 0);
	snprintf(text, sizeof(text),
		"version %d\n"
		"settings 1 0 1 0 1 /run/with a blank.pid\n"
		"limits 1024 18446744073709551615\n"
		"master 1234567890123 1 4294967295\n"
		"reloads 7 3 1 cannot bind 127.0.0.1:80: in use\n"
		"worker 71 %d 2 5 1000 3.0.0-tacit0.1\n"
		"worker 72 %d 1 0 2000  asks-master\n"
		"socket %d 72 0 0 0 0 127.0.0.1:80 namespace 7\n"
		"socket %d 72 64769 18446744073709551614 1790000000 999999999 /run/a b.sock\n"
		"file %d 0\n"
		"log\n[WARNING] (72) : one\nworker 1 2 3\n",
		MASTER_STATE_VERSION, former[0], link[0], socket_fd, unix_fd, file);
	strcpy(copy, text);
	assert_int_equal(master_state_read(&m, copy), 0);
	sbuf_init(&out, 0);
	master_state_write(&m, &out);
	assert_string_equal(out.p, text);
	sbuf_fini(&out);
	assert_string_equal(m.pidfile, "/run/with a blank.pid");
	assert_string_equal(m.reason, "cannot bind 127.0.0.1:80: in use");
	assert_true(m.spawn.fds.rlim_max == RLIM_INFINITY);
	assert_int_equal(master_find_worker(&m, WORKER_CURRENT)->own.pid, 72);
	assert_int_equal(master_find_worker(&m, WORKER_LEAVING)->reloads, 5);
	n_descriptors = 0;
	master_state_descriptors(&m, count_descriptor);
	assert_int_equal(n_descriptors, 5);
	close(link[1]);
	close(former[1]);
}

static int
restore_text(const char *text)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	return master_state_read(&m, copy);
}

static void
another_form_is_refused(void **st)
{
	(void)st;
	assert_int_equal(restore_text("version 1\nlog\n"), 0);
	mem_free(m.startup_log);
	m.startup_log = NULL;
	assert_int_equal(restore_text("version 2\nlog\n"), -ERR_UNSUPPORTED);
	assert_int_equal(restore_text("version\nlog\n"), -ERR_SYNTAX);
	assert_int_equal(restore_text("version 1x\nlog\n"), -ERR_SYNTAX);
	assert_int_equal(restore_text("version 1\nfuture 1\nlog\n"), -ERR_UNKNOWN);
	assert_int_equal(restore_text("limits 1\nlog\n"), -ERR_SYNTAX);
	assert_int_equal(restore_text("limits 1 18446744073709551616\nlog\n"), -ERR_SYNTAX);
	/* Cut. */
	assert_int_equal(restore_text(""), -ERR_SYNTAX);
	assert_int_equal(restore_text("version 1\n"), -ERR_SYNTAX);
	assert_int_equal(restore_text("version 1\nlo"), -ERR_SYNTAX);
	/* -S is among the options of both programs, or of none. */
	assert_int_equal(restore_text("commands 5\nlog\n"), -ERR_INVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_written_state_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(another_form_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
