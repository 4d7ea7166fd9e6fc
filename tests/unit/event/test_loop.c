/* One turn of the loop on real sockets: order of work, stale events, spinning, timers. */
#include "unit/hand_clock.h"
#include "loop_rig.h"

#include <errno.h>

#include "base/counter.h"
#include "event/profile.h"

static struct task task_t, task_e;

static void
on_task(struct task *t)
{
	note(t == &task_t ? 't' : 'e');
}

static void
on_listener(void *owner, int fd, uint32_t ev)
{
	on_fd(owner, fd, ev);
	loop_post_end(rig.l, &task_e);
	loop_post(rig.l, &task_t);
}

static void
listeners_then_tasks_then_connections_then_the_end(void **st)
{
	(void)st;
	task_init(&task_t, on_task);
	task_init(&task_e, on_task);
	want_read(rig.a[0], LOOP_CONN, "c");
	assert_int_equal(
		loop_add(rig.l, rig.b[0], LOOP_LISTENER, on_listener, (void *)(uintptr_t) "l"), 0);
	loop_want(rig.l, rig.b[0], EV_R);
	loop_again(rig.l, rig.b[0], DIR_R);
	turn();
	assert_int_equal(write(rig.a[1], "x", 1) + write(rig.b[1], "x", 1), 2);
	turn();
	assert_string_equal(rig.log, "ltce");
}

static void
on_next(struct task *t)
{
	note('n');
	if (strlen(rig.log) < 6)
		loop_post_next(rig.l, t);
}

/* Such tasks run in the next turn, after its events, once each; that turn does not wait. */
static void
tasks_posted_for_the_next_turn_run_after_its_events(void **st)
{
	(void)st;
	task_init(&task_t, on_next);
	want_read(rig.a[0], LOOP_CONN, "c");
	turn();
	loop_post_next(rig.l, &task_t);
	loop_post_next(rig.l, &task_t);
	assert_string_equal(rig.log, "");
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	turn();
	assert_string_equal(rig.log, "cn");
	assert_int_equal(loop_turn(rig.l, -1), 0);
	assert_int_equal(loop_turn(rig.l, -1), 0);
	assert_string_equal(rig.log, "cnnn");
	task_cancel(&task_t);
}

static void
an_event_for_a_forgotten_fd_is_dropped(void **st)
{
	(void)st;
	want_read(rig.a[0], LOOP_CONN, "a");
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	rig.close_b = 1;
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	turn();
	/* epoll reports events in the order of their arrival. */
	assert_string_equal(rig.log, "a");
	assert_int_equal(loop_stats(rig.l)->stale, 1);
}

static struct loop *other;

static void
on_other(void *owner, int fd, uint32_t ev)
{
	char buf[16];

	(void)ev;
	note(*(const char *)owner);
	while (read(fd, buf, sizeof(buf)) > 0)
		continue;
	loop_again(other, fd, DIR_R);
	loop_progress(other, fd);
}

/* The handler of a, whose event comes first: it frees b's number, which is reused at once. */
static void
on_swap(void *owner, int fd, uint32_t ev)
{
	int next[2];

	on_fd(owner, fd, ev);
	/* The interest of b's last owner would be committed at the beginning of the next turn. */
	loop_want(rig.l, rig.b[0], EV_R | EV_W);
	loop_again(rig.l, rig.b[0], DIR_W);
	loop_forget(rig.l, rig.b[0]);
	close(rig.b[0]);
	close(rig.b[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, next), 0);
	assert_int_equal(next[0], rig.b[0]);
	rig.b[1] = next[1];
	if (other) {
		assert_int_equal(loop_add(other, next[0], LOOP_CONN, on_other,
					  (void *)(uintptr_t) "o"), 0);
		loop_want(other, next[0], EV_R);
		loop_again(other, next[0], DIR_R);
	} else {
		want_read(next[0], LOOP_CONN, "n");
	}
}

/* Both have events; the handler of a closes b, and b's number is reused. */
static void
swap(void)
{
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_swap, (void *)(uintptr_t) "a"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	loop_again(rig.l, rig.a[0], DIR_R);
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1) + write(rig.b[1], "x", 1), 2);
	turn();
	assert_string_equal(rig.log, "a");
	assert_int_equal(loop_stats(rig.l)->stale, 1);
}

static void
an_event_of_the_last_owner_is_not_the_next_ones(void **st)
{
	(void)st;
	swap();
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	turn();
	assert_string_equal(rig.log, "an");
}

/* A number is closed by one worker and reused by another: the first loop's state for it does not
 * carry over. */
static void
a_number_reused_by_another_loop_starts_clean(void **st)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_MERGED,
				   .max_fd = MAX_FD, .max_events = 16, .lazy = 1 };
	struct sys sys;
	uint64_t ctls;
	int r = 0;

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	other = loop_new(&sys, &cfg, &r);
	assert_non_null(other);
	swap();
	ctls = ledger_sum(&rig.sys.ledger, SYS_CALL_epoll_ctl);
	assert_int_equal(loop_turn(other, 0), 0);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	turn();
	assert_string_equal(rig.log, "a");
	assert_int_equal(ledger_sum(&rig.sys.ledger, SYS_CALL_epoll_ctl), ctls);
	assert_int_equal(loop_turn(other, 0), 0);
	assert_string_equal(rig.log, "ao");
	assert_int_equal(loop_stats(other)->stale, 0);
	loop_forget(other, rig.b[0]);
	loop_free(&other);
}

static void
an_fd_that_wakes_for_nothing_is_given_up(void **st)
{
	(void)st;
	rig.read_some = 0;
	want_read(rig.a[0], LOOP_CONN, "s");
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	for (int i = 0; i < 2000 && !(rig.last_ev & EV_SPIN); i++) {
		rig.n = 0;
		turn();
	}
	assert_true(rig.last_ev & EV_SPIN);
	assert_int_equal(loop_stats(rig.l)->spins, 1);
}

/* Data that keeps arriving while reading is not wanted does not count as spinning. */
static void
unwanted_edges_do_not_count_as_spinning(void **st)
{
	char byte;

	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 1);
	rig.read_some = 0;
	want_read(rig.a[0], LOOP_CONN, "e");
	turn();
	loop_want(rig.l, rig.a[0], 0);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(write(rig.a[1], "x", 1), 1);
		rig.n = 0;
		turn();
		/* Makes room for the next byte, unknown to the loop. */
		assert_int_equal(read(rig.a[0], &byte, 1), 1);
	}
	assert_true(loop_stats(rig.l)->events >= 2000);
	assert_int_equal(loop_stats(rig.l)->spins, 0);
}

/* A direction believed ready whose handler never tries it would be called for ever. */
static void
directions_that_are_never_tried_are_given_up(void **st)
{
	(void)st;
	teardown(st);
	setup_mode(INTEREST_EDGE, 1);
	rig.read_some = 0;
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_fd, (void *)(uintptr_t) "t"), 0);
	loop_want(rig.l, rig.a[0], EV_W);
	for (int i = 0; i < 2000 && !(rig.last_ev & EV_SPIN); i++) {
		rig.n = 0;
		turn();
	}
	assert_int_equal(loop_stats(rig.l)->spins, 1);
}

static void
on_due(struct timer *t)
{
	(void)t;
	note('d');
}

static void
waits_for_the_next_timer_and_no_longer(void **st)
{
	struct timer t;
	uint64_t start = loop_now_ms(rig.l);

	(void)st;
	timer_init(&t, on_due);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, start + 15), 0);
	while (!rig.n)
		assert_int_equal(loop_turn(rig.l, -1), 0);
	assert_true(loop_now_ms(rig.l) >= start + 15);
	assert_true(loop_stats(rig.l)->turns <= 3);
}

static int
one_event(struct poller *p, struct poll_event *ev, int n, int ms)
{
	return poller_epoll.wait(p, ev, MIN(n, 1), ms);
}

/* Opens the loop again, with this function in place of that of epoll, for at most
 * so many events. */
static void
setup_wait(void **st, int (*wait)(struct poller *, struct poll_event *, int, int), int most)
{
	static struct poller_ops ops;

	teardown(st);
	ops = poller_epoll;
	ops.wait = wait;
	ops.most_events = most;
	setup_poller(&ops, INTEREST_MERGED, 1, 16);
}

/* A poller may return fewer events than the loop has room for. */
static void
timers_wait_for_events_that_the_poller_left(void **st)
{
	struct timer t;

	setup_wait(st, one_event, 1);
	want_read(rig.a[0], LOOP_CONN, "a");
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	timer_init(&t, on_due);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	turn();
	assert_true(loop_left_events(rig.l));
	turn();
	turn();
	assert_string_equal(rig.log, "abd");
}

static int interruptions;

static int
interrupted(struct poller *p, struct poll_event *ev, int n, int ms)
{
	if (!interruptions)
		return poller_epoll.wait(p, ev, n, ms);
	interruptions--;
	return -EINTR;
}

/* The data that a deadline waits for may be there when the process continues after SIGSTOP. */
static void
timers_wait_for_events_behind_an_interruption(void **st)
{
	struct timer t;

	setup_wait(st, interrupted, 16);
	want_read(rig.a[0], LOOP_CONN, "a");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	timer_init(&t, on_due);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	interruptions = 1;
	turn();
	assert_string_equal(rig.log, "");
	assert_true(loop_left_events(rig.l));
	turn();
	assert_string_equal(rig.log, "ad");
	/* But not without end. */
	interruptions = 40;
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	while (interruptions)
		turn();
	assert_string_equal(rig.log, "add");
}

static void
timers_wait_for_events_that_did_not_fit(void **st)
{
	struct timer t;

	teardown(st);
	setup_events(INTEREST_MERGED, 1, 1);
	want_read(rig.a[0], LOOP_CONN, "a");
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	timer_init(&t, on_due);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	turn();
	assert_string_equal(rig.log, "a");
	assert_true(loop_left_events(rig.l));
	assert_true(loop_has_news(rig.l, rig.b[0]));
	turn();
	turn();
	assert_string_equal(rig.log, "abd");
	assert_false(loop_left_events(rig.l));
	assert_false(loop_has_news(rig.l, rig.b[0]));
	/* But not without end. */
	rig.n = 0;
	rig.log[0] = '\0';
	rig.read_some = 0;
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	for (int i = 0; i < 40 && !strchr(rig.log, 'd'); i++)
		turn();
	assert_non_null(strchr(rig.log, 'd'));
}

static void
on_start(struct timer *t)
{
	(void)t;
	note('s');
}

/* Timers that begin something have no event to wait for. */
static void
starts_do_not_wait_for_events(void **st)
{
	struct timer s, t;

	teardown(st);
	setup_events(INTEREST_MERGED, 1, 1);
	want_read(rig.a[0], LOOP_CONN, "a");
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	timer_init(&t, on_due);
	timer_init(&s, on_start);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	assert_int_equal(timer_set(loop_starts(rig.l), &s, loop_now_ms(rig.l)), 0);
	turn();
	assert_string_equal(rig.log, "as");
	turn();
	turn();
	assert_string_equal(rig.log, "asbd");
	/* The loop wakes for them. */
	assert_int_equal(timer_set(loop_starts(rig.l), &s, loop_now_ms(rig.l) + 15), 0);
	for (rig.n = 0; !rig.n;)
		assert_int_equal(loop_turn(rig.l, -1), 0);
}

static int news_of_b;

static void
on_a(void *owner, int fd, uint32_t ev)
{
	on_fd(owner, fd, ev);
	news_of_b = loop_has_news(rig.l, rig.b[0]) * 2 + loop_has_news(rig.l, fd);
}

/* A handler may ask for the events of another descriptor before they are delivered. */
static void
events_can_be_queried_before_delivery(void **st)
{
	(void)st;
	assert_int_equal(loop_add(rig.l, rig.a[0], LOOP_CONN, on_a, "a"), 0);
	loop_want(rig.l, rig.a[0], EV_R);
	loop_again(rig.l, rig.a[0], DIR_R);
	want_read(rig.b[0], LOOP_CONN, "b");
	turn();
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	turn();
	assert_string_equal(rig.log, "a");
	assert_int_equal(news_of_b, 0);
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	assert_int_equal(write(rig.b[1], "x", 1), 1);
	turn();
	assert_string_equal(rig.log, "aab");
	assert_int_equal(news_of_b, 2);
	assert_false(loop_has_news(rig.l, rig.b[0]));
}

static uint64_t
clock_reads_of(int turns)
{
	uint64_t before = ledger_sum(&rig.sys.ledger, SYS_CALL_clock_gettime);

	while (turns-- > 0)
		turn();
	return ledger_sum(&rig.sys.ledger, SYS_CALL_clock_gettime) - before;
}

static void
reads_the_clock_once_a_turn(void **st)
{
	struct sys_ops ops = sys_linux;

	(void)st;
	ops.clock_gettime = read_clock;
	clock_ms = loop_now_ms(rig.l) + 1000;
	rig.sys.ops = &ops;
	turn();
	assert_int_equal(clock_reads_of(10), 10);
	/* One more after a second, for the offset of the wall clock. */
	clock_ms += 1000;
	assert_int_equal(clock_reads_of(10), 11);
	rig.sys.ops = &sys_linux;
}

static const struct profile_row *
profile_row(profile_fn *fn)
{
	for (size_t i = 0; i < PROFILE_FNS; i++)
		if (counter_read(&loop_profile(rig.l)->row[i].fn) == fn)
			return &loop_profile(rig.l)->row[i];
	return NULL;
}

static void
all_that_a_loop_calls_is_profiled(void **st)
{
	struct task a, b, c;
	struct timer t;

	(void)st;
	task_init(&a, on_task);
	task_init(&b, on_task);
	task_init(&c, on_task);
	timer_init(&t, on_due);
	profile_set_mode(loop_profile(rig.l), PROFILE_ON);
	turn();
	loop_post(rig.l, &a);
	loop_post_next(rig.l, &b);
	loop_post_end(rig.l, &c);
	assert_int_equal(timer_set(loop_timers(rig.l), &t, loop_now_ms(rig.l)), 0);
	turn();
	assert_int_equal(counter_read(&profile_row((profile_fn *)on_task)->calls), 3);
	assert_int_equal(counter_read(&profile_row((profile_fn *)on_due)->calls), 1);
	assert_true(counter_read(&profile_row((profile_fn *)on_due)->late_ns) > 0);
	assert_null(profile_row((profile_fn *)on_fd));
	assert_int_equal(write(rig.a[1], "x", 1), 1);
	want_read(rig.a[0], LOOP_CONN, "a");
	turn();
	assert_true(counter_read(&profile_row((profile_fn *)on_fd)->calls) > 0);
}



int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(listeners_then_tasks_then_connections_then_the_end),
		CASE(tasks_posted_for_the_next_turn_run_after_its_events),
		CASE(an_event_for_a_forgotten_fd_is_dropped),
		CASE(an_event_of_the_last_owner_is_not_the_next_ones),
		CASE(a_number_reused_by_another_loop_starts_clean),
		CASE(an_fd_that_wakes_for_nothing_is_given_up),
		CASE(unwanted_edges_do_not_count_as_spinning),
		CASE(directions_that_are_never_tried_are_given_up),
		CASE(waits_for_the_next_timer_and_no_longer),
		CASE(timers_wait_for_events_that_did_not_fit),
		CASE(timers_wait_for_events_that_the_poller_left),
		CASE(timers_wait_for_events_behind_an_interruption),
		CASE(starts_do_not_wait_for_events),
		CASE(events_can_be_queried_before_delivery),
		CASE(reads_the_clock_once_a_turn),
		CASE(all_that_a_loop_calls_is_profiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
