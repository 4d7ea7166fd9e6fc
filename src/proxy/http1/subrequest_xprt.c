/* Keeps the response to a subrequest, on its worker. The bytes come from the machine of responses
 * (response.c): a head is whole, and was valid. */
#include "proxy/http1/subrequest_xprt.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "http/h1_body.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "proxy/model/http_txn.h"

/* Bytes of the body of a 2xx that are read so that the connection can be reused. They are not
 * used. */
#define DRAINED_MAX 65536u

struct answer_keeper {
	struct subrequest q; /* first: it is what is freed */
	struct h1_body body;
	size_t n_body;       /* bytes of it so far */
	uint8_t has_head;
};

static struct answer_keeper *
keeper_of(const struct conn *c)
{
	return container_of(c->xprt, struct answer_keeper, q.link.x);
}

/* --- its life: freed when neither the stream nor the connection needs it --- */

/* Ends the subrequest, whose result is known: the rule continues. */
static void
subrequest_end(struct subrequest *q, enum subrequest_state result)
{
	if (q->state != SUBREQUEST_PENDING)
		return;
	q->state = (uint8_t)result;
	if (q->parent)
		q->parent->engine->hooks.on_resolved(q->parent);
}

static void
subrequest_free(struct subrequest *q)
{
	mem_free(q->text);
	mem_free(q->head.field);
	sbuf_fini(&q->body);
	mem_free(q);
}

void
subrequest_drop(struct stream *s)
{
	struct subrequest *q = s->extras->subrequest;

	s->extras->subrequest = NULL;
	q->parent = NULL;
	if (!q->is_open) {
		subrequest_free(q);
		return;
	}
	q->link.below = NULL;
	if (q->state != SUBREQUEST_PENDING)
		return;
	q->state = SUBREQUEST_FAILED;
	q->link.err = ECONNRESET;
	conn_stream_report(&q->link, EV_ERR);
}

/* --- its transport --- */

/* Reads nothing: the request was given as data. */
static enum io_result
subrequest_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct answer_keeper *x = keeper_of(c);

	(void)buf;
	(void)len;
	*got = 0;
	if (x->q.link.err) {
		c->err = x->q.link.err;
		return IO_ERR;
	}
	conn_stream_block(&x->q.link, EV_R);
	return IO_AGAIN;
}

/* Ends the connection: no more is taken, and the server's connection is closed. */
static enum io_result
refuse_rest(struct conn *c, enum subrequest_state result)
{
	struct answer_keeper *x = keeper_of(c);

	subrequest_end(&x->q, result);
	c->err = x->q.link.err = ECONNRESET;
	return IO_ERR;
}

/* Keeps copies of the texts of a head: 0, or -1 without memory. */
static int
keep_answer_head(struct subrequest *q)
{
	q->text = mem_alloc(h1_size(&q->head));
	if (!q->text)
		return -1;
	(void)http_pack(&q->head, q->text, q->text);
	return 0;
}

/* Parses a head: its length, or -1. An informational one is dropped. */
static long
take_answer_head(struct answer_keeper *x, const char *p, size_t n)
{
	const struct stream *s = x->q.link.x.owner;
	struct http_head *h = &x->q.head;
	struct h1_parser parser = { 0 };
	size_t used;

	h->n = 0;
	h->had = 0;
	if (h1_parse_response(&parser, p, n, h, &used) != HTTP_COMPLETE || h->status == 101)
		return -1;
	if (h->status < 200)
		return (long)used;
	/* An error page (`errorfile`) may have another status than the error that it is for. */
	if (h->status != s->txn->status || keep_answer_head(&x->q) < 0)
		return -1;
	x->has_head = 1;
	h1_body_begin(&x->body, h);
	return (long)used;
}

static int
is_permission(const struct answer_keeper *x)
{
	return x->q.head.status / 100 == 2;
}

/* True if there is room for n bytes more of the body. */
static int
keep_body(struct answer_keeper *x, const char *p, size_t n)
{
	const struct stream *s = x->q.link.x.owner;

	x->n_body += n;
	if (is_permission(x))
		return x->n_body <= DRAINED_MAX;
	if (x->n_body <= s->engine->bufsize)
		sbuf_add(&x->q.body, p, n);
	return x->n_body <= s->engine->bufsize && !x->q.body.failed;
}

/* Takes bytes of the body, up to its end: their number, or -1: it is not valid, or too long. */
static long
take_answer_body(struct answer_keeper *x, const char *p, size_t n)
{
	size_t at = 0, len;

	while (at < n && !h1_body_is_over(&x->body)) {
		switch (h1_body_next(&x->body, p + at, n - at, &len)) {
		case H1_PIECE_DATA:
			if (!keep_body(x, p + at, len))
				return -1;
			break;
		case H1_PIECE_FRAME:
			break;
		case H1_PIECE_MORE:
		case H1_PIECE_BAD:
			return -1;
		}
		at += len;
	}
	return (long)n;
}

/* A denial is passed on without a body that is too long; a permission whose end is not seen is
 * none. */
static enum io_result
end_early(struct conn *c)
{
	struct answer_keeper *x = keeper_of(c);

	if (!x->has_head || is_permission(x) || x->body.bad != HTTP_BAD_NONE)
		return refuse_rest(c, SUBREQUEST_FAILED);
	x->q.lacks_body = 1;
	sbuf_reset(&x->q.body);
	return refuse_rest(c, SUBREQUEST_COMPLETE);
}

static enum io_result
subrequest_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct answer_keeper *x = keeper_of(c);
	const char *p = buf;
	size_t at = 0;

	(void)more;
	*put = 0;
	if (x->q.link.err) {
		c->err = x->q.link.err;
		return IO_ERR;
	}
	while (at < len) {
		long n = x->has_head ? take_answer_body(x, p + at, len - at)
				     : take_answer_head(x, p + at, len - at);

		if (n < 0)
			return end_early(c);
		at += (size_t)n;
	}
	if (x->has_head && h1_body_is_over(&x->body))
		subrequest_end(&x->q, SUBREQUEST_COMPLETE);
	*put = len;
	c->sent += len;
	return IO_OK;
}

/* A FIN is the end of a response without a length. */
static enum io_result
subrequest_shutdown(struct conn *c)
{
	struct answer_keeper *x = keeper_of(c);
	int is_over = x->has_head && x->body.framing == HTTP_BODY_CLOSE;

	subrequest_end(&x->q, is_over ? SUBREQUEST_COMPLETE : SUBREQUEST_FAILED);
	return IO_OK;
}

static int
subrequest_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	const struct conn *below = keeper_of(c)->q.link.below;

	return below ? conn_query(below, what, out) : -ERR_UNKNOWN;
}

static void
subrequest_close(struct conn *c)
{
	struct subrequest *q = &keeper_of(c)->q;

	q->is_open = 0;
	subrequest_end(q, SUBREQUEST_FAILED);
	if (!q->parent)
		subrequest_free(q);
}

static const struct xprt_ops subrequest_ops = {
	.recv = subrequest_recv,
	.send = subrequest_send,
	.shutdown = subrequest_shutdown,
	.query = subrequest_query,
	.close = subrequest_close,
};

struct subrequest *
subrequest_open(struct stream *s, const struct conn *below, const struct rule *by,
	enum http_method method)
{
	const unsigned int max = s->engine->limits.maxhdr + HTTP_FIELDS_ADDED;
	struct answer_keeper *x = mem_zalloc(sizeof(*x));
	struct http_field *field = x ? mem_alloc(max * sizeof(*field)) : NULL;

	if (!field) {
		mem_free(x);
		return NULL;
	}
	http_head_init(&x->q.head, HTTP_RESPONSE, field, max);
	x->q.head.method = method;
	sbuf_init(&x->q.body, 0);
	x->q.by = by;
	x->q.is_open = 1;
	x->q.link.x.ops = &subrequest_ops;
	conn_stream_open(s->conn[CLIENT], &x->q.link, below, s->engine->hooks.on_client_io, s);
	x->q.link.ready = EV_RW;
	return &x->q;
}
