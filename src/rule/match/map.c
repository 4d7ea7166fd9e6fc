/* The map converters. Parsed on the main thread, run by workers. Where rules change the map,
 * the value is copied while the guard is held. */
#include "rule/match/map.h"

#include <string.h>

#include "base/sbuf.h"
#include "rule/match/pattern_entry.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_key.h"
#include "rule/match/pattern_net.h"

/* A converter's `kind`: the method, and whether \1 etc. in values are replaced by groups. */
#define KIND(method, groups) ((intptr_t)(PATTERN_##method) << 1 | (groups))

static enum pattern_method
method_of(const struct rule_args *a)
{
	return (enum pattern_method)(a->kind >> 1);
}

/* --- at load --- */

/* The default, with the type of the values. */
static int
take_default(struct rule_args *a, enum sample_type out, const char **why)
{
	struct rule_arg *d = &a->arg[1];
	struct sample s;

	a->bad = 1;
	if (d->type == ARG_END || out == SAMPLE_STR)
		return 0;
	if (out == SAMPLE_SINT) {
		*why = "the default is not a number";
		return pattern_number_parse(d->text, &d->num);
	}
	*why = "the default is not an address";
	if (pattern_address_parse(d->text, &s) < 0)
		return -1;
	d->type = s.type == SAMPLE_IPV6 ? ARG_IPV6 : ARG_IPV4;
	if (s.type == SAMPLE_IPV6)
		d->u.ipv6 = s.u.ipv6;
	else
		d->u.ipv4 = s.u.ipv4;
	return 0;
}

static int
init_map(struct rule_args *a, const struct rule_vocab *v, enum sample_type out, const char **why)
{
	struct pattern_file_use use = {
		.path = a->arg[0].text.p,
		.method = method_of(a),
		.out = out,
		.flags = PATTERN_NO_DNS,
		.two_columns = 1,
	};

	a->bad = 0;
	if (!v->files) {
		*why = "files cannot be read here";
		return -1;
	}
	a->arg[0].ref = (void *)(uintptr_t)pattern_files_get(v->files, &use);
	if (!a->arg[0].ref) {
		*why = v->files->why.text;
		return -1;
	}
	return take_default(a, out, why);
}

static int
init_to_str(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	return init_map(a, v, SAMPLE_STR, why);
}

static int
init_to_int(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	return init_map(a, v, SAMPLE_SINT, why);
}

static int
init_to_ip(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	return init_map(a, v, SAMPLE_ADDR, why);
}

/* --- at run time --- */

static int
use_default(const struct rule_args *a, const struct pattern_set *p, struct sample *s)
{
	const struct rule_arg *d = &a->arg[1];

	if (d->type == ARG_END)
		return 0;
	if (p->out == SAMPLE_SINT) {
		s->type = SAMPLE_SINT;
		s->u.sint = d->num;
	} else if (d->type == ARG_IPV4) {
		s->type = SAMPLE_IPV4;
		s->u.ipv4 = d->u.ipv4;
	} else if (d->type == ARG_IPV6) {
		s->type = SAMPLE_IPV6;
		s->u.ipv6 = d->u.ipv6;
	} else {
		s->type = SAMPLE_STR;
		s->u.str = d->text;
	}
	return 1;
}

/* Makes a sample of the text written to `b`, in the rest of the arena. */
static int
take_map_text(struct arena *arena, struct sbuf *b, struct sample *s)
{
	char *p;

	if (b->failed) {
		arena->refused++;
		return 0;
	}
	p = arena_get(arena, b->len);
	if (!p)
		return 0;
	s->type = SAMPLE_STR;
	s->u.str = (struct str){ p, b->len };
	return 1;
}

/* The entry's value with its groups replaced. */
static int
fill_groups(const struct pattern *hit, const struct regex_match *groups, struct arena *arena,
	struct sample *s)
{
	struct sbuf b;

	if (arena->used == arena->cap)
		return 0;
	sbuf_init_fixed(&b, arena->p + arena->used, arena->cap - arena->used);
	regex_subst(pattern_entry_value(pattern_entry_of(hit)), groups, &b);
	return take_map_text(arena, &b, s);
}

/* The entry's value, copied if the entry may be removed once the guard is released. */
static int
take_value(const struct pattern_set *p, const struct pattern *hit, struct arena *arena,
	struct sample *s)
{
	struct pattern_data d = pattern_value(hit);

	s->type = d.type;
	s->u = d.u;
	if (!p->guard || s->type != SAMPLE_STR)
		return 1;
	s->u.str = arena_copy(arena, s->u.str);
	return s->u.str.p != NULL;
}

static int
conv_map(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct pattern_set *p = a->arg[0].ref;
	const struct pattern *hit;
	struct regex_match groups;
	int found = 0;

	pattern_set_look(p, cx->sys);
	hit = pattern_match(p, s, cx, &groups);
	if (hit)
		found = a->kind & 1 ? fill_groups(hit, &groups, cx->arena, s)
				    : take_value(p, hit, cx->arena, s);
	pattern_set_looked(p);
	return hit ? found : use_default(a, p, s);
}

#define MAP(n, in_type, out_type, initialise, method, groups, text, ...)         \
	{                                                                        \
		.name = n, .arg = { ARG_MAP, ARG_STR }, .min = 1, .in = in_type, \
		.out = out_type, .conv = conv_map, .init = initialise,           \
		.syntax = "<file>[,<default>]", .doc = text,                     \
		.kind = KIND(method, groups), __VA_ARGS__                        \
	}
/* The three value types of a method. */
#define MAPS(n, in_type, method, what)                                                    \
	MAP("map_" n, in_type, SAMPLE_STR, init_to_str, method, 0,                        \
		"The text that the file has for " what "."),                              \
		MAP("map_" n "_str", in_type, SAMPLE_STR, init_to_str, method, 0,         \
			"The same as map_" n "."),                                        \
		MAP("map_" n "_int", in_type, SAMPLE_SINT, init_to_int, method, 0,        \
			"The number that the file has for " what "."),                    \
		MAP("map_" n "_ip", in_type, SAMPLE_ADDR, init_to_ip, method, 0,          \
			"The address that the file has for " what ".")

const struct rule_conv rule_map_convs[] = {
	MAP("map", SAMPLE_STR, SAMPLE_STR, init_to_str, STR, 0, "The same as map_str.",
		.example = "req.hdr(host),lower,map(/etc/tacit/hosts.map,www)"),
	MAPS("str", SAMPLE_STR, STR, "it"),
	MAPS("beg", SAMPLE_STR, BEG, "the longest key that it begins with"),
	MAPS("end", SAMPLE_STR, END, "the first key that it ends with"),
	MAPS("sub", SAMPLE_STR, SUB, "the first key that is found in it"),
	MAPS("dir", SAMPLE_STR, DIR, "the first key that is a part of the path"),
	MAPS("dom", SAMPLE_STR, DOM, "the first key that is a part of the domain"),
	MAPS("reg", SAMPLE_STR, REG, "the first regex that matches it"),
	MAP("map_regm", SAMPLE_STR, SAMPLE_STR, init_to_str, REG, 1,
		"The same as map_reg, with \\1 to \\9 in the value replaced by the groups.",
		.example = "path,map_regm(/etc/tacit/moved.map)"),
	MAPS("int", SAMPLE_SINT, INT, "the number, or the first range that holds it"),
	MAPS("ip", SAMPLE_ADDR, IP, "the longest network that holds the address"),
	{ 0 },
};
