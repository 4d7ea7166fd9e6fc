/*
 * A session of mode tcp whose backend is in mode http becomes one of mode http (manual, section 4,
 * the in-place upgrade). Runs on the session's worker.
 */
#ifndef TACIT_PROXY_SESSION_HTTP_UPGRADE_H
#define TACIT_PROXY_SESSION_HTTP_UPGRADE_H

#include "proxy/model/fsm.h"

struct session;

/*
 * s->be is the http backend. What the client has sent is read as a request from its first byte on,
 * and that request goes to this backend; for later ones of the connection the frontend chooses
 * again. AWAIT_REQUEST.
 */
enum session_event http_upgrade(struct session *s) must_check;

#endif
