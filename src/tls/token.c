/* Signatures of JSON Web Tokens. Keys are read by the main thread with the configuration; a check
 * changes nothing, and runs on any worker. */
/* A struct tls_token_key is an EVP_PKEY; the name keeps OpenSSL out of the header. */
#include "tls/token.h"

#include "tls/openssl.h"

/* The size of a number in a signature by a key of P-521, which has two. */
#define EC_NUMBER_MAX 66

int
tls_token_alg(struct str name, enum tls_token_alg *out)
{
	static const char *const names[] = {
		[TOKEN_NONE] = "none",
		[TOKEN_HS256] = "HS256",
		[TOKEN_HS384] = "HS384",
		[TOKEN_HS512] = "HS512",
		[TOKEN_RS256] = "RS256",
		[TOKEN_RS384] = "RS384",
		[TOKEN_RS512] = "RS512",
		[TOKEN_ES256] = "ES256",
		[TOKEN_ES384] = "ES384",
		[TOKEN_ES512] = "ES512",
		[TOKEN_PS256] = "PS256",
		[TOKEN_PS384] = "PS384",
		[TOKEN_PS512] = "PS512",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_is(name, str_of(names[i])))
			continue;
		*out = (enum tls_token_alg)i;
		return 0;
	}
	return -1;
}

struct tls_token_key *
tls_token_key_read(const char *pem, size_t len)
{
	BIO *in = len <= INT32_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
	EVP_PKEY *k = in ? PEM_read_bio_PUBKEY(in, NULL, NULL, NULL) : NULL;
	X509 *x = NULL;

	if (in && !k && BIO_reset(in) == 1)
		x = PEM_read_bio_X509(in, NULL, NULL, NULL);
	if (x)
		k = X509_get_pubkey(x);
	X509_free(x);
	BIO_free(in);
	ERR_clear_error();
	return (struct tls_token_key *)(void *)k;
}

void
tls_token_key_free(struct tls_token_key *k)
{
	EVP_PKEY_free((EVP_PKEY *)(void *)k);
}

static const EVP_MD *
token_digest(enum tls_token_alg a)
{
	switch (a) {
	case TOKEN_HS256:
	case TOKEN_RS256:
	case TOKEN_ES256:
		return EVP_sha256();
	case TOKEN_HS384:
	case TOKEN_RS384:
	case TOKEN_ES384:
		return EVP_sha384();
	case TOKEN_HS512:
	case TOKEN_RS512:
	case TOKEN_ES512:
		return EVP_sha512();
	case TOKEN_NONE:
	case TOKEN_PS256:
	case TOKEN_PS384:
	case TOKEN_PS512:
		break;
	}
	return NULL;
}

enum tls_token_result
tls_token_check_secret(enum tls_token_alg alg, struct str secret, struct str text, struct str sig)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (secret.len > INT32_MAX || !tls_token_is_hmac(alg))
		return TOKEN_NO_KEY;
	if (!HMAC(token_digest(alg), secret.p, (int)secret.len, (const unsigned char *)text.p,
		    text.len, mac, &n))
		return TOKEN_NO_MEMORY;
	return sig.len == n && CRYPTO_memcmp(mac, sig.p, n) == 0 ? TOKEN_VALID : TOKEN_FALSE;
}

/* The two numbers of a signature (RFC 7518, 3.4) in DER; its length, 0: no memory. */
static size_t
ec_signature(struct str sig, unsigned char *out, size_t cap)
{
	const unsigned char *p = (const unsigned char *)sig.p;
	int half = (int)(sig.len / 2), n = 0;
	ECDSA_SIG *e = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(p, half, NULL), *s = BN_bin2bn(p + half, half, NULL);

	if (!e || !r || !s || !ECDSA_SIG_set0(e, r, s)) {
		BN_free(r);
		BN_free(s);
	} else {
		n = i2d_ECDSA_SIG(e, NULL);
		n = n > 0 && (size_t)n <= cap ? i2d_ECDSA_SIG(e, &out) : 0;
	}
	ECDSA_SIG_free(e);
	return n > 0 ? (size_t)n : 0;
}

/* The bits of the algorithm's curve; 0: it has none. */
static int
ec_curve_bits(enum tls_token_alg alg)
{
	return alg == TOKEN_ES256 ? 256 : alg == TOKEN_ES384 ? 384 : alg == TOKEN_ES512 ? 521 : 0;
}

static enum tls_token_result
verify_token(enum tls_token_alg alg, EVP_PKEY *key, struct str text, struct str sig)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	enum tls_token_result r = TOKEN_NO_MEMORY;

	if (ctx && EVP_DigestVerifyInit(ctx, NULL, token_digest(alg), NULL, key) == 1)
		r = EVP_DigestVerify(ctx, (const unsigned char *)sig.p, sig.len,
			    (const unsigned char *)text.p, text.len) == 1
			? TOKEN_VALID
			: TOKEN_FALSE;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return r;
}

enum tls_token_result
tls_token_check_key(enum tls_token_alg alg, const struct tls_token_key *key, struct str text,
	struct str sig)
{
	EVP_PKEY *k = (EVP_PKEY *)(uintptr_t)key;
	unsigned char der[2 * EC_NUMBER_MAX + 16];
	int bits = ec_curve_bits(alg);

	if (!k || !token_digest(alg) || tls_token_is_hmac(alg))
		return TOKEN_NO_KEY;
	if (!EVP_PKEY_is_a(k, bits ? "EC" : "RSA") || (bits && EVP_PKEY_get_bits(k) != bits))
		return TOKEN_FALSE;
	if (!bits)
		return verify_token(alg, k, text, sig);
	if (sig.len != 2 * (size_t)((bits + 7) / 8))
		return TOKEN_INVALID;
	sig.len = ec_signature(sig, der, sizeof(der));
	sig.p = (const char *)der;
	return sig.len ? verify_token(alg, k, text, sig) : TOKEN_NO_MEMORY;
}
