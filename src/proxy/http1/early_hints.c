/* 103 (Early Hints). On the session's worker; the scratch buffer is free while rules run. */
#include "proxy/http1/early_hints.h"

#include "base/sbuf.h"
#include "proxy/http1/case_adjust.h"
#include "proxy/http1/informational.h"
#include "proxy/model/http_txn.h"
#include "proxy/relay/direction.h"
#include "rule/action/action.h"

/* The room left of an informational response before it stays in the same buffer. */
static size_t
room_for_hints(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];

	return s->engine->bufsize - (direction_buffered(d) ? d->tail : 0);
}

static void
write_hints(const struct rule_hint *hint, struct sbuf *b)
{
	for (; hint; hint = hint->next) {
		if (hint->begins)
			sbuf_adds(b, "HTTP/1.1 103 Early Hints\r\n");
		sbuf_add(b, hint->name.p, hint->name.len);
		sbuf_adds(b, ": ");
		sbuf_add(b, hint->value.p, hint->value.len);
		sbuf_adds(b, "\r\n");
		if (!hint->next || hint->next->begins)
			sbuf_adds(b, "\r\n");
	}
}

int
early_hints_send(struct stream *s, const struct rule_hint *first)
{
	struct sbuf b;

	if (s->txn->version == HTTP_1_0)
		return 0;
	sbuf_init_fixed(&b, s->engine->scratch, room_for_hints(s));
	write_hints(first, &b);
	case_adjust_to_client(s, b.p, b.len);
	return b.failed ? 0 : informational_send(s, (struct str){ b.p, b.len });
}
