/* The way an end of a test speaks over a socket of the fake kernel: records of a scripted transport
 * (fake/xprt.h), TLS (sim/tls_wire.h), or plain bytes, which is NULL here. */
#ifndef TACIT_FAKE_WIRE_H
#define TACIT_FAKE_WIRE_H

#include "fake/kernel.h"

struct wire;

struct wire_ops {
	/* Like fake_peer_send(): the number of bytes taken, which may still be in transit, or
	 * -EAGAIN or an error. */
	long (*send)(struct wire *w, struct fake_sock *s, const void *buf, size_t len);
	/* Like fake_peer_recv(). 0: after the closing message; a FIN without it is -EPROTO. */
	long (*recv)(struct wire *w, struct fake_sock *s, void *buf, size_t len);
	/* Sends pending records: 1 when none are left. */
	int (*flush)(struct wire *w, struct fake_sock *s);
	/* Sends the closing message: 1 when it was sent, or the peer has gone. */
	int (*end)(struct wire *w, struct fake_sock *s);
	void (*free)(struct wire *w);
};

struct wire {
	const struct wire_ops *ops;
};

static inline long
wire_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	return w ? w->ops->send(w, s, buf, len) : fake_peer_send(s, buf, len);
}

static inline long
wire_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	return w ? w->ops->recv(w, s, buf, len) : fake_peer_recv(s, buf, len);
}

static inline int
wire_flush(struct wire *w, struct fake_sock *s)
{
	return w ? w->ops->flush(w, s) : 1;
}

static inline int
wire_end(struct wire *w, struct fake_sock *s)
{
	return w ? w->ops->end(w, s) : 1;
}

static inline void
wire_free(struct wire *w)
{
	if (w)
		w->ops->free(w);
}

#endif
