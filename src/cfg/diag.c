#include "cfg/diag.h"

#include <string.h>

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
	for (unsigned i = 0; i < d->nentry; i++)
		mem_free(d->entry[i].text);
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
	unsigned cap = d->filecap ? d->filecap * 2 : 8;
	struct cfg_file **file;

	if (d->nfile < d->filecap)
		return 0;
	if (d->nfile >= CFG_FILES_MAX)
		return -1;
	file = mem_resize(d->file, cap, sizeof(*file));
	if (!file)
		return -1;
	d->file = file;
	d->filecap = cap;
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
	d->file[d->nfile++] = f;
	return f;
}

static int
entry_room(struct cfg_diag *d)
{
	unsigned cap = d->cap ? d->cap * 2 : 16;
	struct cfg_diag_entry *entry;

	if (d->nentry < d->cap)
		return 0;
	entry = mem_resize(d->entry, cap, sizeof(*entry));
	if (!entry)
		return -1;
	d->entry = entry;
	d->cap = cap;
	return 0;
}

void
cfg_diag_vadd(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
	      const char *fmt, va_list ap)
{
	char text[CFG_DIAG_TEXT_MAX];
	struct cfg_diag_entry *e;
	char *copy;

	d->count[sev]++;
	if (sev == CFG_DIAGMSG && !d->diagmode)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	copy = d->nentry < CFG_DIAG_MAX && entry_room(d) == 0 ? mem_strdup(text) : NULL;
	if (!copy) {
		d->dropped++;
		return;
	}
	e = &d->entry[d->nentry++];
	e->sev = sev;
	e->text = copy;
	memset(&e->where, 0, sizeof(e->where));
	if (where)
		e->where = *where;
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

/* The source line, cut to a window around the column, and a caret under it. Tabs stay so
 * that the caret lines up; other control characters become '?'. */
static void
print_source(const struct cfg_where *w, FILE *to)
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
	fputs("  ", to);
	for (size_t i = start; i < stop; i++) {
		unsigned char c = (unsigned char)line[i];

		fputc(c == '\t' || (c >= ' ' && c != 127) ? c : '?', to);
	}
	fputs("\n", to);
	if (w->col == 0)
		return;
	fputs("  ", to);
	for (size_t i = start; i + 1 < w->col; i++)
		fputc(i < len && line[i] == '\t' ? '\t' : ' ', to);
	fputs("^\n", to);
}

static void
print_head(const struct cfg_diag *d, enum cfg_sev sev, FILE *to)
{
	char tag[16];

	snprintf(tag, sizeof(tag), "[%s]", sev_name[sev]);
	fprintf(to, "%-10s ", tag);
	if (d->pid)
		fprintf(to, "(%d) : ", d->pid);
	fputs("config : ", to);
}

/* The text goes on one line and whatever else it holds stays harmless to a terminal. */
static void
print_text(const char *s, FILE *to)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			fputs("\n   | ", to);
		else
			fputc(c == '\t' || (c >= ' ' && c != 127) ? c : '?', to);
	}
	fputc('\n', to);
}

void
cfg_diag_print(const struct cfg_diag *d, FILE *to, bool quiet)
{
	for (unsigned i = 0; i < d->nentry; i++) {
		const struct cfg_diag_entry *e = &d->entry[i];

		if (quiet && e->sev != CFG_ALERT && !(e->sev == CFG_WARNING && d->werror))
			continue;
		print_head(d, e->sev, to);
		if (e->where.file && e->where.col)
			fprintf(to, "parsing [%s:%u:%u] : ", e->where.file->name, e->where.line,
				e->where.col);
		else if (e->where.file)
			fprintf(to, "parsing [%s:%u] : ", e->where.file->name, e->where.line);
		print_text(e->text, to);
		if (e->where.file && e->where.line)
			print_source(&e->where, to);
	}
	if (d->dropped) {
		print_head(d, CFG_ALERT, to);
		fprintf(to, "%u more messages are not shown.\n", d->dropped);
	}
}
