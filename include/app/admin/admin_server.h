/* What the commands about servers share. */
#ifndef TACIT_APP_ADMIN_ADMIN_SERVER_H
#define TACIT_APP_ADMIN_ADMIN_SERVER_H

struct admin_conn;
struct proxies;
struct proxy;
struct server;

/* By name, or by id as #N; of one of these capabilities (PROXY_x). NULL: none. */
struct proxy *admin_find_proxy(const struct proxies *ps, const char *text, unsigned int caps);
struct proxy *admin_find_backend(const struct proxies *ps, const char *text);

/* Sets the weight, "N" or "N%", or answers why not. text NULL: it is missing. */
void admin_set_weight(struct admin_conn *c, struct server *s, const char *text);

#endif
