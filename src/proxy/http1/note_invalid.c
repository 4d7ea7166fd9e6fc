/* Keeps invalid messages for `show errors`. On the session's worker; without memory for a copy the
 * message is only counted. */
#include "proxy/http1/note_invalid.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "http/h1_message.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/invalid_msg.h"
#include "proxy/model/proxy.h"

/* p[0..n), with the byte at `at` in it. */
struct dump {
	enum http_bad why;
	const char *p;
	size_t n, at;
	uint64_t chunk_left;
};

/* Not more than a buffer has, with what was before the invalid byte rather than behind it. */
static struct dump
dump_part(struct dump d, size_t room)
{
	size_t skip = d.at > room ? d.at - room : 0;

	d.p += skip;
	d.n = MIN(d.n - skip, room);
	d.at -= skip;
	return d;
}

static void
name_others(const struct stream *s, int side, struct invalid_msg *m)
{
	m->other = side == CLIENT ? s->txn->be : s->sess->fe;
	if (side == CLIENT || !s->srv)
		return;
	(void)snprintf(m->server, sizeof(m->server), "%s", s->srv->name);
	m->server_id = s->srv->id;
}

static void
keep_dump(const struct stream *s, int side, struct dump d)
{
	struct proxy *px = side == CLIENT ? s->sess->fe : s->be;
	struct engine *e = s->engine;
	uint64_t event = atomic_add(&e->shared->invalid_msgs, 1) - 1;
	struct invalid_msg *m;

	d = dump_part(d, e->bufsize);
	m = invalid_msg_new(d.n);
	if (!m)
		return;
	m->event = event;
	m->wall_ms = loop_wall_ns(e->loop) / 1000000;
	name_others(s, side, m);
	addr_override_copy_source(s, &m->src);
	m->why = d.why;
	m->chunk_left = d.chunk_left;
	m->room = e->bufsize;
	m->len = (uint32_t)d.n;
	m->at = (uint32_t)d.at;
	memcpy(m->bytes, d.p, d.n);
	invalid_msg_keep(&px->invalid[side], m, e->sys);
}

void
http_note_invalid_head(const struct stream *s, int side)
{
	const struct direction *dir = &s->dir[side];
	const struct h1_parser *p = &s->txn->h1[side]->parser;
	struct dump d = { .why = (enum http_bad)p->bad, .p = dir->buf + dir->tail,
		.n = dir->lookahead, .at = p->bad_at };

	if (!p->bad) {
		d.why = h1_parse_full(p);
		d.at = d.n;
	}
	keep_dump(s, side, d);
}

/* A request's head is still in front of the body that came with it. */
static size_t
head_before(const struct stream *s, int side, const char *p)
{
	const struct http_txn *t = s->txn;
	const struct direction *d = &s->dir[CLIENT];

	if (side != CLIENT || t->stage || t->placed || !d->buf || p != d->buf + t->head_end)
		return 0;
	return t->h1[CLIENT]->parser.at;
}

void
http_note_invalid_body(const struct stream *s, int side, const char *p, size_t n)
{
	const struct h1_body *b = &s->txn->h1[side]->body;
	size_t head = head_before(s, side, p);

	keep_dump(s, side,
		(struct dump){ .why = (enum http_bad)b->bad, .p = p - head, .n = n + head,
			.at = b->bad_at + head, .chunk_left = b->left });
}
