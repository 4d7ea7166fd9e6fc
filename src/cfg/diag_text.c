/* Messages about a configuration as text, with the lines that they are about. Pure. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cfg/diag.h"

static const char *const sev_name[CFG_SEV_COUNT] = {
	[CFG_ALERT] = "ALERT",
	[CFG_WARNING] = "WARNING",
	[CFG_NOTICE] = "NOTICE",
	[CFG_DIAGMSG] = "DIAG",
};

/* Prints the source line, limited to a window around the column, and a caret under it. Tabs are
 * kept so that the caret is aligned; other control characters become '?'. */
static void
print_source(const struct cfg_where *w, struct sbuf *to)
{
	size_t len, start = 0, stop;
	const char *line = cfg_file_line(w->file, w->line, &len);

	if (w->col > CFG_DIAG_SHOWN_MAX / 2)
		start = w->col - CFG_DIAG_SHOWN_MAX / 2;
	if (start > len)
		start = len;
	stop = len - start > CFG_DIAG_SHOWN_MAX ? start + CFG_DIAG_SHOWN_MAX : len;
	if (len == 0)
		return;
	sbuf_adds(to, "  ");
	for (size_t i = start; i < stop; i++) {
		unsigned char c = (unsigned char)line[i];

		sbuf_addc(to, (char)(c == '\t' || (c >= ' ' && c != 127) ? c : '?'));
	}
	sbuf_adds(to, "\n");
	if (w->col == 0)
		return;
	sbuf_adds(to, "  ");
	for (size_t i = start; i + 1 < w->col; i++)
		sbuf_addc(to, i < len && line[i] == '\t' ? '\t' : ' ');
	sbuf_adds(to, "^\n");
}

static void
print_head(const struct cfg_diag *d, enum cfg_sev sev, struct sbuf *to)
{
	char tag[16];

	snprintf(tag, sizeof(tag), "[%s]", sev_name[sev]);
	sbuf_addf(to, "%-10s ", tag);
	if (d->pid)
		sbuf_addf(to, "(%d) : ", d->pid);
	sbuf_adds(to, "config : ");
}

/* Prints the text on one line, without characters that a terminal would interpret. */
static void
print_indented(const char *s, struct sbuf *to)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			sbuf_adds(to, "\n   | ");
		else
			sbuf_addc(to, (char)(c == '\t' || (c >= ' ' && c != 127) ? c : '?'));
	}
	sbuf_addc(to, '\n');
}

/* False if the place is omitted: a notice about a line that has an error. */
static int
cfg_diag_shows(const struct cfg_diag *d, const struct cfg_diag_entry *e, const struct cfg_where *w)
{
	return e->sev != CFG_NOTICE || !cfg_places_has(&d->errors, w);
}

/* The place where the entry is shown; false if all its lines are omitted. */
static int
first_shown(const struct cfg_diag *d, const struct cfg_diag_entry *e, struct cfg_where *out)
{
	*out = e->where;
	if (!out->file || cfg_diag_shows(d, e, out))
		return 1;
	for (unsigned int i = 0; i < e->places.n; i++) {
		*out = e->places.at[i];
		if (cfg_diag_shows(d, e, out))
			return 1;
	}
	return 0;
}

/* Prints the numbers of the other lines of the entry. */
static void
print_more(const struct cfg_diag *d, const struct cfg_diag_entry *e, const struct cfg_where *first,
	   struct sbuf *to)
{
	const struct cfg_file *file = first->file;
	unsigned int n = 0, shown = 0;

	for (unsigned int i = 0; i < e->places.n; i++)
		n += cfg_diag_shows(d, e, &e->places.at[i]);
	if (n < 2)
		return;
	sbuf_addf(to, "   | and %u more line%s:", n - 1, n > 2 ? "s" : "");
	for (unsigned int i = 0; i < e->places.n && shown < CFG_DIAG_LINES_MAX; i++) {
		const struct cfg_where *w = &e->places.at[i];

		if (!cfg_diag_shows(d, e, w) || (w->file == first->file && w->line == first->line))
			continue;
		sbuf_adds(to, shown++ ? ", " : " ");
		if (w->file != file)
			sbuf_addf(to, "%s:", w->file->name);
		file = w->file;
		sbuf_addf(to, "%u", w->line);
	}
	sbuf_adds(to, n - 1 > shown ? ", ...\n" : "\n");
}

static void
print_diag_entry(const struct cfg_diag *d, const struct cfg_diag_entry *e,
	const struct cfg_where *w, struct sbuf *to)
{
	print_head(d, e->sev, to);
	if (w->file && w->col)
		sbuf_addf(to, "parsing [%s:%u:%u] : ", w->file->name, w->line, w->col);
	else if (w->file)
		sbuf_addf(to, "parsing [%s:%u] : ", w->file->name, w->line);
	print_indented(e->text, to);
	if (w->file && w->line)
		print_source(w, to);
	print_more(d, e, w, to);
}

/* Configuration files, without the files that they name. */
static unsigned int
count_files(const struct cfg_diag *d)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->nfile; i++)
		n += !d->file[i]->is_list;
	return n;
}

static void
print_missing(const struct cfg_diag *d, struct sbuf *to)
{
	if (!cfg_diag_misses(d))
		return;
	print_head(d, CFG_ALERT, to);
	sbuf_adds(to, "not supported here: ");
	cfg_missing_list(d->missing, count_files(d) > 1, to);
	for (unsigned int i = 0; i < CFG_MISSING_COUNT; i++)
		if (d->missing[i].n)
			sbuf_addf(to, "\n   | instead of %s: %s", cfg_missing_name(i),
				cfg_missing_instead(i));
	sbuf_addc(to, '\n');
}

void
cfg_diag_text(const struct cfg_diag *d, struct sbuf *to, int quiet)
{
	struct cfg_where first;

	for (unsigned int i = 0; i < d->nentry; i++) {
		const struct cfg_diag_entry *e = &d->entry[i];

		if (quiet && e->sev != CFG_ALERT && !(e->sev == CFG_WARNING && d->werror))
			continue;
		if (first_shown(d, e, &first))
			print_diag_entry(d, e, &first, to);
	}
	if (d->dropped) {
		print_head(d, CFG_ALERT, to);
		sbuf_addf(to, "%u more messages are not shown.\n", d->dropped);
	}
	print_missing(d, to);
}

static unsigned int
count_entries(const struct cfg_diag *d, enum cfg_sev sev)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->nentry; i++)
		n += d->entry[i].sev == sev;
	return n;
}

void
cfg_diag_summary(const struct cfg_diag *d, char *out, size_t size)
{
	unsigned int errors = count_entries(d, CFG_ALERT), warnings = count_entries(d, CFG_WARNING);
	char files[24], lines[32] = "";

	snprintf(files, sizeof(files), "%u files", count_files(d));
	if (d->errors.n)
		snprintf(lines, sizeof(lines), " (%u line%s)", d->errors.n,
			 d->errors.n == 1 ? "" : "s");
	snprintf(out, size, "%s: %u error%s%s, %u warning%s",
		 count_files(d) == 1 ? d->file[0]->name : files, errors,
		 errors == 1 ? "" : "s", lines,
		 warnings, warnings == 1 ? "" : "s");
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* The diagnostics of a configuration as one JSON document, for editors. Pure. */

static const char *const severities[CFG_SEV_COUNT] = {
	[CFG_ALERT] = "error",
	[CFG_WARNING] = "warning",
	[CFG_NOTICE] = "notice",
	[CFG_DIAGMSG] = "diagnostic",
};

static void
put_text(struct sbuf *out, const char *text)
{
	json_put(out, str_of(text), SIZE_MAX);
}

static void
put_place(struct sbuf *out, const struct cfg_where *w)
{
	sbuf_adds(out, "{\"file\":");
	put_text(out, w->file->name);
	if (w->line)
		sbuf_addf(out, ",\"line\":%u", w->line);
	if (w->col)
		sbuf_addf(out, ",\"column\":%u", w->col);
	sbuf_addc(out, '}');
}

static void
put_missing(struct sbuf *out, const struct cfg_diag *d)
{
	const char *comma = "";

	sbuf_adds(out, ",\"not_supported\":[");
	for (unsigned int m = 0; m < CFG_MISSING_COUNT; m++) {
		const struct cfg_places *p = &d->missing[m];

		if (!p->n)
			continue;
		sbuf_addf(out, "%s{\"feature\":", comma);
		put_text(out, cfg_missing_name(m));
		sbuf_adds(out, ",\"instead\":");
		put_text(out, cfg_missing_instead(m));
		sbuf_adds(out, ",\"places\":[");
		for (unsigned int i = 0; i < p->n; i++) {
			sbuf_adds(out, i ? "," : "");
			put_place(out, &p->at[i]);
		}
		sbuf_adds(out, "]}");
		comma = ",";
	}
	sbuf_addc(out, ']');
}

static void
put_diagnostic(struct sbuf *out, const struct cfg_diag *d, const struct cfg_diag_entry *e)
{
	const char *comma = "";

	sbuf_addf(out, "{\"severity\":\"%s\",\"text\":", severities[e->sev]);
	put_text(out, e->text);
	sbuf_adds(out, ",\"places\":[");
	for (unsigned int i = 0; i < e->places.n; i++) {
		if (!cfg_diag_shows(d, e, &e->places.at[i]))
			continue;
		sbuf_adds(out, comma);
		put_place(out, &e->places.at[i]);
		comma = ",";
	}
	sbuf_adds(out, "]}");
}

/* True if it is shown at any of its places. */
static int
is_shown_at_all(const struct cfg_diag *d, const struct cfg_diag_entry *e)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->places.n; i++)
		n += cfg_diag_shows(d, e, &e->places.at[i]);
	return n || !e->places.n;
}

static void
put_document(const struct cfg_diag *d, struct sbuf *out)
{
	const char *comma = "";

	sbuf_addf(out, "{\"valid\":%s,\"messages\":[", cfg_diag_is_fatal(d) ? "false" : "true");
	for (unsigned int i = 0; i < d->nentry; i++) {
		if (!is_shown_at_all(d, &d->entry[i]))
			continue;
		sbuf_adds(out, comma);
		put_diagnostic(out, d, &d->entry[i]);
		comma = ",";
	}
	sbuf_addc(out, ']');
	if (cfg_diag_misses(d))
		put_missing(out, d);
	sbuf_addf(out, ",\"not_shown\":%u}\n", d->dropped);
}

void
cfg_diag_print_json(const struct cfg_diag *d, FILE *to)
{
	struct sbuf out;

	sbuf_init(&out, 0);
	put_document(d, &out);
	fputs(out.failed ? "{\"error\":\"out of memory\"}\n" : out.p, to);
	sbuf_fini(&out);
}
