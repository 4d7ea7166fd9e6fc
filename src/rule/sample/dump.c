/* The words of rules and formats as text: -dK and tacit.cfg(5). Runs at start only. */
#include "rule/sample/dump.h"

#include <stdio.h>

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

/* --- roff --- */

/* No line may start with a control character, and '-' must not become a hyphen. */
static void
put_roff_text(struct sbuf *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		sbuf_adds(out, "\\&");
	for (; *s; s++) {
		if (*s == '\\')
			sbuf_adds(out, "\\e");
		else if (*s == '-')
			sbuf_adds(out, "\\-");
		else
			sbuf_addc(out, *s);
	}
}

static void
put_entry(struct sbuf *out, const char *name, const char *before, const char *syntax,
	const char *behind, const char *doc)
{
	sbuf_adds(out, ".TP\n\\fB");
	put_roff_text(out, name);
	sbuf_adds(out, "\\fR");
	if (syntax) {
		sbuf_addf(out, "%s\\fI", before);
		put_roff_text(out, syntax);
		sbuf_addf(out, "\\fR%s", behind);
	}
	sbuf_addc(out, '\n');
	put_roff_text(out, doc);
	sbuf_addc(out, '\n');
}

void
rule_dump_entry(struct sbuf *out, const char *name, const char *syntax, const char *doc)
{
	put_entry(out, name, " ", syntax, "", doc);
}

static void
put_man_rule_entry(struct sbuf *out, const char *name, const char *syntax, const char *doc)
{
	put_entry(out, name, "(", syntax, ")", doc);
}

static void
man_aliases(const struct rule_vocab *v, struct sbuf *out)
{
	char name[32];

	sbuf_adds(out, ".SH LOG VARIABLES\nVariables of log formats, as in\n"
		       ".BR %ci:%cp .\n"
		       "Missing values are written as a dash or \\-1.\n");
	for (const struct rule_alias *a = v->aliases; a && a->name; a++) {
		if (!a->write)
			continue;
		snprintf(name, sizeof(name), "%%%s", a->name);
		rule_dump_entry(out, name, NULL, a->doc);
	}
}

void
rule_dump_man(const struct rule_vocab *v, struct sbuf *out)
{
	man_aliases(v, out);
	sbuf_adds(out, ".SH FETCHES\nValues that rules and formats can use, as in\n"
		       ".BR req.hdr(host) .\n");
	EACH_FETCH (f, v) {
		put_man_rule_entry(out, f->name, f->syntax, f->doc);
		sbuf_addf(out, ".br\n(%s)\n", sample_type_name(f->out));
	}
	sbuf_adds(out, ".SH CONVERTERS\nFunctions that change a value, after a comma, as in\n"
		       ".BR req.hdr(host),lower .\n");
	EACH_CONV (c, v) {
		put_man_rule_entry(out, c->name, c->syntax, c->doc);
		sbuf_addf(out, ".br\n(%s to %s)\n", sample_type_name(c->in),
			sample_type_name(c->out));
	}
}
