/* Moves the bytes of a direction with filters. On the session's worker; what is read has passed all
 * filters before the next read, so the direction's buffer has only what leaves. */
#include "proxy/relay/filter.h"

#include <string.h>

#include "base/mem.h"
#include "proxy/model/memory.h"
#include "proxy/relay/direction.h"

/* --- the chain --- */

/* Room for what a filter makes of a piece: both areas. 1, or 0: there is no memory. */
static int
get_room(struct engine *e)
{
	if (!e->filter_room)
		e->filter_room = mem_alloc(2 * (size_t)e->bufsize);
	return e->filter_room != NULL;
}

/* Takes it out of the list: the filter, or NULL. */
static struct filter *
unlink_filter(struct filter **list, const struct filter_conf *conf)
{
	struct filter *f;

	while (*list && (*list)->conf != conf)
		list = &(*list)->next;
	f = *list;
	if (f)
		*list = f->next;
	return f;
}

/* Puts the filter of a stream, if it has this one, behind the others of its direction. */
static void
append_filter(struct stream *s, int side, const struct filter_conf *conf, enum filter_part part,
	struct filter ***end)
{
	struct filter *f = s->extras ? unlink_filter(&s->extras->filters[side], conf) : NULL;

	if (!f)
		return;
	f->part = (uint8_t)part;
	f->next = NULL;
	**end = f;
	*end = &f->next;
}

/* Asks the filters of one proxy in their order, and appends those that a rule or they themselves
 * have chosen. Those that a sequence leaves out take no part. */
static void
begin_filters(struct stream *s, int side, const struct proxy *px, struct http_head *head,
	struct filter ***end)
{
	const struct filter_conf *conf = filter_conf_first(px, side);

	for (; conf; conf = filter_conf_after(px, side, conf)) {
		enum filter_part part = FILTER_ABSENT;

		if (!conf->kind->change || get_room(s->engine))
			part = conf->kind->begin(conf, s, side, head);
		append_filter(s, side, conf, part, end);
	}
	for (conf = px->sequence[side] ? px->filters : NULL; conf; conf = conf->next)
		if (!filter_conf_runs(conf, side))
			append_filter(s, side, conf, FILTER_ABSENT, end);
}

/* Shows the request to the filters of one proxy that will run on the response. */
static void
show_request(struct stream *s, const struct proxy *px, struct http_head *req)
{
	const struct filter_conf *conf = filter_conf_first(px, SERVER);

	for (; conf; conf = filter_conf_after(px, SERVER, conf))
		if (conf->kind->foresee)
			conf->kind->foresee(conf, s, req);
}

enum filter_part
filters_begin(struct stream *s, const struct proxy *be, int side, struct http_head *head)
{
	const struct proxy *px[] = { s->sess->fe, be == s->sess->fe ? NULL : be };
	struct filter *chain = NULL, **end = &chain;

	for (size_t i = 0; side == CLIENT && head && i < ARRAY_LEN(px); i++)
		if (px[i])
			show_request(s, px[i], head);
	for (size_t i = 0; i < ARRAY_LEN(px); i++)
		if (px[i])
			begin_filters(s, side, px[i], head, &end);
	if (!s->extras)
		return FILTER_ABSENT;
	assert(!s->extras->filters[side]);
	s->extras->filters[side] = chain;
	return stream_filtering(s, side);
}

char *
filters_run(struct stream *s, int side, char *p, size_t n, int last, size_t *out)
{
	struct engine *e = s->engine;
	char *to = e->filter_room;

	for (struct filter *f = s->extras->filters[side]; f; f = f->next) {
		if (f->part == FILTER_CHANGES) {
			char *from = p;

			p = to + FILTER_FRONT;
			n = f->conf->kind->change(f, s, from, n, last, p);
			to = to == e->filter_room ? to + e->bufsize : e->filter_room;
		} else if (f->part == FILTER_PASSES && f->conf->kind->passed && n) {
			f->conf->kind->passed(f, s, p, n);
		}
	}
	*out = n;
	return p;
}

/* The most bytes that the filters make of n, at any point among them. */
static size_t
most_of(const struct stream *s, int side, size_t n)
{
	size_t most = n;

	for (const struct filter *f = s->extras->filters[side]; f; f = f->next) {
		if (f->part == FILTER_CHANGES)
			n = f->conf->kind->most(f, n);
		most = MAX(most, n);
	}
	return most;
}

/* --- the bytes that may pass --- */

static void
wait_until(struct stream *s, int side, uint64_t ms)
{
	const struct direction *other = &s->dir[!side];

	s->wake_ms = other->waits_to_pass ? MIN(ms, s->wake_ms) : ms;
	s->dir[side].waits_to_pass = 1;
}

size_t
filters_grant(struct stream *s, int side, size_t n)
{
	int is_changed = 0;

	for (struct filter *f = s->extras->filters[side]; f; f = f->next) {
		uint64_t wake_ms = 0;
		size_t most = n;

		if (f->part != FILTER_ABSENT && f->conf->kind->grant)
			most = f->conf->kind->grant(f, s, n, &wake_ms);
		if (!most) {
			wait_until(s, side, wake_ms);
			return 0;
		}
		if (!is_changed)
			n = MIN(n, most);
		is_changed |= f->part == FILTER_CHANGES;
	}
	return n;
}

/* The most bytes that n become, with their framing. */
static size_t
framed_most(const struct stream *s, int side, size_t n)
{
	return FILTER_FRONT + FILTER_BACK + most_of(s, side, n);
}

/* The bytes of n, and of what is made of them, that do not fit behind the pending ones. A client's
 * next request may be among the bytes that are read. */
static size_t
bytes_above(const struct stream *s, int side, size_t n)
{
	const struct direction *d = &s->dir[side];
	size_t rest = side == CLIENT && !d->lookahead ? n : 0;
	size_t all = framed_most(s, side, n) + rest + direction_buffered(d);

	return all > s->engine->bufsize ? all - s->engine->bufsize : 0;
}

/* Most filters add a few bytes to a piece, whatever its size. */
size_t
filters_fit(const struct stream *s, int side, size_t n)
{
	size_t above;

	while (n && (above = bytes_above(s, side, n)) > 0)
		n = above < n / 2 ? n - above : n / 2;
	return n;
}

/* The number of bytes to take next: of the lookahead, if there is one. 0: the pending ones have to
 * leave first, or a filter lets none pass. */
static size_t
next_piece(struct stream *s, int side)
{
	const struct direction *d = &s->dir[side];
	size_t n = filters_fit(s, side, d->lookahead ? d->lookahead : s->engine->bufsize);

	/* A head leaves with its body if that fits. */
	if (!n || (direction_pending(d) && n < d->lookahead))
		return 0;
	if (!d->lookahead && d->ops->reach)
		n = d->ops->reach(s, side, n);
	return filters_grant(s, side, n);
}

/* --- one piece --- */

/* True if the next n bytes can be stored behind the pending ones and in front of the lookahead. */
static int
has_buffer(const struct stream *s, int side, size_t n)
{
	const struct direction *d = &s->dir[side];
	struct engine *e = s->engine;
	size_t rest = d->lookahead - MIN(n, (size_t)d->lookahead);

	if (rest && !d->is_wide &&
		direction_buffered(d) + framed_most(s, side, n) + rest > e->bufsize)
		return memory_reserve(e, &e->pools.wide);
	return d->buf || memory_reserve_buffer(e);
}

/* Takes up to n bytes into the scratch buffer. ahead: they are a copy of the lookahead. */
static enum io_result
take_piece(struct stream *s, int side, size_t n, size_t *got, int *ahead)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	enum io_result r;

	*ahead = d->lookahead != 0;
	if (*ahead) {
		*got = MIN(n, (size_t)d->lookahead);
		memcpy(e->scratch, d->buf + d->tail, *got);
		return IO_OK;
	}
	r = conn_recv(s->conn[side], e->scratch, n, got);
	if (r == IO_OK)
		direction_count(s, side, *got);
	return r;
}

/* The size of the buffer, which is one of the usual size or a wide one. */
static size_t
buffer_size(const struct engine *e, const struct direction *d)
{
	return (size_t)e->bufsize * (d->is_wide ? WIDE_BUFS : 1);
}

/* Drops `used` bytes of the lookahead, and makes p[0..n), which is outside of the buffer, pending
 * in front of the rest: has_buffer() has made room. */
static void
insert_bytes(struct engine *e, struct direction *d, size_t used, const char *p, size_t n)
{
	uint32_t head;
	int r;

	if (!d->buf || (!n && !used)) {
		if (n)
			direction_buf_append(e, d, p, n);
		return;
	}
	d->lookahead -= (uint32_t)used;
	memmove(d->buf + d->tail, d->buf + d->tail + used, d->lookahead);
	if (d->tail + n > e->bufsize || d->tail + n + d->lookahead > buffer_size(e, d)) {
		memmove(d->buf, d->buf + d->head, d->tail - d->head + d->lookahead);
		d->tail -= d->head;
		d->head = 0;
	}
	head = d->head;
	r = direction_make_room(e, d, d->tail, d->tail + (uint32_t)n);
	assert(r == 0);
	(void)r;
	d->head = head;
	memcpy(d->buf + d->tail - n, p, n);
}

/* Forwards the result of a piece or of the source's end, and ends the message if that is its end.
 * As filter_read(). */
static struct io_step
pass_piece(struct stream *s, int side, size_t got, int ahead)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	size_t used = 0, out = 0, rest;
	char *to = NULL;
	enum relay_status status = d->ops->filter(s, side, e->scratch, got, &used, &to, &out);
	enum stream_event ev = STREAM_EV_NONE;
	struct io_step step;

	insert_bytes(e, d, ahead ? used : 0, to, out);
	rest = ahead ? 0 : got - used;
	if (status != RELAY_ON && d->ops->end)
		ev = d->ops->end(s, side, status, e->scratch + used, rest);
	else if (status != RELAY_ON)
		direction_source_ended(s, side);
	if (ev != STREAM_EV_NONE)
		return io_event(ev);
	step = direction_flush(s, side);
	if (step.more)
		direction_event(s, side, DIRECTION_EV_EMPTY);
	step.more = step.more && d->state == DIRECTION_OPEN;
	return step;
}

/* One piece. As filter_read(). */
static struct io_step
filter_once(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct io_step step;
	size_t n, got = 0;
	int ahead;

	/* At the end filters may give bytes that they have held back. */
	if (s->conn[side]->eof && !d->lookahead && !direction_pending(d)) {
		if (has_buffer(s, side, 0))
			return pass_piece(s, side, 0, 0);
		direction_wait_for_buffer(s, side);
		return io_stop();
	}
	n = next_piece(s, side);
	if (!n && direction_pending(d)) {
		step = direction_flush(s, side);
		step.more = step.more && !d->waits_to_pass;
		return step;
	}
	if (!n)
		return io_stop();
	if (!has_buffer(s, side, n)) {
		direction_wait_for_buffer(s, side);
		return io_stop();
	}
	switch (take_piece(s, side, n, &got, &ahead)) {
	case IO_AGAIN:
		return io_stop();
	case IO_EOF:
		return pass_piece(s, side, 0, 0);
	case IO_ERR:
		direction_side_failed(s, side);
		return io_stop();
	case IO_OK:
		break;
	}
	step = pass_piece(s, side, got, ahead);
	/* No event will report the end. */
	if (s->conn[side]->eof && d->state == DIRECTION_OPEN)
		conn_presume_ready(s->conn[side], DIR_R);
	return step;
}

struct io_step
filter_read(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];
	struct io_step step;

	d->waits_to_pass = 0;
	do
		step = filter_once(s, side);
	while (step.more && d->lookahead);
	return step;
}

/* --- TCP --- */

static enum relay_status
filter_plain(struct stream *s, int side, char *p, size_t n, size_t *used, char **to, size_t *out)
{
	*used = n;
	*to = filters_run(s, side, p, n, !n, out);
	return n ? RELAY_ON : RELAY_EOF;
}

static uint64_t
opaque_none(const struct stream *s, int side)
{
	(void)s;
	(void)side;
	return 0;
}

static const struct relay_ops filter_plain_ops = {
	.read = filter_read,
	.opaque = opaque_none,
	.filter = filter_plain,
};

int
filters_begin_plain(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];

	if (filters_begin(s, s->be, side, NULL) == FILTER_ABSENT || d->broken)
		return 0;
	d->ops = &filter_plain_ops;
	if (side == SERVER)
		return 1;
	d->lookahead += direction_buffered(d);
	d->tail = d->head;
	/* The client has sent FIN, which is noticed again behind them. */
	if (d->state == DIRECTION_DRAIN) {
		direction_event(s, side, DIRECTION_EV_RESET);
		conn_presume_ready(s->conn[side], DIR_R);
	}
	/* No event will report what is there already. */
	if (d->lookahead)
		wait_until(s, side, stream_now_ms(s));
	return 1;
}
