/* Messages to a peer. */
#ifndef TACIT_PEERS_PEER_OUT_H
#define TACIT_PEERS_PEER_OUT_H

#include "peers/peer_session.h"

/* Makes output as far as there is room. True if there is more to come at once. */
int peer_session_fill(struct peer_session *s, const struct table_caller *by);

#endif
