/* Messages between loops on the fake kernel: which loop is woken, the calls, and the counters. */

#include <string.h>
#include <sys/eventfd.h>

#include "base/err.h"
#include "event/loop.h"
#include "event/mailbox.h"
#include "fake/kernel.h"
#include "unit/test.h"

#define LOG_MAX 64
#define SIZE 4

/* A worker that has only its mailbox. */
struct worker {
	struct sys sys;
	struct loop *l;
	struct mailbox *mb;
	char log[LOG_MAX]; /* a letter for each handler that ran */
	size_t n;
};

struct rig {
	struct fake *k;
	struct worker w[2];
	int posts;        /* number of posts by the handlers below */
	int other;        /* an eventfd that belongs to no mailbox */
	struct task task, end;
};

static struct rig rig;
#define A (&rig.w[0])
#define B (&rig.w[1])

static void
note(struct worker *w, char c)
{
	assert_true(w->n < LOG_MAX - 1);
	w->log[w->n++] = c;
	w->log[w->n] = '\0';
}

static void
on_mail(void *worker, struct mail *m)
{
	note(worker, m->u.bytes[0]);
}

static int
try_post(struct worker *from, struct worker *to, char letter)
{
	struct mail m = { .fn = on_mail, .fd = -1 };

	m.u.bytes[0] = letter;
	return mailbox_post(from->mb, to->mb, &m);
}

static void
post(struct worker *from, struct worker *to, const char *letters)
{
	for (; *letters; letters++)
		assert_int_equal(try_post(from, to, *letters), 0);
}

static struct mailbox_stats
stats(const struct worker *w)
{
	struct mailbox_stats s;

	mailbox_stats(w->mb, &s);
	return s;
}

static uint64_t
calls(struct worker *w, enum sys_call c)
{
	return ledger_sum(&w->sys.ledger, c);
}

static void
turn(struct worker *w, int ms)
{
	assert_int_equal(loop_turn(w->l, ms), 0);
}

static void
worker_open(struct worker *w, unsigned int index, enum interest_mode mode, int elision)
{
	struct loop_config lc = { .poller = &poller_epoll, .mode = mode, .max_fd = 64,
				  .max_events = 16, .lazy = 1 };
	struct mailbox_config mc = { .sys = &w->sys, .worker = w, .index = index, .size = SIZE,
				     .elision = elision };
	int reason = 0;

	memset(w, 0, sizeof(*w));
	sys_init(&w->sys, &sys_fake, rig.k);
	w->l = loop_new(&w->sys, &lc, &reason);
	assert_non_null(w->l);
	mc.loop = w->l;
	w->mb = mailbox_new(&mc, &reason);
	assert_non_null(w->mb);
	/* The eventfd is registered, and there is nothing to do. */
	turn(w, 0);
	turn(w, 0);
}

static void
worker_close(struct worker *w)
{
	if (!w->l)
		return;
	mailbox_free(&w->mb);
	assert_null(w->mb);
	assert_int_equal(loop_fds(w->l), 0);
	loop_free(&w->l);
}

static void
open_all(enum interest_mode mode, int elision)
{
	memset(&rig, 0, sizeof(rig));
	rig.k = fake_new();
	worker_open(A, 0, mode, elision);
	worker_open(B, 1, mode, elision);
}

static int
setup(void **st)
{
	(void)st;
	open_all(INTEREST_EDGE, 1);
	return 0;
}

static void
close_all(void)
{
	worker_close(A);
	worker_close(B);
	assert_int_equal(fake_fds(rig.k), 0);
	for (int a = 0; a < FAKE_ABUSES; a++)
		assert_int_equal(fake_abuse(rig.k, (enum fake_abuse)a), 0);
	fake_free(&rig.k);
}

static int
teardown(void **st)
{
	(void)st;
	close_all();
	return 0;
}

/* While B waits, A runs a turn or a part of one, and posts. */
static void
a_posts_abc(struct fake *k, void *arg)
{
	(void)k;
	(void)arg;
	post(A, B, "abc");
	turn(A, 0);
}

static void
an_awake_worker_costs_no_call(void **st)
{
	uint64_t before = ledger_total(&A->sys.ledger);

	(void)st;
	post(A, B, "ab");
	assert_int_equal(mailbox_flush(A->mb), 0);
	post(A, B, "c");
	assert_int_equal(mailbox_flush(A->mb), 0);
	assert_int_equal(ledger_total(&A->sys.ledger), before);
	assert_int_equal(stats(A).posts, 3);
	assert_int_equal(stats(A).elided_awake, 3);
	assert_int_equal(stats(A).writes, 0);
	/* B sees the message before it would sleep, and does not wait. */
	turn(B, -1);
	assert_string_equal(B->log, "abc");
	assert_int_equal(stats(B).sleeps, 0);
	assert_int_equal(stats(B).wakes, 0);
	assert_int_equal(stats(B).mails, 3);
}

static void
a_sleeping_worker_is_woken_once_per_turn(void **st)
{
	(void)st;
	fake_after(rig.k, FAKE_MS, a_posts_abc, NULL);
	turn(B, -1);
	assert_string_equal(B->log, "abc");
	assert_int_equal(stats(A).posts, 3);
	assert_int_equal(stats(A).writes, 1);
	assert_int_equal(stats(A).elided_batch, 2);
	assert_int_equal(calls(A, SYS_CALL_write), 1);
	assert_int_equal(stats(B).sleeps, 1);
	assert_int_equal(stats(B).wakes, 1);
	assert_int_equal(stats(B).empty_wakes, 0);
}

/* An edge-triggered eventfd is not read, a level-triggered one is. */
static void
only_a_level_triggered_eventfd_is_read(void **st)
{
	static const enum interest_mode modes[] = { INTEREST_EDGE, INTEREST_MERGED,
						    INTEREST_UNMERGED };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		close_all();
		open_all(modes[i], 1);
		for (uint64_t n = 1; n <= 3; n++) {
			fake_after(rig.k, FAKE_MS, a_posts_abc, NULL);
			turn(B, -1);
			assert_int_equal(stats(B).wakes, n);
			assert_int_equal(calls(B, SYS_CALL_read),
					 modes[i] == INTEREST_EDGE ? 0 : n);
			/* The event was consumed. */
			turn(B, 5);
			assert_int_equal(stats(B).wakes, n);
		}
		assert_string_equal(B->log, "abcabcabc");
	}
	(void)st;
}

static void
without_elision_each_post_is_a_write(void **st)
{
	close_all();
	open_all(INTEREST_EDGE, 0);
	post(A, B, "ab");
	assert_int_equal(calls(A, SYS_CALL_write), 2);
	post(B, B, "c");
	assert_int_equal(calls(B, SYS_CALL_write), 1);
	turn(B, -1);
	assert_string_equal(B->log, "abc");
	fake_after(rig.k, FAKE_MS, a_posts_abc, NULL);
	turn(B, -1);
	assert_string_equal(B->log, "abcabc");
	assert_int_equal(stats(A).writes, 5);
	assert_int_equal(stats(A).posts, 5);
	assert_int_equal(stats(A).elided_batch + stats(A).elided_awake, 0);
	(void)st;
}

static void
on_mail_again(void *worker, struct mail *m)
{
	note(worker, 's');
	if (rig.posts-- > 0)
		assert_int_equal(mailbox_post(A->mb, A->mb, m), 0);
}

static void
on_task(struct task *t)
{
	note(A, t == &rig.task ? 't' : 'e');
	if (t == &rig.task)
		post(A, A, "x");
}

static void
messages_to_oneself_run_this_turn_without_a_call(void **st)
{
	uint64_t before;

	(void)st;
	before = ledger_total(&A->sys.ledger);
	task_init(&rig.task, on_task);
	task_init(&rig.end, on_task);
	loop_post(A->l, &rig.task);
	loop_post_end(A->l, &rig.end);
	turn(A, -1);
	assert_string_equal(A->log, "txe");
	/* Only the wait. */
	assert_int_equal(ledger_total(&A->sys.ledger), before + 1);
	assert_int_equal(stats(A).elided_self, 1);
	assert_int_equal(stats(A).writes, 0);
}

/* A message that keeps posting itself does not extend the turn, and the next turn does not wait. */
static void
messages_to_oneself_do_not_hold_up_the_turn(void **st)
{
	struct mail m = { .fn = on_mail_again };

	(void)st;
	rig.posts = 4;
	assert_int_equal(mailbox_post(A->mb, A->mb, &m), 0);
	turn(A, -1);
	assert_string_equal(A->log, "ss");
	turn(A, -1);
	assert_string_equal(A->log, "ssss");
	turn(A, -1);
	assert_string_equal(A->log, "sssss");
	assert_int_equal(stats(A).sleeps, 0);
	turn(A, 1);
	assert_int_equal(stats(A).sleeps, 1);
}

static void
on_mail_from_b(void *worker, struct mail *m)
{
	note(worker, 'b');
	if (rig.posts-- > 0)
		assert_int_equal(mailbox_post(B->mb, A->mb, m), 0);
}

/* The same for messages that others keep posting during delivery. */
static void
a_stream_of_messages_does_not_hold_up_the_turn(void **st)
{
	struct mail m = { .fn = on_mail_from_b };

	(void)st;
	rig.posts = 2 * SIZE - 1;
	assert_int_equal(mailbox_post(B->mb, A->mb, &m), 0);
	turn(A, -1);
	assert_string_equal(A->log, "bbbb");
	turn(A, -1);
	assert_string_equal(A->log, "bbbbbbbb");
}

static void
a_full_queue_refuses_and_loses_nothing(void **st)
{
	(void)st;
	post(A, B, "abcd");
	assert_int_equal(try_post(A, B, 'e'), -ERR_FULL);
	assert_int_equal(try_post(A, B, 'f'), -ERR_FULL);
	assert_int_equal(stats(A).full, 2);
	assert_int_equal(stats(A).posts, 4);
	turn(B, -1);
	assert_string_equal(B->log, "abcd");
	post(A, B, "gh");
	turn(B, -1);
	assert_string_equal(B->log, "abcdgh");
	for (int i = 0; i < SIZE; i++)
		post(A, A, "x");
	assert_int_equal(try_post(A, A, 'y'), -ERR_FULL);
	assert_int_equal(stats(A).full, 3);
	turn(A, -1);
	assert_string_equal(A->log, "xxxx");
}

static void
a_fills_b(struct fake *k, void *arg)
{
	(void)k;
	(void)arg;
	post(A, B, "abcd");
	assert_int_equal(calls(A, SYS_CALL_write), 0);
	assert_int_equal(try_post(A, B, 'e'), -ERR_FULL);
	/* The mailbox has no room before its owner is awake. */
	assert_int_equal(calls(A, SYS_CALL_write), 1);
}

static void
a_full_queue_wakes_its_owner_at_once(void **st)
{
	(void)st;
	fake_after(rig.k, FAKE_MS, a_fills_b, NULL);
	turn(B, -1);
	assert_string_equal(B->log, "abcd");
	assert_int_equal(stats(A).elided_batch, 3);
	assert_int_equal(mailbox_flush(A->mb), 0);
	assert_int_equal(stats(A).posts, stats(A).writes + stats(A).elided_batch);
}

static void
a_posts_and_cannot_write(struct fake *k, void *arg)
{
	(void)arg;
	fake_fail(k, SYS_CALL_write, 1, EIO);
	post(A, B, "abc");
	assert_int_equal(mailbox_flush(A->mb), 1);
	assert_int_equal(stats(A).write_errors, 1);
	assert_int_equal(stats(A).writes, 0);
}

/* B counts as awake when the write fails, so no other worker would wake it: A must retry soon. */
static void
a_failed_wakeup_is_retried(void **st)
{
	(void)st;
	fake_after(rig.k, FAKE_MS, a_posts_and_cannot_write, NULL);
	turn(B, 100);
	/* B was not woken, but checks its messages when its wait ends. */
	assert_string_equal(B->log, "abc");
	assert_int_equal(stats(B).wakes, 0);
	turn(A, -1);
	assert_int_equal(stats(A).writes, 1);
	assert_int_equal(stats(A).posts, stats(A).writes + stats(A).elided_batch);
	turn(B, -1);
	assert_int_equal(stats(B).wakes, 1);
	assert_int_equal(stats(B).empty_wakes, 1);
}

/* While a wake-up must be retried, the worker does not wait long. */
static void
a_pending_wakeup_shortens_the_wait(void **st)
{
	uint64_t start;

	(void)st;
	fake_after(rig.k, FAKE_MS, a_posts_and_cannot_write, NULL);
	turn(B, 100);
	fake_fail_again(rig.k, 1);
	start = fake_now(rig.k);
	turn(A, -1);
	assert_in_range(fake_now(rig.k) - start, 1, 20 * FAKE_MS);
	assert_int_equal(stats(A).write_errors, 2);
	/* At the end of that turn. */
	assert_int_equal(stats(A).writes, 1);
	turn(B, -1);
}

static void
on_event(void *owner, int fd, uint32_t ev)
{
	uint64_t n;

	(void)ev;
	note(owner, fd == rig.other ? 'l' : 'c');
	assert_int_equal(sys_read(&A->sys, fd, &n, sizeof(n)), sizeof(n));
	loop_again(A->l, fd, DIR_R);
	if (fd == rig.other) {
		loop_post(A->l, &rig.task);
		loop_post_end(A->l, &rig.end);
	}
}

static void
messages_run_after_listeners_and_before_tasks(void **st)
{
	const uint64_t one = 1;
	int conn;

	(void)st;
	task_init(&rig.task, on_task);
	task_init(&rig.end, on_task);
	conn = (int)sys_eventfd2(&A->sys, 0, EFD_NONBLOCK);
	rig.other = (int)sys_eventfd2(&A->sys, 0, EFD_NONBLOCK);
	assert_int_equal(loop_add(A->l, conn, LOOP_CONN, on_event, A), 0);
	assert_int_equal(loop_add(A->l, rig.other, LOOP_LISTENER, on_event, A), 0);
	for (int i = 0; i < 2; i++) {
		loop_want(A->l, i ? conn : rig.other, EV_R);
		loop_again(A->l, i ? conn : rig.other, DIR_R);
	}
	turn(A, 0);
	assert_int_equal(sys_write(&A->sys, conn, &one, sizeof(one)), sizeof(one));
	assert_int_equal(sys_write(&A->sys, rig.other, &one, sizeof(one)), sizeof(one));
	post(B, A, "m");
	turn(A, -1);
	assert_string_equal(A->log, "lmtcxe");
	loop_forget(A->l, conn);
	loop_forget(A->l, rig.other);
	(void)sys_close(&A->sys, conn);
	(void)sys_close(&A->sys, rig.other);
}

/* A turn that does not block does not announce sleep: the state word is not changed. */
static void
a_turn_that_does_not_block_does_not_announce_sleep(void **st)
{
	(void)st;
	for (int i = 0; i < 5; i++)
		turn(B, 0);
	assert_int_equal(stats(B).sleeps, 0);
	turn(B, 1);
	assert_int_equal(stats(B).sleeps, 1);
	/* B counts as awake again afterwards. */
	post(A, B, "a");
	assert_int_equal(mailbox_flush(A->mb), 0);
	assert_int_equal(stats(A).elided_awake, 1);
	turn(B, -1);
	assert_string_equal(B->log, "a");
}

static void
without_a_registration_it_polls(void **st)
{
	struct worker *w = B;
	uint64_t start;

	(void)st;
	worker_close(w);
	/* Three times: the kernel has no room for the registration. */
	fake_fail(rig.k, SYS_CALL_epoll_ctl, 3, ENOSPC);
	fake_fail_again(rig.k, 2);
	worker_open(w, 1, INTEREST_EDGE, 1);
	start = fake_now(rig.k);
	fake_after(rig.k, FAKE_MS, a_posts_abc, NULL);
	for (int i = 0; i < 4 && !w->n; i++)
		turn(w, -1);
	assert_string_equal(w->log, "abc");
	assert_in_range(fake_now(rig.k) - start, 1, 30 * FAKE_MS);
	/* When there is room the registration succeeds. */
	for (int i = 0; i < 8; i++)
		turn(w, 20);
	assert_true(loop_stats(w->l)->set_errors >= 2);
	start = fake_now(rig.k);
	fake_after(rig.k, 200 * FAKE_MS, a_posts_abc, NULL);
	turn(w, -1);
	assert_string_equal(w->log, "abcabc");
	assert_int_equal(fake_now(rig.k) - start, 200 * FAKE_MS);
	assert_int_equal(loop_stats(w->l)->spins, 0);
}

static void
a_failed_open_returns_the_error(void **st)
{
	struct mailbox_config mc = { .sys = &A->sys, .loop = A->l, .index = 2, .size = SIZE };
	unsigned int fds = fake_fds(rig.k);
	int reason = 0, spare;

	(void)st;
	fake_fail(rig.k, SYS_CALL_eventfd2, 3, EMFILE);
	assert_null(mailbox_new(&mc, &reason));
	assert_int_equal(reason, -EMFILE);
	/* A descriptor number above the size of the loop's table. */
	while ((spare = (int)sys_eventfd2(&A->sys, 0, EFD_NONBLOCK)) < 63)
		assert_true(spare > 0);
	assert_null(mailbox_new(&mc, &reason));
	assert_int_equal(reason, -ERR_FULL);
	for (int fd = spare; fake_fds(rig.k) > fds; fd--)
		assert_int_equal(sys_close(&A->sys, fd), 0);
	/* A mailbox that is only posted to needs neither. */
	mc.loop = NULL;
	{
		struct mailbox *mb = mailbox_new(&mc, &reason);
		struct mail m = { .fn = on_mail };

		assert_non_null(mb);
		m.u.bytes[0] = 'p';
		assert_int_equal(mailbox_post(mb, B->mb, &m), 0);
		assert_int_equal(mailbox_flush(mb), 0);
		mailbox_free(&mb);
	}
	turn(B, -1);
	assert_string_equal(B->log, "p");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_awake_worker_costs_no_call),
		CASE(a_sleeping_worker_is_woken_once_per_turn),
		CASE(only_a_level_triggered_eventfd_is_read),
		CASE(without_elision_each_post_is_a_write),
		CASE(messages_to_oneself_run_this_turn_without_a_call),
		CASE(messages_to_oneself_do_not_hold_up_the_turn),
		CASE(a_stream_of_messages_does_not_hold_up_the_turn),
		CASE(a_full_queue_refuses_and_loses_nothing),
		CASE(a_full_queue_wakes_its_owner_at_once),
		CASE(a_failed_wakeup_is_retried),
		CASE(a_pending_wakeup_shortens_the_wait),
		CASE(messages_run_after_listeners_and_before_tasks),
		CASE(a_turn_that_does_not_block_does_not_announce_sleep),
		CASE(without_a_registration_it_polls),
		CASE(a_failed_open_returns_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
