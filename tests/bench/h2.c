/*
 * h2: clients of HTTP/2 without TLS.
 *
 *     h2 steady RATE SECONDS CONNECTIONS ADDR:PORT
 *     h2 reset STREAMS SECONDS CONNECTIONS ADDR:PORT
 *
 * "steady" sends requests at a fixed rate, independent of the responses, one connection after the
 * other; a latency counts from the time when the request was due. A connection that gets GOAWAY is
 * replaced, and what was not processed (GOAWAY, REFUSED_STREAM) is sent again, as clients do;
 * anything else but a complete response with status 200 is an error. Prints one line:
 * due= done= errors= again= unfinished= opened= p50= p99= p999= max=
 *
 * "reset" sends requests with a reset behind each, as fast as they are taken, until so many were
 * sent and so much time has passed, and waits for the peer to have used them (PING). It answers no
 * frame. A connection that ends is replaced. Prints one line: streams= opened= ms=
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "addr.h"
#include "stats.h"

enum {
	CONNECTIONS_MAX = 1000,
	SLOTS = 4 * CONNECTIONS_MAX, /* connections at one time, with those that are left */
	STREAMS_MAX = 100,           /* of a connection at one time */
	AGAIN_MAX = 4096,            /* requests that wait to be sent again */
	IN_MAX = 65536,
	FRAME_MAX = 16384,
	SNDBUF = 65536,              /* of a connection whose requests are reset */
	EVENTS_MAX = 128,
	RATE_MAX = 200000,
	SECONDS_MAX = 60,
	WINDOW_STEP = 32768,         /* the connection's window is given back in such steps */
	PAIRS = 512,                 /* requests with their resets in one send */
	ID_MAX = 0x7ffffff0,
	DRAIN_MS = 60000             /* time limit for the last responses, which hang */
};

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8, PRIORITIZED = 32 };

#define HEADER 9
#define REFUSED 7
#define CANCEL 8

struct request {
	uint32_t id;  /* 0: none */
	bool is_good; /* its status is 200 */
	uint64_t due;
};

struct conn {
	struct conn *next;   /* of those that are not used */
	int fd;
	uint32_t next_id, unacked;
	bool is_leaving;     /* it takes no more requests */
	unsigned int open;
	size_t n_in, at;     /* at: of the pairs in its buffer, in bytes */
	struct request stream[STREAMS_MAX];
	unsigned char in[IN_MAX];
};

struct load {
	struct addr to;
	int ep;
	bool resets;
	bool ends;           /* no more resets are sent */
	unsigned int n, ended;
	struct conn *slot[CONNECTIONS_MAX], *unused;
	uint64_t again[AGAIN_MAX];
	unsigned int n_again;
	struct stats stats;
	unsigned long errors, done, repeated, opened, sent;
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/* :method GET, :scheme http, :path /, :authority bench. With a reset it is of 32 bytes: an even
 * number of both fits into what a proxy reads at once. */
static const unsigned char block[] = { 0x82, 0x86, 0x84, 0x01, 5, 'b', 'e', 'n', 'c', 'h' };

static void
put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static uint32_t
get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned char *
put_header(unsigned char *p, size_t n, int type, int flags, uint32_t id)
{
	put32(p, (uint32_t)n << 8);
	p[3] = (unsigned char)type;
	p[4] = (unsigned char)flags;
	put32(p + 5, id);
	return p + HEADER;
}

static bool
send_all(struct conn *c, const void *p, size_t n)
{
	return send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static bool
send_number(struct conn *c, int type, uint32_t id, uint32_t v)
{
	unsigned char frame[HEADER + 4];

	put32(put_header(frame, 4, type, 0, id), v);
	return send_all(c, frame, sizeof(frame));
}

/* --- connections --- */

static void
count_error(struct load *l)
{
	l->errors++;
}

/* Takes the connection out of its place: it takes no more requests. */
static void
leave(struct load *l, struct conn *c)
{
	c->is_leaving = true;
	for (unsigned int i = 0; i < l->n; i++)
		if (l->slot[i] == c)
			l->slot[i] = NULL;
}

static void
conn_end(struct load *l, struct conn *c)
{
	leave(l, c);
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (c->stream[i].id)
			count_error(l);
	close(c->fd);
	c->fd = -1;
	c->next = l->unused;
	l->unused = c;
}

static struct conn *
conn_open(struct load *l)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP };
	struct conn *c = l->unused;
	unsigned char first[sizeof(preface) - 1 + HEADER], *p = first;
	int one = 1, sndbuf = SNDBUF;

	if (!c)
		return NULL;
	l->unused = c->next;
	memset(c, 0, offsetof(struct conn, in));
	c->next_id = 1;
	ev.data.ptr = c;
	ev.events |= l->resets ? EPOLLOUT : 0;
	memcpy(p, preface, sizeof(preface) - 1);
	(void)put_header(p + sizeof(preface) - 1, 0, SETTINGS, 0, 0);
	/* Blocking only while it connects: the proxy is on this machine. */
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ||
	    (l->resets && setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf)) < 0) ||
	    connect(c->fd, &l->to.sa, l->to.len) < 0 || !send_all(c, first, sizeof(first)) ||
	    epoll_ctl(l->ep, EPOLL_CTL_ADD, c->fd, &ev) < 0) {
		conn_end(l, c);
		return NULL;
	}
	l->opened++;
	return c;
}

/* --- frames that arrive --- */

static void
send_again(struct load *l, const struct request *r)
{
	l->repeated++;
	if (l->n_again < AGAIN_MAX)
		l->again[l->n_again++] = r->due;
	else
		count_error(l);
}

static struct request *
request_of(struct conn *c, uint32_t id)
{
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (c->stream[i].id == id)
			return &c->stream[i];
	return NULL;
}

static void
request_end(struct conn *c, struct request *r)
{
	r->id = 0;
	c->open--;
}

static void
on_end(struct load *l, struct conn *c, struct request *r)
{
	if (r->is_good) {
		stats_add(&l->stats, now_ns() - r->due);
		l->done++;
	} else {
		count_error(l);
	}
	request_end(c, r);
}

/* True if the block begins with the status 200, behind changes of the table's size. */
static bool
says_200(const unsigned char *p, size_t n, int flags)
{
	if (flags & PADDED || flags & PRIORITIZED)
		return false;
	while (n && (*p & 0xe0) == 0x20) {
		p++;
		n--;
	}
	return n && *p == 0x88;
}

static void
on_goaway(struct load *l, struct conn *c, const unsigned char *p)
{
	uint32_t last = get32(p) & 0x7fffffff;

	leave(l, c);
	for (unsigned int i = 0; i < STREAMS_MAX; i++)
		if (c->stream[i].id > last) {
			send_again(l, &c->stream[i]);
			request_end(c, &c->stream[i]);
		}
}

/* A frame of a stream that is not over. */
static void
on_stream(struct load *l, struct conn *c, const unsigned char *f, const unsigned char *p, size_t n)
{
	struct request *r = request_of(c, get32(f + 5) & 0x7fffffff);

	if (!r)
		return;
	if (f[3] == HEADERS && !r->is_good)
		r->is_good = says_200(p, n, f[4]);
	if (f[3] == RST_STREAM) {
		if (get32(p) == REFUSED)
			send_again(l, r);
		else
			count_error(l);
		request_end(c, r);
	} else if (f[4] & END_STREAM) {
		on_end(l, c, r);
	}
}

/* False if the connection has to end. */
static bool
on_frame(struct load *l, struct conn *c, const unsigned char *f, const unsigned char *p, size_t n)
{
	unsigned char pong[HEADER + 8];

	switch (f[3]) {
	case DATA:
		c->unacked += (uint32_t)n;
		if (c->unacked >= WINDOW_STEP && !l->resets) {
			if (!send_number(c, WINDOW_UPDATE, 0, c->unacked))
				return false;
			c->unacked = 0;
		}
		/* fall through */
	case HEADERS:
	case RST_STREAM:
		on_stream(l, c, f, p, n);
		return true;
	case SETTINGS:
		put_header(pong, 0, SETTINGS, ACK, 0);
		return l->resets || f[4] & ACK || send_all(c, pong, HEADER);
	case PING:
		memcpy(put_header(pong, 8, PING, ACK, 0), p, 8);
		l->ended += l->resets && f[4] & ACK;
		return l->resets || f[4] & ACK || send_all(c, pong, sizeof(pong));
	case GOAWAY:
		if (!l->resets)
			on_goaway(l, c, p);
		return true;
	default:
		return true;
	}
}

/* Uses the frames that are complete. */
static bool
use_input(struct load *l, struct conn *c)
{
	size_t at = 0;

	while (c->n_in - at >= HEADER) {
		const unsigned char *f = c->in + at;
		size_t n = get32(f) >> 8;

		if (n > FRAME_MAX)
			return false;
		if (c->n_in - at < HEADER + n)
			break;
		if (!on_frame(l, c, f, f + HEADER, n))
			return false;
		at += HEADER + n;
	}
	c->n_in -= at;
	memmove(c->in, c->in + at, c->n_in);
	return true;
}

static void
conn_read(struct load *l, struct conn *c)
{
	ssize_t n = 1;

	while (n > 0) {
		n = recv(c->fd, c->in + c->n_in, IN_MAX - c->n_in, MSG_DONTWAIT);
		c->n_in += n > 0 ? (size_t)n : 0;
		if (n == 0 || (n < 0 && errno != EAGAIN) || (n > 0 && !use_input(l, c)) ||
		    (n < 0 && c->is_leaving && !c->open)) {
			conn_end(l, c);
			return;
		}
	}
}

/* --- requests that are reset --- */

#define PAIR (2 * HEADER + sizeof(block) + 4)

static void
put_pair(unsigned char *p, uint32_t id)
{
	p = put_header(p, sizeof(block), HEADERS, END_HEADERS | END_STREAM, id);
	memcpy(p, block, sizeof(block));
	put32(put_header(p + sizeof(block), 4, RST_STREAM, 0, id), CANCEL);
}

/* True if the PING was sent. */
static bool
send_last(struct conn *c)
{
	unsigned char frame[HEADER + 8] = { 0 };

	put_header(frame, 8, PING, 0, 0);
	return send_all(c, frame, sizeof(frame));
}

static void
send_pairs(struct load *l, struct conn *c)
{
	static unsigned char pairs[PAIRS * PAIR];
	struct epoll_event only_in = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = c };
	ssize_t n = 1;

	if (l->ends && !c->at) {
		if (send_last(c) && epoll_ctl(l->ep, EPOLL_CTL_MOD, c->fd, &only_in) == 0)
			return;
		conn_end(l, c);
		return;
	}
	while (n > 0 && c->next_id < ID_MAX) {
		for (unsigned int i = 0; i < PAIRS; i++)
			put_pair(pairs + i * PAIR, c->next_id + 2 * i);
		n = send(c->fd, pairs + c->at, (l->ends ? PAIR : sizeof(pairs)) - c->at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			break;
		c->at += (size_t)n;
		/* The rest of the last pair is sent with its own id. */
		l->sent += c->at / PAIR;
		c->next_id += 2 * (uint32_t)(c->at / PAIR);
		c->at %= PAIR;
		if (l->ends && !c->at)
			break;
	}
	if (c->next_id >= ID_MAX || (n < 0 && errno != EAGAIN))
		conn_end(l, c);
}

static void
handle(struct load *l, const struct epoll_event *ev)
{
	struct conn *c = ev->data.ptr;

	if (ev->events & ~(uint32_t)EPOLLOUT)
		conn_read(l, c);
	if (c->fd >= 0 && l->resets && ev->events & EPOLLOUT)
		send_pairs(l, c);
}

static void
wait_until(struct load *l, uint64_t when)
{
	struct epoll_event ev[EVENTS_MAX];
	uint64_t now = now_ns(), left = when > now ? when - now : 0;
	struct timespec ts = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
	int n = epoll_pwait2(l->ep, ev, EVENTS_MAX, &ts, NULL);

	for (int i = 0; i < n; i++)
		handle(l, &ev[i]);
}

static void
run_resets(struct load *l, unsigned long streams, unsigned long seconds)
{
	uint64_t start = now_ns(), end = start + seconds * 1000000000u;

	while (l->ended < l->n) {
		l->ends = l->sent >= streams && now_ns() >= end;
		for (unsigned int i = 0; i < l->n; i++)
			if (!l->slot[i])
				l->slot[i] = conn_open(l);
		wait_until(l, now_ns() + 10000000);
	}
	printf("streams=%lu opened=%lu ms=%lu\n", l->sent, l->opened,
	       (unsigned long)((now_ns() - start) / 1000000));
}

/* --- requests at a rate --- */

/* False: its connection has all streams that it may have. */
static bool
ask(struct load *l, unsigned int which, uint64_t due)
{
	struct conn **at = &l->slot[which % l->n], *c;
	unsigned char frame[HEADER + sizeof(block)];
	struct request *r;

	if (*at && (*at)->next_id >= ID_MAX)
		leave(l, *at);
	if (!*at)
		*at = conn_open(l);
	c = *at;
	if (!c) {
		count_error(l);
		return true;
	}
	r = request_of(c, 0);
	if (!r)
		return false;
	*r = (struct request){ c->next_id, false, due };
	c->open++;
	c->next_id += 2;
	memcpy(put_header(frame, sizeof(block), HEADERS, END_HEADERS | END_STREAM, r->id), block,
	       sizeof(block));
	if (!send_all(c, frame, sizeof(frame)))
		conn_end(l, c);
	return true;
}

static void
repeat(struct load *l)
{
	static unsigned int which;

	while (l->n_again && ask(l, which++, l->again[l->n_again - 1]))
		l->n_again--;
}

static void
run_steady(struct load *l, unsigned long rate, unsigned long seconds)
{
	unsigned long i, total = rate * seconds;
	uint64_t start = now_ns(), gap = 1000000000u / rate, end;

	for (i = 0; i < total && l->errors <= total / 10;) {
		uint64_t due = start + i * gap;

		repeat(l);
		if (due > now_ns())
			wait_until(l, due);
		else if (ask(l, (unsigned int)i, due))
			i++, wait_until(l, 0);
		else
			wait_until(l, now_ns() + 100000);
	}
	for (end = now_ns() + DRAIN_MS * 1000000ull; l->done + l->errors < i && now_ns() < end;) {
		repeat(l);
		wait_until(l, now_ns() + 10000000);
	}
	printf("due=%lu done=%lu errors=%lu again=%lu unfinished=%lu opened=%lu", i, l->done,
	       l->errors, l->repeated,
	       i > l->done + l->errors ? i - l->done - l->errors : 0, l->opened);
	stats_print(&l->stats);
}

int
main(int argc, char **argv)
{
	static struct load l;
	unsigned long amount, seconds;

	if (argc != 6 || !addr_parse(&l.to, argv[5]))
		goto usage;
	l.resets = strcmp(argv[1], "reset") == 0;
	amount = strtoul(argv[2], NULL, 10);
	seconds = strtoul(argv[3], NULL, 10);
	l.n = (unsigned int)strtoul(argv[4], NULL, 10);
	if ((!l.resets && strcmp(argv[1], "steady") != 0) || !amount || !seconds ||
	    seconds > SECONDS_MAX || (!l.resets && amount > RATE_MAX) || !l.n ||
	    l.n > CONNECTIONS_MAX)
		goto usage;
	alarm(3 * SECONDS_MAX);
	prctl(PR_SET_TIMERSLACK, 1UL);
	l.ep = epoll_create1(EPOLL_CLOEXEC);
	l.stats.ns = calloc(STATS_MAX, sizeof(*l.stats.ns));
	for (unsigned int i = 0; i < (l.resets ? l.n : SLOTS); i++) {
		struct conn *c = calloc(1, sizeof(*c));

		if (!c)
			return 1;
		c->next = l.unused;
		l.unused = c;
	}
	if (l.ep < 0 || !l.stats.ns)
		return 1;
	if (l.resets)
		run_resets(&l, amount, seconds);
	else
		run_steady(&l, amount, seconds);
	return 0;
usage:
	fprintf(stderr, "usage: h2 steady RATE SECONDS CONNECTIONS ADDR:PORT\n"
			"       h2 reset STREAMS SECONDS CONNECTIONS ADDR:PORT\n");
	return 2;
}
