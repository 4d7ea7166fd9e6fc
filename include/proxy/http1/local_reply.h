/*
 * The bytes of an answer of our own: pages of errors, and what rules answer. They are made in the
 * server's buffer (txn->has_made, txn->answer_len) and sent later, by http_reply.c. Private to
 * proxy.
 */
#ifndef TACIT_PROXY_HTTP1_LOCAL_REPLY_H
#define TACIT_PROXY_HTTP1_LOCAL_REPLY_H

#include "proxy/model/http_txn.h"

/*
 * Of that head, which is not the session's request or response, and that body: Connection is added,
 * and the rules http-after-response change it. txn->status becomes the head's. 0, or a negative
 * reason: nothing was made.
 */
int local_reply_make(struct session *s, struct http_head *head, struct str body) must_check;
/*
 * Of the page that the proxies have for txn->status, with that field in the place of all others of
 * its name. 0, also where nothing is to be said and so nothing was made; or a negative reason.
 */
int local_reply_make_page_with(struct session *s, struct str name, struct str value) must_check;
/* Is the page for txn->status one with formats? They want to look at the request while they can. */
int local_reply_has_formats(const struct session *s);
/* Of the page that the proxies have for txn->status. has_made 0 after 0: nothing is to be said. */
int local_reply_make_page(struct session *s) must_check;

#endif
