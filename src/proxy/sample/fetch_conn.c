/* Fetches that ask the kernel about the client's connection (manual 7.3.3), when they are asked. */
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "net/conn_socket.h"
#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/sample/fetch.h"
#include "proxy/model/session.h"
#include "rule/sample/fetch.h"

/* --- TCP_INFO --- */

enum figure { RTT, RTTVAR, UNACKED, SACKED, LOST, RETRANS, FACKETS, REORDERING };

static int64_t
figure_of(const struct tcp_info *t, enum figure f)
{
	switch (f) {
	case RTT:
		return t->tcpi_rtt;
	case RTTVAR:
		return t->tcpi_rttvar;
	case UNACKED:
		return t->tcpi_unacked;
	case SACKED:
		return t->tcpi_sacked;
	case LOST:
		return t->tcpi_lost;
	case RETRANS:
		return t->tcpi_retrans;
	case FACKETS:
		return t->tcpi_fackets;
	case REORDERING:
		return t->tcpi_reordering;
	}
	return 0;
}

/* The last argument: 1 for microseconds; milliseconds without it. */
static int
init_unit(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->bad = 0;
	*why = "the unit is 'ms' or 'us'";
	a->arg[0].num = str_is(a->arg[0].text, STR("us"));
	return a->arg[0].num || !a->arg[0].text.len || str_is(a->arg[0].text, STR("ms")) ? 0 : -1;
}

static int
fetch_figure(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = cx->session;
	enum figure f = (enum figure)a->kind;
	struct tcp_info info;
	int64_t v;

	if (!x || conn_tcp_info(&x->conn[CLIENT], &info) < 0)
		return 0;
	v = figure_of(&info, f);
	sample_set_int(s, (f == RTT || f == RTTVAR) && !a->arg[0].num ? v / 1000 : v);
	return 1;
}

/* --- names of addresses --- */

/* A socket can only be bound to the host's own addresses. */
static int
probe_own_addr(struct sys *sys, const struct addr *addr)
{
	struct addr a = *addr;
	int fd = (int)sys_socket(sys, addr_family(&a), SOCK_DGRAM | SOCK_CLOEXEC, 0), yes;

	if (fd < 0)
		return -1;
	addr_set_port(&a, 0);
	yes = sys_bind(sys, fd, &a.u.sa, a.len) >= 0;
	(void)sys_close(sys, fd);
	return yes;
}

/* In a kind: 1: the own address; FRONT: without changes by rules. */
#define FRONT 2

static int
fetch_local_addr(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct addr addr;
	int yes;

	if (!cx->sys || (a->kind < FRONT ? fetch_client_address : fetch_front_address)(
				cx, a->kind & 1, &addr) < 0)
		return 0;
	if (addr_family(&addr) != AF_INET && addr_family(&addr) != AF_INET6)
		return 0;
	yes = probe_own_addr(cx->sys, &addr);
	sample_set_bool(s, yes);
	return yes >= 0;
}

/* --- a client and what it wants --- */

/* The hash, highest byte first, followed by the address. */
static int
fetch_with_source(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sample hash = { 0 };
	struct addr addr;
	unsigned char *out;
	size_t len;

	if (fetch_client_address(cx, 0, &addr) < 0 || !rule_base_hash(cx, a->kind == 1, &hash)) {
		s->may_change = hash.may_change;
		return 0;
	}
	len = addr_family(&addr) == AF_INET ? 4 : addr_family(&addr) == AF_INET6 ? 16 : 0;
	out = len ? (unsigned char *)arena_get(cx->arena, 4 + len) : NULL;
	if (!out)
		return 0;
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)((uint64_t)hash.u.sint >> (24 - 8 * i));
	if (len == 4)
		memcpy(out + 4, &addr.u.in.sin_addr, len);
	else
		memcpy(out + 4, &addr.u.in6.sin6_addr, len);
	s->type = SAMPLE_BIN;
	s->u.str = (struct str){ (const char *)out, 4 + len };
	return 1;
}

/* Before a session begins its PROXY header or its handshake can fail. */
static int
fetch_error(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = cx->session;
	enum conn_err err =
		x ? (enum conn_err)x->conn_err : CONN_ERR_NONE;

	if (a->kind)
		sample_set_str(s, str_of(conn_err_text(err)));
	else
		sample_set_int(s, conn_err_number(err));
	return 1;
}

static int
fetch_header_seen(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = cx->session;

	if (!x)
		return 0;
	sample_set_bool(s, x->has_header);
	return 1;
}

/* The names of types are those of proxy-protocol.txt without PP2_TYPE_. */
static int
init_tlv_type(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const struct {
		struct str name;
		int type;
	} names[] = { { { "ALPN", 4 }, 0x01 }, { { "AUTHORITY", 9 }, 0x02 },
		{ { "CRC32C", 6 }, 0x03 }, { { "NOOP", 4 }, 0x04 }, { { "UNIQUE_ID", 9 }, 0x05 },
		{ { "SSL", 3 }, 0x20 }, { { "SSL_VERSION", 11 }, 0x21 }, { { "SSL_CN", 6 }, 0x22 },
		{ { "SSL_CIPHER", 10 }, 0x23 }, { { "SSL_SIG_ALG", 11 }, 0x24 },
		{ { "SSL_KEY_ALG", 11 }, 0x25 }, { { "NETNS", 5 }, 0x30 } };
	unsigned long n;
	char *end;

	a->bad = 0;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(a->arg[0].text, names[i].name)) {
			a->arg[0].num = names[i].type;
			return 0;
		}
	*why = "the type is a number of 0 to 255, also as 0x20, or a name such as AUTHORITY";
	n = strtoul(a->arg[0].text.p, &end, 0);
	a->arg[0].num = (int64_t)n;
	return a->arg[0].text.p[0] >= '0' && a->arg[0].text.p[0] <= '9' && !*end && n <= 255 ? 0
											 : -1;
}

static int
fetch_tlv(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = cx->session;
	unsigned int type = a->kind ? (unsigned int)a->kind : (unsigned int)a->arg[0].num;
	struct str value;

	if (!x || !addr_override_tlv(x, type, &value))
		return 0;
	sample_set_str(s, value);
	return 1;
}

static int
fetch_first(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = cx->session;

	if (!x)
		return 0;
	sample_set_bool(s, x->requests <= 1);
	return 1;
}

#define CONN .needs = SAMPLE_AT_CONN
#define FIGURE(n, what, text)                                                             \
	{                                                                                 \
		.name = n, CONN, .out = SAMPLE_SINT, .fetch = fetch_figure, .kind = what, \
		.doc = "The client's TCP connection, as the kernel sees it: " text        \
	}
#define TIME(n, what, text)                                                                     \
	{                                                                                       \
		.name = n, CONN, .arg = { ARG_STR }, .out = SAMPLE_SINT, .fetch = fetch_figure, \
		.init = init_unit, .kind = what, .syntax = "[ms|us]",                           \
		.doc = "The client's TCP connection, as the kernel sees it: " text              \
	}
#define LOCAL(n, own, text)                                                                \
	{                                                                                  \
		.name = n, CONN, .out = SAMPLE_BOOL, .fetch = fetch_local_addr, .kind = own, \
		.doc = "Is " text " one of this host's? Takes three system calls."         \
	}
#define SOURCE(n, query, base)                                                         \
	{                                                                              \
		.name = n, .needs = SAMPLE_AT_REQ | SAMPLE_AT_CONN, .out = SAMPLE_BIN, \
		.fetch = fetch_with_source, .kind = query,                             \
		.doc = base " in 4 bytes and the client's address in 4 or 16."         \
	}

const struct rule_fetch conn_fetches[] = {
	SOURCE("base32+src", 0, "base32"),
	LOCAL("dst_is_local", 1, "the address that the client connected to"),
	LOCAL("fc_dst_is_local", FRONT | 1, "the address that the client connected to"),
	{ .name = "fc_err",
		CONN,
		.out = SAMPLE_SINT,
		.fetch = fetch_error,
		.doc = "The error code of the PROXY header; 0: no error." },
	{ .name = "fc_err_str",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_error,
		.kind = 1,
		.doc = "fc_err as a text: Success, or what was wrong." },
	FIGURE("fc_fackets", FACKETS, "forward acknowledged segments."),
	FIGURE("fc_lost", LOST, "lost segments."),
	{ .name = "fc_pp_authority",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.kind = PROXY_TLV_AUTHORITY,
		.doc = "The authority that the client's PROXY header names." },
	{ .name = "fc_pp_tlv",
		CONN,
		.arg = { ARG_STR },
		.min = 1,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.init = init_tlv_type,
		.syntax = "<type>",
		.doc = "The value of the last field of this type in the client's PROXY header. The "
			"type is a number or one of ALPN, AUTHORITY, CRC32C, NOOP, UNIQUE_ID, SSL, "
			"SSL_VERSION, SSL_CN, SSL_CIPHER, SSL_SIG_ALG, SSL_KEY_ALG and NETNS." },
	{ .name = "fc_pp_unique_id",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.kind = PROXY_TLV_UNIQUE_ID,
		.doc = "The unique id in the client's PROXY header." },
	{ .name = "fc_rcvd_proxy",
		CONN,
		.out = SAMPLE_BOOL,
		.fetch = fetch_header_seen,
		.doc = "Did the client's connection begin with a PROXY header?" },
	FIGURE("fc_reordering", REORDERING, "how far segments are reordered."),
	FIGURE("fc_retrans", RETRANS, "retransmitted segments."),
	TIME("fc_rtt", RTT, "round-trip time."),
	TIME("fc_rttvar", RTTVAR, "the round-trip time's variance."),
	FIGURE("fc_sacked", SACKED, "selectively acknowledged segments."),
	LOCAL("fc_src_is_local", FRONT, "the client's address"),
	FIGURE("fc_unacked", UNACKED, "unacknowledged segments."),
	{ .name = "http_first_req",
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES | SAMPLE_AT_TXN,
		.out = SAMPLE_BOOL,
		.fetch = fetch_first,
		.doc = "Is it the first request of its connection?" },
	LOCAL("src_is_local", 0, "the client's address"),
	SOURCE("url32+src", 1, "url32"),
	{ .name = NULL },
};
