/*
 * peers: both ends of many connections through a proxy, verifying every byte.
 *
 *     peers --listen FD --connect HOST:PORT|/PATH [--bodies N] [--seed S] [--concurrency C]
 *           [--max BYTES] [--timeout SECONDS] [--lenient]
 *           [--tls-client 1.2|1.3|both] [--tls-origin PEM]
 *
 * Each connection carries two bodies, one in each direction, of 1 byte to --max (1 MiB), with
 * sizes distributed evenly over their logarithm. A body is a pseudo-random stream whose bytes
 * depend on the sender and on their position, so a byte that is lost, duplicated, moved or from
 * another connection is detected. It begins with a header that shows the reader what to expect:
 * the length, and whether the writer will truncate it by a reset or close without reading
 * everything.
 *
 * Writers and readers pause at random; writers end with a half-close, a reset (SO_LINGER 0) or a
 * close. It is an error when
 *   - a byte is not the expected one, or comes after the end;
 *   - a body is truncated and yet ends cleanly (recv() = 0): the worst error;
 *   - a connection that no end has reset or closed is reset, or is idle for --timeout seconds;
 *   - there are resets before the header that no end can have sent.
 * With --tls-client or --tls-origin the ends of that side speak TLS (peers/wire.h), both versions,
 * and resume sessions. A writer then ends with the closing message, with or without a FIN, and some
 * truncate a body by a FIN alone: that must not end cleanly on the other side either.
 * --lenient only counts the second kind: Debian's haproxy ends the other side of a reset cleanly.
 *
 * Prints one line of JSON; exits 0 if there was no error. The same seed makes the same plans.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "peers/wire.h"

#define MAGIC 0x7461636974316221ull
#define CHUNK 65536
#define WHEEL 64 /* slots of a millisecond: the longest pause */
#define MAX_ERRORS 20
#define NEVER UINT64_MAX
#define U(n) ((unsigned long long)(n)) /* for printf */

enum side { CLIENT, ORIGIN };
enum ending { END_CLEAN, END_RESET, END_LEAVE };

struct header {
	uint64_t magic;
	uint64_t key;
	uint64_t len; /* of the whole stream, this header included */
	uint64_t
		answer; /* the key of the stream that this one answers; 0 if the origin is first */
	uint32_t ending;
	uint32_t sum;
};

/* One end of a connection: what it sends and what it receives. */
struct end {
	int fd;
	enum side side;
	bool connecting, shut, paused, speaks, got_eof;
	bool cuts; /* with a FIN alone, where it would reset */
	struct wire *wire; /* NULL: no TLS */
	struct header out, in;
	uint64_t out_off, in_off;
	uint64_t reset_out, reset_in, leave_in; /* offsets of these events */
	uint64_t pause_out, pause_in;
	uint64_t rng;
	uint32_t mask;
	int64_t active; /* time of the last progress */
	struct end *prev, *next, *wheel;
};

static struct {
	int listen_fd, epfd;
	struct sockaddr_storage to;
	socklen_t to_len;
	uint64_t connections, seed, max;
	int concurrency, timeout;
	bool lenient;
} opt = { .listen_fd = -1,
	.connections = 1000,
	.seed = 1,
	.max = 1 << 20,
	.concurrency = 100,
	.timeout = 60 };

static struct {
	uint64_t started, accepted, done[2];
	uint64_t bytes, whole, resets_done[2], cuts_done[2], left;
	uint64_t early_resets[2], explained[2], clean_short, answered, errors;
} tally;

static struct end ends = { .prev = &ends, .next = &ends };
static struct end *wheel[WHEEL];
static int64_t wheel_at;
static unsigned live[2];
static unsigned char io[CHUNK], expected[CHUNK + 8];

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t
draw(struct end *e, uint64_t n)
{
	e->rng = mix(e->rng);
	return n ? e->rng % n : 0;
}

static uint32_t
header_sum(const struct header *h)
{
	return (uint32_t)mix(h->magic ^ mix(h->key) ^ mix(h->len) ^ mix(h->answer) ^ h->ending);
}

/* The bytes of a stream from an offset on, into buf. */
static void
stream_bytes(const struct header *h, uint64_t off, unsigned char *buf, size_t n)
{
	size_t done = 0;

	if (off < sizeof(*h)) {
		done = sizeof(*h) - off < n ? sizeof(*h) - off : n;
		memcpy(buf, (const unsigned char *)h + off, done);
	}
	while (done < n) {
		uint64_t word = mix(h->key + ((off + done) >> 3));
		size_t skip = (off + done) & 7, take = 8 - skip;

		if (take > n - done)
			take = n - done;
		memcpy(buf + done, (unsigned char *)&word + skip, take);
		done += take;
	}
}

static __attribute__((format(printf, 2, 3))) void
wrong(const struct end *e, const char *format, ...)
{
	va_list ap;

	if (++tally.errors > MAX_ERRORS)
		return;
	fprintf(stderr,
		"%s out %016llx %llu/%llu in %016llx %llu/%llu: ", e->side ? "origin" : "client",
		U(e->out.key), U(e->out_off), U(e->out.len), U(e->in.key), U(e->in_off),
		U(e->in.len));
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* --- plans ----------------------------------------------------------------------------- */
static void
end_plan(struct end *e, uint64_t number)
{
	uint64_t body, kind;

	e->rng = mix(opt.seed * 2 + e->side) ^ mix(number);
	body = (uint64_t)exp((double)draw(e, 1 << 20) / (1 << 20) * log((double)opt.max));
	e->out.magic = MAGIC;
	e->out.key = mix(draw(e, 0) ^ e->rng) | 1;
	e->out.len = sizeof(e->out) + (body < 1 ? 1 : body);
	e->reset_out = e->reset_in = e->leave_in = NEVER;
	e->out.ending = END_CLEAN;
	kind = draw(e, 100);
	if (kind < 8) {
		e->out.ending = END_RESET;
		e->reset_out = draw(e, e->out.len);
	} else if (kind < 14) {
		e->out.ending = END_RESET;
		e->reset_in = draw(e, 4096);
	} else if (kind < 19) {
		e->out.ending = END_LEAVE;
		e->leave_in = draw(e, 65536);
	}
	e->pause_out = draw(e, 3) ? NEVER : draw(e, e->out.len);
	e->pause_in = draw(e, 4) ? NEVER : draw(e, 100000);
	e->cuts = e->wire && draw(e, 3) == 0;
	/* An origin sends first, or when it knows the client. */
	e->speaks = e->side == CLIENT || draw(e, 4) == 0;
	e->out.sum = header_sum(&e->out);
}

static struct end *
end_new(enum side side, int fd, uint64_t number)
{
	struct end *e = calloc(1, sizeof(*e));
	int small;

	if (e == NULL)
		abort();
	e->fd = fd;
	e->side = side;
	e->wire = wire_new(fd, side == ORIGIN, mix(opt.seed ^ mix(number * 2 + side)));
	end_plan(e, number);
	e->active = now_ms();
	/* Small receive buffers are slow: a window below a segment waits for timers. Use few. */
	small = 4096 + (int)draw(e, 16384);
	if (draw(e, 8) == 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	if (draw(e, 100) == 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	e->next = ends.next;
	e->prev = &ends;
	e->next->prev = e;
	ends.next = e;
	live[side]++;
	return e;
}

static void
end_free(struct end *e)
{
	struct end **p;

	for (int i = 0; e->paused && i < WHEEL; i++) {
		for (p = &wheel[i]; *p; p = &(*p)->wheel) {
			if (*p == e) {
				*p = e->wheel;
				break;
			}
		}
	}
	wire_free(e->wire);
	close(e->fd);
	e->prev->next = e->next;
	e->next->prev = e->prev;
	live[e->side]--;
	tally.done[e->side]++;
	free(e);
}

static void
end_reset(struct end *e)
{
	struct linger hard = { .l_onoff = 1 };

	setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	tally.resets_done[e->side]++;
	end_free(e);
}

static void
end_pause(struct end *e)
{
	uint64_t slot = ((uint64_t)wheel_at + 1 + draw(e, WHEEL - 2)) % WHEEL;

	e->paused = true;
	e->wheel = wheel[slot];
	wheel[slot] = e;
}

/* --- reading --------------------------------------------------------------------------- */
static bool
has_header(const struct end *e)
{
	return e->in_off >= sizeof(e->in);
}

/* The other side has reset: one of the ends must have planned it. True: e is freed. */
static bool
end_lost(struct end *e, const char *how)
{
	bool explained = has_header(e) && e->in.ending != END_CLEAN;

	if (errno == EBADMSG)
		wrong(e, "%s: %s", how, wire_why());
	else if (e->cuts && e->shut)
		tally.answered++;
	else if (explained)
		tally.explained[e->side]++;
	else if (!has_header(e))
		tally.early_resets[e->side]++;
	else
		wrong(e, "%s: %s, but nobody did that", how, strerror(errno));
	end_free(e);
	return true;
}

/* The header is complete: checks it. */
static bool
end_heard(struct end *e)
{
	if (e->in.magic != MAGIC || e->in.sum != header_sum(&e->in) ||
		(e->side == CLIENT && e->in.answer != 0 && e->in.answer != e->out.key)) {
		wrong(e, "this is no header of ours");
		return false;
	}
	if (!e->speaks) {
		e->speaks = true;
		e->out.answer = e->in.key;
		e->out.sum = header_sum(&e->out);
	}
	return true;
}

static bool
end_take(struct end *e, size_t n)
{
	size_t i, head = 0;

	if (e->in_off < sizeof(e->in)) {
		head = sizeof(e->in) - e->in_off < n ? sizeof(e->in) - e->in_off : n;
		memcpy((unsigned char *)&e->in + e->in_off, io, head);
		e->in_off += head;
		if (has_header(e) && !end_heard(e))
			return false;
	}
	n -= head;
	if (e->in_off + n > e->in.len && n > 0) {
		wrong(e, "%zu bytes, more than there are", n);
		return false;
	}
	stream_bytes(&e->in, e->in_off, expected, n);
	if (memcmp(io + head, expected, n) != 0) {
		for (i = 0; io[head + i] == expected[i]; i++)
			;
		wrong(e, "the byte at %llu is wrong", U(e->in_off + i));
		return false;
	}
	e->in_off += n;
	tally.bytes += n + head;
	return true;
}

/* The other direction ended cleanly. False: it should not have. */
static bool
end_eof(struct end *e)
{
	e->got_eof = true;
	if (has_header(e) && e->in_off == e->in.len) {
		tally.whole++;
		return true;
	}
	/* A peer that was reset before it could send anything need not be complete. */
	tally.clean_short++;
	if (!opt.lenient)
		wrong(e, "short, and yet it ends as if it were whole");
	return false;
}

static bool
end_read(struct end *e)
{
	size_t want = 1 + draw(e, CHUNK);
	ssize_t n;

	if (e->got_eof)
		return false;
	n = wire_recv(e->wire, e->fd, io, draw(e, 4) ? CHUNK : want);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	e->active = now_ms();
	if (n < 0)
		return end_lost(e, "recv");
	if (n == 0 ? !end_eof(e) : !end_take(e, (size_t)n)) {
		end_free(e);
		return true;
	}
	if (e->in_off >= e->reset_in) {
		end_reset(e);
		return true;
	}
	if (e->in_off >= e->pause_in) {
		e->pause_in = draw(e, 2) ? NEVER : e->in_off + draw(e, 200000);
		end_pause(e);
	}
	return false;
}

/* --- writing --------------------------------------------------------------------------- */
/* The end was reset; data before that, including the header, may still be readable. */
static bool
end_write_failed(struct end *e)
{
	ssize_t n;

	while (errno != EBADMSG && !has_header(e) &&
		(n = wire_recv(e->wire, e->fd, io, CHUNK)) > 0) {
		if (!end_take(e, (size_t)n))
			break;
	}
	return end_lost(e, "send");
}

/* All is sent, or so much that the rest is cut. True: e is freed. */
static bool
end_finish(struct end *e)
{
	bool cuts = e->out_off == e->reset_out;

	if (cuts && !e->cuts) {
		end_reset(e);
		return true;
	}
	if (!cuts && wire_end(e->wire) < 0)
		return errno == EAGAIN ? false : end_lost(e, "shutdown");
	if (cuts)
		tally.cuts_done[e->side]++;
	else
		e->cuts = false;
	if (cuts || !e->wire || draw(e, 2))
		shutdown(e->fd, SHUT_WR);
	e->shut = true;
	return false;
}

static bool
end_write(struct end *e)
{
	uint64_t stop = e->out.len < e->reset_out ? e->out.len : e->reset_out;
	size_t n;
	ssize_t sent;

	if (!e->speaks || e->shut)
		return false;
	n = (size_t)(stop - e->out_off < CHUNK ? stop - e->out_off : CHUNK);
	if (n > 1 && draw(e, 3) == 0)
		n = 1 + draw(e, n);
	if (wire_again(e->wire))
		n = wire_again(e->wire);
	stream_bytes(&e->out, e->out_off, io, n);
	sent = n ? wire_send(e->wire, e->fd, io, n) : 0;
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	e->active = now_ms();
	if (sent < 0)
		return end_write_failed(e);
	e->out_off += (uint64_t)sent;
	if (e->out_off == stop)
		return end_finish(e);
	if (e->out_off >= e->pause_out) {
		e->pause_out = NEVER;
		end_pause(e);
	}
	return false;
}

/* Sets the interest; ends e when everything was sent and received. */
static void
end_next(struct end *e)
{
	struct epoll_event ev = { .data.ptr = e };

	if (e->shut && (e->got_eof || e->in_off >= e->leave_in)) {
		tally.left += !e->got_eof;
		end_free(e);
		return;
	}
	if (!e->paused) {
		ev.events = e->got_eof ? 0 : EPOLLIN;
		if (e->connecting || wire_read_waits(e->wire) ||
			(e->speaks && !e->shut && !wire_write_waits(e->wire)))
			ev.events |= EPOLLOUT;
	}
	if (ev.events == 0)
		ev.events = EPOLLET; /* HUP and ERR cannot be masked; as edges they do not spin */
	if (ev.events != e->mask)
		epoll_ctl(opt.epfd, EPOLL_CTL_MOD, e->fd, &ev);
	e->mask = ev.events;
}

static void
end_event(struct end *e, uint32_t events)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (e->paused)
		return;
	if (e->connecting) {
		getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err) {
			wrong(e, "connect: %s", strerror(err));
			end_free(e);
			return;
		}
		e->connecting = false;
	}
	if ((events & ~(uint32_t)EPOLLOUT) || wire_read_waits(e->wire)) {
		do {
			if (end_read(e))
				return;
		} while (!e->paused && wire_has_more(e->wire));
	}
	if (!e->paused && (events & EPOLLOUT) && end_write(e))
		return;
	end_next(e);
}

/* --- the loop -------------------------------------------------------------------------- */
static void
end_watch(struct end *e)
{
	struct epoll_event ev = { .data.ptr = e, .events = EPOLLIN | EPOLLOUT };

	e->mask = ev.events;
	epoll_ctl(opt.epfd, EPOLL_CTL_ADD, e->fd, &ev);
}

static void
start_client(void)
{
	int fd = socket(opt.to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct end *e;

	if (fd < 0) {
		perror("socket");
		exit(2);
	}
	e = end_new(CLIENT, fd, tally.started++);
	e->connecting = true;
	if (connect(fd, (struct sockaddr *)&opt.to, opt.to_len) < 0 && errno != EINPROGRESS) {
		wrong(e, "connect: %s", strerror(errno));
		end_free(e);
		return;
	}
	end_watch(e);
}

static void
accept_all(void)
{
	int fd;

	while ((fd = accept4(opt.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		end_watch(end_new(ORIGIN, fd, tally.accepted++));
}

static void
turn_wheel(int64_t now)
{
	struct end *e, *next;

	while (wheel_at < now) {
		wheel_at++;
		e = wheel[wheel_at % WHEEL];
		wheel[wheel_at % WHEEL] = NULL;
		for (; e; e = next) {
			next = e->wheel;
			e->paused = false;
			e->active = now;
			if (wire_has_more(e->wire))
				end_event(e, EPOLLIN);
			else
				end_next(e);
		}
	}
}

static void
drop_stuck(int64_t now)
{
	struct end *e, *next;

	for (e = ends.next; e != &ends; e = next) {
		next = e->next;
		if (now - e->active > opt.timeout * 1000) {
			wrong(e, "nothing has moved for %d s%s", opt.timeout,
				e->connecting ? " (connecting)" : "");
			end_free(e);
		}
	}
}

static void
run(void)
{
	struct epoll_event evs[256], ev = { .events = EPOLLIN };
	int64_t scan = now_ms() + 1000, now;
	int n;

	opt.epfd = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(opt.epfd, EPOLL_CTL_ADD, opt.listen_fd, &ev);
	wheel_at = now_ms();
	while ((tally.done[CLIENT] < opt.connections || live[ORIGIN] > 0) &&
		tally.errors <= MAX_ERRORS) {
		while (tally.started < opt.connections && live[CLIENT] < (unsigned)opt.concurrency)
			start_client();
		n = epoll_wait(opt.epfd, evs, 256, 1);
		for (int i = 0; i < n; i++) {
			if (evs[i].data.ptr == NULL)
				accept_all();
			else
				end_event(evs[i].data.ptr, evs[i].events);
		}
		now = now_ms();
		turn_wheel(now);
		if (now >= scan) {
			drop_stuck(now);
			scan = now + 1000;
		}
	}
}

static int
set_up_clients(const char *versions)
{
	static const char *const names[] = { "1.2", "1.3", "both" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(versions, names[i]) == 0)
			return wire_set_up((enum wire_versions)i, NULL);
	return -1;
}

static int
parse_target(const char *arg)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&opt.to;
	struct sockaddr_in *in = (struct sockaddr_in *)&opt.to;
	const char *colon = strrchr(arg, ':');
	char host[64];

	if (arg[0] == '/' && strlen(arg) < sizeof(un->sun_path)) {
		un->sun_family = AF_UNIX;
		strcpy(un->sun_path, arg);
		opt.to_len = sizeof(*un);
		return 0;
	}
	if (colon == NULL || (size_t)(colon - arg) >= sizeof(host))
		return -1;
	memcpy(host, arg, (size_t)(colon - arg));
	host[colon - arg] = 0;
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)atoi(colon + 1));
	opt.to_len = sizeof(*in);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? 0 : -1;
}

static void
parse_args(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "listen", 1, NULL, 'l' },
		{ "connect", 1, NULL, 'c' },
		{ "bodies", 1, NULL, 'n' },
		{ "seed", 1, NULL, 's' },
		{ "concurrency", 1, NULL, 'j' },
		{ "max", 1, NULL, 'm' },
		{ "timeout", 1, NULL, 't' },
		{ "lenient", 0, NULL, 'L' },
		{ "tls-client", 1, NULL, 'C' },
		{ "tls-origin", 1, NULL, 'O' },
		{ NULL, 0, NULL, 0 },
	};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'l':
			opt.listen_fd = atoi(optarg);
			break;
		case 'c':
			bad |= parse_target(optarg) < 0;
			break;
		case 'n':
			opt.connections = (strtoull(optarg, NULL, 10) + 1) / 2;
			break;
		case 's':
			opt.seed = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			opt.concurrency = atoi(optarg);
			break;
		case 'm':
			opt.max = strtoull(optarg, NULL, 10);
			break;
		case 't':
			opt.timeout = atoi(optarg);
			break;
		case 'L':
			opt.lenient = true;
			break;
		case 'C':
			bad |= set_up_clients(optarg) < 0;
			break;
		case 'O':
			bad |= wire_set_up(WIRE_BOTH, optarg) < 0;
			break;
		default:
			bad = 1;
		}
	}
	if (bad || opt.listen_fd < 0 || opt.to_len == 0 || opt.max < 1) {
		fprintf(stderr, "usage: peers --listen FD --connect HOST:PORT|/PATH [options]\n");
		exit(2);
	}
}

/* A reset before the header cannot be attributed, but there cannot be more than were sent. */
static void
check_resets(void)
{
	for (int s = 0; s < 2; s++) {
		uint64_t sent = tally.resets_done[!s] + tally.cuts_done[!s] + tally.left;
		uint64_t seen = tally.early_resets[s] + tally.explained[s];

		if (seen > sent) {
			fprintf(stderr, "%s saw %llu resets, %llu were sent\n",
				s ? "origins" : "clients", U(seen), U(sent));
			tally.errors++;
		}
	}
}

static void
report(double seconds)
{
	const struct {
		const char *name;
		uint64_t n;
	} rows[] = {
		{ "seed", opt.seed },
		{ "connections", tally.done[CLIENT] },
		{ "accepted", tally.accepted },
		{ "whole", tally.whole },
		{ "bytes", tally.bytes },
		{ "client_resets", tally.resets_done[CLIENT] },
		{ "origin_resets", tally.resets_done[ORIGIN] },
		{ "left", tally.left },
		{ "client_cuts", tally.cuts_done[CLIENT] },
		{ "origin_cuts", tally.cuts_done[ORIGIN] },
		{ "answered_cuts", tally.answered },
		{ "handshakes", wire_tally.handshakes },
		{ "resumed", wire_tally.resumed },
		{ "tls12", wire_tally.tls12 },
		{ "key_updates", wire_tally.updates },
		{ "early_resets", tally.early_resets[0] + tally.early_resets[1] },
		{ "seen_resets", tally.explained[0] + tally.explained[1] },
		{ "clean_short", tally.clean_short },
		{ "errors", tally.errors },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%s\"%s\": %llu", i ? ", " : "{", rows[i].name, U(rows[i].n));
	printf(", \"seconds\": %.1f}\n", seconds);
}

int
main(int argc, char **argv)
{
	int64_t start = now_ms();

	signal(SIGPIPE, SIG_IGN);
	parse_args(argc, argv);
	if (fcntl(opt.listen_fd, F_SETFL, O_NONBLOCK) < 0) {
		perror("--listen");
		return 2;
	}
	run();
	check_resets();
	report((double)(now_ms() - start) / 1000);
	return tally.errors ? 1 : 0;
}
