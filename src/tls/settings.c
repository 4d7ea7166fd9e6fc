/* The options of TLS as words: which there are, where each may stand, and what it sets. Main
 * thread, while the configuration is read. */
#include "tls/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "tls/openssl.h"
#include "tls/verify_names.h"

#define ALPN_MAX 255 /* bytes of a protocol's name (RFC 7301) */

struct setting {
	const char *name;
	unsigned int at;
	int args;
	int (*set)(struct tls_settings *s, const struct setting *row, const char *arg, char *why);
	size_t field;        /* of a text */
	unsigned int value;  /* of a switch, or a version */
};

static int
settings_nomem(char *why)
{
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	return -ERR_NOMEM;
}

static char **
text_field(struct tls_settings *s, size_t field)
{
	return (char **)(void *)((char *)s + field);
}

static int
set_text(struct tls_settings *s, const struct setting *row, const char *arg, char *why)
{
	char **to = text_field(s, row->field), *copy = mem_strdup(arg);

	if (!copy)
		return settings_nomem(why);
	mem_free(*to);
	*to = copy;
	return 0;
}

static int
set_switch(struct tls_settings *s, const struct setting *row, const char *arg unused,
	char *why unused)
{
	s->flags |= row->value;
	return 0;
}

static int
clear_switch(struct tls_settings *s, const struct setting *row, const char *arg unused,
	char *why unused)
{
	s->flags &= ~row->value;
	return 0;
}

#define IF_PERMITTED "As far as OpenSSL and its configuration permit it."

/* In order. */
const struct cfg_enum tls_version_words[] = {
	{ "SSLv3", TLS_VERSION_SSL30, IF_PERMITTED " Debian's does not." },
	{ "TLSv1.0", TLS_VERSION_10, IF_PERMITTED },
	{ "TLSv1.1", TLS_VERSION_11, IF_PERMITTED },
	{ "TLSv1.2", TLS_VERSION_12, "TLS 1.2." },
	{ "TLSv1.3", TLS_VERSION_13, "TLS 1.3." },
	{ 0 },
};

const char *
tls_version_word(enum tls_version v)
{
	return v == TLS_VERSION_UNSET ? NULL : tls_version_words[v - TLS_VERSION_SSL30].name;
}

static int
find_version(const char *name, enum tls_version *out, char *why)
{
	const struct cfg_enum *e = cfg_enum_find(tls_version_words, name, strlen(name));

	if (e) {
		*out = (enum tls_version)e->value;
		return 0;
	}
	(void)snprintf(why, TLS_WHY_MAX,
		"'%.60s' is no version; SSLv3, TLSv1.0, TLSv1.1, TLSv1.2 and TLSv1.3 are known",
		name);
	return -ERR_INVAL;
}

static int
set_min(struct tls_settings *s, const struct setting *row unused, const char *arg, char *why)
{
	return find_version(arg, &s->min, why);
}

static int
set_max(struct tls_settings *s, const struct setting *row unused, const char *arg, char *why)
{
	return find_version(arg, &s->max, why);
}

static int
force_version(struct tls_settings *s, const struct setting *row, const char *arg unused,
	char *why unused)
{
	s->min = s->max = (enum tls_version)row->value;
	return 0;
}

static int
forbid_version(struct tls_settings *s, const struct setting *row, const char *arg unused,
	char *why unused)
{
	s->off |= 1u << row->value;
	return 0;
}

const struct cfg_enum tls_bind_verify_words[] = {
	{ "none", TLS_VERIFY_NONE, "They are not asked." },
	{ "optional", TLS_VERIFY_OPTIONAL, "They are asked; a client without one is served." },
	{ "required", TLS_VERIFY_REQUIRED, "They are asked; a client without one is refused." },
	{ 0 },
};

const struct cfg_enum tls_server_verify_words[] = {
	{ "none", TLS_VERIFY_NONE, "It is not." },
	{ "required", TLS_VERIFY_REQUIRED, "It is: without a valid one the connection fails." },
	{ 0 },
};

/* The row's value: 1 for certificates of clients, 0 for those of servers. */
static int
set_verify(struct tls_settings *s, const struct setting *row, const char *arg, char *why)
{
	const struct cfg_enum *words = row->value ? tls_bind_verify_words
						  : tls_server_verify_words;
	const struct cfg_enum *e = cfg_enum_find(words, arg, strlen(arg));

	if (!e) {
		(void)snprintf(why, TLS_WHY_MAX, "'%.60s' is unknown; %s expected", arg,
			row->value ? "'none', 'optional' or 'required'" : "'none' or 'required'");
		return -ERR_INVAL;
	}
	s->verify = (enum tls_verify)e->value;
	return 0;
}

/* "h2,http/1.1": each name with its length before it. */
int
tls_alpn_parse(const char *arg, struct tls_bytes *out, char *why)
{
	size_t len = strlen(arg), at = 0;
	unsigned char *p = mem_alloc(len + 1);

	if (!p)
		return settings_nomem(why);
	for (size_t i = 0; i <= len;) {
		size_t n = strcspn(arg + i, ",");

		if (!n || n > ALPN_MAX) {
			mem_free(p);
			(void)snprintf(why, TLS_WHY_MAX,
				"'%.60s' : the name of a protocol has 1 to %d bytes", arg,
				ALPN_MAX);
			return -ERR_INVAL;
		}
		p[at++] = (unsigned char)n;
		memcpy(p + at, arg + i, n);
		at += n;
		i += n + 1;
	}
	mem_free(out->p);
	out->p = p;
	out->len = at;
	return 0;
}

static int
set_alpn(struct tls_settings *s, const struct setting *row unused, const char *arg, char *why)
{
	int r = tls_alpn_parse(arg, &s->alpn, why);

	if (r == 0)
		s->flags &= ~(unsigned int)TLS_NO_ALPN;
	return r;
}

static int
clear_alpn(struct tls_settings *s, const struct setting *row, const char *arg, char *why)
{
	mem_free(s->alpn.p);
	memset(&s->alpn, 0, sizeof(s->alpn));
	return set_switch(s, row, arg, why);
}

static int
set_ignored(struct tls_settings *s, const struct setting *row, const char *arg, char *why)
{
	struct tls_error_set *set = row->value ? &s->ca_ignore : &s->crt_ignore;

	if (strcmp(arg, "all") == 0) {
		set->all = 1;
		return 0;
	}
	for (const char *p = arg; *p;) {
		size_t n = strcspn(p, ",");
		int e = tls_verify_error_number(p, n);

		if (e < 0) {
			(void)snprintf(why, TLS_WHY_MAX,
				"'%.*s' is no error of a verification (0..127, or its name)",
				(int)MIN(n, 60), p);
			return -ERR_INVAL;
		}
		set->bits[e / 64] |= UINT64_C(1) << e % 64;
		p += n + (p[n] == ',');
	}
	return 0;
}

static int
set_ocsp_update(struct tls_settings *s, const struct setting *row unused, const char *arg,
	char *why)
{
	int is_on = strcmp(arg, "on") == 0;

	if (!is_on && strcmp(arg, "off") != 0) {
		(void)snprintf(why, TLS_WHY_MAX, "expects 'on' or 'off'");
		return -ERR_INVAL;
	}
	s->ocsp_update = is_on ? TLS_OCSP_ON : TLS_OCSP_OFF;
	return 0;
}

int
tls_error_is_in(const struct tls_error_set *set, int error)
{
	return set->all || (error >= 0 && error < 128 && (set->bits[error / 64] >> error % 64 & 1));
}

#define TEXT(n, where, f)                                           \
	{                                                           \
		.name = n, .at = where, .args = 1, .set = set_text, \
		.field = offsetof(struct tls_settings, f)           \
	}
#define SWITCH(n, where, fn, v) { .name = n, .at = where, .set = fn, .value = v }
#define ARG(n, where, fn, v) { .name = n, .at = where, .args = 1, .set = fn, .value = v }

#define LISTENS (TLS_AT_BIND | TLS_AT_CRT_LIST)
#define SIDES (TLS_AT_BIND | TLS_AT_SERVER)
#define DEFAULTS (TLS_AT_BIND_DEFAULTS | TLS_AT_SERVER_DEFAULTS)
#define ANYWHERE (LISTENS | TLS_AT_SERVER)

static const struct setting table[] = {
	TEXT("ca-file", ANYWHERE, ca_file),
	TEXT("ca-verify-file", LISTENS, ca_verify_file),
	TEXT("crl-file", ANYWHERE, crl_file),
	TEXT("ciphers", ANYWHERE, ciphers),
	TEXT("ciphersuites", ANYWHERE, ciphersuites),
	TEXT("curves", ANYWHERE, curves),
	TEXT("ecdhe", LISTENS, curves),
	TEXT("sigalgs", ANYWHERE, sigalgs),
	TEXT("client-sigalgs", ANYWHERE, client_sigalgs),
	TEXT("crt", TLS_AT_SERVER, crt),
	TEXT("verifyhost", TLS_AT_SERVER, verifyhost),
	ARG("alpn", ANYWHERE, set_alpn, 0),
	SWITCH("no-alpn", LISTENS, clear_alpn, TLS_NO_ALPN),
	ARG("verify", LISTENS, set_verify, 1),
	ARG("verify", TLS_AT_SERVER, set_verify, 0),
	ARG("ocsp-update", LISTENS, set_ocsp_update, 0),
	ARG("crt-ignore-err", TLS_AT_BIND, set_ignored, 0),
	ARG("ca-ignore-err", TLS_AT_BIND, set_ignored, 1),
	SWITCH("no-ca-names", LISTENS, set_switch, TLS_NO_CA_NAMES),
	SWITCH("allow-0rtt", TLS_AT_CRT_LIST, set_switch, TLS_WANTS_0RTT),
	SWITCH("strict-sni", TLS_AT_BIND | TLS_AT_BIND_DEFAULTS, set_switch, TLS_STRICT_SNI),
	SWITCH("no-strict-sni", TLS_AT_BIND, clear_switch, TLS_STRICT_SNI),
	SWITCH("prefer-client-ciphers", TLS_AT_BIND | TLS_AT_BIND_DEFAULTS, set_switch,
		TLS_PREFER_CLIENT_CIPHERS),
	SWITCH("no-tls-tickets", SIDES | DEFAULTS, set_switch, TLS_NO_TICKETS),
	SWITCH("tls-tickets", SIDES | DEFAULTS, clear_switch, TLS_NO_TICKETS),
	SWITCH("no-ssl-reuse", TLS_AT_SERVER, set_switch, TLS_NO_REUSE),
	SWITCH("ssl-reuse", TLS_AT_SERVER, clear_switch, TLS_NO_REUSE),
	ARG("ssl-min-ver", ANYWHERE | DEFAULTS, set_min, 0),
	ARG("ssl-max-ver", ANYWHERE | DEFAULTS, set_max, 0),
	SWITCH("force-sslv3", SIDES | DEFAULTS, force_version, TLS_VERSION_SSL30),
	SWITCH("force-tlsv10", SIDES | DEFAULTS, force_version, TLS_VERSION_10),
	SWITCH("force-tlsv11", SIDES | DEFAULTS, force_version, TLS_VERSION_11),
	SWITCH("force-tlsv12", SIDES | DEFAULTS, force_version, TLS_VERSION_12),
	SWITCH("force-tlsv13", SIDES | DEFAULTS, force_version, TLS_VERSION_13),
	SWITCH("no-sslv3", SIDES | DEFAULTS, forbid_version, TLS_VERSION_SSL30),
	SWITCH("no-tlsv10", SIDES | DEFAULTS, forbid_version, TLS_VERSION_10),
	SWITCH("no-tlsv11", SIDES | DEFAULTS, forbid_version, TLS_VERSION_11),
	SWITCH("no-tlsv12", SIDES | DEFAULTS, forbid_version, TLS_VERSION_12),
	SWITCH("no-tlsv13", SIDES | DEFAULTS, forbid_version, TLS_VERSION_13),
};

static const struct setting *
find_setting(unsigned int at, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if ((table[i].at & at) && strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

int
tls_settings_args(unsigned int at, const char *name)
{
	const struct setting *row = find_setting(at, name);

	return row ? row->args : -ERR_UNKNOWN;
}

int
tls_settings_set(struct tls_settings *s, unsigned int at, const char *name, const char *arg,
	char *why)
{
	const struct setting *row = find_setting(at, name);
	int r = row ? row->set(s, row, arg, why) : -ERR_UNKNOWN;

	return r < 0 ? r : row->args;
}

/* --- copies ---------------------------------------------------------------------------------- */

/* Sets of options: copied, compared, inherited, freed. Main thread. */

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
		a->off == b->off && a->flags == b->flags && a->level == b->level &&
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
	if (!s->level)
		s->level = from->level;
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
tls_alpn_offers_http2(const struct tls_bytes *alpn)
{
	for (size_t at = 0; at < alpn->len; at += (size_t)alpn->p[at] + 1)
		if (alpn->p[at] == 2 && memcmp(alpn->p + at + 1, "h2", 2) == 0)
			return 1;
	return 0;
}

int
tls_settings_ignores_off(const struct tls_settings *s)
{
	return s->off && (s->min || s->max);
}

/* --- the library ----------------------------------------------------------------------------- */

/* The version of OpenSSL, and its providers. Main thread; the first worker shows them. */

const char *const tls_version_name = OPENSSL_VERSION_TEXT;
const char *const tls_version_number = OPENSSL_VERSION_STR;

static int
show_provider(OSSL_PROVIDER *p, void *arg)
{
	sbuf_addf(arg, "\t- %s\n", OSSL_PROVIDER_get0_name(p));
	return 1;
}

void
tls_show_providers(struct sbuf *out)
{
	(void)OSSL_PROVIDER_do_all(NULL, show_provider, out);
}

/* what: the words before the value. */
static int
library_failed(char *why, const char *what, const char *value)
{
	char reason[TLS_ERROR_MAX];

	(void)snprintf(why, TLS_WHY_MAX, "%s '%.200s': %.200s", what, value,
		tls_error_take(reason, sizeof(reason)));
	return -ERR_INVAL;
}

int
tls_provider_load(struct tls_providers *ps, const char *name, char *why)
{
	OSSL_PROVIDER **grown = array_grow(ps->loaded, ps->n, &ps->cap, sizeof(*grown));
	OSSL_PROVIDER *p = grown ? OSSL_PROVIDER_load(NULL, name) : NULL;

	if (!grown) {
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
		return -ERR_NOMEM;
	}
	ps->loaded = grown;
	if (!p)
		return library_failed(why, "OpenSSL cannot load the provider", name);
	grown[ps->n++] = p;
	return 0;
}

void
tls_providers_unload(struct tls_providers *ps)
{
	while (ps->n)
		(void)OSSL_PROVIDER_unload(ps->loaded[--ps->n]);
	mem_free(ps->loaded);
	*ps = (struct tls_providers){ NULL, 0, 0 };
}

int
tls_provider_search(const char *path, char *why)
{
	if (OSSL_PROVIDER_set_default_search_path(NULL, path))
		return 0;
	return library_failed(why, "OpenSSL cannot look for providers in", path);
}

int
tls_algorithms_prefer(const char *query, char *why)
{
	if (EVP_set_default_properties(NULL, query))
		return 0;
	ERR_clear_error();
	(void)snprintf(why, TLS_WHY_MAX, "'%.200s' is no query of properties (property(7))", query);
	return -ERR_INVAL;
}

int
tls_algorithms_check(char *why)
{
	EVP_MD *md = EVP_MD_fetch(NULL, "SHA2-256", NULL);
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
	int is_there = md && cipher;

	EVP_MD_free(md);
	EVP_CIPHER_free(cipher);
	ERR_clear_error();
	if (is_there)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX,
		"the providers of OpenSSL that are loaded have no SHA-256 and AES with the "
		"properties of 'ssl-propquery': is 'ssl-provider default' missing?");
	return -ERR_INVAL;
}
