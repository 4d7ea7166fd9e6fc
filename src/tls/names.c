/* Names of certificates. Made by the main thread, or the first worker while the others are paused;
 * a look-up changes nothing. */
#include "tls/names.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/name_index.h"
#include "base/str.h"
#include "tls/bind.h"
#include "tls/openssl.h"

void
tls_names_init(struct tls_names *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->all);
}

/* NULL is allowed. */
static void
tls_name_free(struct tls_name *n)
{
	if (!n)
		return;
	mem_free(n->line);
	mem_free(n->name);
	mem_free(n);
}

void
tls_names_fini(struct tls_names *t)
{
	list_each_safe(it, &t->all)
		tls_name_free(list_entry(it, struct tls_name, link));
	list_init(&t->all);
	mem_free(t->fallback.line);
	memset(&t->fallback, 0, sizeof(t->fallback));
	name_index_fini(&t->exact);
	name_index_fini(&t->wild);
}

/* A name without lines. NULL when memory is out. */
static struct tls_name *
tls_name_new(const char *name)
{
	struct tls_name *n = mem_zalloc(sizeof(*n));

	if (n)
		n->name = mem_strdup(name);
	if (!n || !n->name) {
		mem_free(n);
		return NULL;
	}
	list_init(&n->link);
	return n;
}

/* The entry of a name, which is new if there is none. */
static struct tls_name *
take_tls_name(struct tls_names *t, struct name_index *index, const char *name)
{
	struct tls_name *n = name_index_find(index, name);

	if (n)
		return n;
	n = tls_name_new(name);
	if (!n || name_index_add(index, n->name, n) < 0) {
		tls_name_free(n);
		return NULL;
	}
	list_append(&t->all, &n->link);
	return n;
}

static int
append_line(struct tls_name *n, struct tls_line *line)
{
	struct tls_line **grown;

	for (unsigned int i = 0; i < n->n; i++)
		if (n->line[i] == line)
			return 0;
	grown = array_grow(n->line, n->n, &n->cap, sizeof(struct tls_line *));
	if (!grown)
		return -ERR_NOMEM;
	n->line = grown;
	n->line[n->n++] = line;
	return 0;
}

/* Parses a pattern. False: no client can ask for it. */
static int
tls_pattern_read(struct tls_pattern *p, const char *pattern)
{
	size_t len;

	p->is_excluded = pattern[0] == '!';
	pattern += p->is_excluded;
	p->is_wild = pattern[0] == '*';
	pattern += p->is_wild;
	len = strlen(pattern);
	if (!len || len > TLS_NAME_MAX)
		return 0;
	for (size_t i = 0; i <= len; i++)
		p->name[i] = str_lower(pattern[i]);
	return 1;
}

int
tls_names_add(struct tls_names *t, const char *pattern, struct tls_line *line)
{
	struct tls_pattern p;
	struct tls_name *n;

	if (!tls_pattern_read(&p, pattern))
		return 0;
	n = take_tls_name(t, p.is_wild ? &t->wild : &t->exact, p.name);
	if (!n)
		return -ERR_NOMEM;
	if (!p.is_excluded)
		return append_line(n, line);
	n->n_excluded++;
	return 0;
}

int
tls_names_add_fallback(struct tls_names *t, struct tls_line *line)
{
	return append_line(&t->fallback, line);
}

struct visit {
	tls_name_fn *fn;
	void *arg;
	struct tls_line *line;
};

/* A name with a NUL inside is no name. */
static int
visit_asn1(const struct visit *v, const ASN1_STRING *s)
{
	unsigned char *utf8;
	int n = ASN1_STRING_to_UTF8(&utf8, s), r = 0;

	if (n < 0)
		return 0;
	if ((size_t)n == strlen((const char *)utf8) && utf8[0] != '!')
		r = v->fn(v->arg, (const char *)utf8, v->line);
	OPENSSL_free(utf8);
	return r;
}

static int
visit_alt_names(const struct visit *v, X509 *x)
{
	GENERAL_NAMES *all = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
	int r = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(all) && !r; i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(all, i);

		if (g->type == GEN_DNS)
			r = visit_asn1(v, g->d.dNSName);
	}
	GENERAL_NAMES_free(all);
	return r;
}

int
tls_names_of_cert(X509 *x, tls_name_fn *fn, void *arg, struct tls_line *line)
{
	const struct visit v = { fn, arg, line };
	const X509_NAME *subject = X509_get_subject_name(x);
	int at = -1, r = visit_alt_names(&v, x);

	while (!r && (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0)
		r = visit_asn1(&v, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	ERR_clear_error();
	return r;
}

static int
add_to_table(void *arg, const char *pattern, struct tls_line *line)
{
	return tls_names_add(arg, pattern, line);
}

int
tls_names_add_cert(struct tls_names *t, X509 *x, struct tls_line *line)
{
	return tls_names_of_cert(x, add_to_table, t, line);
}

/* Writes the name in lower case, with a NUL. False: it is no name. */
static int
fold_name(const char *name, size_t len, char low[TLS_NAME_MAX + 1])
{
	if (!len || len > TLS_NAME_MAX || memchr(name, '\0', len))
		return 0;
	for (size_t i = 0; i < len; i++)
		low[i] = str_lower(name[i]);
	low[len] = '\0';
	return 1;
}

static const struct tls_name *
find_wild(const struct tls_names *t, const char *low)
{
	const char *dot = strchr(low, '.');
	const struct tls_name *n = dot ? name_index_find(&t->wild, dot) : NULL;

	return n && n->n ? n : NULL;
}

const struct tls_name *
tls_names_find(const struct tls_names *t, const char *name, size_t len)
{
	char low[TLS_NAME_MAX + 1];
	const struct tls_name *n;

	if (!fold_name(name, len, low))
		return NULL;
	n = name_index_find(&t->exact, low);
	if (n)
		return n->n ? n : NULL;
	return find_wild(t, low);
}

const struct tls_name *
tls_names_find_wider(const struct tls_names *t, const struct tls_name *n)
{
	int is_exact = n->name && !n->n_excluded &&
		name_index_find(&t->exact, n->name) == n;

	return is_exact ? find_wild(t, n->name) : NULL;
}

/* --- changes --------------------------------------------------------------------------------- */

/*
 * A change of a table of names. First worker; other workers look names up until it is applied.
 */

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

/* --- names in a ClientHello ------------------------------------------------------------------ */

/*
 * The server name of a client's hello, while OpenSSL reads it: its callbacks for the hello, and
 * for sessions. On the worker of the connection.
 */

const char *
tls_hello_name(SSL *ssl, size_t *len)
{
	const unsigned char *p;
	size_t n;

	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &p, &n) || n < 5 ||
		(size_t)(p[0] << 8 | p[1]) + 2 != n || p[2] != TLSEXT_NAMETYPE_host_name)
		return NULL;
	*len = (size_t)(p[3] << 8 | p[4]);
	return *len <= n - 5 ? (const char *)p + 5 : NULL;
}

int
tls_hello_match_session(SSL *ssl, const SSL_SESSION *session)
{
	size_t len = 0;
	const char *asked = tls_hello_name(ssl, &len), *had = SSL_SESSION_get0_hostname(session);

	if (!asked || !had)
		return !asked && !had;
	return strlen(had) == len && memcmp(had, asked, len) == 0;
}
