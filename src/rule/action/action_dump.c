/* Actions, matching methods and predefined ACLs as text: tacit.cfg(5). Runs at start only. */
#include "rule/action/action_dump.h"

#include <stdio.h>
#include <string.h>

#include "rule/action/action.h"
#include "rule/match/acl.h"

#define NAME_MAX_LEN 64

static const char *const place_names[RULE_PLACES] = {
	[RULE_TCP_CONNECTION] = "tcp-request connection",
	[RULE_TCP_SESSION] = "tcp-request session",
	[RULE_TCP_REQ_CONTENT] = "tcp-request content",
	[RULE_TCP_RES_CONTENT] = "tcp-response content",
	[RULE_HTTP_REQUEST] = "http-request",
	[RULE_HTTP_RESPONSE] = "http-response",
	[RULE_HTTP_AFTER_RESPONSE] = "http-after-response",
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
	const char *sep = "In ";

	for (unsigned int p = 0; p < RULE_PLACES; p++) {
		if (!(places & 1u << p))
			continue;
		sbuf_addf(out, "%s%s", sep, place_names[p]);
		sep = ", ";
	}
}

/* A name may have separate rows for several places. */
static void
each_row(const struct rule_vocab *v, const char *name, cfg_entry_fn *fn, void *arg)
{
	struct cfg_entry e = { .heading = "ACTIONS",
		.intro = "Actions of rules, as in\n"
			 ".BR \"http\\-request set\\-header X\\-Client %[src]\" .\n" };

	for (unsigned int i = 0; i < v->n_action; i++)
		for (const struct rule_action *a = v->action[i]; a->name; a++) {
			char full[NAME_MAX_LEN];
			struct sbuf places;

			if (strcmp(a->name, name) != 0)
				continue;
			snprintf(full, sizeof(full), a->inner ? "%s(%s)" : "%s%s", a->name,
				a->inner ? a->inner : a->is_numbered ? "<n>" : "");
			sbuf_init(&places, 0);
			put_places(&places, a->places);
			e.name = full;
			e.syntax = a->syntax;
			e.doc = a->doc;
			e.values = a->values;
			e.example = a->example;
			e.place = places.p;
			fn(arg, &e);
			sbuf_fini(&places);
		}
}

static void
each_method(cfg_entry_fn *fn, void *arg)
{
	struct cfg_entry e = { .heading = "MATCHING METHODS",
		.intro = "Methods of comparing a sample with values, as in\n"
			 ".BR \"path \\-m beg /api\" .\n"
			 "The default depends on the type of the sample.\n",
		.place = "A matching method, behind -m." };

	for (unsigned int m = 0; m < PATTERN_METHODS; m++) {
		e.name = pattern_method_name((enum pattern_method)m);
		e.doc = pattern_method_doc((enum pattern_method)m);
		if (e.name)
			fn(arg, &e);
	}
}

static void
each_predefined(cfg_entry_fn *fn, void *arg)
{
	char line[256];
	struct cfg_entry e = { .heading = "PREDEFINED ACLS",
		.intro = "Names that any condition can use.\n",
		.doc = line,
		.place = "A predefined ACL." };

	for (size_t i = 0; (e.name = rule_acl_predefined_name(i)); i++) {
		const char *const *words = rule_acl_predefined(e.name);
		size_t n = 0;

		line[0] = '\0';
		for (; *words && n < sizeof(line); words++)
			n += (size_t)snprintf(
				line + n, sizeof(line) - n, "%s%s", n ? " " : "", *words);
		fn(arg, &e);
	}
}

void
rule_action_entries(const struct rule_vocab *v, cfg_entry_fn *fn, void *arg)
{
	for (const struct rule_action *a = next_action(v, NULL); a; a = next_action(v, a))
		each_row(v, a->name, fn, arg);
	each_method(fn, arg);
	each_predefined(fn, arg);
}

/* --- names that are not supported --- */

int
rule_is_known_action(struct str name)
{
	static const char *const names[] = {
#define ACTION_NOT(name) name,
#include "rule/action/action_not.tbl.h"
#undef ACTION_NOT
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(str_of(names[i]), name))
			return 1;
	return 0;
}
