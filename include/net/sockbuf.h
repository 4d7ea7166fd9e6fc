/*
 * Kernel buffer sizes of sockets (configuration manual, tune.rcvbuf.*, tune.sndbuf.*). A configured
 * size is fixed: it disables the kernel's automatic tuning.
 */
#ifndef TACIT_NET_SOCKBUF_H
#define TACIT_NET_SOCKBUF_H

#include "base/compiler.h"
#include "base/sys.h"

/* The kernel doubles the given value. */
#define SOCKBUF_MAX (1 << 30)

/* Bytes; 0: the kernel's default. */
struct sockbuf {
	int rcv;
	int snd;
	int notsent; /* TCP_NOTSENT_LOWAT: unsent bytes at which the socket is not writable */
};

/* True if a size was configured. */
static inline int
sockbuf_is_set(const struct sockbuf *b)
{
	return b->rcv || b->snd || b->notsent;
}

/*
 * Called before listen(), whose connections inherit the sizes, or before connect(), which announces
 * the window. On unix sockets only the send buffer applies, and nothing is inherited. 0, or -errno
 * and *what names the option.
 */
int sockbuf_set(struct sys *sys, int fd, int family, const struct sockbuf *b, const char **what)
	must_check;
/* The effective sizes: as requested, or lower because of the kernel's limits. 0, or -errno. */
int sockbuf_probe(struct sys *sys, const struct sockbuf *b, struct sockbuf *got) must_check;

#endif
