/* Answers that are produced in slices, over a real socket, with a part from each worker. */
#include "unit/app/app_rig.h"

#include <signal.h>
#include <sys/socket.h>

#include "event/mailbox.h"
#include "sim/faults.h"

static int
connect_admin(int room)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	assert_int_equal(connect(fd, &rig_listener->addr.u.sa, rig_listener->addr.len), 0);
	return fd;
}

/* Reads at most max bytes per turn until the connection ends; returns the length of the answer. */
static size_t
read_answer(int fd, size_t max, char *last)
{
	static char buf[65536];
	size_t all = 0;

	for (int i = 0; i < 200000; i++) {
		ssize_t n;

		assert_int_equal(loop_turn(w->loop, 1), 0);
		n = recv(fd, buf, MIN(max, sizeof(buf)), MSG_DONTWAIT);
		if (n == 0)
			return all;
		if (n > 0) {
			all += (size_t)n;
			*last = buf[n - 1];
		}
	}
	fail_msg("no end after %zu bytes", all);
	return 0;
}

static struct admin_conn *
only_conn(void)
{
	struct list *conns = &((struct admin *)proc.admin)->conns;

	assert_false(list_is_empty(conns));
	return list_first(conns, struct admin_conn, link);
}

enum { ROWS = 100000 };

struct count {
	unsigned int n;
};

static int
next_number(struct admin_conn *c, void *state)
{
	struct count *n = state;

	if (n->n == ROWS)
		return 0;
	sbuf_addf(&c->out, "%09u\n", n->n++);
	return 1;
}

/* However long the answer is, only a slice is produced before the client has read the one
 * before. */
static void
one_slice_at_a_time_is_in_memory(void **st)
{
	static const struct count none;
	static char line[] = "";
	int fd;
	struct admin_conn *c;
	char last = 0;

	(void)st;
	rig_open("nbthread 1", "");
	fd = connect_admin(4096);
	bench_turns();
	c = only_conn();
	admin_begin_line(c, line, NULL);
	admin_walk(c, next_number, &none, sizeof(none));
	assert_int_equal(send(fd, "x", 1, 0), 1);
	for (int i = 0; i < 200; i++)
		assert_int_equal(loop_turn(w->loop, 1), 0);
	assert_true(c->out.cap <= 2 * ADMIN_SLICE);
	assert_non_null(c->line);
	c->quit = 1;
	/* After quit no empty line follows. */
	assert_int_equal(read_answer(fd, 65536, &last), ROWS * 10);
	assert_int_equal(last, '\n');
	close(fd);
	bench_turns();
	rig_close();
}

static void
note_worker(struct admin_conn *c, struct worker *who, void *state)
{
	struct admin_tour *t = state;

	assert_true(pthread_equal(pthread_self(), who->thread.id) || who == w);
	sbuf_addf(&c->out, "%u.%llu ", who->index, (unsigned long long)t->after);
	t->after++;
	t->is_done = t->after == 3;
}

static void
on_mail(void *worker, struct mail *m)
{
	(void)worker;
	(void)m;
}

/* Each worker produces its part on its own thread, even when its mailbox was full. */
static void
each_worker_makes_its_part_in_turn(void **st)
{
	static const struct admin_tour tour = { .visit = note_worker };
	static const char want[] = "0.0 0.1 0.2 1.0 1.1 1.2 2.0 2.1 2.2 \n";
	static char line[] = "";
	struct mail m = { .fn = on_mail };
	char got[100] = "";
	struct admin_conn *c;
	int fd;

	(void)st;
	rig_open("nbthread 3", "");
	fd = connect_admin(65536);
	bench_turns();
	c = only_conn();
	admin_begin_line(c, line, NULL);
	rendezvous_begin(&proc);
	while (mailbox_post(w->mailbox, proc.workers[1].mailbox, &m) == 0)
		;
	rendezvous_end(&proc);
	admin_tour(c, &tour, sizeof(tour));
	assert_int_equal(send(fd, "x", 1, 0), 1);
	/* Waits until the other workers have run, also on a busy machine. */
	while (recv(fd, got, sizeof(got) - 1, MSG_PEEK | MSG_DONTWAIT) < (ssize_t)sizeof(want) - 1)
		assert_int_equal(loop_turn(w->loop, 1), 0);
	assert_string_equal(got, want);
	close(fd);
	process_on_signal(&proc, SIGUSR1, 0);
	process_run(&proc);
	assert_int_equal(process_join(&proc), 0);
	rig_close();
}

static unsigned int n_ends;

static void
end_count(void *state)
{
	assert_int_equal(((struct count *)state)->n, 7);
	n_ends++;
}

/* The end of a walk is called once, also without memory for the walk. */
static void
each_walk_has_one_end(void **st)
{
	(void)st;
	for (int fails = 0; fails < 2; fails++) {
		struct admin_conn c = { .conn = { .fd = -1 } };
		struct count n = { 7 };

		n_ends = 0;
		faults_set((uint64_t)fails);
		faults_apply(1);
		admin_walk_with_end(&c, next_number, end_count, &n, sizeof(n));
		faults_apply(0);
		assert_int_equal(faults_hit(), fails);
		assert_int_equal(c.out.failed, fails);
		assert_int_equal(n_ends, fails);
		admin_abandon_line(&c);
		assert_int_equal(n_ends, 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slice_at_a_time_is_in_memory),
		cmocka_unit_test(each_worker_makes_its_part_in_turn),
		cmocka_unit_test(each_walk_has_one_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
