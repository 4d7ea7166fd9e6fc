/* Messages about a configuration, collected while it is read. Main thread. */
#include "cfg/diag.h"

#include <string.h>

#include "base/array.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/mem.h"

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

int
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

int
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
