/*
 * load: HTTP requests at a fixed rate, independent of the responses (an open loop).
 *
 *     load close|keepalive|halves|late RATE SECONDS ADDR:PORT
 *
 * A latency counts from the time when the request was due, not when it could be sent: a proxy that
 * stalls is charged for every request that was due meanwhile. "close" uses one connection per
 * request; "keepalive" uses an idle connection, or opens one while fewer than KEEP_MAX are open, or
 * delays the request; a connection that is closed while it is idle is no error. "halves" sends half
 * of each head 150 ms before the rest, "late" connects 150 ms before it sends. Prints one line:
 * due= done= errors= unfinished= p50= p99= p999= max=
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "addr.h"
#include "stats.h"

enum {
	POOL_MAX = 4096,         /* connections at one time */
	KEEP_MAX = 64,           /* of these in keepalive mode */
	ANSWER_MAX = 4096,
	EVENTS_MAX = 128,
	RATE_MAX = 200000,
	SECONDS_MAX = 60,
	DRAIN_MS = 60000,        /* time limit for the last responses, which hang */
	REST_NS = 150000000      /* between the parts of a request */
};

struct conn {
	struct conn *next;       /* in a list of struct load */
	uint64_t due;
	int fd;
	size_t got;
	char answer[ANSWER_MAX];
};

struct load {
	struct addr to;
	bool keep;
	size_t first;            /* bytes of a request that are sent when it is due */
	int ep;
	size_t open;
	struct conn *unused, *idle, *halves; /* halves: in order of time, with a rest to send */
	struct stats stats;
	unsigned long errors, done;
};

static const char request_close[] = "GET / HTTP/1.0\r\nHost: bench\r\n\r\n";
static const char request_keep[] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";

/* True if it was there. */
static bool
list_remove(struct conn **list, const struct conn *c)
{
	for (; *list; list = &(*list)->next) {
		if (*list == c) {
			*list = c->next;
			return true;
		}
	}
	return false;
}

static void
conn_end(struct load *l, struct conn *c, bool good)
{
	bool was_idle = list_remove(&l->idle, c);

	(void)list_remove(&l->halves, c);
	close(c->fd);
	if (!good && !was_idle)
		l->errors++;
	l->open--;
	c->next = l->unused;
	l->unused = c;
}

static bool
conn_send(struct load *l, struct conn *c)
{
	const char *text = l->keep ? request_keep : request_close;
	size_t len = strlen(text);
	struct conn **at;

	c->got = 0;
	if (l->first < len) {
		for (at = &l->halves; *at; at = &(*at)->next)
			;
		c->next = NULL;
		*at = c;
		len = l->first;
	}
	return !len || send(c->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* The rest of what is in halves since REST_NS. The time at which that of the next is due. */
static uint64_t
send_rests(struct load *l)
{
	const char *rest = request_close + l->first;
	ssize_t len = (ssize_t)strlen(rest);

	while (l->halves && l->halves->due + REST_NS <= now_ns()) {
		struct conn *c = l->halves;

		l->halves = c->next;
		if (send(c->fd, rest, (size_t)len, MSG_NOSIGNAL) != len)
			conn_end(l, c, false);
	}
	return l->halves ? l->halves->due + REST_NS : UINT64_MAX;
}

/* Takes a connection for a request that is due; NULL when all are busy. */
static struct conn *
conn_take(struct load *l)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	struct conn *c = l->idle;
	int one = 1;

	if (c) {
		l->idle = c->next;
		return c;
	}
	c = l->unused;
	if (!c || (l->keep && l->open >= KEEP_MAX))
		return NULL;
	l->unused = c->next;
	l->open++;
	c->got = 0;
	/* Blocking only while it connects: the proxy is on this machine. */
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ev.data.ptr = c;
	if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ||
	    connect(c->fd, &l->to.sa, l->to.len) < 0 ||
	    epoll_ctl(l->ep, EPOLL_CTL_ADD, c->fd, &ev) < 0) {
		conn_end(l, c, false);
		return NULL;
	}
	return c;
}

/* True if the response is a complete 200 with a Content-Length. */
static bool
answer_whole(struct conn *c)
{
	char *body, *length;

	c->answer[c->got] = '\0';
	body = strstr(c->answer, "\r\n\r\n");
	length = strcasestr(c->answer, "\r\nContent-Length:");
	if (!body || !length || length > body || strncmp(c->answer + 8, " 200", 4) != 0)
		return false;
	return c->answer + c->got >= body + 4 + strtoul(length + 17, NULL, 10);
}

/* Its next request would be lost. */
static bool
answer_closes(const struct conn *c)
{
	char *body = strstr(c->answer, "\r\n\r\n");
	char *close = strcasestr(c->answer, "\r\nConnection: close");

	return close && close < body;
}

static void
conn_read(struct load *l, struct conn *c)
{
	ssize_t n;

	while ((n = recv(c->fd, c->answer + c->got, ANSWER_MAX - 1 - c->got, MSG_DONTWAIT)) > 0) {
		c->got += (size_t)n;
		if (l->keep && answer_whole(c)) {
			stats_add(&l->stats, now_ns() - c->due);
			l->done++;
			if (answer_closes(c)) {
				conn_end(l, c, true);
				return;
			}
			c->got = 0;
			c->next = l->idle;
			l->idle = c;
			return;
		}
	}
	if (n < 0 && errno == EAGAIN)
		return;
	if (n == 0 && !l->keep && answer_whole(c)) {
		stats_add(&l->stats, now_ns() - c->due);
		l->done++;
		conn_end(l, c, true);
		return;
	}
	conn_end(l, c, false);
}

static void
wait_until(struct load *l, uint64_t when)
{
	struct epoll_event ev[EVENTS_MAX];
	uint64_t rest = send_rests(l), end = rest < when ? rest : when, now = now_ns();
	uint64_t left = end > now ? end - now : 0;
	struct timespec ts = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
	int i, n = epoll_pwait2(l->ep, ev, EVENTS_MAX, &ts, NULL);

	for (i = 0; i < n; i++)
		conn_read(l, ev[i].data.ptr);
}

static void
run(struct load *l, unsigned long rate, unsigned long seconds)
{
	unsigned long i, total = rate * seconds;
	uint64_t start = now_ns(), gap = 1000000000u / rate, end;

	for (i = 0; i < total;) {
		uint64_t due = start + i * gap;
		struct conn *c;

		if (due > now_ns()) {
			wait_until(l, due);
			continue;
		}
		c = conn_take(l);
		if (!c && l->errors > total / 10)
			break;
		if (!c) {
			wait_until(l, now_ns() + 100000);
			continue;
		}
		i++;
		c->due = due;
		if (!conn_send(l, c))
			conn_end(l, c, false);
		wait_until(l, 0);
	}
	for (end = now_ns() + DRAIN_MS * 1000000ull; l->done + l->errors < i && now_ns() < end;)
		wait_until(l, now_ns() + 10000000);
	printf("due=%lu done=%lu errors=%lu unfinished=%lu", i, l->done, l->errors,
	       i > l->done + l->errors ? i - l->done - l->errors : 0);
	stats_print(&l->stats);
}

int
main(int argc, char **argv)
{
	static struct load l;
	unsigned long rate, seconds;
	int i;

	if (argc != 5 || !addr_parse(&l.to, argv[4]))
		goto usage;
	l.keep = strcmp(argv[1], "keepalive") == 0;
	l.first = strcmp(argv[1], "halves") == 0 ? strlen(request_close) / 2
		: strcmp(argv[1], "late") == 0   ? 0
						 : SIZE_MAX;
	rate = strtoul(argv[2], NULL, 10);
	seconds = strtoul(argv[3], NULL, 10);
	if ((!l.keep && l.first == SIZE_MAX && strcmp(argv[1], "close") != 0) || !rate ||
		rate > RATE_MAX || !seconds || seconds > SECONDS_MAX)
		goto usage;
	alarm(3 * SECONDS_MAX);
	prctl(PR_SET_TIMERSLACK, 1UL);
	l.ep = epoll_create1(EPOLL_CLOEXEC);
	l.stats.ns = calloc(STATS_MAX, sizeof(*l.stats.ns));
	for (i = 0; i < POOL_MAX; i++) {
		struct conn *c = calloc(1, sizeof(*c));

		if (!c)
			return 1;
		c->next = l.unused;
		l.unused = c;
	}
	if (l.ep < 0 || !l.stats.ns)
		return 1;
	run(&l, rate, seconds);
	return 0;
usage:
	fprintf(stderr, "usage: load close|keepalive|halves|late RATE SECONDS ADDR:PORT\n");
	return 2;
}
