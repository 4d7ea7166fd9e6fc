/* Fetches of what a connection begins with, in mode tcp: a TLS hello, an RDP cookie (manual
 * 7.3.5). */
#include <strings.h>

#include "net/tls_hello.h"
#include "rule/sample/arena.h"
#include "rule/sample/fetch.h"
#include "rule/sample/rdp.h"

static struct str
first_bytes(const struct rule_args *a, const struct sample_ctx *cx)
{
	return a->kind == FETCH_RES ? cx->res_bytes : cx->req_bytes;
}

/* --- TLS --- */

/* 1: complete. The message is put together in the arena if it comes in several records. */
static int
find_message(const struct rule_args *a, struct sample_ctx *cx, struct sample *s, struct hello *h)
{
	struct hello_message m;
	enum hello_found found = hello_find(first_bytes(a, cx), &m);
	char *room = NULL;

	s->may_change = found == HELLO_MORE && !cx->req_ended;
	if (found == HELLO_WHOLE && !m.p)
		room = arena_get(cx->arena, m.len);
	if (found != HELLO_WHOLE || !(m.p || room))
		return 0;
	hello_read(hello_join(&m, room), h);
	return 1;
}

static int
fetch_type(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;

	if (!find_message(a, cx, s, &h))
		return 0;
	sample_set_int(s, h.type);
	return 1;
}

static int
fetch_hello_version(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;
	uint32_t version;
	enum hello_found found = hello_ssl2_version(first_bytes(a, cx), &version);

	if (found == HELLO_NOT && find_message(a, cx, s, &h)) {
		version = h.version;
		found = HELLO_WHOLE;
	} else if (found == HELLO_MORE) {
		s->may_change = !cx->req_ended;
	}
	if (found != HELLO_WHOLE)
		return 0;
	sample_set_int(s, version);
	return 1;
}

static int
fetch_hello_name(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;

	if (!find_message(a, cx, s, &h) || !h.name.p)
		return 0;
	sample_set_str(s, h.name);
	return 1;
}

static int
fetch_protocol(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;

	if (!find_message(a, cx, s, &h) || !h.protocol.p)
		return 0;
	sample_set_str(s, h.protocol);
	return 1;
}

static int
fetch_hello_groups(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;

	if (!find_message(a, cx, s, &h) || !h.has_groups)
		return 0;
	sample_set_bool(s, 1);
	return 1;
}

static int
fetch_ticket(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct hello h;

	if (!find_message(a, cx, s, &h) || !h.is_client)
		return 0;
	sample_set_int(s, h.ticket);
	return 1;
}

/* --- RDP --- */

static int
find_named(const struct rule_args *a, struct sample_ctx *cx, struct sample *s, struct str *value,
	int *is_named)
{
	struct str name, want = a->arg[0].text;
	enum rdp_found found = rdp_find_cookie(cx->req_bytes, &name, value);

	s->may_change = found == RDP_MORE && !cx->req_ended;
	if (found != RDP_COOKIE)
		return 0;
	*is_named =
		!want.len || (want.len == name.len && strncasecmp(want.p, name.p, name.len) == 0);
	return 1;
}

static int
fetch_rdp(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str value;
	int is_named;

	if (!find_named(a, cx, s, &value, &is_named) || !is_named)
		return 0;
	sample_set_str(s, value);
	return 1;
}

static int
fetch_rdp_count(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str value;
	int is_named;

	if (!find_named(a, cx, s, &value, &is_named))
		return 0;
	sample_set_int(s, is_named);
	return 1;
}

#define REQ .needs = SAMPLE_AT_REQ, .kind = FETCH_REQ
#define RES .needs = SAMPLE_AT_RES, .kind = FETCH_RES
#define TYPE(n, side, whose)                                                                 \
	{                                                                                    \
		.name = n, side, .out = SAMPLE_SINT, .fetch = fetch_type,                    \
		.doc = "Mode tcp: the type of the TLS handshake message that the " whose     \
		       " began with, once it is there: 1 is a client's hello, 2 a server's." \
	}
#define VERSION(n)                                                                          \
	{                                                                                   \
		.name = n, REQ, .out = SAMPLE_SINT, .fetch = fetch_hello_version, .match = "ver", \
		.doc = "Mode tcp: the version in a client's TLS hello, major * 65536 + "    \
		       "minor: 3.1 is TLS 1.0."                                             \
	}
#define SNI(n)                                                                \
	{                                                                     \
		.name = n, REQ, .out = SAMPLE_STR, .fetch = fetch_hello_name,       \
		.doc = "Mode tcp: the server name (SNI) in a client's TLS hello." \
	}
#define RDP(n)                                                                              \
	{                                                                                   \
		.name = n, REQ, .arg = { ARG_STR }, .out = SAMPLE_STR, .fetch = fetch_rdp,  \
		.syntax = "[<name>]",                                                       \
		.doc = "Mode tcp: the cookie that an RDP client begins with, whatever the " \
		       "case of its name."                                                  \
	}
#define RDP_COUNT(n)                                                                              \
	{                                                                                         \
		.name = n, REQ, .arg = { ARG_STR }, .out = SAMPLE_SINT, .fetch = fetch_rdp_count, \
		.syntax = "[<name>]",                                                             \
		.doc = "Mode tcp: 1 if it has an RDP cookie of this name, else 0."                \
	}

const struct rule_fetch rule_hello_fetches[] = {
	RDP("rdp_cookie"),
	RDP_COUNT("rdp_cookie_cnt"),
	TYPE("rep_ssl_hello_type", RES, "server"),
	RDP("req.rdp_cookie"),
	RDP_COUNT("req.rdp_cookie_cnt"),
	{ .name = "req.ssl_alpn",
		REQ,
		.out = SAMPLE_STR,
		.fetch = fetch_protocol,
		.doc = "Mode tcp: the first ALPN protocol in a client's TLS hello." },
	{ .name = "req.ssl_ec_ext",
		REQ,
		.out = SAMPLE_BOOL,
		.fetch = fetch_hello_groups,
		.doc = "Mode tcp: true if a client's TLS hello has the supported elliptic curves "
			"extension." },
	TYPE("req.ssl_hello_type", REQ, "client"),
	SNI("req.ssl_sni"),
	{ .name = "req.ssl_st_ext",
		REQ,
		.out = SAMPLE_SINT,
		.fetch = fetch_ticket,
		.doc = "Mode tcp: the session ticket extension of a client's TLS hello: 0: absent, "
			"1: empty, 2: with a ticket." },
	VERSION("req.ssl_ver"),
	RDP("req_rdp_cookie"),
	RDP_COUNT("req_rdp_cookie_cnt"),
	TYPE("req_ssl_hello_type", REQ, "client"),
	SNI("req_ssl_sni"),
	VERSION("req_ssl_ver"),
	TYPE("res.ssl_hello_type", RES, "server"),
	{ .name = NULL },
};
