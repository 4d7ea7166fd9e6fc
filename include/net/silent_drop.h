/*
 * Closing without telling the peer (manual, silent-drop): it still holds a connection that does not
 * exist here any more. Whatever it sends later the kernel answers with a reset.
 */
#ifndef TACIT_NET_SILENT_DROP_H
#define TACIT_NET_SILENT_DROP_H

#include "base/sys.h"

struct conn;

/*
 * Of the close() of fd that follows: with CAP_NET_ADMIN nothing is sent (TCP_REPAIR). Without it
 * a reset leaves, which the first router drops (a TTL of 1): only the own network sees it. On a
 * unix socket it changes nothing.
 */
void silent_drop_on_close(struct sys *sys, int fd);
/* The same of an open connection, whose transport says nothing either. */
void conn_silent_drop_on_close(struct conn *c);

#endif
