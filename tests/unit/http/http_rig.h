/*
 * For tests of http: heads and bodies passed to the parser in every way they may arrive: whole,
 * split in two at each position, one byte at a time, followed by another message. The results must
 * be the same; a difference is described in words (feed_*). A request's head that tests add fields
 * to (request_head). Users: tests of http, and the fuzzers of heads and chunks, without cmocka.
 */
#ifndef TESTS_UNIT_HTTP_RIG_H
#define TESTS_UNIT_HTTP_RIG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "http/h1_body.h"
#include "http/h1_framing.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "http/head.h"
#include "unit/test.h"

/* --- messages in pieces --- */

#define FEED_FIELDS 110
/* Fills the part of the buffer where nothing has arrived: a parser that reads it finds line
 * ends. */
#define FEED_UNREAD '\n'

struct fed {
	enum h1_parse_status verdict;
	enum http_bad bad;
	uint32_t bad_at;
	size_t used;
	size_t least; /* the least number of missing bytes, by h1_parse_needs() */
	struct http_head head;
	struct http_field field[FEED_FIELDS];
	const char *buf;
};

/* The beginning of another message, which follows at once. */
#define FEED_NEXT "GET /next HTTP/1.1\r\nHost: next\r\n\r\n"

/* Passes text[0..len) in pieces: the first has `first` bytes, the others `then`. */
static inline void
feed_pieces(struct fed *f, enum http_kind kind, unsigned int max, char *buf, const char *text,
	size_t len, size_t first, size_t then)
{
	struct h1_parser p = { 0 };
	size_t have = 0, take = first;

	memset(buf, FEED_UNREAD, len);
	http_head_init(&f->head, kind, f->field, max);
	f->used = f->least = 0;
	f->buf = buf;
	do {
		if (take > len - have)
			take = len - have;
		if (take)
			memcpy(buf + have, text + have, take);
		have += take;
		take = then;
		if (kind == HTTP_REQUEST)
			f->verdict = h1_parse_request(&p, buf, have, &f->head, &f->used);
		else
			f->verdict = h1_parse_response(&p, buf, have, &f->head, &f->used);
		if (f->verdict == HTTP_MORE && kind == HTTP_REQUEST &&
			have + h1_parse_needs(&p, &f->head) > f->least)
			f->least = have + h1_parse_needs(&p, &f->head);
	} while (f->verdict == HTTP_MORE && have < len);
	f->bad = (enum http_bad)p.bad;
	f->bad_at = p.bad_at;
}

/* True if both slices are at the same offset; an empty one may be outside the buffer. */
static inline int
feed_same_slice(const struct fed *a, struct str x, const struct fed *b, struct str y)
{
	if (x.len != y.len)
		return 0;
	return !x.len || x.p - a->buf == y.p - b->buf;
}

static inline int
feed_same_head(const struct fed *a, const struct fed *b)
{
	const struct http_head *x = &a->head, *y = &b->head;

	if (x->kind != y->kind || x->version != y->version || x->method != y->method ||
		x->status != y->status || x->n != y->n || x->framing != y->framing ||
		x->length != y->length)
		return 0;
	if (!feed_same_slice(a, x->method_text, b, y->method_text) ||
		!feed_same_slice(a, x->target, b, y->target) ||
		!feed_same_slice(a, x->reason, b, y->reason))
		return 0;
	for (unsigned int i = 0; i < x->n; i++)
		if (!feed_same_slice(a, x->field[i].name, b, y->field[i].name) ||
			!feed_same_slice(a, x->field[i].value, b, y->field[i].value) ||
			x->field[i].id != y->field[i].id || x->field[i].dropped)
			return 0;
	return 1;
}

static inline int
feed_same(const struct fed *a, const struct fed *b)
{
	if (a->verdict != b->verdict || a->bad != b->bad || a->bad_at != b->bad_at)
		return 0;
	if (a->verdict == HTTP_COMPLETE)
		return a->used == b->used && feed_same_head(a, b);
	return 1;
}

/*
 * All ways; *whole is the result of the whole text, with slices of `keep`, which has len bytes. At
 * most `splits` positions are tried (0: all). Returns NULL or the difference.
 */
static inline const char *
feed_all_ways(struct fed *whole, enum http_kind kind, unsigned int max, char *keep,
	const char *text, size_t len, size_t splits)
{
	static const char next[] = FEED_NEXT;
	const char *differs = NULL;
	size_t step = splits && len > splits ? len / splits : 1;
	char *buf = malloc(len + sizeof(next)), *both = malloc(len + sizeof(next));
	struct fed *other = malloc(sizeof(*other));

	if (!buf || !both || !other)
		abort();
	feed_pieces(whole, kind, max, keep, text, len, len, 0);
	for (size_t at = 1; at < len && !differs; at += step) {
		feed_pieces(other, kind, max, buf, text, len, at, len);
		if (!feed_same(whole, other))
			differs = "in two pieces";
	}
	feed_pieces(other, kind, max, buf, text, len, 1, 1);
	if (!differs && !feed_same(whole, other))
		differs = "a byte at a time";
	if (!differs && other->verdict == HTTP_COMPLETE && other->least > other->used)
		differs = "by what is needed at least";
	if (len)
		memcpy(both, text, len);
	memcpy(both + len, next, sizeof(next));
	feed_pieces(other, kind, max, buf, both, len + sizeof(next) - 1, len + sizeof(next), 0);
	if (!differs && whole->verdict != HTTP_MORE && !feed_same(whole, other))
		differs = "with another one behind";
	free(buf);
	free(both);
	free(other);
	return differs;
}

/* --- bodies --- */

struct fed_body {
	int bad;           /* enum http_bad */
	int over;
	size_t used;       /* bytes that belong to the message; 0 when it is bad */
	uint64_t data_sum; /* a checksum of the payload */
	size_t data_len;
};

/* Passes text[0..len) in pieces of at most `size` bytes, after a first one of `first`. */
static inline void
feed_body_pieces(struct fed_body *f, const struct h1_body *fresh, const char *text, size_t len,
	size_t first, size_t then)
{
	struct h1_body b = *fresh;
	size_t at = 0, end = first < len ? first : len;
	enum h1_piece kind = H1_PIECE_MORE;

	/* Each piece ends where its block ends, so that a sanitizer detects reads beyond it. */
	char *block = malloc(len ? len : 1);

	if (!block)
		abort();
	memset(f, 0, sizeof(*f));
	while (kind != H1_PIECE_BAD && !h1_body_is_over(&b) && at < len) {
		char *piece = block + len - (end - at);
		size_t n;

		memcpy(piece, text + at, end - at);
		kind = h1_body_next(&b, piece, end - at, &n);
		if (n > end - at || (kind != H1_PIECE_BAD && !n))
			abort();
		for (size_t i = 0; i < n && kind == H1_PIECE_DATA; i++)
			f->data_sum = 31 * f->data_sum + (unsigned char)piece[i];
		f->data_len += kind == H1_PIECE_DATA ? n : 0;
		at += n;
		if (at == end)
			end = len - at < then ? len : at + then;
	}
	free(block);
	f->bad = b.bad;
	f->over = h1_body_is_over(&b);
	f->used = kind == H1_PIECE_BAD ? 0 : at;
}

static inline int
feed_same_body(const struct fed_body *a, const struct fed_body *b)
{
	if (a->bad || b->bad)
		return a->bad == b->bad && a->over == b->over;
	return a->over == b->over && a->used == b->used && a->data_sum == b->data_sum &&
	       a->data_len == b->data_len;
}

/* The payload at once, decoded in place or into another buffer. */
static inline void
feed_body_decoded(
	struct fed_body *f, const struct h1_body *fresh, const char *text, size_t len, int apart)
{
	struct h1_body b = *fresh;
	char *from = malloc(len ? len : 1), *to = apart ? malloc(len ? len : 1) : from;
	int r;

	if (!from || !to)
		abort();
	memset(f, 0, sizeof(*f));
	memcpy(from, text, len);
	r = h1_body_decode(&b, to, from, len, &f->used, &f->data_len);
	if (f->used > len || f->data_len > f->used || (r < 0) != (b.bad != 0))
		abort();
	for (size_t i = 0; i < f->data_len; i++)
		f->data_sum = 31 * f->data_sum + (unsigned char)to[i];
	f->bad = b.bad;
	f->over = h1_body_is_over(&b);
	if (apart)
		free(to);
	free(from);
}

/* All ways, as for heads. Returns NULL or the difference. */
static inline const char *
feed_body_all_ways(struct fed_body *whole, const struct h1_body *fresh, const char *text,
	size_t len, size_t splits)
{
	static const char next[] = FEED_NEXT;
	const char *differs = NULL;
	size_t step = splits && len > splits ? len / splits : 1;
	struct h1_body b = *fresh;
	struct fed_body other;
	char *both;
	long took;

	feed_body_pieces(whole, fresh, text, len, len, len);
	for (size_t at = 1; at < len && !differs; at += step) {
		feed_body_pieces(&other, fresh, text, len, at, len);
		if (!feed_same_body(whole, &other))
			differs = "in two pieces";
	}
	feed_body_pieces(&other, fresh, text, len, 1, 1);
	if (!differs && !feed_same_body(whole, &other))
		differs = "a byte at a time";
	took = h1_body_take(&b, text, len);
	if (!differs && (whole->bad ? took != -1 : took != (long)whole->used))
		differs = "taken at once";
	for (int apart = 0; apart < 2 && !differs; apart++) {
		feed_body_decoded(&other, fresh, text, len, apart);
		if (!feed_same_body(whole, &other))
			differs = apart ? "decoded" : "decoded in place";
	}
	if (differs || (!whole->bad && !whole->over))
		return differs;
	both = malloc(len + sizeof(next));
	if (!both)
		abort();
	if (len)
		memcpy(both, text, len);
	memcpy(both + len, next, sizeof(next));
	feed_body_pieces(&other, fresh, both, len + sizeof(next) - 1, len + sizeof(next), len);
	if (!feed_same_body(whole, &other))
		differs = "with another message behind";
	free(both);
	return differs;
}

/* --- a head --- */

#define PLACES 8

static struct http_field places[PLACES];

static inline struct http_head
request_head(void)
{
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, places, PLACES);
	h.method = HTTP_GET;
	h.method_text = STR("GET");
	h.target = STR("/");
	return h;
}

static inline void
add(struct http_head *h, const char *name, const char *value)
{
	assert_int_equal(http_add(h, str_of(name), str_of(value)), 0);
}

/* The written text is the expected one, and as long as announced. */
static inline void
assert_written(const struct http_head *h, const char *expected)
{
	char out[1024];

	memset(out, '#', sizeof(out));
	assert_int_equal(h1_size(h), strlen(expected));
	assert_int_equal(h1_write(h, out), strlen(expected));
	assert_memory_equal(out, expected, strlen(expected));
	assert_int_equal(out[strlen(expected)], '#');
}

#endif
