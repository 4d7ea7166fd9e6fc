/* Actions on maps and ACLs of files: set-map, del-map, add-acl, del-acl (manual, http-request). */
#include <stdio.h>

#include "rule/action/act.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_live.h"

/* Values of an action's kind. */
enum { SET, ADD, DEL };

/* Stores the file name: the ref is resolved when the configuration is complete. */
static int
parse_file(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg)
{
	char *path;

	if (act_paren(r, ctx, arg, &path) < 0)
		return -1;
	r->text[0] = str_of(path);
	r->ref = v->files;
	if (!*path)
		return cfg_error(ctx, arg - 1, "'%s %s' : the name of a file is missing.",
			rule_place_name(r->place), r->action->name);
	if (!v->files)
		return cfg_error(ctx, arg - 1, "'%s %s' : files cannot be read here.",
			rule_place_name(r->place), r->action->name);
	return 0;
}

static int
parse_map_action(
	struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg, unsigned int at)
{
	int n = r->action->kind == SET ? 2 : 1;

	if (parse_file(r, v, ctx, arg) < 0 || act_need(r, ctx, arg, n) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (act_fmt(r, v, ctx, arg + i, at, &r->fmt[i]) < 0)
			return -1;
	return arg + n;
}

static int
report_map(const struct rule *r, struct rule_err *why, const char *text)
{
	why->at = 0;
	snprintf(why->text, sizeof(why->text), "'%.100s' %s", r->text[0].p, text);
	return -1;
}

static int
check_map_action(struct rule *r, void *root, struct rule_err *why)
{
	struct pattern_ref *ref = pattern_files_find(r->ref, r->text[0].p);

	(void)root;
	if (!ref && r->text[0].p[0] != '#') {
		r->ref = NULL;
		(void)report_map(r, why,
			"is looked up nowhere, neither by a converter 'map' nor by '-f' of an ACL: "
			"it is not changed");
		return 1;
	}
	if (!ref || !ref->path)
		return report_map(r, why, "is not the name of a file that is looked up");
	if (r->action->kind == ADD && ref->is_map)
		return report_map(r, why, "is a map, where keys have values: 'set-map' adds them");
	pattern_ref_guard(ref);
	r->ref = ref;
	return 0;
}

static void
map_put(const struct rule *r, struct sample_ctx *cx, struct str key)
{
	struct str value = { NULL, 0 };
	struct rule_err why;

	if (r->fmt[1] && act_write(r->fmt[1], cx, &value) < 0)
		pattern_live_refuse(r->ref);
	else if (pattern_live_put(r->ref, cx->sys, key, value, &why) < 0)
		pattern_live_refuse(r->ref);
}

/* An invalid or too long value is counted there, and the rules continue. */
static enum rule_result
run_map_action(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena);
	struct str key;

	(void)out;
	if (!r->ref)
		return RULE_CONT;
	if (act_write(r->fmt[0], cx, &key) < 0)
		pattern_live_refuse(r->ref);
	else if (r->action->kind == DEL)
		(void)pattern_live_del(r->ref, cx->sys, key);
	else
		map_put(r, cx, key);
	arena_release(cx->arena, mark);
	return RULE_CONT;
}

#define REQ_RES (RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE))

#define ACTION(n, in, what, args, text)                                              \
	{                                                                            \
		.name = n, .places = in, .paren = 1, .parse = parse_map_action,      \
		.run = run_map_action, .check = check_map_action, .inner = "<file>", \
		.syntax = args, .doc = text, .kind = what                            \
	}

const struct rule_action rule_map_actions[] = {
	ACTION("set-map", RULE_IN_HTTP, SET, "<key fmt> <value fmt>",
		"Sets the value of a key in a map: of all its entries, or of a new one."),
	ACTION("del-map", RULE_IN_HTTP, DEL, "<key fmt>",
		"Removes all entries of a key from a map."),
	ACTION("add-acl", REQ_RES, ADD, "<key fmt>",
		"Adds a pattern to an ACL's file if it is not there yet."),
	ACTION("del-acl", RULE_IN_HTTP, DEL, "<key fmt>",
		"Removes a pattern from an ACL's file."),
	{ 0 },
};
