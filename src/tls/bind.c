/* TLS of a bind line: its life, its certificates and settings, and the contexts of the workers.
 * Main thread, or the first worker while the others are paused. */
#include "tls/bind.h"

#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "tls/bind_change.h"
#include "tls/ca.h"
#include "tls/context.h"
#include "tls/crt_list.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"

struct tls_bind *
tls_bind_new(void)
{
	struct tls_bind *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	list_init(&b->sources);
	list_init(&b->lines);
	tls_names_init(&b->names);
	return b;
}

void
tls_line_use(struct tls_line *l, struct tls_variant *v)
{
	if (l->variant)
		l->variant->n_lines--;
	if (v)
		v->n_lines++;
	l->variant = v;
}

void
tls_line_free(struct tls_line *l)
{
	list_remove(&l->link);
	list_remove(&l->same);
	tls_line_use(l, NULL);
	l->entry->uses--;
	l->entry->binds--;
	for (unsigned int i = 0; i < l->n_filters; i++)
		mem_free(l->filter[i]);
	mem_free(l->filter);
	mem_free(l->options);
	mem_free(l);
}

void
tls_acceptor_free(struct tls_acceptor *a)
{
	tls_maker_fini(&a->maker);
	for (unsigned int i = 0; i < a->n_ctx; i++)
		SSL_CTX_free(a->ctx[i]);
	mem_free(a->ctx);
	a->ctx = NULL;
	a->n_ctx = 0;
}

/* Contexts have references of their own. */
static void
drop_trusted(struct tls_variant *v)
{
	X509_STORE_free(v->trusted);
	X509_STORE_free(v->next);
	tls_ca_drop(v->ca);
	tls_ca_drop(v->ca_verify);
	tls_ca_drop(v->crl);
	v->trusted = v->next = NULL;
	v->ca = v->ca_verify = v->crl = NULL;
}

void
tls_bind_rest_variants(struct tls_bind *b)
{
	/* The first is that of the bind line itself. */
	for (unsigned int i = 1; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (v->n_lines)
			continue;
		drop_trusted(v);
		v->is_idle = 1;
	}
}

void
tls_bind_drop_variants(struct tls_bind *b, unsigned int n)
{
	while (b->n_variants > n) {
		struct tls_variant *v = b->variant[--b->n_variants];

		tls_settings_free(&v->set);
		drop_trusted(v);
		mem_free(v);
	}
}

void
tls_bind_free(struct tls_bind **bp)
{
	struct tls_bind *b = *bp;

	if (!b)
		return;
	*bp = NULL;
	tls_bind_settle(b);
	for (unsigned int i = 0; i < b->n_acceptors; i++)
		tls_acceptor_free(&b->acceptor[i]);
	mem_free(b->acceptor);
	tls_names_fini(&b->names);
	list_each_safe(it, &b->lines)
		tls_line_free(list_entry(it, struct tls_line, link));
	list_each_safe(it, &b->sources) {
		struct tls_source *s = list_entry(it, struct tls_source, link);

		mem_free(s->path);
		mem_free(s);
	}
	tls_bind_drop_variants(b, 0);
	mem_free(b->variant);
	tls_settings_free(&b->set);
	mem_free(b->ticket_file);
	mem_free(b->id);
	mem_free(b);
}

struct tls_line *
tls_bind_add_line(struct tls_bind *b, struct tls_entry *e)
{
	struct tls_line *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->entry = e;
	e->uses++;
	e->binds++;
	l->bind = b;
	l->order = ++b->last_order;
	list_init(&l->link);
	list_append(&b->lines, &l->link);
	list_init(&l->same);
	list_append(&e->lines, &l->same);
	return l;
}

static int
add_line_names(struct tls_names *t, struct tls_line *l)
{
	const struct tls_cert *c = l->entry->cert;
	int r = l->is_default ? tls_names_add_fallback(t, l) : 0;

	for (unsigned int i = 0; i < l->n_filters && !r; i++)
		r = tls_names_add(t, l->filter[i], l);
	if (r || l->n_filters || !c)
		return r;
	return tls_names_add_cert(t, c->leaf, l);
}

int
tls_bind_index(struct tls_bind *b)
{
	int r = 0;

	list_each(it, &b->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, link);

		if (!r)
			r = add_line_names(&b->names, l);
		l->is_known = 1;
	}
	return r;
}

/* Takes over what set points to, also on failure. */
static struct tls_variant *
add_variant(struct tls_bind *b, struct tls_settings *set)
{
	struct tls_variant *v = mem_zalloc(sizeof(*v)), **grown;

	grown = v ? mem_resize(b->variant, b->n_variants + 1, sizeof(struct tls_variant *)) : NULL;
	if (!grown) {
		mem_free(v);
		tls_settings_free(set);
		return NULL;
	}
	v->set = *set;
	v->index = b->n_variants;
	b->variant = grown;
	grown[b->n_variants++] = v;
	return v;
}

struct tls_variant *
tls_bind_variant(struct tls_bind *b, const struct tls_settings *own)
{
	struct tls_settings set = { 0 };

	if (tls_settings_copy(&set, own) < 0)
		return NULL;
	if (tls_settings_inherit(&set, &b->set) < 0) {
		tls_settings_free(&set);
		return NULL;
	}
	set.flags &= ~(unsigned int)TLS_WANTS_0RTT;
	/* HTTP/2 is offered only where bytes are forwarded as they are. */
	if (b->is_http)
		b->has_dropped_http2 |= tls_alpn_drop_http2(&set.alpn);
	for (unsigned int i = 0; i < b->n_variants; i++) {
		if (tls_settings_equal(&b->variant[i]->set, &set)) {
			tls_settings_free(&set);
			return b->variant[i];
		}
	}
	return add_variant(b, &set);
}

int
tls_acceptor_make(struct tls_acceptor *a, struct tls_acceptor *owner, const struct tls_line *first,
	struct tls_io *io, char *why)
{
	const struct tls_bind *b = owner->bind;

	a->ctx = mem_zalloc(b->n_variants * sizeof(struct ssl_ctx_st *));
	if (!a->ctx)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		a->ctx[i] = tls_context_accept(owner, b->variant[i], first, why);
		if (!a->ctx[i])
			return -ERR_INVAL;
		a->n_ctx++;
	}
	return io ? tls_maker_init(&a->maker, io, a->ctx[0], TLS_ACCEPTS) : 0;
}

static const struct tls_line *
first_line(const struct tls_bind *b)
{
	return b->names.fallback.n ? b->names.fallback.line[0] : NULL;
}

int
tls_bind_check(struct tls_bind *b, char *why)
{
	struct tls_acceptor a = { .bind = b };
	int r = tls_acceptor_make(&a, &a, first_line(b), NULL, why);

	tls_acceptor_free(&a);
	return r;
}

int
tls_bind_open(struct tls_bind *b, struct tls_io *const *io, unsigned int n)
{
	char why[TLS_WHY_MAX];
	int r = 0;

	b->acceptor = mem_zalloc(n * sizeof(*b->acceptor));
	if (!b->acceptor)
		return -ERR_NOMEM;
	for (unsigned int i = 0; !r && i < n; i++) {
		struct tls_acceptor *a = &b->acceptor[b->n_acceptors++];

		a->bind = b;
		r = tls_acceptor_make(a, a, first_line(b), io[i], why);
	}
	return r;
}

const struct xprt_maker *
tls_bind_maker(const struct tls_bind *b, unsigned int worker)
{
	return b && b->is_on && worker < b->n_acceptors ? &b->acceptor[worker].maker.maker : NULL;
}

/* --- crt-lists ------------------------------------------------------------------------------- */

/* Crt-lists by name, and the settings of their lines. Main thread, or the first worker. */

static struct tls_crt_list *
find_list(const struct list *lists, const char *name)
{
	list_each(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		if (strcmp(l->name, name) == 0)
			return l;
	}
	return NULL;
}

struct tls_crt_list *
tls_crt_lists_find_path(const struct list *lists, const char *path)
{
	size_t n = strlen(path);
	struct tls_crt_list *l;
	char *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	name = mem_strndup(path, n);
	l = name ? find_list(lists, name) : NULL;
	mem_free(name);
	return l;
}

struct tls_crt_list *
tls_crt_lists_take(struct list *lists, const char *name)
{
	struct tls_crt_list *l = find_list(lists, name);
	struct list *at = lists->next;

	if (l)
		return l;
	l = mem_zalloc(sizeof(*l));
	if (l)
		l->name = mem_strdup(name);
	if (!l || !l->name) {
		mem_free(l);
		return NULL;
	}
	list_init(&l->link);
	while (at != lists && strcmp(list_entry(at, struct tls_crt_list, link)->name, name) < 0)
		at = at->next;
	list_append(at, &l->link);
	return l;
}

void
tls_crt_lists_free(struct list *lists)
{
	list_each_safe(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		mem_free(l->name);
		mem_free(l);
	}
	list_init(lists);
}

static int
copy_filters(struct tls_line *l, const struct tls_list_line *from)
{
	if (!from->n_filters)
		return 0;
	l->filter = mem_zalloc(from->n_filters * sizeof(char *));
	if (!l->filter)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < from->n_filters; i++) {
		l->filter[i] = mem_strdup(from->filter[i]);
		if (!l->filter[i])
			return -ERR_NOMEM;
		l->n_filters++;
	}
	return 0;
}

int
tls_line_fill(struct tls_line *l, struct tls_bind *b, struct tls_crt_list *list,
	const struct tls_list_line *from)
{
	struct tls_variant *v;

	l->list = list;
	if (from->has_options) {
		l->options = tls_list_options(&from->own, b->conf->files.ca_base);
		if (!l->options)
			return -ERR_NOMEM;
	}
	v = tls_bind_variant(b, &from->own);
	if (!v)
		return -ERR_NOMEM;
	tls_line_use(l, v);
	return copy_filters(l, from);
}
