/*
 * bare: the fewest system calls with which a correct one-thread half-closing TCP forwarder can
 * work.
 *
 * It has no features: no timeouts, no logs, no balancing. It is the "limit" of the benchmark, and
 * uses everything that saves a system call or a packet without costing correctness:
 *
 *   - a socket enters epoll only when a read or write must wait, edge-triggered, for input alone:
 *     OUT would fire at once on a writable socket and cost a useless wait;
 *   - a read shorter than the buffer means drained; with RDHUP seen before it, it means the end.
 *     Neither holds when the event carried ERR (a reset hides behind the data) or PRI (recv() stops
 *     short at urgent data), so then another recv() is made;
 *   - all connections read into one scratch buffer; only what a sink did not take is copied;
 *   - the request is sent right after connect(): a near server is connected by then;
 *   - data known to be the last is sent with MSG_MORE, so that it carries the FIN;
 *   - client sockets inherit TCP_NODELAY from the listener; a server socket gets it before its
 *     second send: the first one finds nothing unacknowledged, so it cannot be held back;
 *   - two adjacent descriptors are closed by one close_range();
 *   - accept4() is called as often as connections are expected.
 *
 * --spin never sleeps: the calls that its peers then save are the cost of waking a sleeping proxy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "addr.h"

enum {
	SCRATCH_SIZE = 65536,
	EVENTS_MAX = 256,
	ACCEPT_MAX = 64,     /* accepts per turn, so that established connections are not starved */
	ACCEPT_HOLD = 32,    /* listener turns without growth after an accept that failed */
	PUMP_MAX = 16,       /* full buffers per direction and turn, for the same reason */
	BACKLOG = 4096,
	DEFER_SECONDS = 10,
};

struct conn;

/* One socket, and the direction that it is the source of. */
struct side {
	struct conn *conn;
	int fd;
	uint32_t polled;          /* the mask registered in epoll, 0: not registered */
	uint32_t seen;            /* RDHUP, ERR and PRI are kept: epoll reports an edge only once */
	bool ready;               /* a recv() may return data */
	bool connecting;          /* --far: not used before the kernel reports OUT */
	bool sent;                /* server side: something was sent */
	bool nodelay;
	bool eof;                 /* its source has ended ... */
	bool shut;                /* ... and the other socket was shut down */
	bool blocked;             /* as a sink: waits for OUT */
	char *pend;               /* bytes read from here that the other socket did not take */
	size_t pend_off, pend_len;
};

struct conn {
	struct side cli, srv;
	struct conn *next_dead, *next_queued;
	bool dead, queued;
};

struct bare {
	int ep, listener;
	struct addr to;
	bool defer, quickack_off, far, phases, spin;
	bool paused;              /* out of descriptors: the listener waits for a close */
	int budget, hold;         /* expected connections, see accept_turn() */
	bool was_full;
	struct conn *dead;
	struct conn *queue, **queue_end;        /* connections that need no further event */
	char scratch[SCRATCH_SIZE];
};

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static struct side *
other(struct side *s)
{
	return s == &s->conn->cli ? &s->conn->srv : &s->conn->cli;
}

static void
listener_poll(struct bare *b, bool on)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };

	if (epoll_ctl(b->ep, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, b->listener, &ev) < 0)
		die("epoll_ctl(listener)");
	b->paused = !on;
}

static void
conn_close(struct bare *b, struct conn *c, bool reset)
{
	int lo = c->cli.fd, hi = c->srv.fd;

	if (c->dead)
		return;
	c->dead = true;              /* this turn may still have an event for it */
	c->next_dead = b->dead;
	b->dead = c;
	if (reset) {
		struct linger lg = { .l_onoff = 1, .l_linger = 0 };

		setsockopt(lo, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
		if (hi >= 0)
			setsockopt(hi, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
	}
	if (lo > hi) {
		lo = c->srv.fd;
		hi = c->cli.fd;
	}
	if (lo >= 0 && hi == lo + 1) {
		close_range((unsigned)lo, (unsigned)hi, 0);
	} else {
		if (lo >= 0)
			close(lo);
		close(hi);
	}
}

static void
bury(struct bare *b)
{
	struct conn *c, **at = &b->dead;

	if (b->dead && b->paused)
		listener_poll(b, true);
	while ((c = *at) != NULL) {
		if (c->queued) {
			at = &c->next_dead;
			continue;
		}
		*at = c->next_dead;
		free(c->cli.pend);
		free(c->srv.pend);
		free(c);
	}
}

/* Copies the bytes that the sink did not take. */
static bool
keep(struct side *src, const char *data, size_t len)
{
	src->pend = malloc(len);
	if (!src->pend)
		return false;
	memcpy(src->pend, data, len);
	src->pend_off = 0;
	src->pend_len = len;
	return true;
}

/* Sends to dst; returns the number of bytes, or -1 when the connection is broken. */
static ssize_t
push(struct side *dst, const char *data, size_t len, bool last)
{
	ssize_t n;

	if (dst->sent && !dst->nodelay && dst == &dst->conn->srv) {
		int one = 1;

		setsockopt(dst->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		dst->nodelay = true;
	}
	dst->sent = true;
	n = send(dst->fd, data, len, MSG_NOSIGNAL | (last ? MSG_MORE : 0));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		n = 0;
	dst->blocked = n >= 0 && (size_t)n < len;
	return n;
}

/* Sends the copied bytes; true when none are left. */
static bool
flush(struct bare *b, struct side *src)
{
	ssize_t n = push(other(src), src->pend + src->pend_off, src->pend_len, src->eof);

	if (n < 0) {
		conn_close(b, src->conn, true);
		return false;
	}
	src->pend_off += (size_t)n;
	src->pend_len -= (size_t)n;
	if (src->pend_len)
		return false;
	free(src->pend);
	src->pend = NULL;
	return true;
}

/* One recv and one send; false when this direction has to stop for now. */
static bool
pump_once(struct bare *b, struct side *src)
{
	ssize_t n = recv(src->fd, b->scratch, SCRATCH_SIZE, 0), w;

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		src->ready = errno == EINTR;
		return src->ready;
	}
	if (n < 0) {
		conn_close(b, src->conn, true);
		return false;
	}
	if (n == 0) {
		src->eof = true;
		return false;
	}
	if (n < SCRATCH_SIZE && !(src->seen & (EPOLLERR | EPOLLPRI))) {
		src->ready = false;
		src->eof = (src->seen & EPOLLRDHUP) != 0;
	}
	w = push(other(src), b->scratch, (size_t)n, src->eof);
	if (w < 0 || (w < n && !keep(src, b->scratch + w, (size_t)(n - w)))) {
		conn_close(b, src->conn, true);
		return false;
	}
	return w == n && src->ready && !src->eof;
}

static void
enqueue(struct bare *b, struct conn *c)
{
	if (c->queued)
		return;
	c->queued = true;
	c->next_queued = NULL;
	*b->queue_end = c;
	b->queue_end = &c->next_queued;
}

/* Forwards what is possible from src to the other side, and the end as well. */
static void
pump(struct bare *b, struct side *src)
{
	struct side *dst = other(src);
	int left = PUMP_MAX;

	if (src->conn->dead || src->connecting || dst->connecting || dst->fd < 0)
		return;
	if (src->pend && !flush(b, src))
		return;
	while (left && src->ready && !src->eof && pump_once(b, src))
		left--;
	if (src->conn->dead)
		return;
	if (!left)
		enqueue(b, src->conn);
	if (src->eof && !src->pend && !src->shut) {
		src->shut = true;
		if (dst->shut)
			conn_close(b, src->conn, false);        /* the close sends the FIN */
		else if (shutdown(dst->fd, SHUT_WR) < 0)
			conn_close(b, src->conn, true);
	}
}

/* Updates epoll: once per socket, and once more when the socket is full. */
static void
commit(struct bare *b, struct side *s)
{
	uint32_t want = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLET;
	struct epoll_event ev;

	if (s->conn->dead || s->fd < 0)
		return;
	if (other(s)->connecting)        /* its data could not be sent before */
		return;
	if (s->blocked || s->connecting)
		want |= EPOLLOUT;
	if ((s->polled & want) == want)
		return;
	ev.events = want;
	ev.data.ptr = s;
	if (epoll_ctl(b->ep, s->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, s->fd, &ev) < 0)
		conn_close(b, s->conn, true);
	s->polled = want;
}

static void
work(struct bare *b, struct conn *c)
{
	pump(b, &c->cli);
	pump(b, &c->srv);
	commit(b, &c->srv);
	commit(b, &c->cli);
}

static void
conn_connect(struct bare *b, struct conn *c)
{
	int zero = 0;
	int fd = socket(b->to.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		conn_close(b, c, true);
		return;
	}
	c->srv.fd = fd;
	if (b->quickack_off)
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &zero, sizeof(zero));
	if (connect(fd, &b->to.sa, b->to.len) < 0 && errno != EINPROGRESS)
		conn_close(b, c, true);
	c->srv.connecting = b->far && !c->dead;
}

static struct conn *
accept_one(struct bare *b)
{
	struct conn *c;
	int fd = accept4(b->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			listener_poll(b, false);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return NULL;
	}
	c->cli.conn = c->srv.conn = c;
	c->cli.fd = fd;
	c->srv.fd = -1;
	c->cli.ready = true;
	return c;
}

/*
 * The listener is level-triggered: a connection left in the backlog is reported by the next wait,
 * together with other events, whereas an accept too many is a useless call. So the budget grows
 * only when the listener was ready again right after a turn that used it up, and shrinks to the
 * number found when an accept failed.
 */
static void
accept_turn(struct bare *b, bool again)
{
	int n = 0;

	if (again && b->was_full && b->budget < ACCEPT_MAX && !b->hold)
		b->budget++;
	if (b->hold)
		b->hold--;
	while (n < b->budget) {
		struct conn *c = accept_one(b);

		if (!c)
			break;
		n++;
		conn_connect(b, c);
		if (b->phases)
			enqueue(b, c);
		else
			work(b, c);
	}
	b->was_full = n == b->budget;
	if (!b->was_full) {
		b->budget = n > 1 ? n : 1;
		b->hold = ACCEPT_HOLD;
	}
}

static void
on_event(struct bare *b, struct side *s, uint32_t ev)
{
	if (s->conn->dead)
		return;
	s->seen |= ev & (EPOLLRDHUP | EPOLLERR | EPOLLPRI);
	if (ev & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP | EPOLLPRI))
		s->ready = true;
	if (ev & (EPOLLOUT | EPOLLERR | EPOLLHUP)) {
		s->connecting = false;
		s->blocked = false;
	}
	/* After the end was read there is no recv() that would report a reset. */
	if (ev & EPOLLERR && s->eof)
		conn_close(b, s->conn, true);
}

/* Runs the connections queued before the call; those queued meanwhile wait for the next turn. */
static void
run_queue(struct bare *b)
{
	struct conn *c = b->queue, *next;

	b->queue = NULL;
	b->queue_end = &b->queue;
	for (; c; c = next) {
		next = c->next_queued;
		c->queued = false;
		work(b, c);
	}
}

static void
run_event(struct bare *b, struct epoll_event *ev)
{
	struct side *s = ev->data.ptr;

	on_event(b, s, ev->events);
	work(b, s->conn);
}

/* One turn; with --phases every connection passes one stage before any passes the next. */
static bool
turn(struct bare *b, bool listened)
{
	struct epoll_event ev[EVENTS_MAX];
	int i, n = epoll_wait(b->ep, ev, EVENTS_MAX, b->queue || b->spin ? 0 : -1);
	bool listen_now = false;

	for (i = 0; i < n; i++) {
		if (!ev[i].data.ptr) {
			listen_now = true;
			accept_turn(b, listened);
		} else if (!b->phases) {
			run_event(b, &ev[i]);
		}
	}
	run_queue(b);
	if (b->phases) {
		for (i = 0; i < n; i++) {
			struct side *s = ev[i].data.ptr;

			if (s && s == &s->conn->srv)
				run_event(b, &ev[i]);
		}
		for (i = 0; i < n; i++) {
			struct side *s = ev[i].data.ptr;

			if (s && s == &s->conn->cli)
				run_event(b, &ev[i]);
		}
	}
	bury(b);
	return listen_now;
}

static void
listen_open(struct bare *b, const struct addr *at)
{
	int one = 1, zero = 0, secs = DEFER_SECONDS;
	int fd = socket(at->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (b->defer)
		setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &secs, sizeof(secs));
	if (bind(fd, &at->sa, at->len) < 0)
		die("bind");
	if (listen(fd, BACKLOG) < 0)
		die("listen");
	/* Inherited as well, but only if set after listen(), which resets the ACK state. */
	if (b->quickack_off)
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &zero, sizeof(zero));
	b->listener = fd;
	listener_poll(b, true);
}

int
main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "defer", no_argument, NULL, 'd' },
		{ "quickack-off", no_argument, NULL, 'q' },
		{ "far", no_argument, NULL, 'f' },
		{ "phases", no_argument, NULL, 'p' },
		{ "spin", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	static struct bare b = { .budget = 1 };
	struct addr at;
	bool listened = false;
	int o;

	while ((o = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		b.defer |= o == 'd';
		b.quickack_off |= o == 'q';
		b.far |= o == 'f';
		b.phases |= o == 'p';
		b.spin |= o == 's';
		if (o == '?')
			return 2;
	}
	argv += optind;
	if (argc - optind != 2 || !addr_parse(&at, argv[0]) || !addr_parse(&b.to, argv[1])) {
		fprintf(stderr,
			"usage: bare [--defer] [--quickack-off] [--far] [--phases] [--spin] "
			"LISTEN-ADDR:PORT SERVER-ADDR:PORT\n");
		return 2;
	}
	b.queue_end = &b.queue;
	b.ep = epoll_create1(EPOLL_CLOEXEC);
	if (b.ep < 0)
		die("epoll_create1");
	listen_open(&b, &at);
	for (;;)
		listened = turn(&b, listened);
}
