/* Actions set-src, set-dst and their ports. Parsed on the main thread, run on the session's
 * worker. */
#include "proxy/sample/act_addr.h"

#include <string.h>

#include "cfg/ctx.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/session.h"
#include "rule/action/act.h"

#define PORT_MAX 65535

static int
parse_endpoint(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (act_need(r, ctx, arg, 1) < 0 || act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	return arg + 1;
}

/* The current address; of family AF_UNSPEC if unknown. */
static void
get_endpoint(const struct stream *s, enum endpoint which, struct addr *out)
{
	if (which == ENDPOINT_SRC)
		addr_override_copy_source(s, out);
	else if (addr_override_destination(s, out) < 0)
		memset(out, 0, sizeof(*out));
}

static enum rule_result
set_endpoint(
	const struct rule *r, enum endpoint which, const struct addr *a, struct rule_outcome *out)
{
	if (addr_override_set(out->proxy, r->place, which, a) < 0)
		return act_failed(r, out);
	return RULE_CONT;
}

/* Evaluates the rule's sample and releases temporary memory: 1, or 0. */
static int
eval_endpoint(const struct rule *r, struct sample_ctx *cx, enum sample_type type, struct sample *s)
{
	size_t mark = arena_mark(cx->arena);
	int found = rule_expr_eval_as(r->expr, cx, type, s) == 1;

	arena_release(cx->arena, mark);
	return found;
}

/* The port is kept, if there is one. */
static enum rule_result
run_address(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	enum endpoint which = (enum endpoint)r->action->kind;
	struct addr was, a = { 0 };
	struct sample s;

	if (!eval_endpoint(r, cx, SAMPLE_ADDR, &s))
		return RULE_CONT;
	if (s.type == SAMPLE_IPV4) {
		a.len = sizeof(a.u.in);
		a.u.in.sin_family = AF_INET;
		a.u.in.sin_addr = s.u.ipv4;
	} else {
		a.len = sizeof(a.u.in6);
		a.u.in6.sin6_family = AF_INET6;
		a.u.in6.sin6_addr = s.u.ipv6;
	}
	get_endpoint(out->proxy, which, &was);
	addr_set_port(&a, addr_port(&was));
	return set_endpoint(r, which, &a, out);
}

/* The address is kept, if its family has ports. */
static enum rule_result
run_port(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	enum endpoint which = (enum endpoint)r->action->kind;
	struct sample s;
	struct addr a;

	if (!eval_endpoint(r, cx, SAMPLE_SINT, &s) || s.u.sint < 0 || s.u.sint > PORT_MAX)
		return RULE_CONT;
	get_endpoint(out->proxy, which, &a);
	if (addr_family(&a) != AF_INET && addr_family(&a) != AF_INET6) {
		memset(&a, 0, sizeof(a));
		a.len = sizeof(a.u.in);
		a.u.in.sin_family = AF_INET;
	}
	addr_set_port(&a, (unsigned int)s.u.sint);
	return set_endpoint(r, which, &a, out);
}

#define PLACES                                                                      \
	(RULE_IN(TCP_CONNECTION) | RULE_IN(TCP_SESSION) | RULE_IN(TCP_REQ_CONTENT) | \
		RULE_IN(HTTP_REQUEST))
#define ADDRESS(n, which, text)                                                          \
	{                                                                                \
		.name = n, .places = PLACES, .parse = parse_endpoint, .run = run_address, \
		.syntax = "<sample>", .kind = which, .doc = text                         \
	}
#define PORT(n, which, text)                                                          \
	{                                                                             \
		.name = n, .places = PLACES, .parse = parse_endpoint, .run = run_port, \
		.syntax = "<sample>", .kind = which, .doc = text                      \
	}

const struct rule_action endpoint_actions[] = {
	ADDRESS("set-dst", ENDPOINT_DST,
		"Sets the destination address; the port stays the same."),
	PORT("set-dst-port", ENDPOINT_DST,
		"Sets the destination port; the address stays the same. A value above 65535 is "
		"ignored."),
	ADDRESS("set-src", ENDPOINT_SRC, "Sets the client's address; the port stays the same."),
	PORT("set-src-port", ENDPOINT_SRC,
		"Sets the client's port; the address stays the same. A value above 65535 is "
		"ignored."),
	{ 0 },
};
