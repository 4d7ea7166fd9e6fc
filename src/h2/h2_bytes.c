/* Queues of bytes in pieces of a pool. Pure but for the pool. */
#include "h2/h2_bytes.h"

#include <string.h>

#include "base/err.h"

static struct h2_piece *
new_piece(struct pool *pool)
{
	struct h2_piece *b = pool_get(pool);

	if (b) {
		b->next = NULL;
		b->from = b->to = 0;
	}
	return b;
}

static void
append_piece(struct h2_bytes *q, struct h2_piece *b)
{
	if (q->last)
		q->last->next = b;
	else
		q->first = b;
	q->last = b;
}

uint8_t *
h2_bytes_extend(struct h2_bytes *q, struct pool *pool, size_t n)
{
	struct h2_piece *b = q->last;

	assert(n <= h2_piece_room(pool));
	if (!b || h2_piece_room(pool) - b->to < n) {
		b = new_piece(pool);
		if (!b)
			return NULL;
		append_piece(q, b);
	}
	b->to += (uint32_t)n;
	q->len += n;
	return b->p + b->to - n;
}

/* Fills the last piece, then new ones, which are made before. */
int
h2_bytes_add(struct h2_bytes *q, struct pool *pool, const void *p, size_t n)
{
	size_t room = q->last ? h2_piece_room(pool) - q->last->to : 0;
	struct h2_bytes more = { NULL, NULL, 0 };
	const uint8_t *from = p;

	for (size_t have = room; have < n; have += h2_piece_room(pool)) {
		struct h2_piece *b = new_piece(pool);

		if (!b) {
			while (more.first) {
				b = more.first;
				more.first = b->next;
				pool_put(pool, b);
			}
			return -ERR_NOMEM;
		}
		append_piece(&more, b);
	}
	for (struct h2_piece *b = room ? q->last : more.first; n; b = more.first) {
		size_t len = MIN(n, h2_piece_room(pool) - b->to);

		if (b != q->last) {
			more.first = b->next;
			b->next = NULL;
			append_piece(q, b);
		}
		memcpy(b->p + b->to, from, len);
		b->to += (uint32_t)len;
		q->len += len;
		from += len;
		n -= len;
	}
	return 0;
}

struct str
h2_bytes_first(const struct h2_bytes *q)
{
	const struct h2_piece *b = q->first;

	return b ? (struct str){ (const char *)b->p + b->from, b->to - b->from } : STR("");
}

uint8_t *
h2_bytes_at(struct h2_bytes *q, size_t at)
{
	struct h2_piece *b = q->first;

	assert(at < q->len);
	for (; at >= b->to - b->from; b = b->next)
		at -= b->to - b->from;
	return b->p + b->from + at;
}

void
h2_bytes_drop(struct h2_bytes *q, struct pool *pool, size_t n)
{
	assert(n <= q->len);
	q->len -= n;
	while (q->first) {
		struct h2_piece *b = q->first;
		size_t here = MIN(n, b->to - b->from);

		b->from += (uint32_t)here;
		n -= here;
		if (b->from < b->to)
			return;
		q->first = b->next;
		if (!q->first)
			q->last = NULL;
		pool_put(pool, b);
	}
}

size_t
h2_bytes_take(struct h2_bytes *q, struct pool *pool, void *to, size_t n)
{
	size_t all = 0;

	while (all < n && q->len) {
		struct str s = h2_bytes_first(q);
		size_t len = MIN(n - all, s.len);

		memcpy((char *)to + all, s.p, len);
		h2_bytes_drop(q, pool, len);
		all += len;
	}
	return all;
}
