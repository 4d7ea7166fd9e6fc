/* X-Forwarded-For, X-Original-To and Forwarded. Set up on the main thread, written on the
 * session's worker, in its arena. */
#include "proxy/model/forward.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/session.h"
#include "tls/conn_info.h"

static const struct str usual_names[FORWARD_KINDS] = {
	[FORWARD_FOR] = { "X-Forwarded-For", 15 },
	[FORWARD_ORIGINAL_TO] = { "X-Original-To", 13 },
};

/* --- networks --- */

/* "8" or "255.0.0.0". */
static int
parse_mask(const char *s, unsigned int max, unsigned int *bits)
{
	struct in_addr dotted;
	uint32_t mask;

	if (max == 32 && strchr(s, '.')) {
		if (inet_pton(AF_INET, s, &dotted) != 1)
			return -ERR_SYNTAX;
		mask = ntohl(dotted.s_addr);
		*bits = (unsigned int)__builtin_popcount(mask);
		/* Ones followed by zeroes. */
		return *bits && mask != ~UINT32_C(0) << (32 - *bits) ? -ERR_SYNTAX : 0;
	}
	*bits = 0;
	for (; *s >= '0' && *s <= '9' && *bits <= max; s++)
		*bits = 10 * *bits + (unsigned int)(*s - '0');
	return *s || s[-1] == '/' || *bits > max ? -ERR_SYNTAX : 0;
}

int
forward_net_parse(const char *text, struct forward_net *out)
{
	char host[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	struct forward_net net = { .family = AF_INET, .bits = 32 };

	if (n >= sizeof(host))
		return -ERR_SYNTAX;
	memcpy(host, text, n);
	host[n] = '\0';
	if (inet_pton(AF_INET, host, net.addr) != 1) {
		net.family = AF_INET6;
		net.bits = 128;
		if (inet_pton(AF_INET6, host, net.addr) != 1)
			return -ERR_SYNTAX;
	}
	if (slash && parse_mask(slash + 1, net.bits, &net.bits) < 0)
		return -ERR_SYNTAX;
	*out = net;
	return 0;
}

int
forward_net_has(const struct forward_net *n, const struct addr *a)
{
	const unsigned char *p = NULL;
	unsigned int whole = n->bits / 8, rest = n->bits % 8;

	if (addr_family(a) == AF_INET && n->family == AF_INET)
		p = (const unsigned char *)&a->u.in.sin_addr;
	else if (addr_family(a) == AF_INET6 && n->family == AF_INET6)
		p = a->u.in6.sin6_addr.s6_addr;
	if (!p || memcmp(p, n->addr, whole) != 0)
		return 0;
	return !rest || (p[whole] ^ n->addr[whole]) >> (8 - rest) == 0;
}

/* --- the configuration --- */

void
forward_conf_fini(struct forward_conf *c)
{
	for (int k = 0; k < FORWARD_KINDS; k++)
		mem_free(c->to[k].header);
	memset(c, 0, sizeof(*c));
}

int
forward_conf_inherit(struct forward_conf *c, const struct forward_conf *defaults)
{
	*c = *defaults;
	for (int k = 0; k < FORWARD_KINDS; k++)
		c->to[k].header = NULL;
	for (int k = 0; k < FORWARD_KINDS; k++)
		if (mem_copy_string(&c->to[k].header, defaults->to[k].header) < 0)
			return -ERR_NOMEM;
	return 0;
}

void
forward_conf_check(const struct proxy *p, struct cfg_diag *d)
{
	static const char *const names[] = { "forwardfor", "originalto", "forwarded" };
	int on[] = { p->forward.to[FORWARD_FOR].on, p->forward.to[FORWARD_ORIGINAL_TO].on,
		p->forward.forwarded != 0 };

	if (p->mode == PROXY_HTTP || p->disabled)
		return;
	for (unsigned int i = 0; i < ARRAY_LEN(on); i++)
		if (on[i])
			cfg_diag_add(d, CFG_WARNING, &p->where,
				"'option %s' ignored for proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
				" as it requires HTTP mode.",
				names[i], p->name);
}

/* True if one of the two needs the destination address. */
static int
needs_destination(const struct proxy *fe, const struct proxy *be)
{
	return fe->forward.to[FORWARD_ORIGINAL_TO].on || be->forward.to[FORWARD_ORIGINAL_TO].on ||
		(be->forward.forwarded & FORWARDED_BY);
}

/* --- adding --- */

/* Addresses with a special meaning elsewhere. */
static int
is_inet(const struct addr *a)
{
	return addr_family(a) == AF_INET || addr_family(a) == AF_INET6;
}

static int
add_forward_field(struct http_head *req, struct arena *a, struct str name, struct str value)
{
	struct str copy = arena_copy(a, value);

	return copy.p ? http_add(req, name, copy) : -ERR_RANGE;
}

/* The backend's name takes precedence over the frontend's, and an unconditional option over a
 * conditional one. */
static int
add_forward_address(const struct proxy *fe, const struct proxy *be, enum forward_kind kind,
	const struct addr *addr, struct http_head *req, struct arena *a)
{
	const struct forward_option *f = &fe->forward.to[kind], *b = &be->forward.to[kind];
	const char *header = b->on ? b->header : f->header;
	struct str name;
	char text[ADDR_TEXT];

	if ((!f->on && !b->on) || !is_inet(addr))
		return 0;
	name = header ? str_of(header) : usual_names[kind];
	if ((!f->on || f->if_none) && (!b->on || b->if_none) && http_find(req, name, 0) >= 0)
		return 0;
	if (forward_net_has(&f->except, addr) || forward_net_has(&b->except, addr))
		return 0;
	return add_forward_field(req, a, name, str_of(addr_host_text(addr, text)));
}

/* A token is written as it is, other text in quotes (RFC 7239, 4). */
static void
put_value(struct sbuf *out, struct str s)
{
	if (http_name_is_valid(s)) {
		sbuf_add(out, s.p, s.len);
		return;
	}
	sbuf_addc(out, '"');
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			sbuf_addc(out, '\\');
		sbuf_addc(out, s.p[i]);
	}
	sbuf_addc(out, '"');
}

static void
put_param(struct sbuf *out, const char *name, struct str value)
{
	sbuf_addf(out, "%s%s=", out->len ? ";" : "", name);
	put_value(out, value);
}

/* A node (RFC 7239, 6): IPv6 addresses are in brackets. */
static void
put_node(struct sbuf *out, const char *name, const struct addr *addr, int with_port)
{
	char host[ADDR_TEXT], node[ADDR_TEXT + 16];
	struct sbuf b;

	sbuf_init_fixed(&b, node, sizeof(node));
	if (!is_inet(addr))
		sbuf_adds(&b, "unknown");
	else
		sbuf_addf(&b, addr_family(addr) == AF_INET6 ? "[%s]" : "%s",
			addr_host_text(addr, host));
	if (with_port && is_inet(addr))
		sbuf_addf(&b, ":%u", addr_port(addr));
	put_param(out, name, (struct str){ b.p, b.len });
}

static int
add_forwarded(const struct stream *s, const struct addr *peer, const struct addr *own,
	struct http_head *req, struct arena *a)
{
	unsigned int parts = s->be->forward.forwarded;
	int host = http_find_id(req, HTTP_F_HOST, 0);
	struct sbuf out;

	if (a->used == a->cap)
		return -ERR_RANGE;
	sbuf_init_fixed(&out, a->p + a->used, a->cap - a->used);
	if (parts & FORWARDED_PROTO)
		put_param(&out, "proto",
			tls_is_used(s->conn[CLIENT]) ? STR("https") : STR("http"));
	if ((parts & FORWARDED_HOST) && host >= 0)
		put_param(&out, "host", req->field[host].value);
	if (parts & FORWARDED_BY)
		put_node(&out, "by", own, (parts & FORWARDED_BY_PORT) != 0);
	if (parts & FORWARDED_FOR)
		put_node(&out, "for", peer, (parts & FORWARDED_FOR_PORT) != 0);
	if (out.failed)
		return -ERR_RANGE;
	a->used += out.len;
	return out.len ? http_add(req, STR("Forwarded"), (struct str){ out.p, out.len }) : 0;
}

int
http_add_forwarding(struct stream *s, struct http_head *req, struct arena *a)
{
	const struct proxy *fe = s->sess->fe, *be = s->be;
	const struct addr *peer = addr_override_source(s);
	struct addr own;
	int rc;

	if (!needs_destination(fe, be) || addr_override_destination(s, &own) < 0)
		own.len = 0;
	rc = add_forward_address(fe, be, FORWARD_FOR, peer, req, a);
	if (rc == 0)
		rc = add_forward_address(fe, be, FORWARD_ORIGINAL_TO, &own, req, a);
	if (rc == 0 && be->forward.forwarded)
		rc = add_forwarded(s, peer, &own, req, a);
	return rc;
}
