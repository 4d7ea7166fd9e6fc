/* Names and contexts of a bind line made anew, and exchanged. First worker. */
#include "tls/bind_change.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/ca.h"
#include "tls/context.h"
#include "tls/list_change.h"
#include "tls/openssl.h"

struct tls_bind_change {
	struct tls_names names;
	struct tls_acceptor *made;  /* one per acceptor of the bind line; NULL: those stay */
	unsigned int n_made;
	int is_in_place;
};

static int
variant_trusts(const struct tls_variant *v, const struct tls_ca *ca)
{
	return ca && v->trusted && (v->ca == ca || v->ca_verify == ca || v->crl == ca);
}

/* Lines whose handshakes the change concerns. */
static unsigned int
count_lines(const struct tls_bind *b, const struct tls_change *change)
{
	unsigned int n = 0;

	list_each(it, &b->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, link);

		n += (change->entry && l->entry == change->entry) ||
			variant_trusts(l->variant, change->ca);
	}
	return n;
}

static int
try_line(const struct tls_line *l, char *why)
{
	SSL *ssl = tls_context_trial(&l->variant->set, why);
	int r = ssl ? tls_context_try(ssl, tls_entry_latest(l->entry), l->entry->name, why)
		    : -ERR_INVAL;

	SSL_free(ssl);
	return r;
}

/* The lines that get another certificate must be able to use it. */
static int
try_entry(const struct tls_bind *b, const struct tls_entry *e, char *why)
{
	int r = 0;

	list_each(it, &b->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, link);

		if (!r && b->n_acceptors && l->entry == e)
			r = try_line(l, why);
	}
	return r;
}

/* True if contexts have to change, and not only what is chosen of them. */
static int
needs_contexts(const struct tls_bind *b, const struct tls_change *change,
	const struct tls_names *names)
{
	const struct tls_name *now = &b->names.fallback, *then = &names->fallback;

	if (change->ca || (b->n_acceptors && b->acceptor[0].n_ctx != b->n_variants))
		return 1;
	/* They begin with the first certificate. */
	if (!now->n || !then->n)
		return now->n != then->n;
	return now->line[0]->entry != then->line[0]->entry ||
		then->line[0]->entry == change->entry;
}

static int
trust_anew(struct tls_bind *b, const struct tls_ca *ca)
{
	for (unsigned int i = 0; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (!variant_trusts(v, ca))
			continue;
		v->next = tls_ca_make_store(v->ca, v->ca_verify, v->crl);
		if (!v->next)
			return -ERR_NOMEM;
	}
	return 0;
}

static int
make_acceptors(struct tls_bind *b, struct tls_bind_change *c, char *why)
{
	int r = 0;

	c->made = mem_zalloc(b->n_acceptors * sizeof(*c->made));
	if (!c->made)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < b->n_acceptors && !r; i++) {
		struct tls_acceptor *owner = &b->acceptor[i];

		c->n_made++;
		r = tls_acceptor_make(
			&c->made[i], owner, &c->names, owner->maker.io, why);
	}
	return r;
}

int
tls_bind_prepare(struct tls_bind *b, const struct tls_change *change, unsigned int *uses, char *why)
{
	unsigned int n = count_lines(b, change);
	struct tls_bind_change *c;
	int r;

	n += change->list && tls_bind_names_list(b, change->list);
	if (!n)
		return 0;
	*uses += n;
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	c = b->change = mem_zalloc(sizeof(*c));
	if (!c)
		return -ERR_NOMEM;
	r = tls_bind_index(b, &c->names);
	if (!r && change->entry)
		r = try_entry(b, change->entry, why);
	if (!r && change->ca)
		r = trust_anew(b, change->ca);
	if (!r && needs_contexts(b, change, &c->names))
		r = make_acceptors(b, c, why);
	return r;
}

static void
exchange_acceptor(struct tls_acceptor *a, struct tls_acceptor *b)
{
	struct tls_acceptor was = *a;

	a->maker = b->maker;
	a->ctx = b->ctx;
	a->n_ctx = b->n_ctx;
	b->maker = was.maker;
	b->ctx = was.ctx;
	b->n_ctx = was.n_ctx;
}

void
tls_bind_exchange(struct tls_bind *b)
{
	struct tls_bind_change *c = b->change;

	if (!c)
		return;
	tls_names_exchange(&b->names, &c->names);
	for (unsigned int i = 0; i < c->n_made; i++)
		exchange_acceptor(&b->acceptor[i], &c->made[i]);
	c->is_in_place = 1;
}

void
tls_bind_settle(struct tls_bind *b)
{
	struct tls_bind_change *c = b->change;

	if (!c)
		return;
	b->change = NULL;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (v->next && c->is_in_place) {
			X509_STORE_free(v->trusted);
			v->trusted = v->next;
		} else {
			X509_STORE_free(v->next);
		}
		v->next = NULL;
	}
	tls_names_fini(&c->names);
	for (unsigned int i = 0; i < c->n_made; i++)
		tls_acceptor_free(&c->made[i]);
	mem_free(c->made);
	mem_free(c);
}
