/* Events that are delivered later in the turn. */
#ifndef TACIT_PROXY_SESSION_SESSION_POST_H
#define TACIT_PROXY_SESSION_SESSION_POST_H

#include "proxy/model/session.h"

/* Has ev delivered in this turn, after what runs now; NONE: the task of its state runs. At most one
 * is on its way. */
void session_post(struct session *s, enum session_event ev);

#endif
