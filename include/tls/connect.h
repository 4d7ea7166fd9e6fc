/*
 * TLS to a server: a context for each worker. Made by the main thread before workers run; each is
 * used by one worker. A session that one worker may resume another one may, too.
 */
#ifndef TACIT_TLS_CONNECT_H
#define TACIT_TLS_CONNECT_H

#include "base/compiler.h"
#include "base/str.h"
#include "tls/change.h"
#include "tls/settings.h"

struct conn;
struct sys;
struct tls_conf;
struct tls_entry;
struct tls_io;
struct tls_server;
struct xprt_maker;

/* Checks that a server's certificate is for the name that was asked for, as HAProxy does. */
struct ssl_ctx_st;
struct tls_settings;

/* Reads the files that the settings name and checks the settings, which it copies. 0, or a negative
 * reason with why (TLS_WHY_MAX). */
int tls_server_load(struct tls_server **out, struct tls_conf *conf, const struct tls_settings *set,
	struct sys *sys, char *why) must_check;
/* True if no-tlsv12 and so on count for nothing, since there is ssl-min-ver or ssl-max-ver. */
int tls_server_ignores_off(const struct tls_server *t);
/* Makes the contexts of n workers, io[0..n-1] theirs. 0 or a negative reason. */
int tls_server_open(struct tls_server *t, struct tls_io *const *io, unsigned int n) must_check;
/* A change while it serves, as of a bind line (tls/bind.h). Sessions of previous connections
 * are not resumed after it. *uses grows by 1 if it concerns a server with a certificate. */
int tls_server_prepare(struct tls_server *t, const struct tls_change *change, unsigned int *uses,
	char *why) must_check;
void tls_server_exchange(struct tls_server *t);
void tls_server_settle(struct tls_server *t);
/* Its connections may live on. NULL is allowed. */
void tls_server_free(struct tls_server **t);
/* The makers of the transports of connections, one for each worker; NULL: it was not opened. */
const struct xprt_maker *const *tls_server_makers(const struct tls_server *t);
/* The same for health checks, which run on the first worker: their sessions are kept apart. */
const struct xprt_maker *tls_server_check_maker(const struct tls_server *t);

/* The requests of a connection: name, protocols, sessions. */
struct tls_ask {
	struct str name;             /* SNI; len 0: none */
	const struct tls_bytes *alpn; /* NULL, or len 0: the settings' */
	unsigned int service;        /* connections of one service and name share sessions; 0 but
				      * for checks */
};

/*
 * Before the first byte of a connection that its makers made. If the server's certificate is
 * verified it must be for the name, or without one for `verifyhost`. 0 or a negative reason;
 * -ERR_RANGE: the name has a NUL, or more bytes than a name may have.
 */
int tls_connect_as(struct conn *c, const struct tls_ask *ask) must_check;
/* True if nothing came yet that the next connection could resume: in TLS 1.3 that follows the
 * handshake, also a resumed one, since OpenSSL uses a ticket once. */
int tls_awaits_session(const struct conn *c);

#endif
