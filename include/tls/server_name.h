/* Checks that a server's certificate is for the name that was asked for, as HAProxy does. */
#ifndef TACIT_TLS_SERVER_NAME_H
#define TACIT_TLS_SERVER_NAME_H

struct ssl_ctx_st;
struct tls_settings;

/* True if a name of a certificate covers the host, in any case. A '*' in the first label of the
 * name stands for any part of the host's first label: *.lan covers a.lan, but not a.b.lan. */
int tls_name_covers(const char *name, const char *host);
/* Has the certificates of connections of this context verified, with their names: that of SNI, or
 * verifyhost of the settings. The settings live on. */
void tls_server_name_enable(struct ssl_ctx_st *ctx, const struct tls_settings *set);

#endif
