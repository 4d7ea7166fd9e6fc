/* Actions about packets: set-mark, set-tos, set-fc-x to the client, set-bc-x to the server. Parsed
 * on the main thread, run on the worker. As in HAProxy a call that fails changes nothing else: that
 * marks may be set is checked at start (app/process/confine.c). */
#include "proxy/sample/act_packet.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/ctx.h"
#include "net/conn_socket.h"
#include "proxy/model/proxies.h"
#include "proxy/model/session.h"
#include "proxy/model/stream_extras.h"
#include "rule/action/act.h"

#define TOS_MAX 255

/* Decimal, or hexadecimal after 0x: 0, or -1. */
static int
parse_unsigned(const char *s, uint64_t max, uint64_t *out)
{
	int is_hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *digits = is_hex ? s + 2 : s;
	char *end;

	if (!*digits || strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789") !=
			strlen(digits))
		return -1;
	/* HAProxy takes 010 for 8, which its manual does not say. */
	if (!is_hex && digits[0] == '0' && digits[1])
		return -1;
	errno = 0;
	*out = strtoull(digits, &end, is_hex ? 16 : 10);
	return errno || *out > max ? -1 : 0;
}

static int
parse_packet(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	uint64_t max = (uint64_t)r->action->kind, n;

	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	/* a newer name takes an expression, too */
	if ((strncmp(r->action->name, "set-fc-", 7) == 0 ||
		    strncmp(r->action->name, "set-bc-", 7) == 0) &&
		!isdigit((unsigned char)cfg_arg(ctx, arg)[0]))
		return act_expr(r, v, ctx, arg, at, &r->expr) < 0 ? -1 : arg + 1;
	if (parse_unsigned(cfg_arg(ctx, arg), max, &n) < 0)
		return cfg_error(ctx, arg,
			"'%s %s' : '%s' is no number from 0 to %llu, in decimal digits or, after "
			"0x, hexadecimal ones.",
			rule_place_name(r->place), r->action->name, cfg_arg(ctx, arg),
			(unsigned long long)max);
	r->num[0] = (int64_t)n;
	return arg + 1;
}

/* The value of the rule, of which the low bits count: 1, or 0 if its expression has none. */
static int
take_packet_value(const struct rule *r, struct sample_ctx *cx, int64_t *out)
{
	struct sample s;
	size_t mark;
	int found;

	*out = r->num[0];
	if (!r->expr)
		return 1;
	mark = arena_mark(cx->arena);
	found = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &s) == 1;
	arena_release(cx->arena, mark);
	if (found)
		*out = s.u.sint & r->action->kind;
	return found;
}

static void
set_client_option(struct rule_outcome *out, int level, int opt, int64_t value)
{
	const struct stream *s = out->proxy;

	conn_socket_set(s->conn[CLIENT], level, opt, (uint32_t)value);
}

/* An IPv6 socket may carry IPv4: sets both. */
static enum rule_result
run_tos(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct stream *s = out->proxy;
	int family = addr_family(&s->sess->listener->addr);
	int64_t tos;

	if (!conn_socket(s->conn[CLIENT]) || family == AF_UNIX || !take_packet_value(r, cx, &tos))
		return RULE_CONT;
	set_client_option(out, IPPROTO_IP, IP_TOS, tos);
	if (family == AF_INET6)
		set_client_option(out, IPPROTO_IPV6, IPV6_TCLASS, tos);
	return RULE_CONT;
}

static enum rule_result
run_mark(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct stream *s = out->proxy;

	int64_t mark;

	if (conn_socket(s->conn[CLIENT]) && take_packet_value(r, cx, &mark))
		set_client_option(out, SOL_SOCKET, SO_MARK, mark);
	return RULE_CONT;
}

/* Without memory packets travel as those of others. */
static enum rule_result
run_to_server(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream_extras *x = stream_extras_get(out->proxy);
	int64_t n;

	if (!x || !take_packet_value(r, cx, &n))
		return RULE_CONT;
	if (r->action->kind == TOS_MAX) {
		x->to_server.tos = (uint8_t)n;
		x->to_server.has_tos = 1;
	} else {
		x->to_server.mark = (uint32_t)n;
		x->to_server.has_mark = 1;
	}
	return RULE_CONT;
}

/* The process has to be permitted to set marks. */
static int
check_mark(struct rule *r, void *root, struct rule_err *why)
{
	(void)r;
	(void)why;
	((struct proxies *)root)->sets_mark = 1;
	return 0;
}

static int
parse_nice(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int nice;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0 || cfg_arg_int(ctx, arg, INT_MIN, INT_MAX, &nice))
		return -1;
	cfg_note(ctx, arg - 1, "'%s set-nice' has no effect: all connections are treated alike",
		rule_place_name(r->place));
	return arg + 1;
}

static enum rule_result
run_nice(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	(void)out;
	return RULE_CONT;
}

#define CONTENT                                                                        \
	(RULE_IN(TCP_REQ_CONTENT) | RULE_IN(TCP_RES_CONTENT) | RULE_IN(HTTP_REQUEST) | \
		RULE_IN(HTTP_RESPONSE))

const struct rule_action packet_actions[] = {
	{ .name = "set-bc-mark",
		.places = RULE_IN(TCP_REQ_CONTENT) | RULE_IN(HTTP_REQUEST),
		.parse = parse_packet,
		.run = run_to_server,
		.check = check_mark,
		.syntax = "<mark>|<sample>",
		.doc = "Sets the mark of packets to the server, as set-mark does of those to the "
		       "client. The request gets a connection of its own, which no other one uses.",
		.kind = UINT32_MAX },
	{ .name = "set-bc-tos",
		.places = RULE_IN(TCP_REQ_CONTENT) | RULE_IN(HTTP_REQUEST),
		.parse = parse_packet,
		.run = run_to_server,
		.syntax = "<tos>|<sample>",
		.doc = "Sets the TOS or DSCP field of packets to the server, as set-tos does of "
		       "those to the client. The request gets a connection of its own, which no "
		       "other one uses.",
		.kind = TOS_MAX },
	{ .name = "set-fc-mark",
		.places = RULE_IN_TCP | CONTENT,
		.parse = parse_packet,
		.run = run_mark,
		.check = check_mark,
		.syntax = "<mark>|<sample>",
		.doc = "The newer name of set-mark; the mark may come from a sample.",
		.kind = UINT32_MAX },
	{ .name = "set-fc-tos",
		.places = RULE_IN_TCP | CONTENT,
		.parse = parse_packet,
		.run = run_tos,
		.syntax = "<tos>|<sample>",
		.doc = "The newer name of set-tos; the value may come from a sample.",
		.kind = TOS_MAX },
	{ .name = "set-mark",
		.places = RULE_IN_TCP | CONTENT,
		.parse = parse_packet,
		.run = run_mark,
		.check = check_mark,
		.syntax = "<mark>",
		.doc = "Sets the mark of packets to the client, which netfilter and routing rules "
			"match: 0 to 4294967295, also as 0x<hex>. The process keeps the "
			"capability CAP_NET_ADMIN, without which it does not start.",
		.kind = UINT32_MAX },
	{ .name = "set-nice",
		.places = CONTENT,
		.parse = parse_nice,
		.run = run_nice,
		.syntax = "<nice>",
		.doc = "Has no effect: all connections are treated alike." },
	{ .name = "set-tos",
		.places = RULE_IN_TCP | CONTENT,
		.parse = parse_packet,
		.run = run_tos,
		.syntax = "<tos>",
		.doc = "Sets the TOS or DSCP field of packets to the client: all 8 bits, 0 to 255, "
			"also as 0x<hex>. The kernel leaves the two low bits to ECN.",
		.kind = TOS_MAX },
	{ 0 },
};
