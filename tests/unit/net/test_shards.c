/* Copies of listeners for several workers: which have a socket of their own, which share one, and
 * what clients see. */
#include "unit/net/net_rig.h"

#include "net/bind_conf.h"
#include "net/listener.h"
#include "net/shards.h"
#include "base/mem.h"

static struct bind_conf *b;
static struct listener *ln[8];
static unsigned int n_ln;

static void
add(const struct addr *a)
{
	struct listener *l = mem_zalloc(sizeof(*l));

	assert_non_null(l);
	listener_init(l, b);
	l->addr = *a;
	list_append(&b->listeners, &l->link);
	b->n_listeners++;
}

static void
collect(void)
{
	n_ln = 0;
	list_each(it, &b->listeners) {
		assert_true(n_ln < 8);
		ln[n_ln++] = list_entry(it, struct listener, link);
	}
	assert_int_equal(n_ln, b->n_listeners);
}

static void
bind_all(void)
{
	char why[200];

	for (unsigned int i = 0; i < n_ln; i++)
		assert_int_equal(listener_bind(ln[i], &rig_sys, 64, why, sizeof(why)), 0);
}

static int
setup(void **st)
{
	struct addr a = rig_any();

	(void)st;
	rig_open(INTEREST_EDGE);
	b = bind_conf_new();
	assert_non_null(b);
	add(&a);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	collect();
	for (unsigned int i = 0; i < n_ln; i++)
		if (ln[i]->lead && ln[i]->fd >= 0)
			listener_close(ln[i], &rig_sys);
	for (unsigned int i = 0; i < n_ln; i++)
		if (ln[i]->fd >= 0)
			listener_close(ln[i], &rig_sys);
	bind_conf_free(&b);
	rig_close();
	return 0;
}

static void
one_worker_changes_nothing(void **st)
{
	(void)st;
	assert_int_equal(shards_make(b, 1, 1), 0);
	collect();
	assert_int_equal(n_ln, 1);
	assert_int_equal(ln[0]->thread, 0);
	assert_false(ln[0]->shared || ln[0]->reuseport || ln[0]->lead || ln[0]->first ||
		ln[0]->group);
}

static void
each_worker_has_a_socket_of_its_own(void **st)
{
	(void)st;
	assert_int_equal(shards_make(b, 0xb, 64), 0);
	collect();
	assert_int_equal(n_ln, 3);
	assert_int_equal(ln[0]->thread, 0);
	assert_int_equal(ln[1]->thread, 1);
	assert_int_equal(ln[2]->thread, 3);
	assert_int_equal(ln[0]->group->n, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(ln[0]->group->of[i], ln[i]);
	bind_all();
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(ln[i]->reuseport && !ln[i]->shared && !ln[i]->lead);
		assert_int_equal(addr_port(&ln[i]->addr), addr_port(&ln[0]->addr));
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(ln[i]->fd, ln[k]->fd);
	}
}

/* Another process that would share the port, too. */
static void
a_port_that_is_served_is_refused(void **st)
{
	struct addr a = rig_any();
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	char why[200] = "";

	(void)st;
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	assert_int_equal(bind(fd, &a.u.sa, a.len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(addr_of_socket(&rig_sys, fd, &a), 0);
	assert_int_equal(shards_make(b, 3, 2), 0);
	collect();
	ln[0]->addr = a;
	assert_int_equal(listener_bind(ln[0], &rig_sys, 64, why, sizeof(why)), -EADDRINUSE);
	assert_non_null(strstr(why, "cannot bind"));
	close(fd);
	bind_all();
}

static void
all_workers_share_one_socket(void **st)
{
	(void)st;
	assert_int_equal(shards_make(b, 7, 1), 0);
	collect();
	assert_int_equal(n_ln, 3);
	bind_all();
	for (unsigned int i = 1; i < 3; i++) {
		assert_ptr_equal(ln[i]->lead, ln[0]);
		assert_int_equal(ln[i]->fd, ln[0]->fd);
	}
	assert_true(ln[0]->shared && ln[1]->shared && !ln[0]->reuseport);
}

static void
shards_are_of_equal_size(void **st)
{
	static const int lead[] = { 0, 0, 2, 2 };

	(void)st;
	assert_int_equal(shards_make(b, 0xf, 2), 0);
	collect();
	assert_int_equal(n_ln, 4);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(ln[i]->lead ? ln[i]->lead : ln[i], ln[lead[i]]);
}

static void
addresses_stay_in_order(void **st)
{
	struct addr a = rig_any();

	(void)st;
	addr_set_port(&a, 1);
	add(&a);
	assert_int_equal(shards_make(b, 3, 2), 0);
	collect();
	assert_int_equal(n_ln, 4);
	assert_int_equal(addr_port(&ln[1]->addr), 0);
	assert_int_equal(addr_port(&ln[2]->addr), 1);
	assert_ptr_equal(ln[3]->first, ln[2]);
}

static unsigned int got[3];
static struct listener *taker;

static void
on_accept(struct listener *l, int fd, const struct addr *peer)
{
	(void)peer;
	got[l->thread]++;
	close(fd);
	listener_release(l);
}

static unsigned int exclusive, others;

static long
watched_ctl(void *ctx, int ep, int op, int fd, struct epoll_event *ev)
{
	if (op == EPOLL_CTL_ADD && (ev->events & EPOLLEXCLUSIVE))
		exclusive++;
	else if (op != EPOLL_CTL_DEL)
		others++;
	return sys_linux.epoll_ctl(ctx, ep, op, fd, ev);
}

/*
 * The kernel wakes every loop that waits for a shared socket unless the registration is exclusive.
 * Such a registration cannot be modified: a listener that pauses is removed and added again.
 */
static void
a_shared_socket_is_registered_for_one(void **st)
{
	struct sys_ops ops = sys_linux;
	int c;

	(void)st;
	ops.epoll_ctl = watched_ctl;
	rig_sys.ops = &ops;
	exclusive = others = 0;
	assert_int_equal(shards_make(b, 3, 1), 0);
	collect();
	bind_all();
	ln[0]->on_accept = on_accept;
	ln[0]->max_accept = 4;
	assert_int_equal(listener_start(ln[0], rig_loop), 0);
	rig_turn(0);
	assert_int_equal(exclusive, 1);
	memset(got, 0, sizeof(got));
	for (unsigned int i = 1; i <= 3; i++) {
		c = rig_connect(&ln[0]->addr);
		rig_turn(PATIENCE_MS);
		assert_int_equal(got[0], i);
		close(c);
		listener_hold(ln[0], LISTENER_HOLD_PROCESS);
		c = rig_connect(&ln[0]->addr);
		rig_turn(0);
		rig_turn(0);
		assert_int_equal(got[0], i);
		listener_resume(ln[0], LISTENER_HOLD_PROCESS);
		rig_turn(0);
		rig_turn(0);
		close(c);
		got[0] = i;
	}
	assert_in_range(exclusive, 3, 4);
	assert_int_equal(others, 0);
	assert_int_equal(loop_stats(rig_loop)->set_errors, 0);
	listener_close(ln[0], &rig_sys);
	rig_sys.ops = &sys_linux;
}

/* The kernel wakes one worker for a connection: not one that does not accept. */
static void
a_shared_socket_that_is_held_is_not_registered(void **st)
{
	uint64_t events;
	int c;

	(void)st;
	assert_int_equal(shards_make(b, 3, 1), 0);
	collect();
	bind_all();
	ln[0]->on_accept = on_accept;
	assert_int_equal(listener_start(ln[0], rig_loop), 0);
	rig_turn(0);
	memset(got, 0, sizeof(got));
	listener_hold(ln[0], LISTENER_HOLD_PROCESS);
	rig_turn(0);
	events = loop_events(rig_loop);
	c = rig_connect(&ln[0]->addr);
	rig_turn(0);
	rig_turn(0);
	assert_int_equal(loop_events(rig_loop), events);
	listener_resume(ln[0], LISTENER_HOLD_PROCESS);
	rig_turn(0);
	rig_turn(0);
	assert_int_equal(got[0], 1);
	close(c);
}

static int
to_taker(struct listener *l, int fd, const struct addr *peer)
{
	if (l == taker)
		return 0;
	listener_take(taker, fd, peer);
	return 1;
}

static void
a_routed_connection_belongs_to_its_taker(void **st)
{
	int c;

	(void)st;
	assert_int_equal(shards_make(b, 7, 1), 0);
	collect();
	bind_all();
	taker = ln[2];
	memset(got, 0, sizeof(got));
	for (unsigned int i = 0; i < 3; i++) {
		ln[i]->on_accept = on_accept;
		ln[i]->route = to_taker;
	}
	/* As if it was started on another worker. */
	taker->loop = rig_loop;
	assert_int_equal(listener_start(ln[0], rig_loop), 0);
	rig_turn(0);
	c = rig_connect(&ln[0]->addr);
	rig_turn(PATIENCE_MS);
	assert_int_equal(got[2], 1);
	assert_int_equal(ln[0]->accepted, 1);
	assert_int_equal(ln[0]->handed, 1);
	assert_int_equal(ln[2]->taken, 1);
	assert_int_equal(ln[0]->conns, 0);
	taker->loop = NULL;
	close(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_worker_changes_nothing),
		CASE(each_worker_has_a_socket_of_its_own),
		CASE(a_port_that_is_served_is_refused),
		CASE(all_workers_share_one_socket),
		CASE(shards_are_of_equal_size),
		CASE(addresses_stay_in_order),
		CASE(a_shared_socket_is_registered_for_one),
		CASE(a_shared_socket_that_is_held_is_not_registered),
		CASE(a_routed_connection_belongs_to_its_taker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
