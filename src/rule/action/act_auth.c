/* The action auth: asks the client for a user and a password (manual, http-request auth; RFC 9110,
 * 11.6.1; RFC 7617). */
#include "rule/action/act.h"
#include "base/sbuf.h"

#define REALM_MAX 512
/* Each byte may need a backslash. */
#define CHALLENGE_MAX (2 * REALM_MAX + sizeof("Basic realm=\"\""))

static int
parse_auth(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	(void)v;
	(void)at;
	if (!act_is(ctx, arg, "realm"))
		return arg;
	if (act_need(r, ctx, arg, 2) < 0)
		return -1;
	if (!act_is_value(str_of(cfg_arg(ctx, arg + 1))))
		return cfg_error(ctx, arg + 1,
			"'%s auth' : control characters are not allowed in a header.",
			rule_place_name(r->place));
	if (strlen(cfg_arg(ctx, arg + 1)) > REALM_MAX)
		return cfg_error(ctx, arg + 1, "'%s auth' : more than %d bytes.",
			rule_place_name(r->place), REALM_MAX);
	return act_text(ctx, arg + 1, &r->text[0]) < 0 ? -1 : arg + 2;
}

/* As a quoted-string (RFC 9110, 5.6.4). */
static struct str
basic_challenge(const char *realm, struct arena *a)
{
	char text[CHALLENGE_MAX];
	struct sbuf b;

	sbuf_init_fixed(&b, text, sizeof(text));
	sbuf_adds(&b, "Basic realm=\"");
	for (; *realm; realm++) {
		if (*realm == '"' || *realm == '\\')
			sbuf_addc(&b, '\\');
		sbuf_addc(&b, *realm);
	}
	sbuf_addc(&b, '"');
	if (b.failed)
		return (struct str){ NULL, 0 };
	return arena_copy(a, (struct str){ b.p, b.len });
}

/* As in HAProxy's logs it is not counted as an error. */
void
act_challenge(const char *realm, const struct sample_ctx *cx, struct rule_outcome *out)
{
	out->value = basic_challenge(realm, cx->arena);
	out->has_answer = 0;
	out->what = RULE_END_ERROR;
	out->status = 500;
	if (!out->value.p)
		return;
	out->what = RULE_END_REPLY;
	out->is_challenge = 1;
	out->status = cx->is_proxied ? 407 : 401;
	out->field = cx->is_proxied ? STR("Proxy-Authenticate") : STR("WWW-Authenticate");
}

static enum rule_result
run_auth(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	act_challenge(r->text[0].p ? r->text[0].p : out->realm, cx, out);
	return RULE_FINAL;
}

const struct rule_action rule_auth_actions[] = {
	{ .name = "auth",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_auth,
		.ends = 1,
		.run = run_auth,
		.syntax = "[realm <realm>]",
		.doc = "Responds with 401, which asks for a user and password of this realm; the "
			"default realm is the proxy's name, for statistics 'HAProxy Statistics'. "
			"With 'option http-use-proxy-header' the response to a proxied request is "
			"407." },
	{ 0 },
};
