/* The layout of a configuration. Pure. */
#include "cfg/format.h"

#include <string.h>

#include "base/str.h"
#include "cfg/known.h"

struct formatter {
	struct sbuf *out;
	size_t start;		/* its length before the first line */
	const char *pending;	/* comments and empty lines that are not written yet begin here */
	int in_section;
	int after_if;		/* the last line was .if, .elif or .else */
};

/* Takes a line from *p, without its end. */
static struct str
cut_line(const char **p, const char *end)
{
	const char *lf = memchr(*p, '\n', (size_t)(end - *p));
	struct str line = { *p, (size_t)((lf ? lf : end) - *p) };

	*p = lf ? lf + 1 : end;
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	return line;
}

static int
is_indented(struct str line)
{
	return line.len > 0 && str_is_blank(line.p[0]);
}

/* Appends the words of a line, each behind one blank, and its comment. */
static void
put_words(struct sbuf *out, struct str s)
{
	char quote = '\0';

	while (s.len && str_is_blank(*s.p))
		s = (struct str){ s.p + 1, s.len - 1 };
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!quote && c == '#') {
			struct str rest = str_trim((struct str){ s.p + i, s.len - i });

			sbuf_add(out, rest.p, rest.len);
			return;
		}
		if (!quote && str_is_blank(c)) {
			while (i + 1 < s.len && str_is_blank(s.p[i + 1]))
				i++;
			if (i + 1 < s.len)
				sbuf_addc(out, ' ');
			continue;
		}
		sbuf_addc(out, c);
		if (c == '\\' && quote != '\'' && i + 1 < s.len)
			sbuf_addc(out, s.p[++i]);
		else if (c == quote)
			quote = '\0';
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
	}
}

static void
format_line(struct formatter *f, struct str line, int indent)
{
	if (indent)
		sbuf_addc(f->out, '\t');
	put_words(f->out, line);
	sbuf_addc(f->out, '\n');
}

/* Appends an empty line, unless it would be the first. */
static void
put_empty(struct formatter *f)
{
	if (f->out->len > f->start)
		sbuf_addc(f->out, '\n');
}

/* The comments right above the line that begins at `end`: where the first one begins. */
static const char *
attached_to(const char *from, const char *end)
{
	const char *attached = from;

	for (const char *p = from; p < end;)
		if (!str_trim(cut_line(&p, end)).len)
			attached = p;
	return attached;
}

/* The line behind comments and empty lines. */
enum next { STATEMENT, SECTION, END };

/* Writes what is pending before `end`, where the next line begins. */
static void
put_pending(struct formatter *f, const char *end, enum next next)
{
	const char *attached = next == SECTION ? attached_to(f->pending, end) : end;
	int empty = 0, separated = f->after_if;

	for (const char *p = f->pending; p < end;) {
		const char *at = p;
		struct str line = cut_line(&p, end);

		if (!str_trim(line).len) {
			empty = 1;
			continue;
		}
		if (at == attached && !separated)
			empty = separated = 1;
		if (empty)
			put_empty(f);
		empty = 0;
		format_line(f, line, f->in_section && at < attached &&
				(next == STATEMENT || is_indented(line)));
	}
	if (next == SECTION ? !separated : next == STATEMENT && empty)
		put_empty(f);
}

/* Writes a line that is neither empty nor a comment. */
static void
put_statement(struct formatter *f, const char *at, struct str line)
{
	struct str s = str_trim(line);
	char word[32];
	size_t n = 0;

	for (; n < s.len && n + 1 < sizeof(word) && !str_is_blank(s.p[n]) && s.p[n] != '#'; n++)
		word[n] = s.p[n];
	word[n] = '\0';
	if (cfg_known_is_section(word)) {
		put_pending(f, at, SECTION);
		f->in_section = 1;
		format_line(f, line, 0);
	} else {
		put_pending(f, at, STATEMENT);
		format_line(f, line, f->in_section && (*word != '.' || is_indented(line)));
	}
	f->after_if = !strcmp(word, ".if") || !strcmp(word, ".elif") || !strcmp(word, ".else");
}

void
cfg_format(struct sbuf *out, const char *text, size_t len)
{
	const char *end = text + len;
	struct formatter f = { .out = out, .start = out->len, .pending = text };

	for (const char *p = text; p < end;) {
		const char *at = p;
		struct str line = cut_line(&p, end), s = str_trim(line);

		if (!s.len || *s.p == '#')
			continue;
		put_statement(&f, at, line);
		f.pending = p;
	}
	put_pending(&f, end, END);
}
