/* The descriptor table on real sockets: what is wanted, when it is tried, and what is
 * registered. */
#include "loop_rig.h"

#include <fcntl.h>

static uint64_t
ctls(void)
{
	return ledger_sum(&rig.sys.ledger, SYS_CALL_epoll_ctl);
}

static void
fds_believed_ready_are_tried_in_the_next_turn(void **st)
{
	uint64_t before = ctls();

	(void)st;
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd, (void *)(uintptr_t) "a"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	turn();
	/* The descriptor is tried without an event, and registered only after EAGAIN. */
	assert_string_equal(rig.log, "a");
	assert_int_equal(ctls(), before);
	assert_false(loop_is_ready(rig.l, rig.a[0], DIR_R));
	turn();
	assert_int_equal(ctls(), before + 1);
	assert_string_equal(rig.log, "a");
}

static void
without_lazy_registration_nothing_is_tried_first(void **st)
{
	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 0);
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd, (void *)(uintptr_t) "a"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	assert_false(loop_is_ready(rig.l, rig.a[0], DIR_R));
	turn();
	assert_int_equal(ctls(), 1);
	assert_string_equal(rig.log, "");
}

static void
edge_registers_once(void **st)
{
	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 1);
	want_read(rig.a[0], LOOP_CONN, "a");
	for (int i = 0; i < 5; i++) {
		assert_int_equal(write(rig.a[1], "x", 1), 1);
		turn();
	}
	assert_string_equal(rig.log, "aaaaa");
	assert_int_equal(ctls(), 1);
}

/* Connections that are left in the backlog on purpose would not be reported again by an edge. */
static void
listeners_stay_level_triggered_in_edge_mode(void **st)
{
	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 1);
	rig.read_some = 0;
	assert_int_equal(
		loop_add(rig.l, rig.a[0], LOOP_LISTENER, on_fd, (void *)(uintptr_t) "l"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	loop_again(rig.l, rig.a[0], DIR_R);
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	for (int i = 0; i < 3; i++) {
		turn();
		loop_again(rig.l, rig.a[0], DIR_R);
	}
	assert_string_equal(rig.log, "lll");
}

static void
a_presumption_is_for_merged_modes_only(void **st)
{
	(void)st;
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd, (void *)(uintptr_t) "a"), 0);
	loop_presume_again(rig.l, rig.a[0], DIR_R);
	assert_false(loop_is_ready(rig.l, rig.a[0], DIR_R));
	teardown(st);
	setup_mode(INTEREST_UNMERGED, 1);
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd, (void *)(uintptr_t) "a"), 0);
	loop_presume_again(rig.l, rig.a[0], DIR_R);
	assert_true(loop_is_ready(rig.l, rig.a[0], DIR_R));
}

static void
data_without_an_event_can_be_tried(void **st)
{
	(void)st;
	want_read(rig.a[0], LOOP_CONN, "a");
	loop_again(rig.l, rig.a[0], DIR_R);
	assert_false(loop_is_ready(rig.l, rig.a[0], DIR_R));
	loop_presume_ready(rig.l, rig.a[0], DIR_R);
	assert_true(loop_is_ready(rig.l, rig.a[0], DIR_R));
}

/* No event comes for bytes in memory: they are tried in every mode, registered or not. */
static void
held_bytes_are_tried_without_an_event(void **st)
{
	(void)st;
	for (int mode = INTEREST_UNMERGED; mode <= INTEREST_EDGE; mode++)
		for (int lazy = 0; lazy < 2; lazy++) {
			teardown(st);
			setup_mode((enum interest_mode)mode, lazy);
			rig.read_some = 0;
			assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd,
				(void *)(uintptr_t) "a"), 0);
			loop_hold(rig.l, rig.a[0], 1);
			loop_want(rig.l, rig.a[0], EV_R);
			turn();
			assert_true(rig.last_ev & EV_R);
			loop_hold(rig.l, rig.a[0], 0);
			loop_again(rig.l, rig.a[0], DIR_R);
			assert_false(loop_is_ready(rig.l, rig.a[0], DIR_R));
		}
}

static void
a_failed_registration_is_reported(void **st)
{
	(void)st;
	/* Removed from epoll without the loop's knowledge. */
	want_read(rig.a[0], LOOP_CONN, "a");
	close(rig.a[0]);
	turn();
	assert_true(rig.last_ev & EV_SPIN);
	assert_int_equal(loop_stats(rig.l)->set_errors, 1);
	loop_forget(rig.l, rig.a[0]);
	rig.a[0] = dup(rig.a[1]);
}

static void
numbers_beyond_the_table_are_refused(void **st)
{
	(void)st;
	assert_int_equal(loop_add(rig.l, MAX_FD, LOOP_CONN, on_fd, NULL), -ERR_FULL);
	assert_int_equal(loop_add(rig.l, -1, LOOP_CONN, on_fd, NULL), -ERR_FULL);
}

/* A full pipe whose reader is gone: EPOLLERR alone. */
static void
error_alone(int pipe_fd[2])
{
	char fill[4096] = "";

	assert_int_equal(pipe2(pipe_fd, O_NONBLOCK), 0);
	while (write(pipe_fd[1], fill, sizeof(fill)) > 0)
		;
	want_read(pipe_fd[1], LOOP_CONN, "p");
	rig.read_some = 0;
	turn();
	assert_int_equal(rig.n, 0);
}

static void
an_error_ends_waiting_both_ways(void **st)
{
	int p[2];

	(void)st;
	error_alone(p);
	close(p[0]);
	turn();
	assert_int_equal(rig.last_ev, EV_ERR | EV_RW);
	assert_int_equal(loop_seen(rig.l, p[1]), EV_ERR);
	assert_true(loop_is_ready(rig.l, p[1], DIR_R));
	loop_forget(rig.l, p[1]);
	close(p[1]);
}

/* With an error queue EPOLLERR may mean an answer: nothing is inferred before the owner calls
 * for it. */
static void
an_entry_of_the_error_queue_is_no_error(void **st)
{
	int p[2];

	(void)st;
	error_alone(p);
	loop_err_queue(rig.l, p[1]);
	close(p[0]);
	turn();
	assert_int_equal(rig.last_ev, EV_ERR);
	assert_int_equal(loop_seen(rig.l, p[1]), 0);
	assert_false(loop_is_ready(rig.l, p[1], DIR_R));
	loop_note_error(rig.l, p[1]);
	assert_int_equal(loop_seen(rig.l, p[1]), EV_ERR);
	assert_true(loop_is_ready(rig.l, p[1], DIR_R));
	loop_detach(rig.l, p[1]);
	/* The next owner of the number has no error queue. */
	assert_int_equal(loop_add(rig.l, p[1], LOOP_CONN, on_fd, (void *)(uintptr_t) "q"), 0);
	loop_want(rig.l, p[1], EV_R);
	loop_again(rig.l, p[1], DIR_R);
	turn();
	assert_true(rig.last_ev & EV_RW);
	loop_forget(rig.l, p[1]);
	close(p[1]);
}

static void
give_away(void *owner, int fd, uint32_t ev)
{
	on_fd(owner, fd, ev);
	loop_set_owner(rig.l, rig.b[0], on_fd, (void *)(uintptr_t) "n");
}

/* The new owner gets the pending events of the old one, and nothing is registered again. */
static void
an_fd_with_a_new_owner_keeps_its_state(void **st)
{
	struct interest in;
	uint64_t before;
	void *owner;

	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 1);
	assert_int_equal(
		loop_add(rig.l, rig.a[0], LOOP_LISTENER, give_away, (void *)(uintptr_t) "a"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	loop_again(rig.l, rig.a[0], DIR_R);
	want_read(rig.b[0], LOOP_CONN, "o");
	turn();
	before = ctls();
	/* Both happen in one turn: the event goes to the current owner. */
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(shutdown(rig.b[1], SHUT_WR), 0);
	turn();
	assert_string_equal(rig.log, "an");
	assert_true(rig.last_ev & EV_RDHUP);
	assert_true(loop_seen(rig.l, rig.b[0]) & EV_RDHUP);
	assert_int_equal(ctls(), before);
	/* The known state stays with the third owner. */
	loop_set_owner(rig.l, rig.b[0], on_fd, (void *)(uintptr_t) "t");
	assert_true(loop_seen(rig.l, rig.b[0]) & EV_RDHUP);
	assert_int_equal(loop_peek(rig.l, rig.b[0], &in, &owner), 0);
	assert_string_equal(owner, "t");
	assert_int_equal(in.polled & EV_R, EV_R);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(fds_believed_ready_are_tried_in_the_next_turn),
		CASE(without_lazy_registration_nothing_is_tried_first),
		CASE(edge_registers_once),
		CASE(listeners_stay_level_triggered_in_edge_mode),
		CASE(a_presumption_is_for_merged_modes_only),
		CASE(data_without_an_event_can_be_tried),
		CASE(held_bytes_are_tried_without_an_event),
		CASE(a_failed_registration_is_reported),
		CASE(numbers_beyond_the_table_are_refused),
		CASE(an_error_ends_waiting_both_ways),
		CASE(an_entry_of_the_error_queue_is_no_error),
		CASE(an_fd_with_a_new_owner_keeps_its_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
