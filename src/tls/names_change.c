/* A change of a table of names. First worker; other workers look names up until it is applied. */
#include "tls/names_change.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/bind.h"

/* One name of the table, or a new one, and what it will have. */
struct tls_edit {
	struct list link;
	struct tls_name *name;
	struct tls_line **line;      /* what it had, once it is in place */
	unsigned int n, cap, n_excluded;
	int is_wild;
	int is_ours;                 /* the name is not in the table, and freed with the change */
};

void
names_change_init(struct tls_names_change *c, struct tls_names *table)
{
	memset(c, 0, sizeof(*c));
	c->table = table;
	list_init(&c->edits);
}

static void
free_edit(struct tls_edit *e)
{
	mem_free(e->line);
	mem_free(e);
}

/* An edit that begins with what the name has now. NULL when memory is out. */
static struct tls_edit *
edit_of(struct tls_name *name)
{
	struct tls_edit *e = mem_zalloc(sizeof(*e));

	if (!e)
		return NULL;
	list_init(&e->link);
	e->name = name;
	e->n = name->n;
	e->n_excluded = name->n_excluded;
	/* One line more, which is what a change brings; others grow it. */
	e->cap = e->n + 1;
	e->line = mem_zalloc(e->cap * sizeof(struct tls_line *));
	if (!e->line) {
		mem_free(e);
		return NULL;
	}
	if (e->n)
		memcpy(e->line, name->line, e->n * sizeof(struct tls_line *));
	return e;
}

static struct tls_edit *
add_edit(struct tls_names_change *c, const struct tls_pattern *p)
{
	const struct tls_names *t = c->table;
	struct tls_name *known = name_index_find(p->is_wild ? &t->wild : &t->exact, p->name);
	struct tls_name *n = known ? known : tls_name_new(p->name);
	struct tls_edit *e = n ? edit_of(n) : NULL;

	if (e && name_index_add(p->is_wild ? &c->wild : &c->exact, n->name, e) < 0) {
		free_edit(e);
		e = NULL;
	}
	if (!e) {
		if (!known)
			tls_name_free(n);
		return NULL;
	}
	e->is_wild = p->is_wild;
	e->is_ours = !known;
	list_append(&c->edits, &e->link);
	return e;
}

/* The edit of a name, which is new if there is none. NULL when memory is out. */
static struct tls_edit *
take_edit(struct tls_names_change *c, const struct tls_pattern *p)
{
	struct tls_edit *e = name_index_find(p->is_wild ? &c->wild : &c->exact, p->name);

	return e ? e : add_edit(c, p);
}

/* At its place in the order of lines. */
static int
insert_line_of(struct tls_edit *e, struct tls_line *line)
{
	unsigned int at = 0;

	while (at < e->n && e->line[at]->order < line->order)
		at++;
	if (at < e->n && e->line[at] == line)
		return 0;
	if (e->n == e->cap) {
		struct tls_line **grown =
			mem_resize(e->line, 2 * e->cap, sizeof(struct tls_line *));

		if (!grown)
			return -ERR_NOMEM;
		e->line = grown;
		e->cap *= 2;
	}
	memmove(&e->line[at + 1], &e->line[at], (e->n - at) * sizeof(struct tls_line *));
	e->line[at] = line;
	e->n++;
	return 0;
}

static void
remove_line_of(struct tls_edit *e, const struct tls_line *line)
{
	for (unsigned int i = 0; i < e->n; i++) {
		if (e->line[i] != line)
			continue;
		memmove(&e->line[i], &e->line[i + 1],
			(e->n - i - 1) * sizeof(struct tls_line *));
		e->n--;
		return;
	}
}

/* The edit of the name of a pattern. NULL with *r: 0 if no client can ask for it, or -ERR_NOMEM. */
static struct tls_edit *
edit_for(struct tls_names_change *c, const char *pattern, struct tls_pattern *p, int *r)
{
	struct tls_edit *e;

	*r = 0;
	if (!tls_pattern_read(p, pattern))
		return NULL;
	e = take_edit(c, p);
	if (!e)
		*r = -ERR_NOMEM;
	return e;
}

int
names_change_add(struct tls_names_change *c, const char *pattern, struct tls_line *line)
{
	struct tls_pattern p;
	int r;
	struct tls_edit *e = edit_for(c, pattern, &p, &r);

	if (e && p.is_excluded)
		e->n_excluded++;
	else if (e)
		r = insert_line_of(e, line);
	return r;
}

int
names_change_remove(struct tls_names_change *c, const char *pattern, struct tls_line *line)
{
	struct tls_pattern p;
	int r;
	struct tls_edit *e = edit_for(c, pattern, &p, &r);

	if (e && !p.is_excluded)
		remove_line_of(e, line);
	else if (e && e->n_excluded)
		e->n_excluded--;
	return r;
}

int
names_change_remove_fallback(struct tls_names_change *c, struct tls_line *line)
{
	if (!c->fallback)
		c->fallback = edit_of(&c->table->fallback);
	if (!c->fallback)
		return -ERR_NOMEM;
	remove_line_of(c->fallback, line);
	return 0;
}

struct tls_line *
names_change_first(const struct tls_names_change *c)
{
	const struct tls_name *now = &c->table->fallback;

	if (c->fallback)
		return c->fallback->n ? c->fallback->line[0] : NULL;
	return now->n ? now->line[0] : NULL;
}

int
names_change_make_room(struct tls_names_change *c)
{
	uint32_t n_exact = 0, n_wild = 0;

	list_each(it, &c->edits) {
		const struct tls_edit *e = list_entry(it, const struct tls_edit, link);

		n_wild += e->is_ours && e->is_wild;
		n_exact += e->is_ours && !e->is_wild;
	}
	if (name_index_make_room(&c->table->exact, n_exact, &c->more_exact) < 0)
		return -ERR_NOMEM;
	return name_index_make_room(&c->table->wild, n_wild, &c->more_wild);
}

static void
exchange_lines(struct tls_edit *e)
{
	struct tls_name *n = e->name, was = *n;

	n->line = e->line;
	n->n = e->n;
	n->cap = e->cap;
	n->n_excluded = e->n_excluded;
	e->line = was.line;
	e->n = was.n;
}

static void
apply_edit(struct tls_names *t, struct tls_edit *e)
{
	struct name_index *x = e->is_wild ? &t->wild : &t->exact;
	struct tls_name *n = e->name;
	int is_left;

	exchange_lines(e);
	is_left = n->n || n->n_excluded;
	if (e->is_ours && is_left) {
		/* There is room: no memory is asked for. */
		(void)!name_index_add(x, n->name, n);
		list_append(&t->all, &n->link);
		e->is_ours = 0;
	} else if (!e->is_ours && !is_left) {
		name_index_remove(x, n->name, n);
		list_remove(&n->link);
		e->is_ours = 1;
	}
}

static void
take_room(struct name_index *x, struct name_index *more)
{
	struct name_index was = *x;

	if (!more->cap)
		return;
	*x = *more;
	*more = was;
}

void
names_change_apply(struct tls_names_change *c)
{
	take_room(&c->table->exact, &c->more_exact);
	take_room(&c->table->wild, &c->more_wild);
	if (c->fallback)
		exchange_lines(c->fallback);
	list_each(it, &c->edits)
		apply_edit(c->table, list_entry(it, struct tls_edit, link));
}

void
names_change_fini(struct tls_names_change *c)
{
	list_each_safe(it, &c->edits) {
		struct tls_edit *e = list_entry(it, struct tls_edit, link);

		if (e->is_ours)
			tls_name_free(e->name);
		free_edit(e);
	}
	list_init(&c->edits);
	if (c->fallback)
		free_edit(c->fallback);
	c->fallback = NULL;
	name_index_fini(&c->exact);
	name_index_fini(&c->wild);
	name_index_fini(&c->more_exact);
	name_index_fini(&c->more_wild);
}
