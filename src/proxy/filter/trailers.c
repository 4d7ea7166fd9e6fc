/* Drops trailers. Its filters are made on the main thread, and run on their streams' workers. */
#include "proxy/filter/trailers.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/filter.h"
#include "proxy/model/http_txn.h"

struct trailers_conf {
	struct filter_conf conf;
	int side;              /* whose trailers are dropped */
	const struct proxy *proxy;
};

/* Trailers of requests are dropped by their backend, of responses by their frontend. */
static int
is_for(const struct trailers_conf *c, const struct stream *s, int side)
{
	return side == c->side && c->proxy == (side == CLIENT ? s->be : s->sess->fe);
}

/* Takes part in messages in chunks: only these have trailers. */
static enum filter_part
trailers_begin(const struct filter_conf *conf, struct stream *s, int side, struct http_head *head)
{
	if (!is_for((const struct trailers_conf *)conf, s, side) || !head ||
		head->framing != HTTP_BODY_CHUNKED || !filter_get(s, side, conf))
		return FILTER_ABSENT;
	return FILTER_CHANGES;
}

static size_t
most_unchanged(const struct filter *f unused, size_t n)
{
	return n;
}

static size_t
copy_unchanged(struct filter *f unused, struct stream *s unused, const char *p, size_t n,
	int last unused, char *to)
{
	memcpy(to, p, n);
	return n;
}

static void
trailers_conf_free(struct filter_conf *conf)
{
	mem_free(conf);
}

static const struct filter_kind trailers_kind = {
	.name = "trailers",
	.size = sizeof(struct filter),
	.drops_trailers = 1,
	.begin = trailers_begin,
	.most = most_unchanged,
	.change = copy_unchanged,
	.conf_free = trailers_conf_free,
};

static int
add_trailers_filter(struct proxy *p, int side)
{
	struct trailers_conf *c = mem_zalloc(sizeof(*c));

	if (!c)
		return -ERR_NOMEM;
	c->conf.kind = &trailers_kind;
	c->side = side;
	c->proxy = p;
	filter_conf_add(&p->filters, &c->conf);
	return 0;
}

int
trailers_finish(struct proxy *p)
{
	int r = 0;

	if (p->mode != PROXY_HTTP)
		return 0;
	if ((p->caps & PROXY_BE) && (p->options & OPT_DROP_REQ_TRAILERS))
		r = add_trailers_filter(p, CLIENT);
	if (r == 0 && (p->caps & PROXY_FE) && (p->options & OPT_DROP_RES_TRAILERS))
		r = add_trailers_filter(p, SERVER);
	return r;
}
