/* Removing servers at run time, for other commands. */
#ifndef TACIT_APP_ADMIN_ADMIN_ADD_SERVER_H
#define TACIT_APP_ADMIN_ADMIN_ADD_SERVER_H

struct admin_conn;
struct server;

/* The result `del server` would have: 1: it is removed, 0: not while it is in use, -1: it cannot be
 * removed, with *why. Pauses the workers for a moment. */
int admin_check_removal(struct admin_conn *c, const struct server *s, const char **why);

#endif
