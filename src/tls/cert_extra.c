/* Data that handshakes staple to a certificate: OCSP responses and signed certificate timestamps.
 * Main thread, or the first worker for a command. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/cert.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"

#define SCTL_MAX 65535

static int
bad_extra(char *why, const char *text)
{
	(void)snprintf(why, TLS_WHY_MAX, "%s", text);
	return -ERR_INVAL;
}

static int
set_bytes(struct tls_bytes *to, const void *p, size_t len)
{
	unsigned char *copy = mem_alloc(len ? len : 1);

	if (!copy)
		return -ERR_NOMEM;
	memcpy(copy, p, len);
	mem_free(to->p);
	to->p = copy;
	to->len = len;
	return 0;
}

/* True if the bytes are a list with its length, whose entries have theirs. */
static int
is_sctl(const unsigned char *p, size_t len)
{
	if (len < 2 || (size_t)(p[0] << 8 | p[1]) != len - 2 || len == 2)
		return 0;
	for (p += 2, len -= 2; len; ) {
		size_t n = len >= 2 ? (size_t)(p[0] << 8 | p[1]) : 0;

		if (!n || n > len - 2)
			return 0;
		p += n + 2;
		len -= n + 2;
	}
	return 1;
}

int
tls_cert_add_sctl(struct tls_cert *c, const void *p, size_t len, char *why)
{
	if (len > SCTL_MAX || !is_sctl(p, len))
		return bad_extra(why, "it is not a signed certificate timestamp list");
	if (set_bytes(&c->sctl, p, len) < 0)
		return bad_extra(why, "out of memory");
	return 0;
}

int
tls_cert_add_ocsp(struct tls_cert *c, const void *p, size_t len, char *why)
{
	c->wants_ocsp = 1;
	return set_bytes(&c->ocsp_new, p, len) < 0 ? bad_extra(why, "out of memory") : 0;
}

int
tls_cert_want_ocsp(struct tls_cert *c, char *why)
{
	c->wants_ocsp = 1;
	return tls_cert_check_ocsp(c, why);
}

struct ocsp_cert_id_st *
tls_cert_ocsp_id(const struct tls_cert *c)
{
	return c->leaf && c->issuer ? OCSP_cert_to_id(NULL, c->leaf, c->issuer) : NULL;
}

void
tls_cert_drop_ocsp(struct tls_cert *c)
{
	OCSP_CERTID_free(c->ocsp_id);
	mem_free(c->ocsp_new.p);
	tls_ocsp_put(c->ocsp);
	c->ocsp_id = NULL;
	c->ocsp_new = (struct tls_bytes){ NULL, 0 };
	c->ocsp = NULL;
	c->wants_ocsp = 0;
}

/* Renews the id of the certificate. Another issuer makes another id: a response with the old id is
 * dropped. */
static int
renew_ocsp_id(struct tls_cert *c, char *why)
{
	OCSP_CERTID *id = tls_cert_ocsp_id(c);

	if (!id) {
		(void)bad_extra(why, "the issuer's certificate is not in the PEM file, nor in a "
			"file .issuer");
		return -ERR_MISSING;
	}
	if (c->ocsp_id && OCSP_id_cmp(c->ocsp_id, id) != 0) {
		tls_ocsp_put(c->ocsp);
		c->ocsp = NULL;
	}
	OCSP_CERTID_free(c->ocsp_id);
	c->ocsp_id = id;
	return 0;
}

static int
take_new_ocsp(struct tls_cert *c, char *why)
{
	OCSP_CERTID *about;
	struct tls_ocsp *made = tls_ocsp_read(c->ocsp_new.p, c->ocsp_new.len, &about, why);
	int is_ours = made && OCSP_id_cmp(about, c->ocsp_id) == 0;

	mem_free(c->ocsp_new.p);
	c->ocsp_new = (struct tls_bytes){ NULL, 0 };
	if (is_ours) {
		tls_ocsp_put(c->ocsp);
		c->ocsp = tls_ocsp_ref(made);
	} else if (made) {
		(void)bad_extra(why, "OCSP single response: Certificate ID does not match "
			"certificate and issuer");
	}
	tls_ocsp_put(made);
	OCSP_CERTID_free(about);
	return is_ours ? 0 : -ERR_INVAL;
}

int
tls_cert_check_ocsp(struct tls_cert *c, char *why)
{
	int r = c->wants_ocsp ? renew_ocsp_id(c, why) : 0;

	return r || !c->ocsp_new.len ? r : take_new_ocsp(c, why);
}
