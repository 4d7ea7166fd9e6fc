/*
 * Upgrades a session of mode tcp to HTTP when its backend is in mode http (manual, section 4). Runs
 * on the session's worker.
 */
#ifndef TACIT_PROXY_SESSION_HTTP_UPGRADE_H
#define TACIT_PROXY_SESSION_HTTP_UPGRADE_H

#include "proxy/model/fsm.h"

struct stream;

/*
 * s->be is the http backend. The data that the client has sent is parsed as a request from its
 * first byte on and goes to this backend; for later requests of the connection the frontend selects
 * a backend again. AWAIT_REQUEST; or NO_SERVER without memory.
 */
enum stream_event http_upgrade(struct stream *s) must_check;

#endif
