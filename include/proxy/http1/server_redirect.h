/* Servers whose clients are redirected: `redir` (manual 5.2). Private to proxy. */
#ifndef TACIT_PROXY_HTTP1_SERVER_REDIRECT_H
#define TACIT_PROXY_HTTP1_SERVER_REDIRECT_H

#include "proxy/model/session.h"

/* 1: the chosen server redirects this request, and the reply is made, or its status is that of a
 * failure; 0: the request is sent to it. To be called before it is placed. */
int server_redirect(struct stream *s) must_check;

#endif
