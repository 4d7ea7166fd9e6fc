/* Action do-resolve: the request waits until a name is looked up. Parsed on the main thread, run on
 * the session's worker; the session owns the question. */
#include "proxy/sample/act_resolve.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "dns/resolvers.h"
#include "proxy/model/dns_ask.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/model/session.h"
#include "proxy/model/stream_extras.h"
#include "rule/action/act.h"
#include "rule/sample/args.h"
#include "rule/sample/var.h"

/* The rule's num[] and text[]. */
enum { AT_SCOPE, AT_ID, AT_TYPE };
enum { TEXT_SECTION };

/* A wait longer than any lookup; the lookup ends earlier, with an answer or without one. */
#define WAIT_SPARE_MS 1000

/* "txn.ip,res,ipv4": the text is split in place. */
static int
parse_resolve_paren(struct rule *r, struct cfg_ctx *ctx, int arg, char *text)
{
	char *rest = text, *var = strsep(&rest, ","), *section = strsep(&rest, ",");
	const char *family = strsep(&rest, ","), *why = NULL;
	struct var_name name;

	if (!section || !*section || rest)
		return cfg_error(ctx, arg - 1, "'%s do-resolve' expects %s.",
			rule_place_name(r->place), r->action->inner);
	if (var_name_parse(str_of(var), &name, &why) < 0)
		return cfg_error(ctx, arg - 1, "'%s do-resolve' : variable '%s': %s.",
			rule_place_name(r->place), var, why);
	r->num[AT_SCOPE] = name.scope;
	r->num[AT_ID] = (int64_t)name.id;
	r->num[AT_TYPE] = DNS_AAAA;
	if (family && strcmp(family, "ipv4") == 0)
		r->num[AT_TYPE] = DNS_A;
	else if (family && *family && strcmp(family, "ipv6") != 0)
		return cfg_error(ctx, arg - 1,
			"'%s do-resolve' : unknown family '%.20s', there are ipv4 and ipv6.",
			rule_place_name(r->place), family);
	r->text[TEXT_SECTION].p = mem_strdup(section);
	if (!r->text[TEXT_SECTION].p)
		return cfg_nomem(ctx);
	r->text[TEXT_SECTION].len = strlen(section);
	return 0;
}

static int
parse_resolve(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	char *text;
	int rc;

	if (act_paren(r, ctx, arg, &text) < 0)
		return -1;
	rc = parse_resolve_paren(r, ctx, arg, text);
	mem_free(text);
	if (rc < 0 || act_need(r, ctx, arg, 1) < 0 || act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	return arg + 1;
}

static int
check_resolve(struct rule *r, void *root, struct rule_err *why)
{
	struct resolvers *res = proxies_find_resolvers(root, r->text[TEXT_SECTION].p);

	if (!res)
		return rule_fail(why, 0, -1, "unable to find resolvers section '%s'",
			r->text[TEXT_SECTION].p);
	res->is_asked = 1;
	r->ref = res;
	return 0;
}

/* --- the wait --- */

static void
store_answer(const struct rule *r, struct sample_ctx *cx, const struct addr *a)
{
	struct var_name name = { (enum var_scope)r->num[AT_SCOPE], (uint64_t)r->num[AT_ID] };
	struct sample s = { .type = SAMPLE_IPV4 };

	if (addr_family(a) == AF_INET) {
		s.u.ipv4 = a->u.in.sin_addr;
	} else if (addr_family(a) == AF_INET6) {
		s.type = SAMPLE_IPV6;
		s.u.ipv6 = a->u.in6.sin6_addr;
	} else {
		return;
	}
	/* Without memory it is not set, as after a failure. */
	(void)!var_store(cx, name, &s);
}

/* The longest that a lookup takes: each try may ask for both types. */
static unsigned int
longest_wait(const struct resolvers *res)
{
	uint64_t ms = 2 * (uint64_t)res->retries * res->retry_ms + WAIT_SPARE_MS;

	return (unsigned int)MIN(ms, CFG_TIME_MAX_MS);
}

/* The name's question, or NULL: there is no name, or nothing can be asked. */
static struct dns_ask *
ask_for_name(const struct rule *r, struct sample_ctx *cx, struct stream *s)
{
	size_t mark = arena_mark(cx->arena);
	struct dns_ask *a = NULL;
	char name[DNS_NAME_MAX + 1];
	struct sample found;

	if (rule_expr_eval_as(r->expr, cx, SAMPLE_STR, &found) == 1 && found.u.str.len &&
		found.u.str.len < sizeof(name) && !memchr(found.u.str.p, '\0', found.u.str.len)) {
		memcpy(name, found.u.str.p, found.u.str.len);
		name[found.u.str.len] = '\0';
		if (stream_extras_get(s))
			a = dns_ask_new(s, r, r->ref, name, (enum dns_type)r->num[AT_TYPE]);
	}
	arena_release(cx->arena, mark);
	return a;
}

/* In mode tcp all rules run again whenever data arrives, so that the answer is kept. */
static enum rule_result
take_resolved(const struct rule *r, struct sample_ctx *cx, struct stream *s, struct dns_ask *a)
{
	store_answer(r, cx, &a->addr);
	if (s->txn) {
		s->txn->wait_until_ms = 0;
		dns_ask_drop(s, a);
	}
	return RULE_CONT;
}

static enum rule_result
run_resolve(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	struct dns_ask *a = dns_ask_find(s, r);

	if (a && a->is_done)
		return take_resolved(r, cx, s, a);
	if (!a && !ask_for_name(r, cx, s))
		return RULE_CONT;
	out->awaits_answer = 1;
	out->wait_ms = longest_wait(r->ref);
	return RULE_YIELD;
}

const struct rule_action resolve_actions[] = {
	{ .name = "do-resolve",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(TCP_REQ_CONTENT),
		.paren = 1,
		.inner = "<var>,<resolvers>,[ipv4,ipv6]",
		.parse = parse_resolve,
		.run = run_resolve,
		.check = check_resolve,
		.syntax = "<expr>",
		.doc = "Looks up the host name that the expression gives, with the name servers "
		       "of the section, and stores an address of it in the variable; the "
		       "preferred type is IPv6 unless the line says ipv4. The client waits. "
		       "After a failure the variable is not set." },
	{ 0 },
};
