/*
 * How much the kernel may hold for a socket (configuration manual, tune.rcvbuf.*, tune.sndbuf.*).
 * A size that is given is fixed: it turns the kernel's own tuning off.
 */
#ifndef TACIT_NET_SOCKBUF_H
#define TACIT_NET_SOCKBUF_H

#include "base/compiler.h"
#include "base/sys.h"

/* The kernel doubles what it is given. */
#define SOCKBUF_MAX (1 << 30)

/* Bytes; 0 leaves each to the kernel. */
struct sockbuf {
	int rcv;
	int snd;
	int notsent; /* TCP_NOTSENT_LOWAT: so much may wait to be sent before the socket is full */
};

/*
 * Before listen(), whose connections inherit it, or before connect(), which announces the window.
 * Of a unix socket only the send buffer counts, and nothing is inherited. 0, or -errno and *what
 * names the option.
 */
int sockbuf_set(struct sys *sys, int fd, int family, const struct sockbuf *b, const char **what)
	must_check;
/* What the kernel makes of it (its limits are silent): sizes as they were asked for, or lower. 0,
 * or -errno. */
int sockbuf_probe(struct sys *sys, const struct sockbuf *b, struct sockbuf *got) must_check;

#endif
