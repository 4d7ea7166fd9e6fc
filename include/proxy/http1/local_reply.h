/*
 * The bytes of local replies: error pages and replies of rules. They are written to the buffer of
 * the direction to the client, as its lookahead (HTTP_REPLY_MADE), and sent later by http_reply.c.
 * Private to proxy.
 */
#ifndef TACIT_PROXY_HTTP1_LOCAL_REPLY_H
#define TACIT_PROXY_HTTP1_LOCAL_REPLY_H

#include "proxy/model/http_txn.h"

/*
 * Writes a reply with this head and body: adds Connection and applies http-after-response rules.
 * txn->status is set from the head, which is not the session's request or response. 0, or a
 * negative reason: nothing was written.
 */
int local_reply_make(struct stream *s, struct http_head *head, struct str body) must_check;
/*
 * Writes the proxies' page for txn->status, with this field replacing all others of its name. 0,
 * also if there is nothing to send and nothing was written; or a negative reason.
 */
int local_reply_make_page_with(struct stream *s, struct str name, struct str value) must_check;
/* True if the page for txn->status has formats, which need the request. */
int local_reply_has_formats(const struct stream *s);
/* A reply could not be made: the page for error 500 replaces it, and the termination code shows
 * that the cause is here. */
void local_reply_failed(struct stream *s);
/* Writes the proxies' page for txn->status. If it returns 0 and the reply is not HTTP_REPLY_MADE,
 * nothing is to be sent. */
int local_reply_make_page(struct stream *s) must_check;

#endif
