/* The field X-Haproxy-Server-State of checks (manual, http-check send-state). */
#ifndef TACIT_PROXY_CHECK_CHECK_STATE_H
#define TACIT_PROXY_CHECK_CHECK_STATE_H

#include "base/str.h"
#include "proxy/model/server.h"

#define CHECK_STATE_MAX 512

/* Its value, in buf. On the first worker. node: the name of this host. */
struct str check_state_text(const struct server *s, const char *node, char buf[CHECK_STATE_MAX]);

#endif
