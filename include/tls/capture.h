/*
 * The contents of a client's hello, and the secrets of a connection, if they are configured:
 * tune.ssl.capture-buffer-size, tune.ssl.keylog. On the connection's worker.
 */
#ifndef TACIT_TLS_CAPTURE_H
#define TACIT_TLS_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"

struct conn;
struct ssl_ctx_st;
struct tls_capture;
struct tls_conf;

/* Lists of numbers, as they stand in the hello. */
enum tls_hello_list {
	TLS_HELLO_CIPHERS,
	TLS_HELLO_EXTENSIONS,
	TLS_HELLO_GROUPS,
	TLS_HELLO_POINT_FORMATS,
	TLS_HELLO_LISTS
};

enum tls_hello_number { TLS_HELLO_VERSION, TLS_HELLO_CIPHERS_HASH };

/* As in the lines of a key log file. */
enum tls_secret {
	TLS_CLIENT_EARLY_TRAFFIC_SECRET,
	TLS_CLIENT_HANDSHAKE_TRAFFIC_SECRET,
	TLS_SERVER_HANDSHAKE_TRAFFIC_SECRET,
	TLS_CLIENT_TRAFFIC_SECRET_0,
	TLS_SERVER_TRAFFIC_SECRET_0,
	TLS_EXPORTER_SECRET,
	TLS_EARLY_EXPORTER_SECRET,
	TLS_SECRETS
};

/* Has OpenSSL report what conf wants, for connections of this context: key updates, and of those
 * that are accepted the hello and secrets. */
void tls_capture_enable(struct ssl_ctx_st *ctx, const struct tls_conf *conf, int accepts);
/* NULL is allowed. */
void tls_capture_free(struct tls_capture **c);

/* Each: 0, or -ERR_UNKNOWN: nothing was kept. c may be NULL. */
int tls_capture_list(const struct tls_capture *c, enum tls_hello_list list, int without_grease,
	struct sbuf *out) must_check;
int tls_capture_number(const struct tls_capture *c, enum tls_hello_number what, int64_t *out)
	must_check;
/* In hexadecimal digits. */
int tls_capture_secret_text(const struct tls_capture *c, enum tls_secret which, struct sbuf *out)
	must_check;
/* The names of the ciphers, with commas: OpenSSL's, or UNKNOWN(1234). */
int tls_capture_cipher_names(const struct conn *c, int without_grease, struct sbuf *out)
	must_check;
/* The capture of a connection; NULL: none. */
const struct tls_capture *tls_capture_of(const struct conn *c);

#endif
