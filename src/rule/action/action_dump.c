/* Actions, matching methods and predefined ACLs as text: tacit.cfg(5). Runs at start only. */
#include "rule/action/action_dump.h"

#include <stdio.h>
#include <string.h>

#include "rule/action/action.h"
#include "rule/match/acl.h"
#include "rule/sample/dump.h"

#define NAME_MAX_LEN 64

static const char *const place_names[RULE_PLACES] = {
	[RULE_TCP_CONNECTION] = "tcp\\-request connection",
	[RULE_TCP_SESSION] = "tcp\\-request session",
	[RULE_TCP_REQ_CONTENT] = "tcp\\-request content",
	[RULE_TCP_RES_CONTENT] = "tcp\\-response content",
	[RULE_HTTP_REQUEST] = "http\\-request",
	[RULE_HTTP_RESPONSE] = "http\\-response",
	[RULE_HTTP_AFTER_RESPONSE] = "http\\-after\\-response",
};

/* The action after `after` in byte order, or NULL; of several rows with this name in a table the
 * first one. */
static const struct rule_action *
next_action(const struct rule_vocab *v, const struct rule_action *after)
{
	const struct rule_action *best = NULL;

	for (unsigned int i = 0; i < v->n_action; i++)
		for (const struct rule_action *a = v->action[i]; a->name; a++)
			if ((!after || strcmp(a->name, after->name) > 0) &&
				(!best || strcmp(a->name, best->name) < 0))
				best = a;
	return best;
}

static void
put_places(struct sbuf *out, unsigned int places)
{
	const char *sep = ".br\nIn ";

	for (unsigned int p = 0; p < RULE_PLACES; p++) {
		if (!(places & 1u << p))
			continue;
		sbuf_addf(out, "%s%s", sep, place_names[p]);
		sep = ", ";
	}
	sbuf_adds(out, ".\n");
}

/* A name may have separate rows for several places. */
static void
put_action(const struct rule_vocab *v, const char *name, struct sbuf *out)
{
	for (unsigned int i = 0; i < v->n_action; i++)
		for (const struct rule_action *a = v->action[i]; a->name; a++) {
			char full[NAME_MAX_LEN];

			if (strcmp(a->name, name) != 0)
				continue;
			snprintf(full, sizeof(full), a->inner ? "%s(%s)" : "%s%s", a->name,
				a->inner ? a->inner : "");
			rule_dump_entry(out, full, a->syntax, a->doc);
			put_places(out, a->places);
		}
}

static void
put_methods(struct sbuf *out)
{
	sbuf_adds(out, ".SH MATCHING METHODS\nMethods of comparing a sample with values, as in\n"
		       ".BR \"path \\-m beg /api\" .\n"
		       "The default depends on the type of the sample.\n");
	for (unsigned int m = 0; m < PATTERN_METHODS; m++)
		if (pattern_method_name((enum pattern_method)m))
			rule_dump_entry(out, pattern_method_name((enum pattern_method)m), NULL,
				pattern_method_doc((enum pattern_method)m));
}

static void
put_predefined(struct sbuf *out)
{
	char line[256];

	sbuf_adds(out, ".SH PREDEFINED ACLS\nNames that any condition can use.\n");
	for (size_t i = 0; rule_acl_predefined_name(i); i++) {
		const char *name = rule_acl_predefined_name(i);
		const char *const *words = rule_acl_predefined(name);
		size_t n = 0;

		line[0] = '\0';
		for (; *words && n < sizeof(line); words++)
			n += (size_t)snprintf(
				line + n, sizeof(line) - n, "%s%s", n ? " " : "", *words);
		rule_dump_entry(out, name, NULL, line);
	}
}

void
rule_dump_actions_man(const struct rule_vocab *v, struct sbuf *out)
{
	sbuf_adds(out, ".SH ACTIONS\nActions of rules, as in\n"
		       ".BR \"http\\-request set\\-header X\\-Client %[src]\" .\n");
	for (const struct rule_action *a = next_action(v, NULL); a; a = next_action(v, a))
		put_action(v, a->name, out);
	put_methods(out);
	put_predefined(out);
}
