/* Signatures of JSON Web Tokens (RFC 7515, RFC 7518). */
#ifndef TACIT_TLS_TOKEN_H
#define TACIT_TLS_TOKEN_H

#include "base/compiler.h"
#include "base/str.h"

enum tls_token_alg {
	TOKEN_NONE,
	TOKEN_HS256,
	TOKEN_HS384,
	TOKEN_HS512,
	TOKEN_RS256,
	TOKEN_RS384,
	TOKEN_RS512,
	TOKEN_ES256,
	TOKEN_ES384,
	TOKEN_ES512,
	TOKEN_PS256,
	TOKEN_PS384,
	TOKEN_PS512
};

/* HAProxy's numbers. */
enum tls_token_result {
	TOKEN_VALID = 1,
	TOKEN_FALSE = 0,
	TOKEN_BAD_ALG = -1,
	TOKEN_OTHER_ALG = -2,    /* PSxxx */
	TOKEN_INVALID = -3,
	TOKEN_NO_MEMORY = -4,
	TOKEN_NO_KEY = -5
};

struct tls_token_key;        /* a public key, which any number of threads may use */

/* 0, or -1: no algorithm has that name. */
int tls_token_alg(struct str name, enum tls_token_alg *out) must_check;
static inline int
tls_token_is_hmac(enum tls_token_alg a)
{
	return a >= TOKEN_HS256 && a <= TOKEN_HS512;
}
/* The first public key of a PEM text, or that of its first certificate; NULL: it has neither. */
struct tls_token_key *tls_token_key_read(const char *pem, size_t len);
void tls_token_key_free(struct tls_token_key *k);

/* Checks that sig is the signature of text by an algorithm with a secret, or with a public key. */
enum tls_token_result tls_token_check_secret(enum tls_token_alg alg, struct str secret,
	struct str text, struct str sig);
enum tls_token_result tls_token_check_key(enum tls_token_alg alg, const struct tls_token_key *key,
	struct str text, struct str sig);

#endif
