/* Removing servers at run time, for other commands. */
#ifndef TACIT_APP_ADMIN_ADMIN_ADD_SERVER_H
#define TACIT_APP_ADMIN_ADMIN_ADD_SERVER_H

struct admin_conn;
struct server;

/* What `del server` would say: 1: it is removed, 0: not while it is in use, -1: not as it is, with
 * *why. The workers are paused for a moment. */
int admin_check_removal(struct admin_conn *c, const struct server *s, const char **why);

#endif
