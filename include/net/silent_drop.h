/*
 * Closing without notifying the peer (manual, silent-drop): the peer still believes that the
 * connection exists. The kernel answers anything it sends later with a reset.
 */
#ifndef TACIT_NET_SILENT_DROP_H
#define TACIT_NET_SILENT_DROP_H

struct conn;

/*
 * Makes the close that follows silent; its transport sends nothing either. With CAP_NET_ADMIN
 * nothing is sent (TCP_REPAIR). Without it a reset with a TTL of 1 is sent, which the first router
 * drops. No effect on a unix socket. Of a stream: of the connection that carries it, and so of its
 * other streams.
 */
void conn_silent_drop_on_close(struct conn *c);

#endif
