/* Sessions that go from mode tcp to mode http, on their worker. The client's bytes stay: they
 * belong to requests from now on. */
#include "proxy/session/http_upgrade.h"

#include <string.h>

#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/model/stream_extras.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"

/* Data to be forwarded becomes data to be parsed, with room in front for what rules add. */
static void
hold_pending(struct engine *e, struct direction *d)
{
	uint32_t n = d->tail - d->head;
	uint32_t at = MIN(e->maxrewrite, e->bufsize - n);

	if (!d->buf)
		return;
	memmove(d->buf + at, d->buf + d->head, n);
	d->head = d->tail = at;
	d->lookahead = n;
}

enum stream_event
http_upgrade(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct stream_extras *extras = stream_extras_get(s);
	struct proxy *be = s->be;

	/* So far no backend has counted it. */
	s->be = NULL;
	if (!extras)
		return STREAM_EV_NO_SERVER;
	s->is_http = 1;
	extras->upgraded_to = be;
	captures_end(s);
	counter_add(&fe_stat(s)->h1.in, d->bytes);
	hold_pending(s->engine, d);
	/* READ waits for a buffer by itself. */
	d->left_in_kernel = 0;
	/* A client that has sent FIN may have sent a complete request. */
	if (d->state == DIRECTION_DRAIN)
		direction_event(s, CLIENT, DIRECTION_EV_RESET);
	return STREAM_EV_AWAIT_REQUEST;
}
