/*
 * flood: keeps a slow link busy, so that other packets on it have to wait.
 *
 *     flood FROM-ADDR:PORT TO-ADDR:PORT
 *
 * An unused token bucket fills up, and the next connection crosses the link as if it were not slow.
 * The smallest datagrams through the smallest send buffer keep a few of them in its queue, and no
 * more. The datagrams are not read. It exits after LIFE_SECONDS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "addr.h"

enum { LIFE_SECONDS = 600 };

int
main(int argc, char **argv)
{
	struct addr from, to;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), least = 1;

	if (argc != 3 || !addr_parse(&from, argv[1]) || !addr_parse(&to, argv[2])) {
		fprintf(stderr, "usage: flood FROM-ADDR:PORT TO-ADDR:PORT\n");
		return 2;
	}
	alarm(LIFE_SECONDS);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	if (bind(fd, &from.sa, from.len) < 0 || connect(fd, &to.sa, to.len) < 0) {
		perror("flood");
		return 1;
	}
	for (;;) {
		/* Refused until the other end has started. */
		if (send(fd, "", 1, 0) < 0 && usleep(10000) < 0 && errno != EINTR)
			return 1;
	}
}
