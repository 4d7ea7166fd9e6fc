/* Entries of the manual as roff and as text. Main thread. */
#include "cfg/entry.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

enum { TEXT_COLUMNS = 78, TEXT_INDENT = 4, TEXT_NESTED = 8, TEXT_VALUE = 24 };

/* --- versions and examples that stand in tables of their own --- */

/* A text that these words of a heading have in common. */
struct note {
	const char *heading, *names, *text;
};

static const struct note since[] = {
#define SINCE(heading, version, names) { heading, names, version },
#include "cfg/since.tbl.h"
#undef SINCE
};

static const struct note examples[] = {
#define EXAMPLE(heading, names, lines) { heading, names, lines },
#include "cfg/example.tbl.h"
#undef EXAMPLE
};

int
cfg_entry_is_listed(const char *patterns, const char *name)
{
	char one[64];

	for (size_t n; *patterns; patterns += n + strspn(patterns + n, ", ")) {
		n = strcspn(patterns, ",");
		snprintf(one, sizeof(one), "%.*s", (int)n, patterns);
		if (fnmatch(one, name, 0) == 0)
			return 1;
	}
	return 0;
}

/* The text of the first of n notes that is for the entry, NULL if there is none. */
static const char *
note_of(const struct note *notes, size_t n, const struct cfg_entry *e)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(e->name, "(<"), e->name);
	for (size_t i = 0; e->heading && i < n; i++)
		if (strcmp(notes[i].heading, e->heading) == 0 &&
			cfg_entry_is_listed(notes[i].names, name))
			return notes[i].text;
	return NULL;
}

/* Appends the lines of its example, if there is one. */
static void
put_example_of(struct sbuf *out, const struct cfg_entry *e)
{
	const char *s = e->example ? e->example : note_of(examples, ARRAY_LEN(examples), e);

	for (; s && *s; s++)
		if (*s == '@' && !e->example)
			sbuf_adds(out, e->name);
		else
			sbuf_addc(out, *s);
}

/* Appends a line about the versions of HAProxy that have the word, if they are known. */
static void
put_first_version(struct sbuf *out, const struct cfg_entry *e, int indent)
{
	const char *v = note_of(since, ARRAY_LEN(since), e);

	if (v && strcmp(v, "-") == 0)
		sbuf_addf(out, "%*sNot in HAProxy.\n", indent, "");
	else if (v)
		sbuf_addf(out, "%*sIn HAProxy since %s%s.\n", indent, "", v,
			strcmp(v, "1.3") == 0 ? " or before" : "");
}

/* --- roff --- */

/* Appends text for roff: no line may start with a control character, and '-' must not become a
 * hyphen. */
static void
put_roff(struct sbuf *out, const char *s)
{
	int starts_line = 1;

	for (; *s; s++) {
		if (starts_line && (*s == '.' || *s == '\''))
			sbuf_adds(out, "\\&");
		starts_line = *s == '\n';
		if (*s == '\\')
			sbuf_adds(out, "\\e");
		else if (*s == '-')
			sbuf_adds(out, "\\-");
		else
			sbuf_addc(out, *s);
	}
}

/* Appends a sentence, with its full stop. */
static void
put_roff_sentence(struct sbuf *out, const char *s)
{
	put_roff(out, s);
	if (*s && !strchr(".:?", s[strlen(s) - 1]))
		sbuf_addc(out, '.');
	sbuf_addc(out, '\n');
}

/* True if the word behind v means the same, and stands beside it. */
static int
is_joined(const struct cfg_enum *v)
{
	return v[1].name && v->doc && v[1].doc && strcmp(v->doc, v[1].doc) == 0;
}

static void
put_roff_values(struct sbuf *out, const struct cfg_enum *v)
{
	sbuf_adds(out, ".RS\n.PD 0\n");
	for (; v->name; v++) {
		sbuf_adds(out, ".TP\n.B ");
		for (; is_joined(v); v++) {
			put_roff(out, v->name);
			sbuf_adds(out, ", ");
		}
		put_roff(out, v->name);
		sbuf_addc(out, '\n');
		put_roff_sentence(out, v->doc ? v->doc : "");
	}
	sbuf_adds(out, ".PD\n.RE\n");
}

/* The text between the name and the arguments. */
static const char *
before_arguments(const struct cfg_entry *e)
{
	return e->in_parens ? "(" : e->syntax[0] == '(' ? "" : " ";
}

void
cfg_entry_man(struct sbuf *out, const struct cfg_entry *e, const char **heading)
{
	struct sbuf example;

	if (!*heading || strcmp(*heading, e->heading) != 0) {
		sbuf_addf(out, ".SH %s\n%s", e->heading, e->intro ? e->intro : "");
		*heading = e->heading;
	}
	sbuf_adds(out, ".TP\n\\fB");
	put_roff(out, e->name);
	sbuf_adds(out, "\\fR");
	if (e->syntax) {
		sbuf_addf(out, "%s\\fI", before_arguments(e));
		put_roff(out, e->syntax);
		sbuf_addf(out, "\\fR%s", e->in_parens ? ")" : "");
	}
	sbuf_addc(out, '\n');
	if (e->is_hint)
		sbuf_addf(out, "Accepted without effect%s", e->doc ? ": " : ".\n");
	if (e->doc)
		put_roff_sentence(out, e->doc);
	if (e->dflt) {
		sbuf_adds(out, ".br\nDefault: ");
		put_roff_sentence(out, e->dflt);
	}
	if (e->answer) {
		sbuf_adds(out, ".br\nAnswer: ");
		put_roff_sentence(out, e->answer);
	}
	if (e->place) {
		sbuf_adds(out, ".br\n");
		put_roff_sentence(out, e->place);
		put_first_version(out, e, 0);
	}
	if (e->values)
		put_roff_values(out, e->values);
	sbuf_init(&example, 0);
	put_example_of(&example, e);
	if (example.len) {
		sbuf_adds(out, ".IP\n.nf\n");
		put_roff(out, example.p);
		sbuf_adds(out, "\n.fi\n");
	}
	sbuf_fini(&example);
}

/* --- text --- */

/* Appends words, wrapped, from column *at on; further lines begin at `indent`. */
static void
put_wrapped(struct sbuf *out, const char *s, size_t indent, size_t at)
{
	while (*s) {
		size_t n = strcspn(s, " \n");

		if (at > indent && at + n + 1 > TEXT_COLUMNS) {
			sbuf_addc(out, '\n');
			at = 0;
		}
		if (at < indent) {
			sbuf_addf(out, "%*s", (int)(indent - at), "");
			at = indent;
		} else if (at > indent) {
			sbuf_addc(out, ' ');
			at++;
		}
		sbuf_add(out, s, n);
		at += n;
		s += n + strspn(s + n, " \n");
	}
	sbuf_addc(out, '\n');
}

/* Appends words that may be arguments and mean the same, and their meaning beside them, or below
 * long ones; returns the last of them. */
static const struct cfg_enum *
put_text_value(struct sbuf *out, const struct cfg_enum *v)
{
	size_t begin = out->len, at;

	sbuf_addf(out, "%*s", TEXT_INDENT, "");
	for (; is_joined(v); v++)
		sbuf_addf(out, "%s, ", v->name);
	sbuf_adds(out, v->name);
	at = out->len - begin;
	if (at >= TEXT_VALUE)
		sbuf_addc(out, '\n');
	put_wrapped(out, v->doc ? v->doc : "", TEXT_VALUE, at < TEXT_VALUE ? at : 0);
	return v;
}

static void
put_example(struct sbuf *out, const char *lines)
{
	sbuf_addf(out, "%*sExample:\n", TEXT_INDENT, "");
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		sbuf_addf(out, "%*s%.*s\n", TEXT_NESTED, "", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

void
cfg_entry_text(struct sbuf *out, const struct cfg_entry *e)
{
	struct sbuf example;

	sbuf_adds(out, e->name);
	if (e->syntax)
		sbuf_addf(out, "%s%s%s", before_arguments(e), e->syntax, e->in_parens ? ")" : "");
	sbuf_addc(out, '\n');
	if (e->is_hint)
		put_wrapped(out, "Accepted without effect.", TEXT_INDENT, 0);
	if (e->doc)
		put_wrapped(out, e->doc, TEXT_INDENT, 0);
	for (const struct cfg_enum *v = e->values; v && v->name; v++)
		v = put_text_value(out, v);
	if (e->dflt) {
		sbuf_addf(out, "%*sDefault:", TEXT_INDENT, "");
		put_wrapped(out, e->dflt, TEXT_NESTED, TEXT_INDENT + strlen("Default:"));
	}
	if (e->answer) {
		sbuf_addf(out, "%*sAnswer:", TEXT_INDENT, "");
		put_wrapped(out, e->answer, TEXT_NESTED, TEXT_INDENT + strlen("Answer:"));
	}
	if (e->place)
		put_wrapped(out, e->place, TEXT_INDENT, 0);
	put_first_version(out, e, TEXT_INDENT);
	sbuf_init(&example, 0);
	put_example_of(&example, e);
	if (example.len)
		put_example(out, example.p);
	sbuf_fini(&example);
}
