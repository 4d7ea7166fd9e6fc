/*
 * idle: many connections, of which one at a time is active.
 *
 *     idle CONNECTIONS ADDR:PORT
 *
 * Opens the connections, sends one message on each and waits for its echo (so that the proxy has
 * connected to the server), prints "ready N", then obeys its standard input until that ends:
 *
 *     run MILLISECONDS GAP_US     one message per gap on a random connection, which must be echoed;
 *                                prints sent= lost= p50= p99= p999= max=
 *
 * A proxy that is slower than the gap gets fewer messages: a run takes at most half as long again,
 * and ends at the third lost message.
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
	LIFE_SECONDS = 1200,
	CONNECTIONS_MAX = 19900,
	RUN_MAX_MS = 60000,
	ANSWER_MS = 2000,
	LOST_MAX = 3,
	AT_ONCE = 64
};

struct idle {
	struct addr to;
	int *fds, count;
	uint64_t random;
	struct stats stats;
};

/* xorshift: the same connections in the same order in every run. */
static uint64_t
next_random(struct idle *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return d->random;
}

static bool
say(int fd)
{
	return send(fd, "m", 1, MSG_NOSIGNAL) == 1;
}

static bool
heard(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&p, 1, ANSWER_MS) == 1 && recv(fd, &c, 1, MSG_DONTWAIT) == 1;
}

static bool
open_one(struct idle *d, int i)
{
	int one = 1;

	d->fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (d->fds[i] < 0 || connect(d->fds[i], &d->to.sa, d->to.len) < 0) {
		perror("idle: connect");
		return false;
	}
	setsockopt(d->fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return say(d->fds[i]);
}

static bool
open_all(struct idle *d)
{
	int i, done = 0;

	for (i = 0; i < d->count; i++) {
		if (!open_one(d, i))
			return false;
		for (; done <= i && (i - done >= AT_ONCE || i == d->count - 1); done++) {
			if (!heard(d->fds[done])) {
				fprintf(stderr, "idle: no echo on connection %d\n", done);
				return false;
			}
		}
	}
	return true;
}

static void
sleep_until(uint64_t when)
{
	struct timespec ts = { (time_t)(when / 1000000000u), (long)(when % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void
run(struct idle *d, unsigned ms, unsigned gap_us)
{
	uint64_t start = now_ns(), gap = gap_us * 1000ull, total = ms * 1000ull / gap_us, i;
	unsigned long lost = 0;
	int fd;

	for (i = 0; i < total && lost < LOST_MAX; i++) {
		uint64_t due = start + i * gap;

		if (now_ns() > start + total * gap + total * gap / 2)
			break;
		sleep_until(due);
		fd = d->fds[next_random(d) % (uint64_t)d->count];
		if (say(fd) && heard(fd))
			stats_add(&d->stats, now_ns() - due);
		else
			lost++;
	}
	printf("sent=%llu lost=%lu", (unsigned long long)i, lost);
	stats_print(&d->stats);
}

int
main(int argc, char **argv)
{
	static struct idle d = { .random = 88172645463325252u };
	char line[64];
	unsigned ms, gap;

	if (argc != 3 || (d.count = atoi(argv[1])) < 1 || d.count > CONNECTIONS_MAX ||
	    !addr_parse(&d.to, argv[2])) {
		fprintf(stderr, "usage: idle CONNECTIONS ADDR:PORT\n");
		return 2;
	}
	alarm(LIFE_SECONDS);
	prctl(PR_SET_TIMERSLACK, 1UL);
	d.fds = calloc((size_t)d.count, sizeof(*d.fds));
	d.stats.ns = calloc(STATS_MAX, sizeof(*d.stats.ns));
	if (!d.fds || !d.stats.ns || !open_all(&d))
		return 1;
	printf("ready %d\n", d.count);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "run %u %u", &ms, &gap) != 2 || !gap || ms > RUN_MAX_MS)
			return 2;
		run(&d, ms, gap);
	}
	return 0;
}
