/* Requests for monitor-uri (manual 4.2). */
#ifndef TACIT_PROXY_HTTP1_MONITOR_H
#define TACIT_PROXY_HTTP1_MONITOR_H

#include "proxy/model/session.h"

/* The status of the response to a monitor request whose head is complete, 200 or 503; 0: not a
 * monitor request. */
unsigned int monitor_status(struct stream *s);

#endif
