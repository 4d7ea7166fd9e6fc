/* The negotiated parameters of a TLS connection. On its worker; changes nothing of it. */
#include "tls/conn_info.h"

#include "base/err.h"
#include "net/conn_socket.h"
#include "net/xprt.h"
#include "tls/cert_show.h"
#include "tls/openssl.h"
#include "tls/transport.h"

#define FINISHED_MAX 64
#define SECRET_MAX 64
#define ERROR_TEXT_MAX 256

static SSL *
ssl_of(const struct conn *c)
{
	struct str name;

	c = c ? conn_socket(c) : NULL;
	if (!c || !c->xprt || conn_query(c, XPRT_QUERY_NAME, &name) < 0 ||
		!str_is(name, STR("TLS")))
		return NULL;
	return tls_of(c)->ssl;
}

int
tls_is_used(const struct conn *c)
{
	return ssl_of(c) != NULL;
}

static void
add_session_id(const SSL *ssl, struct sbuf *out)
{
	const SSL_SESSION *s = SSL_get0_session(ssl);
	unsigned int n = 0;
	const unsigned char *p = s ? SSL_SESSION_get_id(s, &n) : NULL;

	sbuf_add(out, (const char *)p, n);
}

static void
add_session_key(const SSL *ssl, struct sbuf *out)
{
	const SSL_SESSION *s = SSL_get0_session(ssl);
	unsigned char key[SECRET_MAX];
	size_t n = s ? SSL_SESSION_get_master_key(s, key, sizeof(key)) : 0;

	sbuf_add(out, (const char *)key, n);
	OPENSSL_cleanse(key, sizeof(key));
}

static void
add_random(const SSL *ssl, size_t (*get)(const SSL *, unsigned char *, size_t), struct sbuf *out)
{
	unsigned char bytes[SSL3_RANDOM_SIZE];

	sbuf_add(out, (const char *)bytes, get(ssl, bytes, sizeof(bytes)));
}

/* tls-unique (RFC 5929): the client's message, or the server's if the session was resumed. */
static void
add_finished(const SSL *ssl, struct sbuf *out)
{
	unsigned char bytes[FINISHED_MAX];
	int is_clients = !SSL_session_reused(ssl);
	int is_peers = is_clients == SSL_is_server(ssl);
	size_t n = is_peers ? SSL_get_peer_finished(ssl, bytes, sizeof(bytes))
			    : SSL_get_finished(ssl, bytes, sizeof(bytes));

	sbuf_add(out, (const char *)bytes, MIN(n, sizeof(bytes)));
}

static void
add_query(const struct conn *c, enum xprt_query what, struct sbuf *out)
{
	struct str text;

	if (conn_query(c, what, &text) == 0)
		sbuf_add(out, text.p, text.len);
}

static void
add_error(const struct conn *c, struct sbuf *out)
{
	unsigned long code = tls_of(c)->failure;
	char text[ERROR_TEXT_MAX];

	if (!code)
		return;
	ERR_error_string_n(code, text, sizeof(text));
	sbuf_adds(out, text);
}

static void
add_info(const struct conn *c, const SSL *ssl, enum tls_info what, struct sbuf *out)
{
	static const enum xprt_query queries[] = {
		[TLS_INFO_VERSION] = XPRT_QUERY_VERSION,
		[TLS_INFO_CIPHER] = XPRT_QUERY_CIPHER,
		[TLS_INFO_SERVER_NAME] = XPRT_QUERY_SERVER_NAME,
		[TLS_INFO_ALPN] = XPRT_QUERY_PROTOCOL,
	};

	if (what < ARRAY_LEN(queries))
		add_query(c, queries[what], out);
	else if (what == TLS_INFO_SESSION_ID)
		add_session_id(ssl, out);
	else if (what == TLS_INFO_SESSION_KEY)
		add_session_key(ssl, out);
	else if (what == TLS_INFO_CLIENT_RANDOM)
		add_random(ssl, SSL_get_client_random, out);
	else if (what == TLS_INFO_SERVER_RANDOM)
		add_random(ssl, SSL_get_server_random, out);
	else if (what == TLS_INFO_UNIQUE_ID)
		add_finished(ssl, out);
	else if (what == TLS_INFO_ERROR_TEXT)
		add_error(c, out);
}

int
tls_info_text(const struct conn *c, enum tls_info what, struct sbuf *out)
{
	const SSL *ssl = ssl_of(c);
	size_t before = out->len;

	if (ssl)
		add_info(c, ssl, what, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

static int
cipher_bits(const SSL *ssl, int of_algorithm)
{
	int all = 0, secret = SSL_get_cipher_bits(ssl, &all);

	return of_algorithm ? all : secret;
}

int
tls_info_number(const struct conn *c, enum tls_info what, int64_t *out)
{
	const SSL *ssl = ssl_of(c);
	const struct tls *t = ssl ? tls_of(c) : NULL;
	int has_cert = ssl && SSL_get0_peer_certificate(ssl);

	if (!ssl)
		return -ERR_UNKNOWN;
	if (what == TLS_INFO_USE_KEYSIZE || what == TLS_INFO_ALG_KEYSIZE)
		*out = cipher_bits(ssl, what == TLS_INFO_ALG_KEYSIZE);
	else if (what == TLS_INFO_IS_RESUMED)
		*out = SSL_session_reused(ssl);
	else if (what == TLS_INFO_HAS_CERT)
		*out = has_cert && !SSL_session_reused(ssl);
	else if (what == TLS_INFO_CERT_USED)
		*out = has_cert;
	else if (what == TLS_INFO_VERIFY)
		*out = SSL_get_verify_result(ssl);
	else if (what == TLS_INFO_CRT_ERR)
		*out = t->crt_err;
	else if (what == TLS_INFO_CA_ERR)
		*out = t->ca_err;
	else if (what == TLS_INFO_CA_ERR_DEPTH)
		*out = t->ca_err_depth;
	else
		*out = (int64_t)t->failure;
	return 0;
}

static X509 *
cert_of(const SSL *ssl, enum tls_whose whose)
{
	return whose == TLS_OWN ? SSL_get_certificate(ssl) : SSL_get0_peer_certificate(ssl);
}

int
tls_info_cert(const struct conn *c, enum tls_whose whose, enum tls_cert_info what,
	struct sbuf *out)
{
	const SSL *ssl = ssl_of(c);
	X509 *x = ssl ? cert_of(ssl, whose) : NULL;
	size_t before = out->len;

	if (x && what == TLS_CERT_CHAIN_DER)
		tls_chain_add(SSL_get_peer_cert_chain(ssl), out);
	else if (x)
		tls_cert_add_info(x, what, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

int
tls_info_name(const struct conn *c, enum tls_whose whose, int is_issuer,
	const struct tls_dn_part *part, struct sbuf *out)
{
	const SSL *ssl = ssl_of(c);
	X509 *x = ssl ? cert_of(ssl, whose) : NULL;
	size_t before = out->len;

	if (x)
		tls_name_add_info(
			is_issuer ? X509_get_issuer_name(x) : X509_get_subject_name(x), part, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

/* --- queries of the transport ---------------------------------------------------------------- */

/*
 * Answers to queries about a TLS connection, on its worker. They are OpenSSL's texts and live
 * as long as the connection.
 */

static struct str
str_or_empty(const char *s)
{
	return s ? str_of(s) : STR("");
}

int
tls_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	const SSL *ssl = tls_of(c)->ssl;
	const unsigned char *alpn = NULL;
	unsigned int n = 0;

	switch (what) {
	case XPRT_QUERY_NAME:
		*out = STR("TLS");
		break;
	case XPRT_QUERY_VERSION:
		*out = str_or_empty(SSL_get_version(ssl));
		break;
	case XPRT_QUERY_CIPHER:
		*out = str_or_empty(SSL_get_cipher_name(ssl));
		break;
	case XPRT_QUERY_SERVER_NAME:
		*out = str_or_empty(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
		break;
	case XPRT_QUERY_PROTOCOL:
		SSL_get0_alpn_selected(ssl, &alpn, &n);
		*out = (struct str){ (const char *)alpn, n };
		break;
	case XPRT_QUERIES:
		return -ERR_UNKNOWN;
	}
	return out->len ? 0 : -ERR_UNKNOWN;
}
