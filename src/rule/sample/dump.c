/* The words of rules and formats as text: -dK and tacit.cfg(5). Runs at start only. */
#include "rule/sample/dump.h"

#include <stdio.h>

#include "base/compiler.h"

/* The next one after `after` in byte order, NULL at the end: tables are short, so no sorted copy is
 * allocated. */
static const struct rule_fetch *
next_fetch(const struct rule_vocab *v, const char *after)
{
	const struct rule_fetch *best = NULL;

	for (unsigned int i = 0; i < v->n_fetch; i++)
		for (const struct rule_fetch *f = v->fetch[i]; f->name; f++)
			if ((!after || strcmp(f->name, after) > 0) &&
				(!best || strcmp(f->name, best->name) < 0))
				best = f;
	return best;
}

static const struct rule_conv *
next_conv(const struct rule_vocab *v, const char *after)
{
	const struct rule_conv *best = NULL;

	for (unsigned int i = 0; i < v->n_conv; i++)
		for (const struct rule_conv *c = v->conv[i]; c->name; c++)
			if ((!after || strcmp(c->name, after) > 0) &&
				(!best || strcmp(c->name, best->name) < 0))
				best = c;
	return best;
}

#define EACH_FETCH(f, v) \
	for (const struct rule_fetch *f = next_fetch(v, NULL); f; f = next_fetch(v, f->name))
#define EACH_CONV(c, v) \
	for (const struct rule_conv *c = next_conv(v, NULL); c; c = next_conv(v, c->name))

static void
put_call(struct sbuf *out, const char *name, const char *syntax)
{
	sbuf_adds(out, name);
	if (syntax)
		sbuf_addf(out, "(%s)", syntax);
}

void
rule_dump_fetches(const struct rule_vocab *v, struct sbuf *out)
{
	EACH_FETCH (f, v) {
		put_call(out, f->name, f->syntax);
		sbuf_addf(out, ": %s\n", sample_type_name(f->out));
	}
}

void
rule_dump_convs(const struct rule_vocab *v, struct sbuf *out)
{
	EACH_CONV (c, v) {
		put_call(out, c->name, c->syntax);
		sbuf_addf(out, ": %s => %s\n", sample_type_name(c->out), sample_type_name(c->in));
	}
}

/* --- entries of the manual --- */

static void
each_alias(const struct rule_vocab *v, cfg_entry_fn *fn, void *arg)
{
	char name[32];
	struct cfg_entry e = { .heading = "LOG VARIABLES",
		.intro = "Variables of log formats, as in\n.BR %ci:%cp .\n"
			 "Missing values are written as a dash or \\-1.\n",
		.name = name,
		.place = "A variable of formats." };

	for (const struct rule_alias *a = v->aliases; a && a->name; a++) {
		if (!a->write)
			continue;
		snprintf(name, sizeof(name), "%%%s", a->name);
		e.doc = a->doc;
		fn(arg, &e);
	}
}

/* Appends the type, and the names with a matching method that ACLs may use. */
static void
put_fetch_place(struct sbuf *out, const struct rule_fetch *f)
{
	static const char *const ends[] = { "beg", "dir", "dom", "end", "len", "reg", "sub" };

	sbuf_addf(out, "A fetch: %s.", sample_type_name(f->out));
	for (size_t i = 0; f->derives && i < ARRAY_LEN(ends); i++)
		sbuf_addf(out, "%s%s_%s", i ? ", " : " In ACLs also ", f->name, ends[i]);
	if (f->derives)
		sbuf_addc(out, '.');
}

void
rule_sample_entries(const struct rule_vocab *v, cfg_entry_fn *fn, void *arg)
{
	char types[64];
	struct cfg_entry e = { .heading = "FETCHES",
		.intro = "Values that rules and formats can use, as in\n.BR req.hdr(host) .\n",
		.in_parens = 1 };
	struct sbuf place;

	sbuf_init(&place, 0);
	each_alias(v, fn, arg);
	EACH_FETCH (f, v) {
		e.name = f->name;
		e.syntax = f->syntax;
		e.doc = f->doc;
		put_fetch_place(&place, f);
		e.place = place.p;
		fn(arg, &e);
		sbuf_reset(&place);
	}
	sbuf_fini(&place);
	e.heading = "CONVERTERS";
	e.intro = "Functions that change a value, after a comma, as in\n"
		  ".BR req.hdr(host),lower .\n";
	EACH_CONV (c, v) {
		e.name = c->name;
		e.syntax = c->syntax;
		e.doc = c->doc;
		e.example = c->example;
		snprintf(types, sizeof(types), "A converter: %s to %s.", sample_type_name(c->in),
			sample_type_name(c->out));
		e.place = types;
		fn(arg, &e);
	}
}

/* --- names that are not supported --- */

int
rule_is_known(struct str name)
{
	static const char *const names[] = {
#define KNOWN_FETCH(name) name,
#define KNOWN_CONV(name) name,
#include "rule/sample/known.tbl.h"
#undef KNOWN_FETCH
#undef KNOWN_CONV
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(str_of(names[i]), name))
			return 1;
	return 0;
}
