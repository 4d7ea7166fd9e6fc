#include "sim/http_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "sim/http_book.h"

uint8_t
http_byte(uint32_t seed, uint64_t pos)
{
	uint64_t x = pos + (uint64_t)seed * 0x9e3779b97f4a7c15u;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return (uint8_t)(x >> 40);
}

void
http_reader_begin(struct http_reader *r)
{
	memset(r, 0, offsetof(struct http_reader, line));
	r->n = 0;
	r->said.length = -1;
}

void
http_reader_expect(struct http_reader *r, enum http_shape shape, uint32_t seed)
{
	r->shape = shape;
	r->seed = seed;
	r->state = HTTP_READER_BODY;
	if (shape == HTTP_SHAPE_CHUNKED)
		r->state = HTTP_READER_SIZE;
	if (shape == HTTP_SHAPE_LENGTH)
		r->left = (uint64_t)r->said.length;
	if (shape == HTTP_SHAPE_NONE || (shape == HTTP_SHAPE_LENGTH && !r->left))
		r->state = HTTP_READER_OVER;
}

/* --- heads --- */

static int
first_line(struct http_parsed *m, const char *line)
{
	if (sscanf(line, "HTTP/2 %3u", &m->status) == 1) {
		m->minor = 1;
		return 1;
	}
	if (strstr(line, " HTTP/2")) {
		m->h2 = 1;
		m->minor = 1;
		return sscanf(line, "%11[A-Z] http://a/%u", m->method, &m->path) == 2 ||
			strcmp(line, "CONNECT a:80 HTTP/2") == 0;
	}
	if (strncmp(line, "HTTP/1.", 7) == 0)
		return sscanf(line, "HTTP/1.%u %3u", &m->minor, &m->status) == 2;
	if (sscanf(line, "CONNECT a:80 HTTP/1.%u", &m->minor) == 1) {
		strcpy(m->method, "CONNECT");
		return 1;
	}
	return sscanf(line, "%11[A-Z] /%u HTTP/1.%u", m->method, &m->path, &m->minor) == 3;
}

/* The relevant part of "a=1; SRV=s1; b=2" or "SRV=s1; path=/". */
static void
cookies(struct http_parsed *m, const char *value)
{
	const char *srv = strstr(value, "SRV=");

	if (srv)
		(void)snprintf(m->cookie, sizeof(m->cookie), "%.*s", (int)strcspn(srv + 4, ";"),
			srv + 4);
	m->crumbs += strncmp(value, "a=1", 3) == 0;
	m->crumbs += strstr(value, "b=2") != NULL;
	m->crumbs += strncmp(value, "other=1", 7) == 0;
}

#define LONG_NAME "X-Long: "
#define LONG_NAME_LEN (sizeof(LONG_NAME) - 1)

/* Checks the bytes of a value, or of its first part. */
static int
long_value(struct http_reader *r, size_t n)
{
	const char *value = r->line + LONG_NAME_LEN;

	for (size_t i = 0; i < n; i++)
		if (value[i] != http_long_byte(r->folded + i))
			return 0;
	r->said.has_long += n;
	return 1;
}

static int
is_long(const struct http_reader *r)
{
	return r->state == HTTP_READER_HEAD && r->n >= LONG_NAME_LEN &&
		strncasecmp(r->line, LONG_NAME, LONG_NAME_LEN) == 0;
}

/* The line is longer than its memory: what it brought so far is checked, but for its last bytes, in
 * which its end is looked for. 0, or -1: it is not as it must be. */
static int
fold_line(struct http_reader *r)
{
	size_t n = r->n - LONG_NAME_LEN - 2;

	if (!is_long(r) || !long_value(r, n))
		return -1;
	r->folded += n;
	memmove(r->line + LONG_NAME_LEN, r->line + r->n - 2, 2);
	r->n = LONG_NAME_LEN + 2;
	return 0;
}

static int
field(struct http_parsed *m, const char *line)
{
	const char *colon = strchr(line, ':'), *value = colon ? colon + 1 : NULL;
	size_t n = colon ? (size_t)(colon - line) : 0;

	if (!n)
		return 0;
	value += strspn(value, " ");
#define NAMED(text) (n == sizeof(text) - 1 && strncasecmp(line, text, n) == 0)
	if (NAMED("Content-Length")) {
		if (m->length >= 0)
			return 0;
		m->length = strtol(value, NULL, 10);
	} else if (NAMED("Transfer-Encoding")) {
		m->chunked = strcasecmp(value, "chunked") == 0;
	} else if (NAMED("Connection")) {
		m->close |= strcasecmp(value, "close") == 0;
	} else if (NAMED("Upgrade")) {
		m->upgrade = 1;
		if (strstr(value, "h2"))
			return 0;
	} else if (NAMED("HTTP2-Settings") || NAMED("Keep-Alive")) {
		return 0;
	} else if (NAMED("Expect")) {
		m->expect = 1;
	} else if (NAMED("X-Extra")) {
		m->extra = 1;
	} else if (NAMED("Cookie")) {
		cookies(m, value);
	} else if (NAMED("Set-Cookie")) {
		cookies(m, value);
		m->sets += strncmp(value, "SRV=", 4) == 0;
	} else if (NAMED("Cache-Control")) {
		m->is_private = strcmp(value, "private") == 0;
	} else if (NAMED("X-Id")) {
		if (m->id)
			return 0;
		m->id = (uint32_t)strtoul(value, NULL, 10);
	} else if (NAMED("X-Try")) {
		m->nth = (uint32_t)strtoul(value, NULL, 10);
	}
#undef NAMED
	return 1;
}

/* --- lines --- */

static void
chunk_size(struct http_reader *r)
{
	char *end;

	r->left = strtoul(r->line, &end, 16);
	if (end == r->line || *end)
		r->state = HTTP_READER_BAD;
	else
		r->state = r->left ? HTTP_READER_CHUNK : HTTP_READER_TRAILER;
}

static void
line_is_complete(struct http_reader *r)
{
	int ok = 1;

	if (r->n < 2 || r->line[r->n - 2] != '\r') {
		r->state = HTTP_READER_BAD;
		return;
	}
	r->line[r->n - 2] = '\0';
	if (is_long(r)) {
		if (!long_value(r, r->n - 2 - LONG_NAME_LEN))
			r->state = HTTP_READER_BAD;
		r->folded = r->n = 0;
		return;
	}
	r->n = 0;
	if (r->state == HTTP_READER_SIZE) {
		chunk_size(r);
		return;
	}
	if (r->state == HTTP_READER_CRLF)
		r->state = r->line[0] ? HTTP_READER_BAD : HTTP_READER_SIZE;
	else if (r->state == HTTP_READER_TRAILER)
		r->state = r->line[0] ? HTTP_READER_BAD : HTTP_READER_OVER;
	else if (r->lines++ == 0)
		ok = first_line(&r->said, r->line);
	else if (!r->line[0])
		r->state = HTTP_READER_FOUND;
	else
		ok = field(&r->said, r->line);
	if (!ok)
		r->state = HTTP_READER_BAD;
}

static void
add(struct http_reader *r, uint8_t c)
{
	if (r->n == HTTP_READER_LINE && fold_line(r) < 0) {
		r->state = HTTP_READER_BAD;
		return;
	}
	r->line[r->n++] = (char)c;
	if (c == '\n')
		line_is_complete(r);
}

/* --- bodies --- */

static size_t
content(struct http_reader *r, const uint8_t *p, size_t n)
{
	int open = r->shape == HTTP_SHAPE_END || r->shape == HTTP_SHAPE_TUNNEL;

	if (!open)
		n = (size_t)MIN((uint64_t)n, r->left);
	for (size_t i = 0; i < n; i++)
		if (p[i] != http_byte(r->seed, r->got + i))
			r->wrong = 1;
	r->got += n;
	if (open)
		return n;
	r->left -= n;
	if (!r->left)
		r->state = r->shape == HTTP_SHAPE_CHUNKED ? HTTP_READER_CRLF : HTTP_READER_OVER;
	return n;
}

size_t
http_reader_take(struct http_reader *r, const uint8_t *p, size_t n)
{
	size_t used = 0;

	while (used < n)
		switch (r->state) {
		case HTTP_READER_FOUND:
		case HTTP_READER_OVER:
		case HTTP_READER_BAD:
			return used;
		case HTTP_READER_BODY:
		case HTTP_READER_CHUNK:
			used += content(r, p + used, n - used);
			break;
		case HTTP_READER_HEAD:
		case HTTP_READER_SIZE:
		case HTTP_READER_CRLF:
		case HTTP_READER_TRAILER:
			add(r, p[used++]);
			break;
		}
	return used;
}
