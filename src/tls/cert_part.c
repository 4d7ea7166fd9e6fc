/* Parts of a certificate by the names that commands use. First worker. */
#include "tls/cert_part.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/base64.h"

/* The certificate of the first n bytes, or of them with ".crt". */
static struct tls_entry *
find_base(const struct tls_store *s, const char *name, size_t n, int del_ext)
{
	static const char ext[] = ".crt";
	char *base = mem_alloc(n + sizeof(ext));
	struct tls_entry *e;

	if (!base)
		return NULL;
	memcpy(base, name, n);
	base[n] = '\0';
	e = tls_store_find(s, base);
	memcpy(base + n, ext, sizeof(ext));
	if (!e && del_ext)
		e = tls_store_find(s, base);
	mem_free(base);
	return e;
}

struct tls_entry *
tls_part_find(const struct tls_store *s, const char *name, int del_ext, enum tls_part *part)
{
	static const char *const ends[] = { [TLS_PART_KEY] = ".key",
		[TLS_PART_ISSUER] = ".issuer", [TLS_PART_SCTL] = ".sctl",
		[TLS_PART_OCSP] = ".ocsp" };
	struct tls_entry *e = tls_store_find(s, name);
	size_t n = strlen(name);

	*part = TLS_PART_PEM;
	for (unsigned int i = TLS_PART_KEY; !e && i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);

		if (n <= end || strcmp(name + n - end, ends[i]) != 0)
			continue;
		e = find_base(s, name, n - end, del_ext);
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
