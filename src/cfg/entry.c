/* Entries of the manual as roff and as text. Main thread. */
#include "cfg/entry.h"

#include <string.h>

enum { TEXT_COLUMNS = 78, TEXT_INDENT = 4, TEXT_NESTED = 8, TEXT_VALUE = 24 };

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

static void
put_roff_values(struct sbuf *out, const struct cfg_enum *v)
{
	sbuf_adds(out, ".RS\n.PD 0\n");
	for (; v->name; v++) {
		sbuf_adds(out, ".TP\n.B ");
		put_roff(out, v->name);
		sbuf_addc(out, '\n');
		put_roff_sentence(out, v->doc ? v->doc : "");
	}
	sbuf_adds(out, ".PD\n.RE\n");
}

void
cfg_entry_man(struct sbuf *out, const struct cfg_entry *e, const char **heading)
{
	if (!*heading || strcmp(*heading, e->heading) != 0) {
		sbuf_addf(out, ".SH %s\n%s", e->heading, e->intro ? e->intro : "");
		*heading = e->heading;
	}
	sbuf_adds(out, ".TP\n\\fB");
	put_roff(out, e->name);
	sbuf_adds(out, "\\fR");
	if (e->syntax) {
		sbuf_addf(out, "%s\\fI", e->in_parens ? "(" : " ");
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
	if (e->place) {
		sbuf_adds(out, ".br\n");
		put_roff_sentence(out, e->place);
	}
	if (e->values)
		put_roff_values(out, e->values);
	if (e->example) {
		sbuf_adds(out, ".IP\n.nf\n");
		put_roff(out, e->example);
		sbuf_adds(out, "\n.fi\n");
	}
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

/* Appends a word that may be an argument, and its meaning beside it, or below a long word. */
static void
put_text_value(struct sbuf *out, const struct cfg_enum *v)
{
	size_t at = TEXT_INDENT + strlen(v->name);

	sbuf_addf(out, "%*s%s", TEXT_INDENT, "", v->name);
	if (at >= TEXT_VALUE)
		sbuf_addc(out, '\n');
	put_wrapped(out, v->doc ? v->doc : "", TEXT_VALUE, at < TEXT_VALUE ? at : 0);
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
	sbuf_adds(out, e->name);
	if (e->syntax)
		sbuf_addf(out, e->in_parens ? "(%s)" : " %s", e->syntax);
	sbuf_addc(out, '\n');
	if (e->is_hint)
		put_wrapped(out, "Accepted without effect.", TEXT_INDENT, 0);
	if (e->doc)
		put_wrapped(out, e->doc, TEXT_INDENT, 0);
	for (const struct cfg_enum *v = e->values; v && v->name; v++)
		put_text_value(out, v);
	if (e->dflt) {
		sbuf_addf(out, "%*sDefault:", TEXT_INDENT, "");
		put_wrapped(out, e->dflt, TEXT_NESTED, TEXT_INDENT + strlen("Default:"));
	}
	if (e->place)
		put_wrapped(out, e->place, TEXT_INDENT, 0);
	if (e->example)
		put_example(out, e->example);
}
