/* Sockets to servers. On the worker of the engine; a socket is returned whole or closed. */
#include "proxy/backend/server_connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* So many ports are tried in one go: other clients wait meanwhile. */
#define PORTS_TRIED 64

int
server_source_tries(const struct server *srv)
{
	const struct source_conf *src = &srv->conf.source;

	if (!src->port_lo || src->as != SOURCE_AS_SELF)
		return 1;
	return (int)MIN(src->port_hi - src->port_lo + 1, PORTS_TRIED);
}

static long
bind_interface(struct engine *e, const struct source_conf *src, int fd)
{
	return src->interface[0] ? sys_setsockopt(e->sys, fd, SOL_SOCKET, SO_BINDTODEVICE,
					   src->interface,
					   (socklen_t)strlen(src->interface) + 1)
				 : 0;
}

/* The kernel chooses the port when it knows the destination. */
static long
leave_port_open(struct engine *e, int fd)
{
	int on = 1;

	return sys_setsockopt(e->sys, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
}

/* The port may still be bound by an earlier connection that has ended (TIME_WAIT). */
static long
share_port(struct engine *e, int fd)
{
	int on = 1;

	return sys_setsockopt(e->sys, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

static long
server_bind_source(struct engine *e, struct server *srv, int fd)
{
	const struct source_conf *src = &srv->conf.source;
	int tries = server_source_tries(srv);
	struct addr a;
	long r = bind_interface(e, src, fd);

	if (r < 0 || !src->addr.len)
		return r;
	r = src->port_lo ? share_port(e, fd) : leave_port_open(e, fd);
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
