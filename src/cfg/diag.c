/* Messages about a configuration, collected while it is read. Main thread. */
#include "cfg/diag.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

/* --- features that are not there ------------------------------------------------------------- */

enum {
	NAME_MAX_LEN = 128,	/* longer names belong to no feature */
	LINES_MAX = 12,		/* line numbers shown with a feature */
};

#define MISSING_WORD(id, word)
#define MISSING(id, name, instead) { name, instead },
static const struct {
	const char *name, *instead;
} features[CFG_MISSING_COUNT] = {
#include "cfg/missing.tbl.h"
};
#undef MISSING
#undef MISSING_WORD

#define MISSING_WORD(id, word) { word, CFG_MISSING_##id },
#define MISSING(id, name, instead)
static const struct {
	const char *word;
	enum cfg_missing feature;
} words[] = {
#include "cfg/missing.tbl.h"
};
#undef MISSING
#undef MISSING_WORD

static const char *
cfg_missing_name(enum cfg_missing m)
{
	return features[m].name;
}

static const char *
cfg_missing_instead(enum cfg_missing m)
{
	return features[m].instead;
}

static int
fits_word(const char *pattern, const char *word)
{
	size_t n = strcspn(pattern, "*");

	return strncmp(pattern, word, n) == 0 && (pattern[n] == '*' || word[n] == '\0');
}

/* The feature that this word of the language belongs to; CFG_MISSING_COUNT if there is none. */
static enum cfg_missing
find_missing_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (fits_word(words[i].word, word))
			return words[i].feature;
	return CFG_MISSING_COUNT;
}

/* Looks up what stands between quotes before `end`: all of it, then without its first words. */
static enum cfg_missing
find_quoted(const char *start, const char *end)
{
	enum cfg_missing m = CFG_MISSING_COUNT;
	char name[NAME_MAX_LEN];
	const char *from = end, *word;

	while (from > start && from[-1] != '\'')
		from--;
	if (from == start || (size_t)(end - from) >= sizeof(name))
		return m;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	for (word = name; word && m == CFG_MISSING_COUNT; word = strchr(word, ' ')) {
		word += *word == ' ';
		m = find_missing_word(word);
	}
	return m;
}

/* The feature that is missing by a message "... 'NAME' is not supported ..." or "... 'NAME' is
 * known but not supported ...". The last word of NAME counts, too. CFG_MISSING_COUNT: none. */
static enum cfg_missing
cfg_missing_in(const char *message)
{
	static const char *const ends[] = { "' is not supported", "' is known but not supported" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *at = strstr(message, ends[i]);
		enum cfg_missing m = at ? find_quoted(message, at) : CFG_MISSING_COUNT;

		if (m != CFG_MISSING_COUNT)
			return m;
	}
	return CFG_MISSING_COUNT;
}

static void
list_lines(const struct cfg_places *p, int several, struct sbuf *out)
{
	const struct cfg_file *file = NULL;

	if (p->n > 1)
		sbuf_addf(out, " (%u lines: ", p->n);
	else
		sbuf_adds(out, " (");
	for (unsigned int i = 0; i < p->n && i < LINES_MAX; i++) {
		sbuf_adds(out, i ? ", " : "");
		if (several && p->at[i].file != file)
			sbuf_addf(out, "%s:", p->at[i].file->name);
		file = p->at[i].file;
		sbuf_addf(out, "%u", p->at[i].line);
	}
	sbuf_adds(out, p->n > LINES_MAX ? ", ...)" : ")");
}

/* Writes "stick tables (3 lines: 12, 14, 30), Lua (5)". With `several` the files are named. */
static void
cfg_missing_list(const struct cfg_places *places, int several, struct sbuf *out)
{
	const char *comma = "";

	for (unsigned int m = 0; m < CFG_MISSING_COUNT; m++) {
		if (!places[m].n)
			continue;
		sbuf_addf(out, "%s%s", comma, features[m].name);
		list_lines(&places[m], several, out);
		comma = ", ";
	}
}

/* --- places ---------------------------------------------------------------------------------- */

static void
cfg_places_fini(struct cfg_places *p)
{
	mem_free(p->at);
	memset(p, 0, sizeof(*p));
}

static int
comes_before(const struct cfg_where *a, const struct cfg_where *b)
{
	return a->file != b->file ? a->file->number < b->file->number : a->line < b->line;
}

/* The index of the first place not before `where`. */
static unsigned int
lower_bound(const struct cfg_places *p, const struct cfg_where *where)
{
	unsigned int lo = 0, hi = p->n;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (comes_before(&p->at[mid], where))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int
is_at(const struct cfg_places *p, unsigned int i, const struct cfg_where *where)
{
	return i < p->n && p->at[i].file == where->file && p->at[i].line == where->line;
}

/* A line that is in the set already keeps its column. A line for which there is no room or memory
 * is dropped. */
static void
cfg_places_add(struct cfg_places *p, const struct cfg_where *where)
{
	unsigned int i = lower_bound(p, where);
	struct cfg_where *grown;

	if (is_at(p, i, where) || p->n == CFG_PLACES_MAX)
		return;
	grown = array_grow(p->at, p->n, &p->cap, sizeof(*grown));
	if (!grown)
		return;
	p->at = grown;
	memmove(p->at + i + 1, p->at + i, (p->n - i) * sizeof(*p->at));
	p->at[i] = *where;
	p->n++;
}

static int
cfg_places_has(const struct cfg_places *p, const struct cfg_where *where)
{
	return is_at(p, lower_bound(p, where), where);
}

void
cfg_diag_init(struct cfg_diag *d, int pid)
{
	memset(d, 0, sizeof(*d));
	d->pid = pid;
}

void
cfg_diag_fini(struct cfg_diag *d)
{
	for (unsigned int i = 0; i < d->nentry; i++) {
		cfg_places_fini(&d->entry[i].places);
		mem_free(d->entry[i].text);
		mem_free(d->entry[i].key);
	}
	for (unsigned int i = 0; i < d->nlost; i++)
		mem_free(d->lost[i]);
	cfg_places_fini(&d->errors);
	for (unsigned int i = 0; i < CFG_MISSING_COUNT; i++)
		cfg_places_fini(&d->missing[i]);
	for (unsigned int i = 0; i < d->nfile; i++) {
		mem_free(d->file[i]->name);
		mem_free(d->file[i]->text);
		mem_free(d->file[i]);
	}
	mem_free(d->entry);
	mem_free(d->file);
	memset(d, 0, sizeof(*d));
}

static int
file_room(struct cfg_diag *d)
{
	struct cfg_file **file;

	if (d->nfile >= CFG_FILES_MAX)
		return -1;
	file = array_grow(d->file, d->nfile, &d->filecap, sizeof(*file));
	if (!file)
		return -1;
	d->file = file;
	return 0;
}

const struct cfg_file *
cfg_diag_file(struct cfg_diag *d, const char *name, const char *text, size_t len)
{
	struct cfg_file *f = file_room(d) ? NULL : mem_zalloc(sizeof(*f));

	if (!f)
		return NULL;
	f->name = mem_strdup(name);
	f->text = mem_alloc(len + 1);
	if (!f->name || !f->text) {
		mem_free(f->name);
		mem_free(f->text);
		mem_free(f);
		return NULL;
	}
	if (len)
		memcpy(f->text, text, len);
	f->text[len] = '\0';
	f->len = len;
	f->number = d->nfile;
	d->file[d->nfile++] = f;
	return f;
}

const struct cfg_file *
cfg_diag_list_file(struct cfg_diag *d, const char *name, const char *text, size_t len)
{
	const struct cfg_file *f = cfg_diag_file(d, name, text, len);

	if (f)
		d->file[f->number]->is_list = 1;
	return f;
}

static int
entry_room(struct cfg_diag *d)
{
	struct cfg_diag_entry *entry = array_grow(d->entry, d->nentry, &d->cap, sizeof(*entry));

	if (!entry)
		return -1;
	d->entry = entry;
	return 0;
}

/* Removes the marks from the text; `key` gets the text without what stands between them. */
static void
take_marks(char *text, char *key)
{
	int differs = 0;
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == CFG_DIAG_NAME[0]) {
			differs = !differs;
			continue;
		}
		*to++ = *from;
		if (!differs)
			*key++ = *from;
	}
	*to = *key = '\0';
}

/* The entry with this severity and text; NULL if there is none. A message about a whole line, such
 * as .notice, has its own entry. */
static struct cfg_diag_entry *
find_entry(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where, const char *key,
	   uint32_t hash)
{
	for (unsigned int i = 0; i < d->nentry && !(where->file && !where->col); i++) {
		struct cfg_diag_entry *e = &d->entry[i];

		if (e->hash == hash && e->sev == sev && !e->where.file == !where->file &&
		    strcmp(e->key, key) == 0)
			return e;
	}
	return NULL;
}

static struct cfg_diag_entry *
new_entry(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where, const char *text,
	  const char *key)
{
	struct cfg_diag_entry *e;
	char *copy, *key_copy;

	if (d->nentry == CFG_DIAG_MAX || entry_room(d))
		return NULL;
	copy = mem_strdup(text);
	key_copy = mem_strdup(key);
	if (!copy || !key_copy) {
		mem_free(copy);
		mem_free(key_copy);
		return NULL;
	}
	e = &d->entry[d->nentry++];
	memset(e, 0, sizeof(*e));
	e->sev = sev;
	e->where = *where;
	e->hash = hash_djb2(key, strlen(key));
	e->text = copy;
	e->key = key_copy;
	return e;
}

static void
note_error(struct cfg_diag *d, const struct cfg_where *where, const char *text)
{
	enum cfg_missing m = cfg_missing_in(text);

	cfg_places_add(&d->errors, where);
	if (m != CFG_MISSING_COUNT)
		cfg_places_add(&d->missing[m], where);
}

void
cfg_diag_vadd(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
	      const char *fmt, va_list ap)
{
	static const struct cfg_where nowhere;
	char text[CFG_DIAG_TEXT_MAX], key[CFG_DIAG_TEXT_MAX];
	struct cfg_diag_entry *e;

	d->count[sev]++;
	if (sev == CFG_DIAGMSG && !d->diagmode)
		return;
	if (!where)
		where = &nowhere;
	vsnprintf(text, sizeof(text), fmt, ap);
	take_marks(text, key);
	e = find_entry(d, sev, where, key, hash_djb2(key, strlen(key)));
	if (!e)
		e = new_entry(d, sev, where, text, key);
	if (!e)
		d->dropped++;
	if (e && where->file)
		cfg_places_add(&e->places, where);
	if (where->file && sev == CFG_ALERT)
		note_error(d, where, text);
}

void
cfg_diag_add(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
	     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cfg_diag_vadd(d, sev, where, fmt, ap);
	va_end(ap);
}

void
cfg_diag_lose(struct cfg_diag *d, const char *name)
{
	char *copy = d->nlost < CFG_LOST_MAX ? mem_strdup(name) : NULL;

	if (copy)
		d->lost[d->nlost++] = copy;
}

int
cfg_diag_is_lost(const struct cfg_diag *d, const char *name)
{
	for (unsigned int i = 0; i < d->nlost; i++)
		if (strcmp(d->lost[i], name) == 0)
			return 1;
	return 0;
}

/* True if a line needs a feature that is missing. */
static int
cfg_diag_misses(const struct cfg_diag *d)
{
	for (unsigned int i = 0; i < CFG_MISSING_COUNT; i++)
		if (d->missing[i].n)
			return 1;
	return 0;
}

int
cfg_diag_is_fatal(const struct cfg_diag *d)
{
	return d->count[CFG_ALERT] > 0 || (d->werror && d->count[CFG_WARNING] > 0);
}

const char *
cfg_file_line(const struct cfg_file *f, unsigned int line, size_t *len)
{
	const char *p = f->text, *end = f->text + f->len, *nl;

	while (line > 1 && p < end) {
		nl = memchr(p, '\n', (size_t)(end - p));
		p = nl ? nl + 1 : end;
		line--;
	}
	nl = memchr(p, '\n', (size_t)(end - p));
	*len = (size_t)((nl ? nl : end) - p);
	if (*len > 0 && p[*len - 1] == '\r')
		--*len;
	return p;
}

/* --- the text of diagnostics ----------------------------------------------------------------- */

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
