/* TLS of a bind line: its life, its certificates and settings, and the contexts of the workers.
 * Main thread, or the first worker while the others stand still. */
#include "tls/bind.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/context.h"
#include "tls/openssl.h"

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
tls_line_free(struct tls_line *l)
{
	list_remove(&l->link);
	l->entry->uses--;
	l->entry->binds--;
	for (unsigned int i = 0; i < l->n_filters; i++)
		mem_free(l->filter[i]);
	mem_free(l->filter);
	mem_free(l->list);
	mem_free(l);
}

static void
close_acceptor(struct tls_acceptor *a)
{
	tls_maker_fini(&a->maker);
	for (unsigned int i = 0; a->ctx && i < a->bind->n_variants; i++)
		SSL_CTX_free(a->ctx[i]);
	mem_free(a->ctx);
}

void
tls_bind_free(struct tls_bind **bp)
{
	struct tls_bind *b = *bp;

	if (!b)
		return;
	*bp = NULL;
	for (unsigned int i = 0; i < b->n_acceptors; i++)
		close_acceptor(&b->acceptor[i]);
	mem_free(b->acceptor);
	tls_names_fini(&b->names);
	list_each_safe(it, &b->lines)
		tls_line_free(list_entry(it, struct tls_line, link));
	list_each_safe(it, &b->sources) {
		struct tls_source *s = list_entry(it, struct tls_source, link);

		mem_free(s->path);
		mem_free(s);
	}
	for (unsigned int i = 0; i < b->n_variants; i++) {
		tls_settings_free(&b->variant[i]->set);
		X509_STORE_free(b->variant[i]->trusted);
		mem_free(b->variant[i]);
	}
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
	list_init(&l->link);
	list_append(&b->lines, &l->link);
	return l;
}

static int
add_line_names(struct tls_names *t, struct tls_line *l)
{
	int r = 0;

	for (unsigned int i = 0; i < l->n_filters && !r; i++)
		r = tls_names_add(t, l->filter[i], l);
	if (r || l->n_filters)
		return r;
	return l->entry->cert ? tls_names_add_cert(t, l->entry->cert->leaf, l) : 0;
}

int
tls_bind_index(struct tls_bind *b)
{
	struct tls_names made, *old = &b->names;
	int r = 0;

	tls_names_init(&made);
	list_each(it, &b->lines) {
		if (!r)
			r = add_line_names(&made, list_entry(it, struct tls_line, link));
	}
	tls_names_fini(r ? &made : old);
	if (r)
		return r;
	*old = made;
	/* The list's head has moved. */
	list_init(&old->all);
	list_move_all(&made.all, &old->all);
	return 0;
}

/* Takes over what set points to, also on failure. */
static int
add_variant(struct tls_bind *b, struct tls_settings *set)
{
	struct tls_variant *v = mem_zalloc(sizeof(*v)), **grown;

	grown = v ? mem_resize(b->variant, b->n_variants + 1, sizeof(struct tls_variant *)) : NULL;
	if (!grown) {
		mem_free(v);
		tls_settings_free(set);
		return -ERR_NOMEM;
	}
	v->set = *set;
	b->variant = grown;
	grown[b->n_variants] = v;
	return (int)b->n_variants++;
}

int
tls_bind_variant(struct tls_bind *b, const struct tls_settings *own)
{
	struct tls_settings set = { 0 };

	if (tls_settings_copy(&set, own) < 0)
		return -ERR_NOMEM;
	if (tls_settings_inherit(&set, &b->set) < 0) {
		tls_settings_free(&set);
		return -ERR_NOMEM;
	}
	for (unsigned int i = 0; i < b->n_variants; i++) {
		if (tls_settings_equal(&b->variant[i]->set, &set)) {
			tls_settings_free(&set);
			return (int)i;
		}
	}
	return add_variant(b, &set);
}

static int
make_contexts(struct tls_acceptor *a, struct tls_bind *b, char *why)
{
	memset(a, 0, sizeof(*a));
	a->bind = b;
	a->ctx = mem_zalloc(b->n_variants * sizeof(struct ssl_ctx_st *));
	if (!a->ctx)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		a->ctx[i] = tls_context_accept(a, i, why);
		if (!a->ctx[i])
			return -ERR_INVAL;
	}
	return 0;
}

int
tls_bind_check(struct tls_bind *b, char *why)
{
	struct tls_acceptor a;
	int r = make_contexts(&a, b, why);

	close_acceptor(&a);
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

		r = make_contexts(a, b, why);
		if (!r)
			r = tls_maker_init(&a->maker, io[i], a->ctx[0], TLS_ACCEPTS);
	}
	return r;
}

int
tls_bind_renew(struct tls_bind *b, const struct tls_entry *e)
{
	char why[TLS_WHY_MAX];
	int is_used = 0, r;

	list_each(it, &b->lines)
		is_used |= list_entry(it, const struct tls_line, link)->entry == e;
	if (!is_used)
		return 0;
	r = tls_bind_index(b);
	for (unsigned int i = 0; i < b->n_acceptors && !r; i++)
		for (unsigned int v = 0; v < b->n_variants && !r; v++)
			r = tls_context_set_default(&b->acceptor[i], v, why);
	return r;
}

const struct xprt_maker *
tls_bind_maker(const struct tls_bind *b, unsigned int worker)
{
	return b && b->is_on && worker < b->n_acceptors ? &b->acceptor[worker].maker.maker : NULL;
}
