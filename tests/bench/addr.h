/*
 * An IPv4 address and port from "127.0.0.1:80", for the programs of the benchmark.
 */
#ifndef BENCH_ADDR_H
#define BENCH_ADDR_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
	};
	socklen_t len;
};

static inline bool
addr_parse(struct addr *a, const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN], *end;
	long port;

	memset(a, 0, sizeof(*a));
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	port = strtol(colon + 1, &end, 10);
	if (!colon[1] || *end || port < 0 || port > 65535)
		return false;
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons((uint16_t)port);
	a->len = sizeof(a->in);
	return inet_pton(AF_INET, host, &a->in.sin_addr) == 1;
}

#endif
