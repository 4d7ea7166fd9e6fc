/* Output of the admin socket and of the master's. On the thread that owns the connection. */
#include "app/process/cli_send.h"

enum io_result
cli_send(struct conn *c, struct sbuf *out, size_t *sent)
{
	size_t put;

	while (*sent < out->len) {
		if (!loop_is_ready(c->loop, c->fd, DIR_W))
			return IO_AGAIN;
		switch (conn_send(c, out->p + *sent, out->len - *sent, 0, &put)) {
		case IO_OK:
			*sent += put;
			break;
		case IO_AGAIN:
			return IO_AGAIN;
		case IO_EOF:
		case IO_ERR:
		default:
			return IO_ERR;
		}
	}
	sbuf_reset(out);
	*sent = 0;
	return IO_OK;
}
