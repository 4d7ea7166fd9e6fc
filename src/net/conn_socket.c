/* Facts and options of the socket below a connection, on the connection's worker. */
#include "net/conn_socket.h"

#include <errno.h>
#include <string.h>

#include "net/conn_stream.h"

const struct conn *
conn_socket(const struct conn *c)
{
	if (c->fd < 0 && c->xprt)
		c = conn_stream_of(c)->below;
	return c && c->fd >= 0 ? c : NULL;
}

int
conn_local_addr(const struct conn *c, struct addr *out)
{
	const struct conn *k = conn_socket(c);

	return k ? addr_of_socket(loop_sys(k->loop), k->fd, out) : -ENOTCONN;
}

int
conn_peer_addr(const struct conn *c, struct addr *out)
{
	const struct conn *k = conn_socket(c);

	return k ? addr_of_peer(loop_sys(k->loop), k->fd, out) : -ENOTCONN;
}

int
conn_addr_before_nat(const struct conn *c, int family, struct addr *out)
{
	const struct conn *k = conn_socket(c);

	return k ? addr_before_nat(loop_sys(k->loop), k->fd, family, out) : -ENOTCONN;
}

int
conn_tcp_info(const struct conn *c, struct tcp_info *out)
{
	const struct conn *k = conn_socket(c);
	socklen_t len = sizeof(*out);

	memset(out, 0, sizeof(*out));
	if (!k)
		return -ENOTCONN;
	return (int)sys_getsockopt(loop_sys(k->loop), k->fd, IPPROTO_TCP, TCP_INFO, out, &len);
}

void
conn_socket_set(const struct conn *c, int level, int opt, uint32_t value)
{
	const struct conn *k = conn_socket(c);

	if (k)
		(void)!sys_setsockopt(
			loop_sys(k->loop), k->fd, level, opt, &value, sizeof(value));
}
