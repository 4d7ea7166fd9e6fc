/* Bytes, FIN and RST between two connected sockets. */
#include <string.h>

#include "fake/kernel_int.h"

#define CORK_NS (200 * FAKE_MS)
#define SEGMENT_MAX 65483 /* maximum payload of a segment on loopback */

/* Something in transit for `delay`. */
struct flight {
	struct fake_sock *to;
	uint64_t upto; /* bytes up to here */
	int fin, rst;
};

static void
pipe_append(struct fake_pipe *p, const char *buf, size_t len)
{
	size_t used = (size_t)(p->written - p->read);

	if (p->written + len > p->base + p->cap) {
		if (used + len > p->cap) {
			size_t cap = p->cap ? p->cap : 1024;
			char *grown;

			while (cap < used + len)
				cap *= 2;
			grown = fake_zalloc(cap);
			if (used)
				memcpy(grown, p->buf + (p->read - p->base), used);
			fake_release(p->buf);
			p->buf = grown;
			p->cap = cap;
		} else {
			memmove(p->buf, p->buf + (p->read - p->base), used);
		}
		p->base = p->read;
	}
	memcpy(p->buf + (p->written - p->base), buf, len);
	p->written += len;
}

static int
sock_is_writable(const struct fake_sock *s)
{
	uint64_t used = s->peer ? s->peer->in.written - s->peer->in.arrived : 0;

	return used < s->sndbuf && s->sndbuf - used >= used / 2;
}

/* True if enough has arrived for a reader: SO_RCVLOWAT. */
static int
sock_has_enough(const struct fake_sock *s)
{
	return s->in.arrived - s->in.read >= MAX(s->rcvlowat, 1u);
}

void
fake_sock_set_low_water(struct fake_sock *s, unsigned int bytes)
{
	s->rcvlowat = bytes;
	if (sock_has_enough(s) || s->done)
		fake_sock_wake(s, EPOLLIN);
}

uint32_t
fake_sock_poll(struct fake_sock *s)
{
	uint32_t ev = 0;

	if (s->type == SOCK_DGRAM)
		return (s->dgrams ? EPOLLIN | EPOLLRDNORM : 0) | EPOLLOUT | EPOLLWRNORM |
		       (s->err ? EPOLLERR : 0);
	if (s->state == FAKE_LISTEN)
		return s->queue ? EPOLLIN | EPOLLRDNORM : 0;
	if (s->shut == 3 || s->state == FAKE_CLOSED)
		ev |= EPOLLHUP;
	if (s->shut & 1)
		ev |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (s->state != FAKE_SYN_SENT) {
		if (sock_has_enough(s))
			ev |= EPOLLIN | EPOLLRDNORM;
		if ((s->shut & 2) || sock_is_writable(s))
			ev |= EPOLLOUT | EPOLLWRNORM;
		else
			s->nospace = 1;
	}
	if (s->err || fake_zc_has_notes(s))
		ev |= EPOLLERR;
	return ev;
}

/* Bytes were acknowledged: a writer that waits for space is woken. */
static void
sock_check_space(struct fake_sock *s)
{
	if (s->nospace && !s->dead && sock_is_writable(s)) {
		s->nospace = 0;
		fake_sock_wake(s, EPOLLOUT);
	}
}

/* Both FINs have arrived: there is no connection that could be reset. */
static int
sock_is_over(const struct fake_sock *s)
{
	return s->done && s->peer->done;
}

void
fake_sock_rst_arrives(struct fake_sock *s)
{
	if (s->state == FAKE_CLOSED || sock_is_over(s))
		return;
	if (s->state == FAKE_SYN_SENT)
		s->err = ECONNREFUSED;
	else
		s->err = s->done && !(s->shut & 2) ? EPIPE : ECONNRESET;
	s->state = FAKE_CLOSED;
	s->shut = 3;
	if (s->peer)
		s->peer->in.written = s->peer->in.pushed = s->peer->in.sent;
	if (s->zc && s->peer)
		fake_zc_purge(s);
	fake_sock_wake(s, 0);
}

void
fake_sock_break(struct fake_sock *s, int err)
{
	if (!s->peer || s->state != FAKE_EST)
		return;
	fake_sock_rst_arrives(s);
	s->err = err;
	fake_sock_rst_arrives(s->peer);
}

static void
fin_arrives(struct fake_sock *s)
{
	if (s->state != FAKE_EST)
		return;
	s->done = 1;
	s->shut |= 1;
	fake_sock_wake(s, 0);
}

static void
bytes_arrive(struct fake_sock *s, uint64_t upto)
{
	struct fake_pipe *p = &s->in;

	if (s->peer && s->peer->zc)
		fake_zc_arrives(s->peer, upto);
	if (s->state == FAKE_CLOSED && !s->dead)
		return;
	p->arrived = upto;
	if (s->dead) {
		p->read = p->arrived;
		fake_sock_reset(s);
		return;
	}
	if ((s->shut & 1) && s->peer->in.fin_sent) {
		/* shut down in both directions: arriving bytes are discarded, and both ends are
		 * reset */
		p->read = p->arrived;
		s->err = s->done ? EPIPE : ECONNRESET;
		s->shut = 3;
		s->state = FAKE_CLOSED;
		fake_sock_wake(s, 0);
		fake_sock_reset(s);
		return;
	}
	if (s->embryo)
		fake_sock_embryo_ready(s);
	if (sock_has_enough(s))
		fake_sock_wake(s, EPOLLIN);
	if (s->peer)
		sock_check_space(s->peer);
}

static void
flight_lands(struct fake *k, void *arg)
{
	struct flight f = *(struct flight *)arg;

	(void)k;
	fake_release(arg);
	if (f.rst) {
		fake_sock_rst_arrives(f.to);
		return;
	}
	if (f.upto > f.to->in.arrived)
		bytes_arrive(f.to, f.upto);
	if (f.fin)
		fin_arrives(f.to);
}

/* The time until bytes that are sent now have arrived. */
static uint64_t
time_of_flight(struct fake_sock *from, uint64_t n)
{
	uint64_t now = fake_now(from->k);

	if (!from->rate)
		return from->delay;
	from->busy_until = MAX(from->busy_until, now) + n * FAKE_SEC / from->rate;
	return from->busy_until - now + from->delay;
}

static void
fly(struct fake_sock *from, struct fake_sock *to, uint64_t upto, int fin, int rst)
{
	struct flight f = { to, upto, fin, rst }, *heap;
	uint64_t n = upto - to->in.sent, ns = time_of_flight(from, n);

	if (from->was_fd)
		from->k->segments += n ? (n + SEGMENT_MAX - 1) / SEGMENT_MAX : 1;
	to->in.sent = upto;
	heap = fake_zalloc(sizeof(*heap));
	*heap = f;
	if (ns)
		fake_after_owned(from->k, ns, flight_lands, heap, 1);
	else
		flight_lands(from->k, heap);
}

/* Sends what fits into the receiver's window, then the FIN. */
static void
transmit(struct fake_sock *from)
{
	struct fake_sock *to = from->peer;
	struct fake_pipe *p = &to->in;
	uint64_t upto = MIN(p->pushed, p->read + to->rcvbuf);
	int fin;

	if (from->rst_sent)
		return;
	fin = p->fin && !p->fin_sent && upto >= p->written;
	if (upto <= p->sent && !fin)
		return;
	p->fin_sent |= fin;
	fly(from, to, MAX(upto, p->sent), fin, 0);
}

/* Data held back by MSG_MORE is sent by a timer. */
struct cork {
	struct fake_sock *s;
	uint64_t seq;
};

static void
cork_expires(struct fake *k, void *arg)
{
	struct cork c = *(struct cork *)arg;

	fake_release(arg);
	if (c.s->cork_seq != c.seq || c.s->state != FAKE_EST || c.s->dead)
		return;
	if (c.s->peer->in.pushed == c.s->peer->in.written)
		return;
	if (c.s->was_fd)
		fake_blame(k, FAKE_CORK_STALL);
	c.s->peer->in.pushed = c.s->peer->in.written;
	transmit(c.s);
}

void
fake_sock_push(struct fake_sock *s)
{
	if (s->state != FAKE_EST || s->dead || s->peer->in.pushed == s->peer->in.written)
		return;
	s->peer->in.pushed = s->peer->in.written;
	transmit(s);
}

static void
cork(struct fake_sock *s)
{
	struct cork *c = fake_zalloc(sizeof(*c));

	c->s = s;
	c->seq = ++s->cork_seq;
	fake_after_owned(s->k, CORK_NS, cork_expires, c, 1);
}

long
fake_sock_send(struct fake_sock *s, const void *buf, size_t len, int flags)
{
	struct fake_pipe *p;
	long in_place = 0;
	uint64_t used;
	size_t n;

	if (s->type == SOCK_DGRAM) {
		struct iovec one = { (void *)(uintptr_t)buf, len };
		struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1 };

		return fake_dgram_send(s, &m);
	}
	if (s->state == FAKE_SYN_SENT)
		return -EAGAIN;
	if (s->err) {
		int err = s->err;

		s->err = 0;
		return -err;
	}
	if (s->state != FAKE_EST || (s->shut & 2))
		return -EPIPE;
	p = &s->peer->in;
	used = p->written - p->arrived;
	if (used >= s->sndbuf) {
		s->nospace = 1;
		return -EAGAIN;
	}
	in_place = fake_zc_may(s, flags);
	if (in_place < 0)
		return in_place;
	n = (size_t)MIN((uint64_t)len, s->sndbuf - used);
	if (n < len)
		s->nospace = 1;
	pipe_append(p, buf, n);
	if (in_place)
		fake_zc_sent(s, buf, p->written - n, p->written);
	if ((flags & MSG_MORE) && n == len) {
		cork(s);
	} else {
		s->cork_seq++;
		p->pushed = p->written;
		transmit(s);
	}
	return (long)n;
}

long
fake_sock_recv(struct fake_sock *s, void *buf, size_t len, int flags)
{
	struct fake_pipe *p = &s->in;
	size_t n = (size_t)MIN((uint64_t)len, p->arrived - p->read);

	if (s->type == SOCK_DGRAM)
		return fake_dgram_recv(s, buf, len, flags);
	if (s->state == FAKE_LISTEN)
		return -ENOTCONN;
	if (n) {
		memcpy(buf, p->buf + (p->read - p->base), n);
		if (flags & MSG_PEEK)
			return (long)n;
		p->read += n;
		if (s->peer && s->peer->state == FAKE_EST)
			transmit(s->peer);
		return (long)n;
	}
	if (s->done)
		return 0;
	if (s->err) {
		int err = s->err;

		s->err = 0;
		return -err;
	}
	if (s->shut & 1)
		return 0;
	return s->state == FAKE_CLOSED ? -ENOTCONN : -EAGAIN;
}

/* As in Linux: a pending error is returned before the bytes. Then there is one read for each
 * message up to one that fails; its error is kept for the next call unless it is the first. A read
 * of zero bytes, the end, counts as a message. */
long
fake_sock_recv_messages(struct fake *k, struct fake_sock *s, struct mmsghdr *v, unsigned int n)
{
	int err = s->err;

	s->err = 0;
	if (err)
		return -err;
	for (unsigned int i = 0; i < n; i++) {
		const struct iovec *to = v[i].msg_hdr.msg_iov;
		long got;

		if (v[i].msg_hdr.msg_iovlen != 1 || !to->iov_len)
			fake_blame(k, FAKE_RECV_ZERO);
		got = fake_sock_recv(s, to->iov_base, to->iov_len, 0);
		k->moves += got > 0;
		if (got < 0) {
			if (i && got != -EAGAIN)
				s->err = (int)-got;
			return i ? (long)i : got;
		}
		v[i].msg_len = (unsigned int)got;
	}
	return (long)n;
}

static void
send_fin(struct fake_sock *s)
{
	struct fake_pipe *p = &s->peer->in;

	if (p->fin)
		return;
	p->fin = 1;
	p->pushed = p->written;
	transmit(s);
}

long
fake_sock_shutdown(struct fake_sock *s, int how)
{
	int over = s->state == FAKE_CLOSED || (s->state == FAKE_EST && sock_is_over(s));

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (s->state == FAKE_LISTEN || s->state == FAKE_SYN_SENT) {
		if (s->state == FAKE_LISTEN && how == SHUT_WR)
			return 0;
		fake_sock_close(s);
		s->dead = 0;
		s->state = FAKE_CLOSED;
		fake_sock_wake(s, 0);
		return 0;
	}
	s->shut |= how + 1;
	if (!over && (s->shut & 2))
		send_fin(s);
	fake_sock_wake(s, 0);
	return over ? -ENOTCONN : 0;
}

void
fake_sock_reset(struct fake_sock *s)
{
	struct fake_sock *to = s->peer;

	s->state = FAKE_CLOSED;
	if (!to || s->rst_sent || sock_is_over(s))
		return;
	s->rst_sent = 1;
	to->in.written = to->in.pushed = to->in.sent;
	if (s->zc)
		fake_zc_purge(s);
	fly(s, to, to->in.sent, 0, 1);
}

void
fake_sock_close(struct fake_sock *s)
{
	if (s->dead)
		return;
	s->dead = 1;
	fake_dgrams_free(s);
	if (s->state == FAKE_LISTEN) {
		s->state = FAKE_CLOSED;
		for (struct fake_sock *c = s->k->socks; c; c = c->all)
			if (c->listener == s) {
				c->listener = NULL;
				c->dead = 1;
				fake_sock_reset(c);
			}
		s->queue = NULL;
		return;
	}
	if (s->state != FAKE_EST) {
		s->state = FAKE_CLOSED;
		return;
	}
	if (s->repair) {
		s->state = FAKE_CLOSED;
		return;
	}
	if (s->linger0 || s->in.arrived > s->in.read) {
		fake_sock_reset(s);
		return;
	}
	s->shut = 3;
	send_fin(s);
}
