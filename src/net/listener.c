/* A listening socket, on the worker that accepts from it. It wants events only in the state READY,
 * and `conns` counts the connections that have not been released. */
#define _GNU_SOURCE
#include "net/listener.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/profile.h"
#include "net/sockbuf.h"

/* --- budget of a turn --- */

#define BACKOFF_MAX 1024

static void
accept_budget_init(struct accept_budget *b)
{
	memset(b, 0, sizeof(*b));
	b->now = 1;
}

/* An event arrived in this turn of the loop. Returns the calls to make, 1..max. */
static unsigned int
accept_budget_take(struct accept_budget *b, uint64_t turn, unsigned int max)
{
	int more_waited = b->last_full && turn == b->last_turn + 1;

	b->last_turn = turn;
	if (more_waited) {
		if (b->hold)
			b->hold--;
		else
			b->now++;
	}
	return MIN(b->now, MAX(max, 1u));
}

/* The result of the batch: `got` connections; `empty` when a call returned EAGAIN. */
static void
accept_budget_learn(struct accept_budget *b, unsigned int got, int empty)
{
	b->last_full = !empty;
	if (!empty)
		return;
	b->now = MAX(got, 1u);
	b->backoff = MIN(b->backoff * 2 + 1, BACKOFF_MAX);
	b->hold = b->backoff;
}

/* --- listeners --- */

/* Duration of a listener's pause when descriptors or memory are out, and the interval of its log
 * messages. */
#define PAUSE_MS 100
#define PAUSE_LOG_MS 1000

static void on_event(void *owner, int fd, uint32_t ev);

static int
is_full(const struct listener *ln)
{
	return ln->bind->maxconn && ln->conns >= (unsigned int)ln->bind->maxconn;
}

static void
accept_again(struct listener *ln)
{
	if (ln->state != LISTENER_FULL || ln->held || is_full(ln))
		return;
	counter_set(&ln->state, LISTENER_READY);
	loop_want(ln->loop, ln->fd, EV_R);
}

static void
on_pause_end(struct timer *t)
{
	struct listener *ln = container_of(t, struct listener, timer);

	if (ln->state != LISTENER_PAUSED)
		return;
	counter_set(&ln->state, LISTENER_FULL);
	accept_again(ln);
}
PROFILE_NAME(on_pause_end, listener_pause_end)

static void
on_hold_end(struct timer *t)
{
	listener_resume(container_of(t, struct listener, hold_timer), LISTENER_HOLD_FRONTEND_RATE);
}
PROFILE_NAME(on_hold_end, listener_hold_end)

void
listener_init(struct listener *ln, struct bind_conf *b)
{
	memset(ln, 0, sizeof(*ln));
	list_init(&ln->link);
	ln->bind = b;
	ln->fd = -1;
	ln->inherit_fd = -1;
	ln->kept_fd = -1;
	ln->max_accept = 1;
	accept_budget_init(&ln->budget);
	timer_init(&ln->timer, on_pause_end);
	timer_init(&ln->hold_timer, on_hold_end);
}

int
listener_start(struct listener *ln, struct loop *l)
{
	int r;

	assert(ln->state == LISTENER_BOUND || ln->state == LISTENER_SUSPENDED);
	r = loop_add(l, ln->fd, ln->shared ? LOOP_SHARED_LISTENER : LOOP_LISTENER, on_event, ln);
	if (r < 0)
		return r;
	ln->loop = l;
	loop_set_account(l, ln->fd, ln->account);
	counter_set(&ln->state, LISTENER_READY);
	loop_want(l, ln->fd, EV_R);
	/* Not readable until epoll reports it (level-triggered). */
	loop_again(l, ln->fd, DIR_R);
	return 0;
}

static void
stop_wanting(struct listener *ln, enum listener_state why)
{
	counter_set(&ln->state, why);
	loop_want(ln->loop, ln->fd, 0);
}

/* Descriptors or memory are out: an immediate retry would spin. */
static void
pause_accepting(struct listener *ln, int err)
{
	uint64_t now = loop_now_ms(ln->loop);
	char host[ADDR_TEXT];

	ln->paused++;
	stop_wanting(ln, LISTENER_PAUSED);
	if (timer_set(loop_timers(ln->loop), &ln->timer, now + PAUSE_MS) < 0) {
		/* No memory for a timer: stays level-triggered, and the wait itself is the
		 * pause. */
		counter_set(&ln->state, LISTENER_READY);
		loop_want(ln->loop, ln->fd, EV_R);
	}
	if (ln->log && (!ln->paused_log_ms || now - ln->paused_log_ms >= PAUSE_LOG_MS)) {
		ln->paused_log_ms = now;
		log_msg(ln->log, LOG_LEVEL_ALERT,
			"accept() on %s failed: %s; pausing %d ms (%llu pauses so far)",
			addr_text(&ln->addr, host), strerror(err), PAUSE_MS,
			(unsigned long long)ln->paused);
	}
}

/* True for an accepted connection that the peer has closed already, or that a filter rejected: it
 * counts as accepted, without further work. */
static int
is_gone(long r)
{
	return r == -ECONNABORTED || r == -EPROTO || r == -EPERM || r == -ENETDOWN ||
	       r == -ENOPROTOOPT || r == -EHOSTDOWN || r == -ENONET || r == -EHOSTUNREACH ||
	       r == -EOPNOTSUPP || r == -ENETUNREACH;
}

/* Sets the buffer size of an accepted unix socket, which inherits nothing from the listening
 * one. */
static void
set_unix_buffer(struct listener *ln, int fd)
{
	const char *what;

	if (addr_family(&ln->addr) == AF_UNIX && ln->sockbuf)
		(void)!sockbuf_set(loop_sys(ln->loop), fd, AF_UNIX, ln->sockbuf, &what);
}

static void
on_accepted(struct listener *ln, int fd, const struct addr *peer)
{
	counter_add(&ln->accepted, 1);
	loop_progress(ln->loop, ln->fd);
	set_unix_buffer(ln, fd);
	if (ln->route && ln->route(ln, fd, peer)) {
		counter_add(&ln->handed, 1);
		return;
	}
	ln->conns++;
	ln->on_accept(ln, fd, peer);
}

/* Accepted connections are served: limits may be exceeded by connections in transit. */
void
listener_take(struct listener *ln, int fd, const struct addr *peer)
{
	counter_add(&ln->taken, 1);
	ln->conns++;
	sys_charge_first(loop_sys(ln->loop), ln->account);
	ln->on_accept(ln, fd, peer);
	sys_charge_none(loop_sys(ln->loop));
	if (ln->state == LISTENER_READY && is_full(ln))
		stop_wanting(ln, LISTENER_FULL);
}

static int
accept_allowed(struct listener *ln)
{
	return !ln->may_accept || ln->may_accept(ln);
}

/* Notifies the owner of the result of an accept that it permitted. */
static void
note_accept(struct listener *ln, long fd)
{
	if (fd >= 0 && ln->did_accept)
		ln->did_accept(ln);
	else if (fd < 0 && ln->not_accepted)
		ln->not_accepted(ln);
}

static void
on_event(void *owner, int lfd, uint32_t ev)
{
	struct listener *ln = owner;
	struct sys *sys = loop_sys(ln->loop);
	unsigned int got = 0, tries = accept_budget_take(&ln->budget, loop_stats(ln->loop)->turns,
							 ln->max_accept);
	int empty = 0;

	if (unlikely(sys->account == &sys->ledger))
		sys_charge_first(sys, ln->account);
	if (ev & EV_SPIN)
		pause_accepting(ln, EBUSY);
	while (tries-- > 0 && ln->state == LISTENER_READY && !empty && accept_allowed(ln)) {
		struct addr peer;
		long fd;

		/* The kernel sets as much of it as there is. */
		peer.len = sizeof(peer.u);
		peer.u.sa.sa_family = AF_UNSPEC;
		fd = sys_accept4(sys, lfd, &peer.u.sa, &peer.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		note_accept(ln, fd);
		if (fd >= 0) {
			got++;
			on_accepted(ln, (int)fd, &peer);
		} else if (fd == -EAGAIN) {
			empty = 1;
			ln->empty_accepts++;
		} else if (!is_gone(fd)) {
			/* EMFILE, ENFILE, ENOBUFS, ENOMEM, or worse: pause. */
			pause_accepting(ln, (int)-fd);
		}
		if (ln->state == LISTENER_READY && is_full(ln))
			stop_wanting(ln, LISTENER_FULL);
	}
	if (ln->state != LISTENER_READY)
		return;
	accept_budget_learn(&ln->budget, got, empty);
	/* If more wait, the level-triggered listener fires again: no probing. */
	loop_again(ln->loop, lfd, DIR_R);
}
PROFILE_NAME(on_event, listener_accept)

void
listener_release(struct listener *ln)
{
	assert(ln->conns > 0);
	ln->conns--;
	accept_again(ln);
}

void
listener_deny(struct listener *ln, int fd)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct sys *sys = loop_sys(ln->loop);

	counter_add(&ln->stat.denied_conn, 1);
	(void)sys_setsockopt(sys, fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	(void)sys_close(sys, fd);
	listener_release(ln);
}

void
listener_hold(struct listener *ln, enum listener_hold why)
{
	ln->held |= why;
	if (ln->state == LISTENER_READY)
		stop_wanting(ln, LISTENER_FULL);
}

void
listener_resume(struct listener *ln, enum listener_hold why)
{
	ln->held &= ~(unsigned int)why;
	accept_again(ln);
}

void
listener_hold_until(struct listener *ln, uint64_t until_ms)
{
	if (timer_set(loop_timers(ln->loop), &ln->hold_timer, until_ms) == 0)
		listener_hold(ln, LISTENER_HOLD_FRONTEND_RATE);
}

/* Stops the timers: the listener is no longer started, and no time may bring it back. */
static void
stop_timers(struct listener *ln)
{
	timer_stop(loop_timers(ln->loop), &ln->timer);
	timer_stop(loop_timers(ln->loop), &ln->hold_timer);
	ln->held &= ~(unsigned int)LISTENER_HOLD_FRONTEND_RATE;
}

/* True if it listens, and no other process or listener uses its socket. */
static int
is_ours_alone(const struct listener *ln)
{
	return ln->fd >= 0 && ln->loop && !ln->lead && ln->inherit_fd < 0 && !ln->kept_open &&
		ln->state != LISTENER_SUSPENDED;
}

int
listener_refuse_new(struct listener *ln, struct sys *sys)
{
	/* Byte 13 of a TCP header has the flags: SYN without ACK. */
	struct sock_filter drop_syn[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog prog = { .len = ARRAY_LEN(drop_syn), .filter = drop_syn };

	if (!is_ours_alone(ln) || addr_family(&ln->addr) == AF_UNIX)
		return 0;
	/* Some kernels want a capability for it that the process has given up: clients may then be
	 * reset. */
	(void)sys_setsockopt(sys, ln->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
	return 1;
}

void
listener_drain(struct listener *ln)
{
	long fd = 0;

	if (!is_ours_alone(ln))
		return;
	ln->route = NULL;
	while ((fd >= 0 || is_gone(fd)) && !is_full(ln) && accept_allowed(ln)) {
		struct addr peer = { .len = sizeof(peer.u) };

		fd = sys_accept4(loop_sys(ln->loop), ln->fd, &peer.u.sa, &peer.len,
			SOCK_NONBLOCK | SOCK_CLOEXEC);
		note_accept(ln, fd);
		if (fd >= 0)
			on_accepted(ln, (int)fd, &peer);
	}
}

/* Takes the socket out of the loop. If another process may hold it too, closing it would unregister
 * nothing, and it would report clients for ever: then it is detached. */
static void
forget_fd(struct listener *ln)
{
	if (ln->inherit_fd >= 0 || ln->kept_open)
		loop_detach(ln->loop, ln->fd);
	else
		loop_forget(ln->loop, ln->fd);
}

/* A disconnected listening socket keeps its address and its options. */
static void
disconnect_socket(struct listener *ln)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	(void)sys_connect(loop_sys(ln->loop), ln->fd, &none, sizeof(none));
}

void
listener_suspend(struct listener *ln)
{
	int owns = is_ours_alone(ln);

	if (!ln->loop || ln->state == LISTENER_CLOSED || ln->state == LISTENER_SUSPENDED ||
		addr_family(&ln->addr) == AF_UNIX)
		return;
	stop_timers(ln);
	/* The kernel would report a socket that does not listen for ever. */
	loop_detach(ln->loop, ln->fd);
	counter_set(&ln->state, LISTENER_SUSPENDED);
	if (owns)
		disconnect_socket(ln);
}

int
listener_restart(struct listener *ln)
{
	int owns = !ln->lead && ln->inherit_fd < 0, r = 0;

	if (ln->state != LISTENER_SUSPENDED)
		return 0;
	if (owns)
		r = listener_listen_again(ln, loop_sys(ln->loop));
	if (r == 0) {
		r = listener_start(ln, ln->loop);
		if (r < 0 && owns)
			disconnect_socket(ln);
	}
	if (r == 0 && (ln->held || is_full(ln)))
		stop_wanting(ln, LISTENER_FULL);
	return r;
}

void
listener_close(struct listener *ln, struct sys *sys)
{
	if (ln->loop) {
		stop_timers(ln);
		if (ln->fd >= 0 && ln->state != LISTENER_SUSPENDED)
			forget_fd(ln);
	}
	if (ln->fd >= 0 && !ln->lead)
		(void)sys_close(sys, ln->fd);
	ln->fd = -1;
	counter_set(&ln->state, LISTENER_CLOSED);
}
