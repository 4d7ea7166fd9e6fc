/*
 * slow: clients that send the head of a request very slowly.
 *
 *     slow CONNECTIONS PERIOD_MS ADDR:PORT
 *
 * Opens the connections, each with the first part of a head: between one byte and START_MAX bytes,
 * so that further bytes belong to every part of a head; then some of them send one, two or three
 * bytes more, so that a proxy that need not read each byte does not read all connections in step.
 * Prints "ready N". Then each connection sends its next byte once per period, the connections one
 * after the other at regular intervals; no head ever ends. A line on its standard input is answered
 * with the figures since the line before:
 *
 *     bytes= ms= gone= p50= p99= p999= max=
 *
 * gone: connections that the proxy has answered or closed. The times, in microseconds, are the
 * delays of its own bytes: it runs when the scheduler permits, and catches up. It exits at the end
 * of its input, when a head has reached HEAD_MAX bytes, or after LIFE_SECONDS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "addr.h"
#include "stats.h"

enum {
	LIFE_SECONDS = 300,
	CONNECTIONS_MAX = 19900,
	PERIOD_MAX_MS = 600000,
	START_MAX = 512,
	HEAD_MAX = 4096,
	STIR = 4,
	STIR_MS = 100
};

static const char start_line[] =
	"GET /slow/page?of=a&long=query HTTP/1.1\r\n"
	"Host: bench\r\n"
	"Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n";
static const char field[] =
	"X-Slow-Sender: one byte after the other, and never the last of them\r\n";

struct slow {
	struct addr to;
	char head[HEAD_MAX];
	int *fds, count;
	uint64_t start, gap;     /* nanoseconds */
	uint64_t turn;           /* bytes that were due so far: each connection in turn */
	uint64_t bytes, told;    /* bytes sent since the last answer, and its time */
	struct stats late;
};

static void
make_head(struct slow *d)
{
	size_t at = sizeof(start_line) - 1;

	memcpy(d->head, start_line, at);
	for (; at < HEAD_MAX; at++)
		d->head[at] = field[(at - sizeof(start_line) + 1) % (sizeof(field) - 1)];
}

/* The initial length of a connection's head. */
static size_t
first_part(int i)
{
	return (size_t)i % START_MAX + 1;
}

static bool
open_all(struct slow *d)
{
	/* All are reset. After FINs the kernel would free them all at once a minute later, during
	 * another measurement. */
	const struct linger reset = { .l_onoff = 1 };
	int i, one = 1;

	for (i = 0; i < d->count; i++) {
		int fd = d->fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, &d->to.sa, d->to.len) < 0 ||
		    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
		    send(fd, d->head, first_part(i), MSG_NOSIGNAL) < 0) {
			fprintf(stderr, "slow: connection %d: %s\n", i, strerror(errno));
			return false;
		}
	}
	return true;
}

/* The bytes that put the connections out of step, sent one by one. */
static bool
stir(struct slow *d)
{
	for (int n = 0; n < STIR - 1; n++) {
		(void)poll(NULL, 0, STIR_MS);
		for (int i = 0; i < d->count; i++)
			if (n < i % STIR &&
			    send(d->fds[i], d->head + first_part(i) + n, 1, MSG_NOSIGNAL) < 0) {
				fprintf(stderr, "slow: connection %d: %s\n", i, strerror(errno));
				return false;
			}
	}
	return true;
}

/* Sends the byte that is due. False when none is left to send. */
static bool
send_next(struct slow *d, uint64_t due)
{
	int i = (int)(d->turn % (uint64_t)d->count);
	size_t at = first_part(i) + (size_t)(i % STIR) + d->turn / (uint64_t)d->count;

	if (at >= HEAD_MAX)
		return false;
	d->turn++;
	if (send(d->fds[i], d->head + at, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
		d->bytes++;
	stats_add(&d->late, now_ns() - due);
	return true;
}

/* A connection is open as long as there is nothing to read, not even an end. */
static int
count_gone(const struct slow *d)
{
	int i, gone = 0;
	char c;

	for (i = 0; i < d->count; i++)
		gone += recv(d->fds[i], &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
	return gone;
}

/* Prints the figures. False at the end of its input. */
static bool
tell(struct slow *d)
{
	uint64_t now = now_ns(), ms = (now - d->told) / 1000000u;
	char line[16];

	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return false;
	printf("bytes=%llu ms=%llu gone=%d", (unsigned long long)d->bytes, (unsigned long long)ms,
	       count_gone(d));
	stats_print(&d->late);
	d->bytes = 0;
	d->told = now;
	return true;
}

static void
run(struct slow *d)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	d->start = d->told = now_ns();
	for (;;) {
		uint64_t due = d->start + d->turn * d->gap, now = now_ns();
		uint64_t left = due > now ? due - now : 0;
		struct timespec ts = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };

		if (ppoll(&input, 1, &ts, NULL) > 0) {
			if (!tell(d))
				return;
		} else if (now_ns() >= due && !send_next(d, due)) {
			return;
		}
	}
}

int
main(int argc, char **argv)
{
	static struct slow d;
	unsigned long period;

	if (argc != 4 || (d.count = atoi(argv[1])) < 1 || d.count > CONNECTIONS_MAX ||
	    !(period = strtoul(argv[2], NULL, 10)) || period > PERIOD_MAX_MS ||
	    !addr_parse(&d.to, argv[3])) {
		fprintf(stderr, "usage: slow CONNECTIONS PERIOD_MS ADDR:PORT\n");
		return 2;
	}
	alarm(LIFE_SECONDS);
	prctl(PR_SET_TIMERSLACK, 1UL);
	make_head(&d);
	d.gap = period * 1000000u / (uint64_t)d.count;
	d.fds = calloc((size_t)d.count, sizeof(*d.fds));
	d.late.ns = calloc(STATS_MAX, sizeof(*d.late.ns));
	if (!d.fds || !d.late.ns || !open_all(&d) || !stir(&d))
		return 1;
	printf("ready %d\n", d.count);
	fflush(stdout);
	run(&d);
	return 0;
}
