/* The variables of log formats that are about addresses and ports (manual 8.2.6). */
#include "base/sbuf.h"
#include "net/conn.h"
#include "proxy/log/log_alias_int.h"
#include "proxy/model/addr_override.h"

static void
put_hex_bytes(struct log_render *r, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sbuf_addf(r->out, "%02X", ((const unsigned char *)p)[i]);
}

static void
put_ip(struct log_render *r, const struct addr *a)
{
	char text[ADDR_TEXT];
	int family = a ? addr_family(a) : AF_UNSPEC;

	if (family == AF_UNSPEC)
		log_put_string(r, NULL);
	else if ((r->flags & RULE_FMT_X) && family == AF_INET)
		put_hex_bytes(r, &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
	else if ((r->flags & RULE_FMT_X) && family == AF_INET6)
		put_hex_bytes(r, &a->u.in6.sin6_addr, sizeof(a->u.in6.sin6_addr));
	else
		log_put_string(r, addr_host_text(a, text));
}

/* unix sockets have no port: the id of the listener or server is used. */
static void
put_port(struct log_render *r, const struct addr *a, int id)
{
	int family = a ? addr_family(a) : AF_UNSPEC;

	if (family == AF_UNSPEC)
		log_put_string(r, NULL);
	else
		log_put_hexable(r, family == AF_UNIX ? (unsigned int)id : addr_port(a));
}

/* The destination of the client's connection. */
static const struct addr *
front_address(const struct log_render *r, struct addr *space)
{
	return addr_override_destination(r->s, space) == 0 ? space : &r->s->listener->addr;
}

static const struct addr *
back_address(const struct log_render *r, struct addr *space)
{
	const struct conn *c = &r->s->conn[SERVER];

	if (!r->cx->sys || !conn_is_open(c) || addr_of_socket(r->cx->sys, c->fd, space) < 0)
		return NULL;
	return space;
}

/* The server's address, with the client's port plus its offset. */
static const struct addr *
server_address(const struct log_render *r, struct addr *space)
{
	const struct server *srv = r->s->srv;
	struct addr front;
	int port;

	if (!srv)
		return NULL;
	(void)addr_cell_get(&srv->addr, space);
	if (!srv->spec.has_offset)
		return space;
	port = (int)addr_port(front_address(r, &front)) + srv->spec.port_offset;
	addr_set_port(space, (unsigned int)port & 0xffffu);
	return space;
}

void
put_ci(struct log_render *r)
{
	put_ip(r, addr_override_source(r->s));
}

void
put_cp(struct log_render *r)
{
	put_port(r, addr_override_source(r->s), r->s->listener->id);
}

void
put_fi(struct log_render *r)
{
	struct addr a;

	put_ip(r, front_address(r, &a));
}

void
put_fp(struct log_render *r)
{
	struct addr a;

	put_port(r, front_address(r, &a), r->s->listener->id);
}

void
put_bi(struct log_render *r)
{
	struct addr a;

	put_ip(r, back_address(r, &a));
}

void
put_bp(struct log_render *r)
{
	struct addr a;

	put_port(r, back_address(r, &a), r->s->srv ? r->s->srv->id : 0);
}

void
put_si(struct log_render *r)
{
	struct addr a;

	put_ip(r, server_address(r, &a));
}

void
put_sp(struct log_render *r)
{
	struct addr a;

	put_port(r, server_address(r, &a), r->s->srv ? r->s->srv->id : 0);
}
