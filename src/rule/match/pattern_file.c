/* Reads files of patterns and makes their sets; a path is read once. Main thread, while the
 * configuration is read. */
#include "rule/match/pattern_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/file.h"
#include "base/list.h"
#include "base/mem.h"
#include "cfg/diag.h"
#include "rule/match/pattern_net.h"
#include "rule/match/pattern_ref.h"

#define PENDING_MAX 8 /* entries of lines that are made ahead */
#define PATTERN_PLACE_MAX 1024 /* one place in pattern_ref.where */

/* A set and its use. */
struct pattern_view {
	struct list link;            /* in pattern_files.sets */
	struct pattern_view *next;   /* in views of its ref; not of an `acl` line */
	unsigned int flags;          /* as in pattern_file_use; not of an `acl` line */
	struct pattern_set set;
};

static int pattern_ids_assign(struct list *refs);

void
pattern_files_init(struct pattern_files *f, struct sys *sys)
{
	memset(f, 0, sizeof(*f));
	list_init(&f->refs);
	list_init(&f->sets);
	f->sys = sys;
	f->key = keyhash_known;
}

static void
drop_view(struct pattern_view *l)
{
	list_remove(&l->link);
	pattern_set_forget(&l->set);
	mem_free(l);
}

void
pattern_files_fini(struct pattern_files *f)
{
	list_each_safe(it, &f->sets)
		drop_view(list_entry(it, struct pattern_view, link));
	list_each_safe(it, &f->refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);

		list_remove(it);
		pattern_ref_free(&ref);
	}
	name_index_fini(&f->paths);
	name_index_fini(&f->ids);
}

/* --- lines --- */

static int
is_line_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str
trim_end(struct str s)
{
	while (s.len && is_line_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

/* The next line of *rest, without line end and leading blanks; a comment is empty. */
static struct str
next_line(struct str *rest)
{
	const char *end = memchr(rest->p, '\n', rest->len);
	struct str line = { rest->p, end ? (size_t)(end - rest->p) : rest->len };

	rest->p += line.len + (end != NULL);
	rest->len -= line.len + (end != NULL);
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	/* Only at the very start: after a blank it is a pattern. */
	if (line.len && line.p[0] == '#')
		line.len = 0;
	while (line.len && is_line_blank(*line.p)) {
		line.p++;
		line.len--;
	}
	return line;
}

/* Makes the entry of a line. Returns 0, or a negative reason with *why. */
static int
make_line_entry(
	struct pattern_ref *ref, struct str line, struct pattern_entry **out, struct rule_err *why)
{
	struct str key = line, value = { NULL, 0 };
	size_t n = 0;

	if (memchr(line.p, '\0', line.len)) {
		snprintf(why->text, sizeof(why->text), "a NUL byte");
		return -ERR_SYNTAX;
	}
	if (ref->two_columns) {
		while (n < line.len && !is_line_blank(line.p[n]))
			n++;
		key.len = n;
		while (n < line.len && is_line_blank(line.p[n]))
			n++;
		value = trim_end((struct str){ line.p + n, line.len - n });
	}
	return pattern_ref_make(ref, ref->version, key, value, out, why);
}

/* Entries that are made but not yet in their ref: while the next ones are made, the memory that
 * their tables need arrives in the cache. */
struct pending {
	struct pattern_entry *e[PENDING_MAX];
	unsigned long line[PENDING_MAX];
	unsigned int n;
};

/* Appends all entries to the ref. Returns 0, or a negative reason with *why and the line in
 * *number; then the rest is freed. */
static int
join_pending(
	struct pattern_ref *ref, struct pending *p, unsigned long *number, struct rule_err *why)
{
	int rc = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		if (rc == 0) {
			rc = pattern_ref_join(ref, p->e[i], why);
			if (rc == 0)
				continue;
			*number = p->line[i];
		}
		pattern_entry_free(p->e[i]);
	}
	p->n = 0;
	return rc;
}

/* Adds one line to the entries that are to be appended. */
static int
add_pattern_line(struct pattern_ref *ref, struct str line, struct pending *p, unsigned long *number,
	struct rule_err *why)
{
	int rc = p->n < PENDING_MAX ? 0 : join_pending(ref, p, number, why);

	if (rc == 0)
		rc = make_line_entry(ref, line, &p->e[p->n], why);
	if (rc < 0)
		return rc;
	pattern_ref_prefetch(ref, p->e[p->n]);
	p->line[p->n++] = *number;
	return 0;
}

static uint64_t
count_text_lines(struct str text)
{
	const char *end = text.p + text.len;
	uint64_t n = 1;

	for (const char *p = text.p; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL;
		p++)
		n++;
	return n;
}

static int
parse_patterns(struct pattern_ref *ref, struct str text, struct rule_err *why)
{
	struct rule_err reason = { 0 };
	struct pending pending = { .n = 0 };
	unsigned long number = 0, join_line;
	int rc = pattern_ref_expect(ref, count_text_lines(text), &reason);

	while (rc == 0 && text.len) {
		struct str line = next_line(&text);

		number++;
		if (line.len)
			rc = add_pattern_line(ref, line, &pending, &number, &reason);
	}
	if (rc == 0)
		rc = join_pending(ref, &pending, &number, &reason);
	else
		(void)join_pending(ref, &pending, &join_line, &(struct rule_err){ 0 });
	if (rc < 0)
		snprintf(why->text, sizeof(why->text), "line %lu of '%.80s': %.90s", number,
			ref->path, reason.text);
	why->at = 0;
	return rc;
}

/* --- users --- */

/* Appends to the places in `show map`, as HAProxy does; what does not fit is omitted. */
static int
note_use(
	const struct pattern_files *f, struct pattern_ref *ref, const char *first, const char *what)
{
	static const struct cfg_where nowhere = { 0 };
	const struct cfg_where *at = f->diag ? &f->diag->at : &nowhere;
	char text[PATTERN_PLACE_MAX], *grown;
	int len;

	if (ref->where_len > PATTERN_WHERE_MAX)
		return 0;
	len = snprintf(text, sizeof(text), "%s%s file '%.200s' line %u",
		ref->where_len ? ", by " : first, what, at->file ? at->file->name : "", at->line);
	assert(len > 0 && (size_t)len < sizeof(text));
	grown = mem_resize(ref->where, ref->where_len + (size_t)len + 1, 1);
	if (!grown)
		return -ERR_NOMEM;
	memcpy(grown + ref->where_len, text, (size_t)len + 1);
	ref->where = grown;
	ref->where_len += (uint32_t)len;
	return 0;
}

/* --- files --- */

/* True if the set of a file is for that use. */
static int
is_used_so(const struct pattern_view *l, const struct pattern_file_use *use)
{
	return l->set.method == use->method && l->set.out == use->out && l->flags == use->flags;
}

static int
report_file(struct pattern_files *f, const char *path, long reason)
{
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text), "cannot read '%.120s': %.60s", path,
		err_text((int)reason));
	return -1;
}

static int
report_no_memory(struct pattern_files *f)
{
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text), "%s", err_text(-ERR_NOMEM));
	return -1;
}

static int
read_pattern_file(struct pattern_files *f, struct pattern_ref *ref)
{
	char *text;
	size_t len;
	long rc = -ERR_PERM;

	if (f->sys)
		rc = file_read(f->sys, ref->path, PATTERN_FILE_MAX, &text, &len);
	if (rc < 0)
		return report_file(f, ref->path, rc);
	ref->file_hash = (uint32_t)XXH3_64bits(text, len);
	rc = parse_patterns(ref, (struct str){ text, len }, &f->why);
	mem_free(text);
	return rc < 0 ? -1 : 0;
}

static struct pattern_ref *
find_path(const struct pattern_files *f, const char *path)
{
	return name_index_find(&f->paths, path);
}

/* The set of that file with the same options, or NULL. */
static struct pattern_view *
find_set(const struct pattern_files *f, const struct pattern_file_use *use)
{
	const struct pattern_ref *ref = find_path(f, use->path);
	struct pattern_view *l = ref ? ref->views : NULL;

	while (l && !is_used_so(l, use))
		l = l->next;
	return l;
}

static struct pattern_view *
new_set(struct pattern_files *f, enum pattern_method m, enum sample_type out)
{
	struct pattern_view *l = mem_zalloc(sizeof(*l));

	if (!l) {
		(void)report_no_memory(f);
		return NULL;
	}
	pattern_set_init(&l->set, m, out, &f->key);
	list_init(&l->link);
	return l;
}

/* A file that is known: makes another set of its entries. */
static int
make_set(struct pattern_files *f, struct pattern_ref *ref, struct pattern_view *l)
{
	struct rule_err why = { 0 };

	if (pattern_ref_feed(ref, &l->set, l->flags, &why) == 0)
		return 0;
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text), "in '%.80s': %.90s", ref->path, why.text);
	return -1;
}

/* Added to the list of sets only on success. */
static struct pattern_view *
load_file(struct pattern_files *f, const struct pattern_file_use *use)
{
	struct pattern_ref *ref = find_path(f, use->path);
	struct pattern_view *l = new_set(f, use->method, use->out);
	int is_new = !ref, bad;

	if (!l)
		return NULL;
	if (is_new)
		ref = pattern_ref_new(use->path, &f->key);
	if (!ref) {
		drop_view(l);
		(void)report_no_memory(f);
		return NULL;
	}
	l->flags = use->flags;
	if (is_new)
		ref->two_columns = use->two_columns != 0;
	bad = make_set(f, ref, l) < 0 || (is_new && read_pattern_file(f, ref) < 0);
	if (is_new && !bad && name_index_add(&f->paths, ref->path, ref) < 0)
		bad = report_no_memory(f);
	if (is_new && bad) {
		pattern_ref_free(&ref);
	} else if (is_new) {
		list_append(&f->refs, &ref->link);
	}
	/* A known file stays in the list on failure: the configuration is rejected and no lookups
	 * happen. */
	if (bad && is_new) {
		drop_view(l);
		return NULL;
	}
	list_append(&f->sets, &l->link);
	if (bad)
		return NULL;
	l->next = ref->views;
	ref->views = l;
	return l;
}

/* The columns are determined when it is read, so all uses must agree. */
static int
check_columns(struct pattern_files *f, const struct pattern_file_use *use)
{
	static const char *const names[] = { "one", "two" };
	const struct pattern_ref *ref = find_path(f, use->path);

	if (!ref || ref->two_columns == (use->two_columns != 0))
		return 0;
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text),
		"'%.100s' is used as a file of %s column%s already", use->path,
		names[ref->two_columns], ref->two_columns ? "s" : "");
	return -1;
}

const struct pattern_set *
pattern_files_get(struct pattern_files *f, const struct pattern_file_use *use)
{
	struct pattern_view *l;
	struct pattern_ref *ref;
	char first[256];

	if (check_columns(f, use) < 0)
		return NULL;
	l = find_set(f, use);
	if (!l)
		l = load_file(f, use);
	if (!l)
		return NULL;
	ref = find_path(f, use->path);
	/* HAProxy also treats an ACL with two columns as a map. */
	ref->is_map |= use->two_columns != 0;
	ref->is_acl |= use->out == SAMPLE_ANY;
	snprintf(first, sizeof(first), "pattern loaded from file '%.200s' used by ", use->path);
	if (note_use(f, ref, first, use->two_columns ? "map at" : "acl at") < 0) {
		(void)report_no_memory(f);
		return NULL;
	}
	return &l->set;
}

/* --- lines --- */

static int
take_ref_id(struct pattern_files *f, struct pattern_ref *ref, int64_t id)
{
	ref->id = id;
	if (id == PATTERN_ID_NONE)
		return 0;
	snprintf(ref->id_text, sizeof(ref->id_text), "%d", (int)id);
	if (!name_index_find(&f->ids, ref->id_text))
		return 0;
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text), "the id %s is used already", ref->id_text);
	return -1;
}

struct pattern_ref *
pattern_files_line(
	struct pattern_files *f, const struct pattern_line *line, const struct pattern_set **set)
{
	struct pattern_ref *ref = pattern_ref_new(NULL, &f->key);
	struct pattern_view *l = NULL;
	char name[128];
	int rc = ref ? take_ref_id(f, ref, line->id) : report_no_memory(f);

	/* This unit may change it; others only read it. */
	*set = line->join;
	if (rc == 0 && !line->join) {
		l = new_set(f, line->method, SAMPLE_ANY);
		rc = l ? 0 : -1;
		*set = l ? &l->set : NULL;
	}
	snprintf(name, sizeof(name), "'%.*s'", (int)MIN(line->name.len, (size_t)100), line->name.p);
	if (rc == 0 && note_use(f, ref, "acl ", name) < 0)
		rc = report_no_memory(f);
	if (rc == 0)
		rc = pattern_ref_feed(
			ref, (struct pattern_set *)(uintptr_t)*set, line->flags, &f->why);
	if (rc == 0 && line->id != PATTERN_ID_NONE &&
		name_index_add(&f->ids, ref->id_text, ref) < 0)
		rc = report_no_memory(f);
	if (rc < 0) {
		if (ref)
			pattern_ref_unfeed(ref);
		if (l)
			drop_view(l);
		pattern_ref_free(&ref);
		return NULL;
	}
	ref->is_acl = 1;
	list_append(&f->refs, &ref->link);
	if (l)
		list_append(&f->sets, &l->link);
	return ref;
}

/* --- the end of the configuration --- */

/* No names are resolved while the workers are paused. */
static void
stop_names(struct pattern_ref *ref)
{
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		ref->feed[i]->flags |= PATTERN_NO_DNS;
}

int
pattern_files_finish(struct pattern_files *f)
{
	list_each(it, &f->refs)
		stop_names(list_entry(it, struct pattern_ref, link));
	return pattern_ids_assign(&f->refs);
}

struct pattern_ref *
pattern_files_find(const struct pattern_files *f, const char *name)
{
	int64_t id = -1;

	if (name[0] == '#' && pattern_number_parse(str_of(name + 1), &id) < 0)
		return NULL;
	if (name[0] != '#')
		return find_path(f, name);
	list_each(it, &f->refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);

		if (ref->id == id)
			return ref;
	}
	return NULL;
}

/* --- ids ------------------------------------------------------------------------------------- */

/*
 * The numbers of maps and ACLs, by which the admin socket knows them (#<id>). Main thread, when
 * the configuration is complete; no two are the same.
 */

static int
compare_ref_ids(const void *a, const void *b)
{
	const struct pattern_ref *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* Assigns missing numbers: `all` begins with the n_named refs that have one, in order. */
static void
give_numbers(struct pattern_ref **all, size_t n_named, size_t n)
{
	int64_t next = 0;
	size_t at = 0;

	for (size_t i = n_named; i < n; i++) {
		for (; at < n_named && all[at]->id <= next; at++)
			next += all[at]->id == next;
		all[i]->id = next++;
	}
}

/* Gives the lowest free numbers to the struct pattern_ref of this list that have none, and sorts it
 * by number. 0 or -ERR_NOMEM, with the list as it was. */
static int
pattern_ids_assign(struct list *refs)
{
	size_t n = 0, n_named = 0, i = 0;
	struct pattern_ref **all;

	list_each(it, refs) {
		n_named += list_entry(it, struct pattern_ref, link)->id != PATTERN_ID_NONE;
		n++;
	}
	all = mem_alloc(MAX(n, 1) * sizeof(struct pattern_ref *));
	if (!all)
		return -ERR_NOMEM;
	n = n_named;
	list_each_safe(it, refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);

		all[ref->id == PATTERN_ID_NONE ? n++ : i++] = ref;
		list_remove(it);
	}
	qsort(all, n_named, sizeof(struct pattern_ref *), compare_ref_ids);
	give_numbers(all, n_named, n);
	qsort(all, n, sizeof(struct pattern_ref *), compare_ref_ids);
	for (i = 0; i < n; i++)
		list_append(refs, &all[i]->link);
	mem_free(all);
	return 0;
}
