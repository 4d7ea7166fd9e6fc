/* Sets of options: copied, compared, inherited, freed. Main thread. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/settings.h"

/* The members that are texts. */
static const size_t text_fields[] = {
	offsetof(struct tls_settings, ciphers),
	offsetof(struct tls_settings, ciphersuites),
	offsetof(struct tls_settings, curves),
	offsetof(struct tls_settings, sigalgs),
	offsetof(struct tls_settings, client_sigalgs),
	offsetof(struct tls_settings, ca_file),
	offsetof(struct tls_settings, ca_verify_file),
	offsetof(struct tls_settings, crl_file),
	offsetof(struct tls_settings, crt),
	offsetof(struct tls_settings, verifyhost),
};

static char **
setting_text(struct tls_settings *s, unsigned int i)
{
	return (char **)(void *)((char *)s + text_fields[i]);
}

static const char *
text_of_setting(const struct tls_settings *s, unsigned int i)
{
	return *(char *const *)(const void *)((const char *)s + text_fields[i]);
}

void
tls_settings_free(struct tls_settings *s)
{
	for (unsigned int i = 0; i < ARRAY_LEN(text_fields); i++)
		mem_free(*setting_text(s, i));
	mem_free(s->alpn.p);
	memset(s, 0, sizeof(*s));
}

int
tls_settings_equal(const struct tls_settings *a, const struct tls_settings *b)
{
	for (unsigned int i = 0; i < ARRAY_LEN(text_fields); i++) {
		const char *x = text_of_setting(a, i), *y = text_of_setting(b, i);

		if (!x != !y || (x && strcmp(x, y) != 0))
			return 0;
	}
	return a->alpn.len == b->alpn.len &&
		(!a->alpn.len || memcmp(a->alpn.p, b->alpn.p, a->alpn.len) == 0) &&
		a->verify == b->verify && a->min == b->min && a->max == b->max &&
		a->off == b->off && a->flags == b->flags &&
		memcmp(&a->crt_ignore, &b->crt_ignore, sizeof(a->crt_ignore)) == 0 &&
		memcmp(&a->ca_ignore, &b->ca_ignore, sizeof(a->ca_ignore)) == 0;
}

int
tls_bytes_copy(struct tls_bytes *to, const struct tls_bytes *from)
{
	unsigned char *p;

	if (!from->len)
		return 0;
	p = mem_alloc(from->len);
	if (!p)
		return -ERR_NOMEM;
	memcpy(p, from->p, from->len);
	to->p = p;
	to->len = from->len;
	return 0;
}

static int
inherit_alpn(struct tls_settings *s, const struct tls_settings *from)
{
	if (s->alpn.len || !from->alpn.len || (s->flags & TLS_NO_ALPN))
		return 0;
	return tls_bytes_copy(&s->alpn, &from->alpn);
}

int
tls_settings_inherit(struct tls_settings *s, const struct tls_settings *from)
{
	for (unsigned int i = 0; i < ARRAY_LEN(text_fields); i++) {
		char **field = setting_text(s, i);

		if (!*field && mem_copy_string(field, text_of_setting(from, i)) < 0)
			return -ERR_NOMEM;
	}
	if (!s->verify)
		s->verify = from->verify;
	if (!s->min)
		s->min = from->min;
	if (!s->max)
		s->max = from->max;
	s->off |= from->off;
	s->crt_ignore.all |= from->crt_ignore.all;
	s->ca_ignore.all |= from->ca_ignore.all;
	for (unsigned int i = 0; i < ARRAY_LEN(s->ca_ignore.bits); i++) {
		s->crt_ignore.bits[i] |= from->crt_ignore.bits[i];
		s->ca_ignore.bits[i] |= from->ca_ignore.bits[i];
	}
	if (inherit_alpn(s, from) < 0)
		return -ERR_NOMEM;
	s->flags |= from->flags;
	return 0;
}

int
tls_settings_copy(struct tls_settings *to, const struct tls_settings *from)
{
	if (tls_settings_inherit(to, from) == 0)
		return 0;
	tls_settings_free(to);
	return -ERR_NOMEM;
}

int
tls_alpn_drop_http2(struct tls_bytes *alpn)
{
	size_t at = 0, to = 0;
	int found = 0;

	while (at < alpn->len) {
		size_t n = (size_t)alpn->p[at] + 1;

		if (n == 3 && memcmp(alpn->p + at + 1, "h2", 2) == 0) {
			found = 1;
		} else {
			memmove(alpn->p + to, alpn->p + at, n);
			to += n;
		}
		at += n;
	}
	alpn->len = to;
	return found;
}

int
tls_settings_ignores_off(const struct tls_settings *s)
{
	return s->off && (s->min || s->max);
}
