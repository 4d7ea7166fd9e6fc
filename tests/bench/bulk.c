/*
 * bulk: both ends of long transfers through a proxy.
 *
 *     bulk source ADDR:PORT                  an origin: sends the requested bytes and closes
 *     bulk sink STREAMS BYTES ADDR:PORT      requests BYTES on each of STREAMS connections at once
 *
 * A sink sends the number as one decimal line and discards the response (MSG_TRUNC: no copy), so
 * that the ends cost little. It prints one line: streams= bytes= errors= ms=. With BYTES 0 the
 * transfers continue until SIGTERM, as a background load.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "addr.h"
#include "stats.h"

enum {
	LIFE_SECONDS = 1200,
	EVENTS_MAX = 128,
	BACKLOG = 1024,
	STREAMS_MAX = 1024,
	LINE_MAX_BYTES = 32,
	CHUNK = 1 << 16,  /* one send: short, so that other processes run in between */
	TAKE = 1 << 18,   /* one receive */
	QUIET_MS = 10000, /* a pause of this length is an error */
};

struct stream {
	int fd;
	size_t n;           /* length of the line */
	char line[LINE_MAX_BYTES];
	uint64_t left;      /* bytes to send or to receive */
	bool asked;
};

static volatile sig_atomic_t stop;
static char pattern[CHUNK];
static char nothing[TAKE]; /* never read or written */
static struct epoll_event ev[EVENTS_MAX];

static struct stream *
stream_new(int ep, int fd, uint32_t events)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct epoll_event e = { .events = events, .data.ptr = s };

	if (!s || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0) {
		free(s);
		close(fd);
		return NULL;
	}
	s->fd = fd;
	return s;
}

static void
stream_free(struct stream *s)
{
	close(s->fd);
	free(s);
}

/* --- source --- */

/* 1: continues, 0: has ended. */
static int
read_line(int ep, struct stream *s)
{
	struct epoll_event e = { .events = EPOLLOUT, .data.ptr = s };
	ssize_t r = recv(s->fd, s->line + s->n, sizeof(s->line) - 1 - s->n, 0);

	if (r < 0 && errno == EAGAIN)
		return 1;
	if (r <= 0)
		return 0;
	s->n += (size_t)r;
	if (!memchr(s->line, '\n', s->n))
		return s->n < sizeof(s->line) - 1;
	s->left = strtoull(s->line, NULL, 10);
	if (!s->left)
		s->left = UINT64_MAX;
	s->asked = true;
	return epoll_ctl(ep, EPOLL_CTL_MOD, s->fd, &e) == 0;
}

static int
send_some(struct stream *s)
{
	for (int i = 0; i < 16 && s->left; i++) {
		size_t n = s->left < CHUNK ? (size_t)s->left : CHUNK;
		ssize_t r = send(s->fd, pattern, n, MSG_NOSIGNAL);

		if (r < 0)
			return errno == EAGAIN;
		s->left -= (uint64_t)r;
	}
	return s->left > 0;
}

static int
source(const struct addr *at)
{
	int one = 1, ep = epoll_create1(EPOLL_CLOEXEC);
	int l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL };

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (char)(i * 7 + i / 251);
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(l, &at->sa, at->len) < 0 || listen(l, BACKLOG) < 0 ||
		epoll_ctl(ep, EPOLL_CTL_ADD, l, &e) < 0) {
		perror("bulk source");
		return 1;
	}
	for (;;) {
		int n = epoll_wait(ep, ev, EVENTS_MAX, -1);

		for (int i = 0; i < n; i++) {
			struct stream *s = ev[i].data.ptr;
			int fd;

			if (!s) {
				fd = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
				if (fd >= 0)
					(void)stream_new(ep, fd, EPOLLIN);
			} else if (!(s->asked ? send_some(s) : read_line(ep, s))) {
				stream_free(s);
			}
		}
	}
}

/* --- sink --- */

static void
on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static struct stream *
ask(int ep, const struct addr *to, uint64_t bytes)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stream *s;
	char line[LINE_MAX_BYTES];
	int n = snprintf(line, sizeof(line), "%" PRIu64 "\n", bytes);

	if (fd < 0 || connect(fd, &to->sa, to->len) < 0 ||
		send(fd, line, (size_t)n, MSG_NOSIGNAL) != n) {
		perror("bulk sink");
		exit(1);
	}
	s = stream_new(ep, fd, EPOLLIN);
	if (s)
		s->left = bytes;
	return s;
}

/* 1: continues, 0: has ended; errors are counted. */
static int
discard(struct stream *s, uint64_t *bytes, unsigned long *errors, bool endless)
{
	ssize_t r = recv(s->fd, nothing, sizeof(nothing), MSG_TRUNC | MSG_DONTWAIT);

	if (r < 0 && errno == EAGAIN)
		return 1;
	if (r <= 0) {
		*errors += r < 0 || endless || s->left != 0;
		return 0;
	}
	*bytes += (uint64_t)r;
	if (endless)
		return 1;
	if ((uint64_t)r > s->left) {
		++*errors;
		return 0;
	}
	s->left -= (uint64_t)r;
	return 1;
}

static int
sink(unsigned long streams, uint64_t size, const struct addr *to)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	unsigned long live = 0, errors = 0;
	uint64_t bytes = 0, start = now_ns();

	for (unsigned long i = 0; i < streams; i++)
		live += ask(ep, to, size) != NULL;
	errors = streams - live;
	signal(SIGTERM, on_term);
	while (live && !stop) {
		int n = epoll_wait(ep, ev, EVENTS_MAX, QUIET_MS);

		if (n == 0) {
			errors += live;
			break;
		}
		for (int i = 0; i < n; i++) {
			struct stream *s = ev[i].data.ptr;

			if (discard(s, &bytes, &errors, size == 0))
				continue;
			stream_free(s);
			live--;
		}
	}
	printf("streams=%lu bytes=%" PRIu64 " errors=%lu ms=%" PRIu64 "\n", streams, bytes, errors,
		(now_ns() - start) / 1000000);
	return errors != 0;
}

int
main(int argc, char **argv)
{
	struct addr a;
	unsigned long streams;

	signal(SIGPIPE, SIG_IGN);
	alarm(LIFE_SECONDS);
	if (argc == 3 && strcmp(argv[1], "source") == 0 && addr_parse(&a, argv[2]))
		return source(&a);
	if (argc == 5 && strcmp(argv[1], "sink") == 0 && addr_parse(&a, argv[4])) {
		streams = strtoul(argv[2], NULL, 10);
		if (streams > 0 && streams <= STREAMS_MAX)
			return sink(streams, strtoull(argv[3], NULL, 10), &a);
	}
	fprintf(stderr, "usage: bulk source ADDR:PORT | bulk sink STREAMS BYTES ADDR:PORT\n");
	return 2;
}
