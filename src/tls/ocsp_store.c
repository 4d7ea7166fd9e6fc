/* OCSP responses by the ids of certificates. First worker: only it changes the store. */
#include "tls/ocsp_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/openssl.h"

/* Returns the certificate that handshakes use, if responses about it are wanted. */
static struct tls_cert *
stapled_cert(const struct list *link)
{
	const struct tls_entry *e = list_entry(link, const struct tls_entry, link);

	return e->binds && e->cert && e->cert->ocsp_id ? e->cert : NULL;
}

static size_t
count_stapled(const struct tls_store *s)
{
	size_t n = 0;

	list_each(it, &s->entries)
		n += stapled_cert(it) != NULL;
	return n;
}

/* --- ids --- */

static char *
ocsp_hex(const OCSP_CERTID *id)
{
	struct sbuf b;

	sbuf_init(&b, 0);
	tls_ocsp_id_hex(id, &b);
	if (b.failed)
		sbuf_fini(&b);
	return b.failed ? NULL : b.p;
}

static int
cmp_keys(const void *a, const void *b)
{
	const struct tls_ocsp_key *x = a, *y = b;

	return strcmp(x->hex, y->hex);
}

static void
free_key(struct tls_ocsp_key *k)
{
	mem_free(k->hex);
	OCSP_CERTID_free(k->id);
}

static void
sort_once(struct tls_ocsp_keys *k)
{
	size_t n = 0;

	if (!k->n)
		return;
	qsort(k->key, k->n, sizeof(*k->key), cmp_keys);
	for (size_t i = 1; i < k->n; i++) {
		if (strcmp(k->key[n].hex, k->key[i].hex) == 0)
			free_key(&k->key[i]);
		else
			k->key[++n] = k->key[i];
	}
	k->n = n + 1;
}

int
tls_ocsp_keys(const struct tls_store *s, struct tls_ocsp_keys *out)
{
	out->n = 0;
	out->key = mem_zalloc((count_stapled(s) + 1) * sizeof(*out->key));
	if (!out->key)
		return -ERR_NOMEM;
	list_each(it, &s->entries) {
		const struct tls_cert *c = stapled_cert(it);
		struct tls_ocsp_key *k = &out->key[out->n];

		if (!c)
			continue;
		out->n++;
		k->id = OCSP_CERTID_dup(c->ocsp_id);
		k->hex = k->id ? ocsp_hex(k->id) : NULL;
		if (!k->hex) {
			tls_ocsp_keys_free(out);
			return -ERR_NOMEM;
		}
	}
	sort_once(out);
	return 0;
}

void
tls_ocsp_keys_free(struct tls_ocsp_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		free_key(&k->key[i]);
	mem_free(k->key);
	k->key = NULL;
	k->n = 0;
}

static void
show_octets(const char *label, const ASN1_STRING *s, struct sbuf *out)
{
	const unsigned char *p = ASN1_STRING_get0_data(s);

	sbuf_adds(out, label);
	for (int i = 0; i < ASN1_STRING_length(s); i++)
		sbuf_addf(out, "%02X", p[i]);
	sbuf_addc(out, '\n');
}

void
tls_ocsp_key_show(const struct tls_ocsp_key *k, struct sbuf *out)
{
	ASN1_OCTET_STRING *name, *key;
	ASN1_INTEGER *serial;

	OCSP_id_get0_info(&name, NULL, &key, &serial, k->id);
	sbuf_addf(out, "Certificate ID key : %s\n Certificate ID:\n", k->hex);
	show_octets("   Issuer Name Hash: ", name, out);
	show_octets("   Issuer Key Hash: ", key, out);
	show_octets("   Serial Number: ", serial, out);
}

const struct tls_cert *
tls_ocsp_find(const struct tls_store *s, const char *hex)
{
	list_each(it, &s->entries) {
		const struct tls_cert *c = stapled_cert(it);
		char *own = c ? ocsp_hex(c->ocsp_id) : NULL;
		int is_it = own && strcmp(own, hex) == 0;

		mem_free(own);
		if (is_it)
			return c;
	}
	return NULL;
}

/* --- a response for all that have the certificate --- */

int
tls_ocsp_users(const struct tls_store *s, const struct ocsp_cert_id_st *id,
	struct tls_ocsp_users *out)
{
	struct tls_cert *changed = s->change.cert;

	out->n = 0;
	out->cert = mem_zalloc((count_stapled(s) + 1) * sizeof(struct tls_cert *));
	if (!out->cert)
		return -ERR_NOMEM;
	list_each(it, &s->entries) {
		struct tls_cert *c = stapled_cert(it);

		if (c && OCSP_id_cmp(c->ocsp_id, id) == 0)
			out->cert[out->n++] = c;
	}
	if (out->n && changed && changed->ocsp_id && !changed->ocsp_new.len &&
		OCSP_id_cmp(changed->ocsp_id, id) == 0)
		out->cert[out->n++] = changed;
	return 0;
}

void
tls_ocsp_users_set(const struct tls_ocsp_users *u, struct tls_ocsp *o)
{
	for (size_t i = 0; i < u->n; i++) {
		struct tls_ocsp *old = u->cert[i]->ocsp;

		u->cert[i]->ocsp = tls_ocsp_ref(o);
		tls_ocsp_put(old);
	}
}

void
tls_ocsp_users_free(struct tls_ocsp_users *u)
{
	mem_free(u->cert);
	u->cert = NULL;
	u->n = 0;
}
