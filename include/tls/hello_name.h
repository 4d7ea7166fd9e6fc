/*
 * The server name that a client asks for (RFC 6066, 3), and what it means for a session. Only in
 * callbacks of OpenSSL while it reads the hello.
 */
#ifndef TACIT_TLS_HELLO_NAME_H
#define TACIT_TLS_HELLO_NAME_H

#include <stddef.h>

struct ssl_st;
struct ssl_session_st;

/* The host name, not terminated; NULL: none. */
const char *tls_hello_name(struct ssl_st *ssl, size_t *len);
/* True if the session was made for the name that the client asks for now, or both without one. The
 * case counts: with TLS 1.2 the name of the session is what fetches show. */
int tls_hello_match_session(struct ssl_st *ssl, const struct ssl_session_st *session);

#endif
