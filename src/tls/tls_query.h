/* Queries of a TLS connection by others. */
#ifndef TACIT_TLS_TLS_QUERY_H
#define TACIT_TLS_TLS_QUERY_H

#include "net/xprt.h"

/* The query of struct xprt_ops. */
int tls_query(const struct conn *c, enum xprt_query what, struct str *out);

#endif
