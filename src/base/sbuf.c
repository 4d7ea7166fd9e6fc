/* A growing string, its owner's alone. After a failure nothing is added any more, so that one check
 * at the end suffices; the text always ends with a NUL. What does not fit into fixed storage is
 * cut: a text for people may be used so. */
#include "base/sbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define SBUF_FIRST 64

void
sbuf_init(struct sbuf *b, size_t max)
{
	memset(b, 0, sizeof(*b));
	b->max = max;
	b->owned = 1;
}

void
sbuf_init_secret(struct sbuf *b, size_t max)
{
	sbuf_init(b, max);
	b->is_secret = 1;
}

void
sbuf_init_fixed(struct sbuf *b, char *storage, size_t cap)
{
	assert(cap > 0);
	memset(b, 0, sizeof(*b));
	b->p = storage;
	b->cap = cap;
	b->p[0] = '\0';
}

static void
erase_secret(const struct sbuf *b, size_t from, size_t n)
{
	if (b->is_secret && b->p)
		explicit_bzero(b->p + from, n);
}

void
sbuf_fini(struct sbuf *b)
{
	erase_secret(b, 0, b->cap);
	if (b->owned)
		mem_free(b->p);
	memset(b, 0, sizeof(*b));
}

void
sbuf_reset(struct sbuf *b)
{
	erase_secret(b, 0, b->len);
	b->len = 0;
	b->failed = 0;
	if (b->p)
		b->p[0] = '\0';
}

void
sbuf_cut_front(struct sbuf *b, size_t n)
{
	assert(n <= b->len);
	if (!n)
		return;
	b->len -= n;
	memmove(b->p, b->p + n, b->len);
	erase_secret(b, b->len, n);
	b->p[b->len] = '\0';
}

/* Returns the text in new memory; its old memory was freed, without the text of a secret. NULL:
 * nothing has changed. */
static char *
resize_text(struct sbuf *b, size_t cap)
{
	char *p;

	if (!b->is_secret)
		return mem_resize(b->p, cap, 1);
	p = mem_alloc(cap);
	if (!p || !b->p)
		return p;
	memcpy(p, b->p, b->len + 1);
	erase_secret(b, 0, b->cap);
	mem_free(b->p);
	return p;
}

static int
sbuf_grow(struct sbuf *b, size_t n)
{
	size_t need = b->len + n + 1;
	size_t cap = b->cap;
	char *p;

	if (b->failed || need < n || need > SIZE_MAX / 2 || (b->max && b->len + n > b->max))
		goto fail;
	if (need <= cap)
		return 1;
	if (!b->owned)
		goto fail;
	if (cap == 0)
		cap = SBUF_FIRST;
	while (cap < need)
		cap *= 2;
	p = resize_text(b, cap);
	if (!p)
		goto fail;
	b->p = p;
	b->cap = cap;
	return 1;
fail:
	b->failed = 1;
	return 0;
}

/* Makes room for n more bytes and the NUL. */
static inline int
sbuf_room(struct sbuf *b, size_t n)
{
	int is_there = !b->failed && n < b->cap - b->len && (!b->max || n <= b->max - b->len);

	return is_there || sbuf_grow(b, n);
}

/* The bytes of fixed storage that an addition which has failed may fill; 0 after the first one. */
static size_t
fixed_room(const struct sbuf *b)
{
	return b->owned || !b->p ? 0 : b->cap - b->len - 1;
}

void
sbuf_add(struct sbuf *b, const char *p, size_t n)
{
	if (!sbuf_room(b, n) && !(n = MIN(n, fixed_room(b))))
		return;
	memcpy(b->p + b->len, p, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void
sbuf_add_again(struct sbuf *b, size_t at, size_t n)
{
	if (b->failed || !sbuf_room(b, n))
		return;
	memcpy(b->p + b->len, b->p + at, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void
sbuf_adds(struct sbuf *b, const char *s)
{
	sbuf_add(b, s, strlen(s));
}

void
sbuf_addc(struct sbuf *b, char c)
{
	sbuf_add(b, &c, 1);
}

void
sbuf_addu(struct sbuf *b, unsigned long long v)
{
	char tmp[20];
	size_t i = sizeof(tmp);

	do {
		tmp[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	sbuf_add(b, tmp + i, sizeof(tmp) - i);
}

void
sbuf_addi(struct sbuf *b, long long v)
{
	if (v < 0)
		sbuf_addc(b, '-');
	sbuf_addu(b, v < 0 ? -(unsigned long long)v : (unsigned long long)v);
}

void
sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		b->failed = 1;
	else if (sbuf_room(b, (size_t)n) || (n = (int)MIN((size_t)n, fixed_room(b)))) {
		(void)vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void
sbuf_addf(struct sbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(b, fmt, ap);
	va_end(ap);
}
