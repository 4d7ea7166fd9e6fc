/* Sockets to servers. On the worker of the engine; a socket is returned whole or closed. */
#include "proxy/backend/server_connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static int
count_ports(const struct source_conf *src)
{
	return src->port_lo ? (int)(src->port_hi - src->port_lo + 1) : 1;
}

long
server_bind_source(struct engine *e, struct server *srv, int fd)
{
	const struct source_conf *src = &srv->conf.source;
	int tries = count_ports(src), on = 1;
	struct addr a;
	long r = 0;

	if (src->interface[0])
		r = sys_setsockopt(e->sys, fd, SOL_SOCKET, SO_BINDTODEVICE, src->interface,
			(socklen_t)strlen(src->interface) + 1);
	if (r < 0 || !src->addr.len)
		return r;
	if (!src->port_lo)
		r = sys_setsockopt(e->sys, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
			sizeof(on));
	while (r >= 0 && tries-- > 0) {
		(void)server_source_addr(srv, &a);
		r = sys_bind(e->sys, fd, &a.u.sa, a.len);
		if (r != -EADDRINUSE || !tries)
			break;
		r = 0;
	}
	return r;
}

int
server_socket(struct engine *e, struct server *srv, int family)
{
	long fd = sys_socket(e->sys, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	long r = fd < 0 || family == AF_UNIX ? 0 : server_bind_source(e, srv, (int)fd);

	if (r >= 0)
		return (int)fd;
	(void)sys_close(e->sys, (int)fd);
	return (int)r;
}
