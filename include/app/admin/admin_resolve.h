/* Changes of a server's address and name, for `set server`. */
#ifndef TACIT_APP_ADMIN_ADMIN_RESOLVE_H
#define TACIT_APP_ADMIN_ADMIN_RESOLVE_H

struct admin_conn;
struct server;

/* argv: <address> [port <port>] */
void admin_set_addr(struct admin_conn *c, struct server *s, int argc, char **argv);
void admin_set_fqdn(struct admin_conn *c, struct server *s, const char *fqdn);

#endif
