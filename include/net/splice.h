/*
 * Bytes from a socket into a pipe and out of it again, without a copy. One system call each. What
 * splice() says is taken for no more than it is: a short count is not a drained source, and zero is
 * not an end. TCP only.
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
	SPLICE_ASK,    /* only conn_recv() can tell: the end, urgent data, an error */
	SPLICE_CANNOT, /* the kernel will not do this here: copy */
	SPLICE_ERR     /* the connection failed, c->err says how */
};

/* Can both ends be spliced? */
int splice_can(const struct conn *a, const struct conn *b);
/*
 * Moves up to len bytes into an empty pipe (asserted): SPLICE_OK with *got > 0, counted in
 * p->bytes. SPLICE_AGAIN: the source has nothing, and the loop has been told. Since the pipe was
 * empty that is what EAGAIN means; with a poller that does not tell of urgent data it is
 * SPLICE_ASK.
 */
enum splice_result splice_in(struct conn *c, struct pipe *p, size_t len, size_t *got) must_check;
/*
 * Moves what the pipe holds (something: asserted) out of it: SPLICE_OK with *put > 0, SPLICE_AGAIN,
 * SPLICE_CANNOT, SPLICE_ERR. more: a FIN follows at once.
 */
enum splice_result splice_out(struct conn *c, struct pipe *p, int more, size_t *put) must_check;

#endif
