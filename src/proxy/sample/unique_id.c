/* The unique id of a request. On the session's worker; made once, and the same until the
 * transaction ends. */
#include "proxy/sample/unique_id.h"

#include "proxy/sample/capture.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"

/* Working size; a single part that is longer is omitted. */
#define ROOM 4096

static void
make_unique_id(struct stream *s, const struct rule_fmt *fmt, struct arena *a)
{
	unsigned int at = SAMPLE_AT_CONN;
	char text[ROOM];
	struct sbuf b;
	struct eval l;

	/* The format may refer to the id itself, which is empty so far. */
	capture_put(s, CAPTURE_ID, 0, STR(""));
	if (s->txn)
		at |= SAMPLE_AT_REQ | SAMPLE_AT_TXN;
	eval_init(&l, s, at);
	l.cx.arena = a;
	l.cx.where = &s->sess->fe->unique_id.where;
	sbuf_init_fixed(&b, text, sizeof(text));
	rule_fmt_write(fmt, &l.cx, &b);
	capture_put(s, CAPTURE_ID, 0, (struct str){ b.p, b.len });
}

int
unique_id_get(const struct stream *s, struct arena *a, struct str *out)
{
	const struct rule_fmt *fmt = s->sess->fe->unique_id.fmt;

	if (!fmt || !s->captures || (s->is_http && !(s->txn && s->txn->head_ms)))
		return 0;
	if (!capture_get(s, CAPTURE_ID, 0, out)) {
		make_unique_id((struct stream *)(uintptr_t)s, fmt, a);
		(void)capture_get(s, CAPTURE_ID, 0, out);
	}
	return out->len > 0;
}

int
unique_id_add(const struct stream *s, struct http_head *req)
{
	const char *name = s->sess->fe->unique_id.header;
	struct str id;

	if (!unique_id_get(s, &s->engine->eval.arena, &id) || !name)
		return 0;
	return http_add(req, str_of(name), id);
}
