/*
 * The checks of both fuzzers of heads: the result is the same however the bytes arrive, slices are
 * inside the buffer, a second, slower parser finds nothing invalid in an accepted head, a head
 * that was written is parsed as the same head, and of a head that is forwarded only the fields of
 * the connection are taken.
 */
#ifndef TESTS_FUZZ_HEAD_H
#define TESTS_FUZZ_HEAD_H

#include "unit/http/http_rig.h"
#include "http/h1_write.h"
#include "http/hop.h"
#include "http/scan.h"

/* Number of split points tried for each input. */
#define SPLITS 8

static inline void
hold(int ok)
{
	if (!ok)
		abort();
}

static inline void
hold_inside(const struct fed *f, struct str s)
{
	hold(!s.len || (s.p >= f->buf && s.p + s.len <= f->buf + f->used));
}

/* Parses the lines of an accepted head in the slow way. */
static inline void
hold_lines(const struct fed *f)
{
	const char *p = f->buf, *end = f->buf + f->used;
	unsigned int lines = 0;

	if (f->head.kind == HTTP_REQUEST && p[0] == '\r')
		p += 2;
	for (;;) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));

		hold(lf && lf > p - 1 && lf[-1] == '\r');
		for (const char *c = p; c < lf - 1; c++)
			hold((unsigned char)*c >= ' ' ? *c != 0x7f : *c == '\t');
		if (lf == p + 1)
			break;
		hold(lines == 0 || (*p != ' ' && *p != '\t' && *p != ':'));
		lines++;
		p = lf + 1;
	}
	hold(p + 2 == end && lines == f->head.n + 1);
}

static inline void
hold_framing(const struct http_head *h)
{
	unsigned int hosts = 0, lengths = 0, codings = 0;

	for (unsigned int i = 0; i < h->n; i++) {
		struct str name = h->field[i].name;

		hosts += str_is_nocase(name, STR("host"));
		lengths += str_is_nocase(name, STR("content-length"));
		codings += str_is_nocase(name, STR("transfer-encoding"));
	}
	hold(lengths + codings <= 1);
	hold(h->kind == HTTP_RESPONSE || hosts == 1 || (!hosts && h->version == HTTP_1_0));
	hold(!codings || h->version == HTTP_1_1);
}

static inline int
same_text(const struct http_head *a, const struct http_head *b)
{
	if (a->version != b->version || a->method != b->method || a->status != b->status ||
		a->framing != b->framing || a->length != b->length || a->n != b->n ||
		!str_is(a->method_text, b->method_text) ||
		!str_is(a->target, b->target) || !str_is(a->reason, b->reason))
		return 0;
	for (unsigned int i = 0; i < a->n; i++)
		if (!str_is(a->field[i].name, b->field[i].name) ||
			!str_is(a->field[i].value, b->field[i].value))
			return 0;
	return 1;
}

static inline void
hold_written(const struct fed *f)
{
	static struct fed again;
	size_t n = h1_size(&f->head);
	char *out = malloc(n), *keep = malloc(n);

	hold(out && keep);
	hold(h1_write(&f->head, out) == n);
	feed_pieces(&again, f->head.kind, FEED_FIELDS, keep, out, n, n, 0);
	hold(again.verdict == HTTP_COMPLETE && again.used == n);
	hold(same_text(&f->head, &again.head));
	free(out);
	free(keep);
}

/* True if this field of an arrived head concerns one connection only, for any Connection. */
static inline int
is_of_hop(const struct http_field *f)
{
	static const char *const names[] = { "connection", "keep-alive", "proxy-connection", "te",
		"upgrade", "http2-settings" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is_nocase(f->name, str_of(names[i])))
			return 1;
	return 0;
}

/* Looks for h2 and h2c between two bytes that no name has, without knowing lists and versions. */
static inline int
names_http2(struct str s)
{
	for (size_t i = 0; i + 1 < s.len; i++) {
		size_t end = i + 2;

		if ((i && http_is(s.p[i - 1], HTTP_C_TOKEN)) || str_lower(s.p[i]) != 'h' ||
			s.p[i + 1] != '2')
			continue;
		if (i && s.p[i - 1] == '/')
			continue; /* a version */
		if (end < s.len && str_lower(s.p[end]) == 'c')
			end++;
		if (end == s.len || !http_is(s.p[end], HTTP_C_TOKEN))
			return 1;
	}
	return 0;
}

/* Strips a copy: what is of the hop goes, or follows from the facts; all else stays as it was. */
static inline void
hold_hop(const struct fed *f)
{
	static struct http_field field[FEED_FIELDS];
	struct http_head h = f->head;
	unsigned int said;

	memcpy(field, f->head.field, h.n * sizeof(*field));
	h.field = field;
	h.max = FEED_FIELDS;
	said = http_strip_hop(&h, 0);
	hold(!(said & HTTP_HOP_CLOSE));
	hold(!(said & HTTP_HOP_UPGRADE) || (said & HTTP_HOP_SWITCH));
	for (unsigned int i = 0; i < h.n; i++)
		hold(field[i].dropped || field[i].id != HTTP_F_UPGRADE ||
			(field[i].value.len && !names_http2(field[i].value)));
	for (unsigned int i = 0; i < f->head.n; i++) {
		const struct http_field *was = &f->head.field[i], *is = &field[i];

		if (!is_of_hop(was))
			hold(!is->dropped && str_is(is->value, was->value));
		else if (is->id == HTTP_F_TE)
			hold(is->dropped ||
				(h.kind == HTTP_REQUEST && str_is(is->value, STR("trailers"))));
		else
			hold(is->dropped ||
				(is->id == HTTP_F_UPGRADE && (said & HTTP_HOP_UPGRADE)));
	}
}

/* A head to which rules have added a long field, as it is settled in a buffer: its texts go to
 * other memory and from there to their place, and none depends on where it was before. */
static inline void
hold_grown(const struct fed *f)
{
	static struct http_field field[FEED_FIELDS];
	static struct fed grown;
	static char value[20000];
	struct http_head *h = &grown.head;
	size_t len = f->used * 37 % sizeof(value), n;
	char *away, *home;

	memset(value, 'v', len);
	*h = f->head;
	h->field = memcpy(field, f->head.field, f->head.n * sizeof(*field));
	if (http_add(h, STR("X-Long"), (struct str){ value, len }) < 0)
		return;
	n = h1_size(h);
	hold(http_texts_size(h) < n && n <= http_texts_size(h) + H1_EXTRA_MAX);
	hold(http_fields_size(h, STR("x-long")) >= len + strlen("X-Long") + HTTP_FIELD_EXTRA);
	away = malloc(n);
	home = malloc(n);
	hold(away && home);
	hold(http_pack(h, away, away) <= n && http_pack(h, home, home) <= n);
	memset(away, '\n', n);
	free(away);
	memset(value, '\n', len);
	hold_written(&grown);
	free(home);
}

static inline void
hold_body(const struct fed *f, const char *text, size_t len)
{
	static const enum http_method methods[] = { HTTP_GET, HTTP_HEAD, HTTP_CONNECT };
	struct fed_body got;
	struct h1_body b;

	for (unsigned int i = 0; i < 3; i++) {
		struct http_head h = f->head;

		if (h.kind == HTTP_RESPONSE) {
			h.method = methods[i];
			h1_framing_from_fields(&h);
		}
		h1_body_begin(&b, &h);
		hold(!feed_body_all_ways(&got, &b, text, len, SPLITS));
	}
}

static inline void
fuzz_head(enum http_kind kind, const char *data, size_t size)
{
	static struct fed f;
	char *keep = malloc(size ? size : 1);

	hold(keep != NULL);
	hold(!feed_all_ways(&f, kind, FEED_FIELDS, keep, data, size, SPLITS));
	if (f.verdict == HTTP_BAD) {
		hold(f.bad > HTTP_BAD_NONE && f.bad < HTTP_BADS && f.bad_at < size);
	} else if (f.verdict == HTTP_COMPLETE) {
		hold(f.used <= size);
		hold_inside(&f, f.head.method_text);
		hold_inside(&f, f.head.target);
		hold_inside(&f, f.head.reason);
		for (unsigned int i = 0; i < f.head.n; i++) {
			hold_inside(&f, f.head.field[i].name);
			hold_inside(&f, f.head.field[i].value);
		}
		hold_lines(&f);
		hold_framing(&f.head);
		hold_written(&f);
		hold_hop(&f);
		hold_grown(&f);
		hold_body(&f, keep + f.used, size - f.used);
		(void)h1_persists(&f.head);
	}
	free(keep);
}

#endif
