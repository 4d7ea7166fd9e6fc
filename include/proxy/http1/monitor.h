/* Probes of monitor-uri (manual 4.2). */
#ifndef TACIT_PROXY_HTTP1_MONITOR_H
#define TACIT_PROXY_HTTP1_MONITOR_H

#include "proxy/model/session.h"

/* The request's head is complete: what it is to be answered with, 200 or 503; 0: it is no probe. */
unsigned int monitor_status(struct session *s);

#endif
