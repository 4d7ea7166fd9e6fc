/* A redirect in place of a server, on the stream's worker. The server's slot is free when the reply
 * is made. */
#include "proxy/http1/server_redirect.h"

#include <string.h>

#include "base/err.h"
#include "http/status.h"
#include "http/uri.h"
#include "proxy/http1/local_reply.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/termination.h"
#include "rule/sample/arena.h"

/* The prefix with the path and the query of the target behind it, in the arena. 0 or
 * -ERR_NOMEM. */
static int
make_url(struct stream *s, struct str pathq, struct str *out)
{
	const char *prefix = s->srv->conf.redir;
	size_t len = strlen(prefix);
	char *p = arena_get(&s->engine->eval.arena, len + pathq.len);

	if (!p)
		return -ERR_NOMEM;
	memcpy(p, prefix, len);
	memcpy(p + len, pathq.p, pathq.len);
	*out = (struct str){ p, len + pathq.len };
	return 0;
}

static int
make_redirect(struct stream *s, struct str pathq)
{
	struct http_head *h = rule_outcome_head(s);
	char digits[HTTP_LENGTH_DIGITS];
	struct str url;

	h->version = HTTP_1_1;
	h->method = s->txn->asked;
	h->status = 302;
	h->reason = str_of(http_status_reason(h->status));
	if (make_url(s, pathq, &url) < 0 || http_set_length(h, 0, digits) < 0 ||
		http_add(h, STR("Location"), url) < 0 ||
		http_add(h, STR("Cache-Control"), STR("no-cache")) < 0)
		return -ERR_NOMEM;
	return local_reply_make(s, h, (struct str){ NULL, 0 });
}

int
server_redirect(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct http_txn *t = s->txn;
	struct http_uri u;

	if (t->placed || (t->req.method != HTTP_GET && t->req.method != HTTP_HEAD))
		return 0;
	http_uri_split(t->req.target, &u);
	/* Without a path there is nothing to add, as in HAProxy. */
	if (!u.path.len)
		return 0;
	stream_set_term(s, 'L', 'C');
	if (make_redirect(s, u.pathq) < 0)
		local_reply_failed(s);
	arena_release(a, mark);
	return 1;
}
