/*
 * Settings of TLS in the configuration: the options that bind lines, lines of a crt-list, server
 * lines and the defaults of `global` share. Main thread, while the configuration is read; workers
 * only read.
 */
#ifndef TACIT_TLS_SETTINGS_H
#define TACIT_TLS_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "cfg/value.h"
#include "tls/cert.h"

struct sbuf;
struct ossl_provider_st;

enum tls_version {
	TLS_VERSION_UNSET,
	TLS_VERSION_SSL30,
	TLS_VERSION_10,
	TLS_VERSION_11,
	TLS_VERSION_12,
	TLS_VERSION_13,
	TLS_VERSIONS
};

enum tls_verify { TLS_VERIFY_UNSET, TLS_VERIFY_NONE, TLS_VERIFY_OPTIONAL, TLS_VERIFY_REQUIRED };

/* Switches; 0 is the default of each. */
enum {
	TLS_NO_TICKETS = 1,
	TLS_PREFER_CLIENT_CIPHERS = 2,
	TLS_STRICT_SNI = 4,
	TLS_NO_CA_NAMES = 8,
	TLS_NO_REUSE = 16,
	TLS_NO_ALPN = 32,
	TLS_WANTS_0RTT = 64 /* of a line of a crt-list: shown, and nothing else */
};

/* X509_V_ERR_x whose handshakes continue: bit n is error n. */
struct tls_error_set {
	uint64_t bits[2];
	int all;
};

struct tls_settings {
	char *ciphers, *ciphersuites, *curves, *sigalgs, *client_sigalgs; /* NULL: OpenSSL's */
	char *ca_file, *ca_verify_file, *crl_file;                        /* NULL: none */
	char *crt;                /* of a server: the file of its client certificate */
	char *verifyhost;
	struct tls_bytes alpn;    /* as on the wire; len 0: none */
	enum tls_verify verify;
	enum tls_version min, max;
	unsigned int off;         /* no-tlsv12 and so on: bit n is version n */
	unsigned int flags;
	int level;                /* ssl-security-level and one more; 0: OpenSSL's */
	struct tls_error_set crt_ignore, ca_ignore;
	/* A setting of the certificates of a line, not of its connections: neither inherited nor
	 * compared. */
	enum tls_ocsp_update ocsp_update;
};

/* Places of a setting. */
enum {
	TLS_AT_BIND = 1,
	TLS_AT_CRT_LIST = 2,
	TLS_AT_SERVER = 4,
	TLS_AT_BIND_DEFAULTS = 8,   /* ssl-default-bind-options */
	TLS_AT_SERVER_DEFAULTS = 16 /* ssl-default-server-options */
};

/*
 * Takes the setting called `name`, with its argument if it has one: the number of arguments, 0 or
 * 1.
 * -ERR_UNKNOWN: there is none of that name there; or another negative reason with why
 * (TLS_WHY_MAX).
 */
int tls_settings_set(struct tls_settings *s, unsigned int at, const char *name, const char *arg,
	char *why) must_check;
/* The words of ssl-min-ver and ssl-max-ver, and those of verify. */
extern const struct cfg_enum tls_version_words[];
extern const struct cfg_enum tls_bind_verify_words[];
extern const struct cfg_enum tls_server_verify_words[];
/* As ssl-min-ver names it; NULL: unset. */
const char *tls_version_word(enum tls_version v);
/* Number of arguments of the setting, or -ERR_UNKNOWN. */
int tls_settings_args(unsigned int at, const char *name);
/* Copies from `defaults` what s leaves unset. 0 or -ERR_NOMEM. */
int tls_settings_inherit(struct tls_settings *s, const struct tls_settings *defaults) must_check;
/* A copy; to is all zero. 0 or -ERR_NOMEM with `to` freed. */
int tls_settings_copy(struct tls_settings *to, const struct tls_settings *from) must_check;
/* True if no-tlsv12 and so on count for nothing, since there is ssl-min-ver or ssl-max-ver. */
int tls_settings_ignores_off(const struct tls_settings *s);
int tls_settings_equal(const struct tls_settings *a, const struct tls_settings *b);
/* Leaves all zero. */
void tls_settings_free(struct tls_settings *s);
/* A list of protocols, "http/1.1,x", as on the wire; what *out was before is freed. 0 or a negative
 * reason with why (TLS_WHY_MAX). */
int tls_alpn_parse(const char *arg, struct tls_bytes *out, char *why) must_check;
/* A copy; to is empty. 0 or -ERR_NOMEM. */
int tls_bytes_copy(struct tls_bytes *to, const struct tls_bytes *from) must_check;
/* True if HTTP/2 is one of them. */
int tls_alpn_offers_http2(const struct tls_bytes *alpn);
int tls_error_is_in(const struct tls_error_set *set, int error);

extern const char *const tls_version_name;   /* "OpenSSL 3.0.17 1 Jul 2025" */
extern const char *const tls_version_number; /* "3.0.17" */
/* A line for each provider of algorithms that is loaded. First worker. */
void tls_show_providers(struct sbuf *out);

/*
 * Providers of algorithms, of the whole process. Main thread, while the configuration is read.
 * Each: 0, or a negative reason with why (TLS_WHY_MAX).
 */

/* The providers that a configuration has loaded. */
struct tls_providers {
	struct ossl_provider_st **loaded;
	unsigned int n, cap;
};

/* Loads a provider. OpenSSL loads its default one by itself only if no other was loaded. */
int tls_provider_load(struct tls_providers *ps, const char *name, char *why) must_check;
/* Unloads all of them; what uses an algorithm of one keeps it. */
void tls_providers_unload(struct tls_providers *ps);
/* The directory where providers that are loaded from now on are looked for. */
int tls_provider_search(const char *path, char *why) must_check;
/* The properties that algorithms should have (property(7)). */
int tls_algorithms_prefer(const char *query, char *why) must_check;
/* Checks that the algorithms that tacit always needs are there. */
int tls_algorithms_check(char *why) must_check;

#endif
