/* The server name of a client's hello, while OpenSSL reads it: its callbacks for the hello, and for
 * sessions. On the worker of the connection. */
#include "tls/hello_name.h"

#include <string.h>

#include "tls/openssl.h"

const char *
tls_hello_name(SSL *ssl, size_t *len)
{
	const unsigned char *p;
	size_t n;

	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &p, &n) || n < 5 ||
		(size_t)(p[0] << 8 | p[1]) + 2 != n || p[2] != TLSEXT_NAMETYPE_host_name)
		return NULL;
	*len = (size_t)(p[3] << 8 | p[4]);
	return *len <= n - 5 ? (const char *)p + 5 : NULL;
}

int
tls_hello_match_session(SSL *ssl, const SSL_SESSION *session)
{
	size_t len = 0;
	const char *asked = tls_hello_name(ssl, &len), *had = SSL_SESSION_get0_hostname(session);

	if (!asked || !had)
		return !asked && !had;
	return strlen(had) == len && memcmp(had, asked, len) == 0;
}
