/* Messages about a configuration: collected while it is read, printed at the end. */
#include "cfg/diag.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

static const char *const sev_name[CFG_SEV_COUNT] = {
	[CFG_ALERT] = "ALERT",
	[CFG_WARNING] = "WARNING",
	[CFG_NOTICE] = "NOTICE",
	[CFG_DIAGMSG] = "DIAG",
};

void
cfg_diag_init(struct cfg_diag *d, int pid)
{
	memset(d, 0, sizeof(*d));
	d->pid = pid;
}

void
cfg_diag_fini(struct cfg_diag *d)
{
	for (unsigned i = 0; i < d->nentry; i++) {
		cfg_places_fini(&d->entry[i].places);
		mem_free(d->entry[i].text);
	}
	for (unsigned i = 0; i < d->nlost; i++)
		mem_free(d->lost[i]);
	cfg_places_fini(&d->errors);
	for (unsigned i = 0; i < d->nfile; i++) {
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

static int
entry_room(struct cfg_diag *d)
{
	struct cfg_diag_entry *entry = array_grow(d->entry, d->nentry, &d->cap, sizeof(*entry));

	if (!entry)
		return -1;
	d->entry = entry;
	return 0;
}

/* The entry with this severity and text; NULL if there is none. A message about a whole line, such
 * as .notice, has its own entry. */
static struct cfg_diag_entry *
find_entry(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where, const char *text,
	   uint32_t hash)
{
	for (unsigned i = 0; i < d->nentry && !(where->file && !where->col); i++) {
		struct cfg_diag_entry *e = &d->entry[i];

		if (e->hash == hash && e->sev == sev && !e->where.file == !where->file &&
		    strcmp(e->text, text) == 0)
			return e;
	}
	return NULL;
}

static struct cfg_diag_entry *
new_entry(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where, const char *text,
	  uint32_t hash)
{
	char *copy = d->nentry < CFG_DIAG_MAX && entry_room(d) == 0 ? mem_strdup(text) : NULL;
	struct cfg_diag_entry *e;

	if (!copy)
		return NULL;
	e = &d->entry[d->nentry++];
	memset(e, 0, sizeof(*e));
	e->sev = sev;
	e->where = *where;
	e->hash = hash;
	e->text = copy;
	return e;
}

void
cfg_diag_vadd(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
	      const char *fmt, va_list ap)
{
	static const struct cfg_where nowhere;
	char text[CFG_DIAG_TEXT_MAX];
	struct cfg_diag_entry *e;
	uint32_t hash;

	d->count[sev]++;
	if (sev == CFG_DIAGMSG && !d->diagmode)
		return;
	if (!where)
		where = &nowhere;
	vsnprintf(text, sizeof(text), fmt, ap);
	hash = hash_djb2(text, strlen(text));
	e = find_entry(d, sev, where, text, hash);
	if (!e)
		e = new_entry(d, sev, where, text, hash);
	if (!e)
		d->dropped++;
	if (e && where->file)
		cfg_places_add(&e->places, where);
	if (where->file && sev == CFG_ALERT)
		cfg_places_add(&d->errors, where);
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

bool
cfg_diag_is_lost(const struct cfg_diag *d, const char *name)
{
	for (unsigned i = 0; i < d->nlost; i++)
		if (strcmp(d->lost[i], name) == 0)
			return true;
	return false;
}

bool
cfg_diag_is_fatal(const struct cfg_diag *d)
{
	return d->count[CFG_ALERT] > 0 || (d->werror && d->count[CFG_WARNING] > 0);
}

const char *
cfg_file_line(const struct cfg_file *f, unsigned line, size_t *len)
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

bool
cfg_diag_shows(const struct cfg_diag *d, const struct cfg_diag_entry *e, const struct cfg_where *w)
{
	return e->sev != CFG_NOTICE || !cfg_places_has(&d->errors, w);
}

/* The place where the entry is shown; false if all its lines are omitted. */
static bool
first_shown(const struct cfg_diag *d, const struct cfg_diag_entry *e, struct cfg_where *out)
{
	*out = e->where;
	if (!out->file || cfg_diag_shows(d, e, out))
		return true;
	for (unsigned i = 0; i < e->places.n; i++) {
		*out = e->places.at[i];
		if (cfg_diag_shows(d, e, out))
			return true;
	}
	return false;
}

/* Prints the numbers of the other lines of the entry. */
static void
print_more(const struct cfg_diag *d, const struct cfg_diag_entry *e, const struct cfg_where *first,
	   struct sbuf *to)
{
	const struct cfg_file *file = first->file;
	unsigned n = 0, shown = 0;

	for (unsigned i = 0; i < e->places.n; i++)
		n += cfg_diag_shows(d, e, &e->places.at[i]);
	if (n < 2)
		return;
	sbuf_addf(to, "   | and %u more line%s:", n - 1, n > 2 ? "s" : "");
	for (unsigned i = 0; i < e->places.n && shown < CFG_DIAG_LINES_MAX; i++) {
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

void
cfg_diag_text(const struct cfg_diag *d, struct sbuf *to, bool quiet)
{
	struct cfg_where first;

	for (unsigned i = 0; i < d->nentry; i++) {
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
}

static unsigned
count_entries(const struct cfg_diag *d, enum cfg_sev sev)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->nentry; i++)
		n += d->entry[i].sev == sev;
	return n;
}

void
cfg_diag_summary(const struct cfg_diag *d, char *out, size_t size)
{
	unsigned errors = count_entries(d, CFG_ALERT), warnings = count_entries(d, CFG_WARNING);
	char files[24], lines[32] = "";

	snprintf(files, sizeof(files), "%u files", d->nfile);
	if (d->errors.n)
		snprintf(lines, sizeof(lines), " (%u line%s)", d->errors.n,
			 d->errors.n == 1 ? "" : "s");
	snprintf(out, size, "%s: %u error%s%s, %u warning%s",
		 d->nfile == 1 ? d->file[0]->name : files, errors, errors == 1 ? "" : "s", lines,
		 warnings, warnings == 1 ? "" : "s");
}
