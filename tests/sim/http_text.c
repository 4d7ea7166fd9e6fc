#include "sim/http_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 512

static void
grow(struct http_text *t, size_t more)
{
	if (t->n + more <= t->cap)
		return;
	t->cap = (t->n + more) * 2;
	/* An injected allocation fault must not hit the test's memory. */
	fake_memory_is_ours++;
	t->p = realloc(t->p, t->cap);
	fake_memory_is_ours--;
	assert(t->p);
}

void
http_text_clear(struct http_text *t)
{
	t->n = t->at = 0;
}

void
http_text_free(struct http_text *t)
{
	free(t->p);
	*t = (struct http_text){ NULL, 0, 0, 0 };
}

void
http_text_add(struct http_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	grow(t, ROOM);
	va_start(ap, fmt);
	n = vsnprintf(t->p + t->n, ROOM, fmt, ap);
	va_end(ap);
	assert(n >= 0 && n < ROOM);
	t->n += (size_t)n;
}

static void
content(struct http_text *t, uint32_t seed, size_t from, size_t n)
{
	grow(t, n);
	for (size_t i = 0; i < n; i++)
		t->p[t->n + i] = (char)http_byte(seed, from + i);
	t->n += n;
}

void
http_text_body(struct http_text *t, enum http_shape shape, uint32_t seed, size_t len, size_t chunk)
{
	if (shape == HTTP_SHAPE_NONE)
		return;
	if (shape != HTTP_SHAPE_CHUNKED) {
		content(t, seed, 0, len);
		return;
	}
	for (size_t at = 0, n; at < len; at += n) {
		n = MIN(chunk, len - at);
		http_text_add(t, "%zx\r\n", n);
		content(t, seed, at, n);
		http_text_add(t, "\r\n");
	}
	http_text_add(t, "0\r\n\r\n");
}

int
http_text_send(struct http_text *t, struct wire *w, struct fake_sock *s, size_t upto)
{
	while (t->at < upto) {
		long n = wire_send(w, s, t->p + t->at, upto - t->at);

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return (int)n;
		t->at += (size_t)n;
	}
	return 1;
}
