/* Arguments and environment of the command of an external check, in HAProxy's words. On the first
 * worker, at the beginning of each check: its values are those of that time. */
#include "proxy/check/external_args.h"

#include <stdio.h>

#include "proxy/check/external_msg.h"
#include "proxy/model/proxy.h"

#define UNUSED "NOT_USED"

/* An address and a port as text. */
struct endpoint_text {
	char host[ADDR_TEXT];
	char port[8];            /* "": none */
};

/* A path is an address without a port; an abstract name has no text, as in HAProxy. */
static void
format_endpoint(const struct addr *a, struct endpoint_text *out)
{
	out->host[0] = out->port[0] = '\0';
	if (addr_family(a) == AF_UNIX) {
		(void)snprintf(out->host, sizeof(out->host), "%s", a->u.un.sun_path);
	} else if (a->len) {
		(void)addr_host_text(a, out->host);
		(void)snprintf(out->port, sizeof(out->port), "%u", addr_port(a));
	}
}

/* The address of the proxy's first listener; NULL: it has none. */
static const struct addr *
first_address(const struct proxy *p)
{
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		list_each(lt, &b->listeners) {
			const struct listener *ln = list_entry(lt, const struct listener, link);

			if (ln->addr.len)
				return &ln->addr;
		}
	}
	return NULL;
}

static const char *
or_unused(const char *text)
{
	return *text ? text : UNUSED;
}

/* Returns what the configuration says of it: what a handshake negotiates is not known. */
static const char *
name_protocol(const struct server *s)
{
	if (s->be->mode != PROXY_HTTP)
		return "tcp";
	return s->conf.proto == MUX_H2 ? "h2" : "h1";
}

void
external_args_write(const struct server *s, uint32_t id, struct sbuf *out)
{
	const struct proxy *be = s->be;
	const struct addr *bound = first_address(be);
	struct endpoint_text proxy = { "", "" }, server;
	struct addr own;

	if (bound)
		format_endpoint(bound, &proxy);
	(void)addr_cell_get(&s->addr, &own);
	format_endpoint(&own, &server);

	external_msg_begin(out, EXTERNAL_RUN, id, 5, 13);
	external_msg_add(out, "%s", be->check.command);
	external_msg_add(out, "%s", bound ? proxy.host : UNUSED);
	external_msg_add(out, "%s", or_unused(proxy.port));
	external_msg_add(out, "%s", server.host);
	external_msg_add(out, "%s", or_unused(server.port));

	external_msg_add(out, "HAPROXY_PROXY_ADDR=%s", proxy.host);
	external_msg_add(out, "HAPROXY_PROXY_ID=%d", be->id);
	external_msg_add(out, "HAPROXY_PROXY_NAME=%s", be->name);
	external_msg_add(out, "HAPROXY_PROXY_PORT=%s", proxy.port);
	external_msg_add(out, "HAPROXY_SERVER_ADDR=%s", server.host);
	external_msg_add(out, "HAPROXY_SERVER_CURCONN=%u", atomic_read(&s->cur));
	external_msg_add(out, "HAPROXY_SERVER_ID=%d", s->id);
	external_msg_add(out, "HAPROXY_SERVER_MAXCONN=%d", s->conf.maxconn);
	external_msg_add(out, "HAPROXY_SERVER_NAME=%s", s->name);
	external_msg_add(out, "HAPROXY_SERVER_PORT=%s", server.port);
	external_msg_add(out, "HAPROXY_SERVER_PROTO=%s", name_protocol(s));
	external_msg_add(out, "HAPROXY_SERVER_SSL=%d", s->conf.tls.is_on);
	external_msg_add(out, "PATH=%s", be->check.path ? be->check.path : "");
}
