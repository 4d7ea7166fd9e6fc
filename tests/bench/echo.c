/*
 * echo: an origin that sends back what it receives, for the measurements of idle connections.
 *
 *     echo ADDR:PORT
 *     echo hold ADDR:PORT
 *
 * With "hold" it sends and reads nothing: clients only need a connection. It only waits for their
 * ends, so their data does not wake it.
 *
 * It exits after LIFE_SECONDS. A response that does not fit into the socket's buffer ends the
 * connection: the messages are a few bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "addr.h"

enum { LIFE_SECONDS = 1200, EVENTS_MAX = 256, MESSAGE_MAX = 4096, BACKLOG = 4096 };

/* events: what is registered for its connections. */
static void
greet(int ep, int listener, uint32_t events)
{
	int one = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) < 0)
		close(fd);
}

static void
answer(int fd)
{
	char text[MESSAGE_MAX];
	ssize_t n = recv(fd, text, sizeof(text), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		close(fd);
}

int
main(int argc, char **argv)
{
	struct epoll_event ev[EVENTS_MAX];
	struct addr at;
	int one = 1, listener, ep, i, n;
	bool hold = argc == 3 && !strcmp(argv[1], "hold");

	if (argc != 2 + hold || !addr_parse(&at, argv[1 + hold])) {
		fprintf(stderr, "usage: echo [hold] ADDR:PORT\n");
		return 2;
	}
	alarm(LIFE_SECONDS);
	ep = epoll_create1(EPOLL_CLOEXEC);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, &at.sa, at.len) < 0 || listen(listener, BACKLOG) < 0) {
		perror("echo");
		return 1;
	}
	ev[0] = (struct epoll_event){ .events = EPOLLIN, .data.fd = listener };
	if (epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev[0]) < 0)
		return 1;
	for (;;) {
		n = epoll_wait(ep, ev, EVENTS_MAX, -1);
		for (i = 0; i < n; i++) {
			if (ev[i].data.fd == listener)
				greet(ep, listener, hold ? EPOLLRDHUP : EPOLLIN);
			else if (hold)
				close(ev[i].data.fd);
			else
				answer(ev[i].data.fd);
		}
	}
}
