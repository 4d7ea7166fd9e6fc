/* Parts of a certificate by the names that commands use. First worker. */
#include "tls/cert_part.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/base64.h"

struct tls_entry *
tls_part_find(const struct tls_store *s, const char *name, enum tls_part *part)
{
	static const char *const ends[] = { [TLS_PART_KEY] = ".key",
		[TLS_PART_ISSUER] = ".issuer", [TLS_PART_SCTL] = ".sctl",
		[TLS_PART_OCSP] = ".ocsp" };
	struct tls_entry *e = tls_store_find(s, name);
	size_t n = strlen(name);

	*part = TLS_PART_PEM;
	for (unsigned int i = TLS_PART_KEY; !e && i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);
		char *base;

		if (n <= end || strcmp(name + n - end, ends[i]) != 0)
			continue;
		base = mem_strndup(name, n - end);
		e = base ? tls_store_find(s, base) : NULL;
		mem_free(base);
		*part = (enum tls_part)i;
	}
	return e;
}

typedef int set_bytes_fn(struct tls_cert *c, const void *p, size_t len, char *why);

static int
set_base64(struct tls_cert *c, const char *text, set_bytes_fn *set, char *why)
{
	size_t len = strlen(text);
	unsigned char *out = mem_alloc(TLS_BASE64_ROOM(len));
	long n = out ? tls_base64_decode(text, len, out) : -ERR_NOMEM;

	if (n >= 0)
		n = set(c, out, (size_t)n, why);
	else if (out)
		(void)snprintf(why, TLS_WHY_MAX, "Error reading %s in base64 format",
			set == tls_cert_add_ocsp ? "OCSP response"
						 : "signed certificate timestamp list");
	mem_free(out);
	return (int)n;
}

int
tls_part_set(struct tls_cert *c, enum tls_part part, const char *text, char *why)
{
	switch (part) {
	case TLS_PART_PEM:
		return tls_cert_add_pem(c, text, strlen(text), why);
	case TLS_PART_KEY:
		return tls_cert_add_key(c, text, strlen(text), why);
	case TLS_PART_ISSUER:
		return tls_cert_add_issuer(c, text, strlen(text), why);
	case TLS_PART_SCTL:
		return set_base64(c, text, tls_cert_add_sctl, why);
	case TLS_PART_OCSP:
		return set_base64(c, text, tls_cert_add_ocsp, why);
	}
	return -ERR_UNKNOWN;
}
