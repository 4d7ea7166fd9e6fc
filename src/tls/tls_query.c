/* Answers to queries about a TLS connection, on its worker. They are OpenSSL's texts and live as
 * long as the connection. */
#include "tls_query.h"

#include "base/err.h"
#include "tls_bio.h"

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
