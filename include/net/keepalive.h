/*
 * TCP's keep-alive of a socket (configuration manual, option tcpka, clitcpka-*, srvtcpka-*;
 * tcp(7)). Connections inherit it from the socket that listens.
 */
#ifndef TACIT_NET_KEEPALIVE_H
#define TACIT_NET_KEEPALIVE_H

#include "base/compiler.h"
#include "base/sys.h"

/* The kernel's limits of struct keepalive. */
#define KEEPALIVE_COUNT_MAX 127
#define KEEPALIVE_SECONDS_MAX 32767

/* 0: the system's value, net.ipv4.tcp_keepalive_*. */
struct keepalive {
	int count;    /* probes without an answer that end the connection */
	int idle;     /* seconds without data before the first probe */
	int interval; /* seconds between probes */
};

/* Enables it, for any worker. 0, or -errno. */
int keepalive_set(struct sys *sys, int fd, const struct keepalive *k) must_check;
/* Gives the socket the system's value where *k has none: a previous configuration may have set
 * others. 0, or -errno. */
int keepalive_reset(struct sys *sys, int fd, const struct keepalive *k) must_check;

#endif
