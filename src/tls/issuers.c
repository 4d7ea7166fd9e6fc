/* Certificates of chains, each once. Main thread, while the configuration is read. */
#include "tls/issuers.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/openssl.h"

enum { DIGEST_SIZE = 32 }; /* SHA-256 */

struct issuer {
	struct list link;
	char digest[2 * DIGEST_SIZE + 1];
	X509 *cert;
};

void
tls_issuers_init(struct tls_issuers *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->all);
}

void
tls_issuers_fini(struct tls_issuers *t)
{
	list_each_safe(it, &t->all) {
		struct issuer *i = list_entry(it, struct issuer, link);

		X509_free(i->cert);
		mem_free(i);
	}
	list_init(&t->all);
	name_index_fini(&t->index);
}

/* In hexadecimal digits. 0 or a negative reason. */
static int
digest_der(const unsigned char *der, long len, char *text)
{
	unsigned char md[DIGEST_SIZE];

	if (len <= 0 || !EVP_Digest(der, (size_t)len, md, NULL, EVP_sha256(), NULL))
		return -ERR_INVAL;
	for (unsigned int i = 0; i < DIGEST_SIZE; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", md[i]);
	return 0;
}

/* Without memory the next file parses it again. */
static void
keep_issuer(struct tls_issuers *t, const char *digest, X509 *x)
{
	struct issuer *i = mem_zalloc(sizeof(*i));

	if (!i)
		return;
	list_init(&i->link);
	memcpy(i->digest, digest, sizeof(i->digest));
	if (!X509_up_ref(x)) {
		mem_free(i);
		return;
	}
	i->cert = x;
	if (name_index_add(&t->index, i->digest, i) < 0) {
		X509_free(x);
		mem_free(i);
		return;
	}
	list_append(&t->all, &i->link);
}

X509 *
tls_issuers_take(struct tls_issuers *t, const unsigned char *der, long len)
{
	char digest[2 * DIGEST_SIZE + 1];
	const struct issuer *known;
	X509 *x;

	if (digest_der(der, len, digest) < 0)
		return d2i_X509(NULL, &der, len);
	known = name_index_find(&t->index, digest);
	if (known)
		return X509_up_ref(known->cert) ? known->cert : NULL;
	x = d2i_X509(NULL, &der, len);
	if (x)
		keep_issuer(t, digest, x);
	return x;
}
