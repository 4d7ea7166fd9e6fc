/* Source and destination that rules or a PROXY header have set. On the session's worker; the
 * nearest scope wins. */
#include "proxy/model/addr_override.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "net/conn_socket.h"
#include "net/proxy_header.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"

/* Objects kept for reuse. */
#define ENDPOINTS_KEPT 256

void
engine_addr_override_init(struct engine *e)
{
	pool_init(&e->pools.addr_override, "endpoints", sizeof(struct session_addr_override),
		ENDPOINTS_KEPT);
}

void
addr_override_free(struct stream *s)
{
	if (!s->sess->endpoints)
		return;
	mem_free(s->sess->endpoints->tlvs);
	pool_put(&s->engine->pools.addr_override, s->sess->endpoints);
	s->sess->endpoints = NULL;
}

/* --- the real addresses --- */

static const struct addr *
override_of(const struct addr_override *e, enum endpoint which)
{
	return e->given[which].len ? &e->given[which] : NULL;
}

static const struct addr *
address_of_connection(const struct stream *s, enum endpoint which)
{
	return s->sess->endpoints ? override_of(&s->sess->endpoints->connection, which) : NULL;
}

/* Returns the address that rules have set: that of the innermost level takes precedence. */
static const struct addr *
address_of(const struct stream *s, enum endpoint which)
{
	const struct addr *a = s->txn ? override_of(&s->txn->endpoints, which) : NULL;

	if (!a && s->sess->endpoints)
		a = override_of(&s->sess->endpoints->session, which);
	return a ? a : address_of_connection(s, which);
}

const struct addr *
addr_override_source(const struct stream *s)
{
	const struct addr *a = address_of(s, ENDPOINT_SRC);

	return a ? a : &s->sess->peer;
}

static const struct addr *
connection_source(const struct stream *s)
{
	const struct addr *a = address_of_connection(s, ENDPOINT_SRC);

	return a ? a : &s->sess->peer;
}

/* A session has room for inet addresses only. */
static void
copy_short(const struct addr *a, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out, a, MIN(sizeof(*out), offsetof(struct addr, u) + a->len));
}

void
addr_override_copy_source(const struct stream *s, struct addr *out)
{
	copy_short(addr_override_source(s), out);
}

void
addr_override_copy_connection_source(const struct stream *s, struct addr *out)
{
	copy_short(connection_source(s), out);
}

static int
known_destination(const struct stream *s, const struct addr *a, struct addr *out)
{
	const struct listener *ln = s->sess->listener;

	if (!a && addr_family(&ln->addr) != AF_UNSPEC && !addr_is_any(&ln->addr) &&
		!ln->bind->transparent)
		a = &ln->addr;
	if (a) {
		*out = *a;
		return 0;
	}
	return conn_local_addr(s->conn[CLIENT], out) < 0 ? -1 : 0;
}

int
addr_override_destination(const struct stream *s, struct addr *out)
{
	return known_destination(s, address_of(s, ENDPOINT_DST), out);
}

int
addr_override_connection_destination(const struct stream *s, struct addr *out)
{
	return known_destination(s, address_of_connection(s, ENDPOINT_DST), out);
}

/* Every listener knows it. */
static unsigned int
destination_port(const struct stream *s)
{
	const struct addr *a = address_of(s, ENDPOINT_DST);

	return addr_port(a ? a : &s->sess->listener->addr);
}

/* With option transparent the kernel may have redirected the client to this listener. */
static int
redirected_from(const struct stream *s, struct addr *out)
{
	return s->srv->is_dispatch && (s->be->options & OPT_TRANSPARENT) &&
		!address_of(s, ENDPOINT_DST) &&
		conn_addr_before_nat(s->conn[CLIENT], addr_family(&s->sess->peer), out) == 0;
}

void
addr_override_target(const struct stream *s, uint32_t *gen, struct addr *out)
{
	struct addr own;

	*gen = addr_cell_get(&s->srv->addr, out);
	if (addr_is_any(out) && redirected_from(s, out))
		return;
	if (addr_is_any(out) && addr_override_destination(s, &own) == 0 &&
		addr_family(&own) != AF_UNIX) {
		addr_set_port(&own, addr_port(out));
		*out = own;
	}
	if (s->srv->spec.has_offset && addr_family(out) != AF_UNIX)
		addr_set_port(out,
			(destination_port(s) +
				(unsigned int)s->srv->spec.port_offset) &
				0xffff);
}

/* --- reading addresses --- */

/* The session's, allocated on first use. */
static struct session_addr_override *
own_overrides(struct stream *s)
{
	if (!s->sess->endpoints) {
		s->sess->endpoints = pool_get(&s->engine->pools.addr_override);
		if (s->sess->endpoints)
			memset(s->sess->endpoints, 0, sizeof(*s->sess->endpoints));
		memory_watch(s->engine);
	}
	return s->sess->endpoints;
}

int
addr_override_reserve(struct stream *s)
{
	return own_overrides(s) ? 0 : -ERR_NOMEM;
}

void
addr_override_proxy_protocol(struct stream *s, const struct addr *src, const struct addr *dst)
{
	assert(s->sess->endpoints);
	s->sess->endpoints->session.given[ENDPOINT_SRC] = *src;
	s->sess->endpoints->session.given[ENDPOINT_DST] = *dst;
}

void
addr_override_keep_tlvs(struct stream *s, struct str tlvs)
{
	assert(s->sess->endpoints && !s->sess->endpoints->tlvs);
	if (!tlvs.len)
		return;
	s->sess->endpoints->tlvs = mem_alloc(tlvs.len);
	if (!s->sess->endpoints->tlvs)
		return;
	memcpy(s->sess->endpoints->tlvs, tlvs.p, tlvs.len);
	s->sess->endpoints->n_tlvs = tlvs.len;
}

int
addr_override_tlv(const struct stream *s, unsigned int type, struct str *value)
{
	const struct session_addr_override *e = s->sess->endpoints;

	return e && e->tlvs &&
		proxy_header_find_tlv((struct str){ e->tlvs, e->n_tlvs }, type, value);
}

/* The structure that a rule at this place sets: NULL without memory. */
static struct addr_override *
overrides_at(struct stream *s, enum rule_place place)
{
	if (s->txn)
		return &s->txn->endpoints;
	if (!own_overrides(s))
		return NULL;
	return place == RULE_TCP_CONNECTION ? &s->sess->endpoints->connection
					    : &s->sess->endpoints->session;
}

int
addr_override_set(
	struct stream *s, enum rule_place place, enum endpoint which, const struct addr *a)
{
	struct addr_override *e = overrides_at(s, place);

	if (!e)
		return -ERR_NOMEM;
	e->given[which] = *a;
	return 0;
}
