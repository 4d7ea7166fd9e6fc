/* Actions that end a list or a message: allow, accept, deny, tarpit, reject, silent-drop,
 * return. */
#include "rule/action/act.h"
#include "rule/action/answer_parse.h"

static int
parse_end_answer(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const char *code_word)
{
	struct answer *a;
	int next = answer_parse(r, v, ctx, arg, at, status, code_word, &a, &status);

	if (next < 0)
		return -1;
	r->ref = a;
	r->num[0] = status;
	return next;
}

/* A denied response is the server's fault. */
static int
parse_deny(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, r->place == RULE_HTTP_REQUEST ? 403 : 502,
		"deny_status");
}

static int
parse_tarpit(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, 500, "deny_status");
}

static int
parse_return(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, 200, NULL);
}

/* kind: enum rule_end. */
static enum rule_result
run_answer(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	out->what = (enum rule_end)r->action->kind;
	out->status = (unsigned int)r->num[0];
	out->has_answer = 0;
	if (!r->ref || answer_write(r->ref, cx, out) == 0)
		return RULE_FINAL;
	return answer_failed(out);
}

static enum rule_result
run_end(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->what = (enum rule_end)r->action->kind;
	return RULE_FINAL;
}

static enum rule_result
run_stop(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	(void)out;
	return RULE_STOP;
}

static void
free_answer(struct rule *r)
{
	struct answer *a = r->ref;

	answer_free(&a);
}

static int
check_answer(struct rule *r, void *root, struct rule_err *why)
{
	return r->ref ? answer_check(r->ref, root, why) : 0;
}

#define PAYLOAD                                                                    \
	"[content-type <type>] [default-errorfiles|errorfile <file>|"              \
	"errorfiles <section>|file <file>|"                                        \
	"lf-file <file>|string <text>|lf-string <fmt>] [hdr <name> <fmt>]..."

const struct rule_action rule_end_actions[] = {
	{ .name = "allow",
		.places = RULE_IN_HTTP,
		.ends = 1,
		.run = run_stop,
		.doc = "Stops evaluating the rules; the message is forwarded." },
	{ .name = "accept",
		.places = RULE_IN_TCP,
		.ends = 1,
		.run = run_stop,
		.doc = "Stops evaluating the rules; the connection is accepted." },
	{ .name = "deny",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_deny,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status|deny_status <status>] " PAYLOAD,
		.doc = "Responds with an error.",
		.kind = RULE_END_DENY },
	{ .name = "tarpit",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_tarpit,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status|deny_status <status>] " PAYLOAD,
		.doc = "Responds with an error after timeout tarpit.",
		.kind = RULE_END_TARPIT },
	{ .name = "return",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_return,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status <status>] " PAYLOAD,
		.doc = "Sends a response.",
		.kind = RULE_END_REPLY },
	{ .name = "reject",
		.places = RULE_IN_TCP | RULE_IN(HTTP_REQUEST),
		.ends = 1,
		.run = run_end,
		.doc = "Closes the connection without a response.",
		.kind = RULE_END_REJECT },
	{ .name = "silent-drop",
		.places = RULE_IN_TCP | RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.ends = 1,
		.run = run_end,
		.doc = "Closes the connection without notifying the client.",
		.kind = RULE_END_DROP },
	{ 0 },
};
