/*
 * Moves bytes from a socket into a pipe and out of it, without a copy, one system call each. A
 * short count of splice() does not mean that the source is drained, and zero does not mean EOF. TCP
 * only.
 */
#ifndef TACIT_NET_SPLICE_H
#define TACIT_NET_SPLICE_H

#include <stddef.h>

#include "base/compiler.h"
#include "net/conn.h"
#include "net/pipe.h"

enum splice_result {
	SPLICE_OK,
	SPLICE_AGAIN,
	SPLICE_ASK,    /* only conn_recv() can see whether it is EOF, urgent data or an error */
	SPLICE_CANNOT, /* the kernel does not support it here: copy */
	SPLICE_ERR     /* the connection failed; see c->err */
};

/* True if both ends can be spliced. */
int splice_can(const struct conn *a, const struct conn *b);
/*
 * Moves up to len bytes into an empty pipe (asserted): SPLICE_OK with *got > 0, counted in
 * p->bytes. SPLICE_AGAIN: the source has no data, and the loop was notified. Since the pipe was
 * empty, EAGAIN can only mean that; with a poller that does not report urgent data the result is
 * SPLICE_ASK.
 */
enum splice_result splice_in(struct conn *c, struct pipe *p, size_t len, size_t *got) must_check;
/*
 * Moves the contents of the pipe (not empty: asserted) to the sink: SPLICE_OK with *put > 0,
 * SPLICE_AGAIN, SPLICE_CANNOT, SPLICE_ERR. more: a FIN follows at once.
 */
enum splice_result splice_out(struct conn *c, struct pipe *p, int more, size_t *put) must_check;

#endif
