/* Finds the end of a message of HTTP/1, and judges its chunks and trailers. Pure: the caller keeps
 * the state. */
#include "http/h1_body.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "http/scan.h"

void
h1_body_begin(struct h1_body *b, const struct http_head *h)
{
	*b = (struct h1_body){ .framing = h->framing };
	if (h->framing == HTTP_BODY_LENGTH)
		b->left = h->length;
}

int
h1_persists(const struct http_head *h)
{
	int persists = h->version != HTTP_1_0;

	for (int i = http_find_id(h, HTTP_F_CONNECTION, 0); i >= 0;
		i = http_find_id(h, HTTP_F_CONNECTION, (unsigned int)i + 1)) {
		struct str options = h->field[i].value;

		if (http_list_has(options, STR("close")))
			return 0;
		persists = persists || http_list_has(options, STR("keep-alive"));
	}
	return persists;
}

/* --- chunks: RFC 9112, 7.1 --- */

enum state {
	SIZE,         /* the first digit */
	SIZE_MORE,
	EXT_BLANK,    /* after blanks: only ';' is valid */
	EXT_NAME,     /* its first byte, or blanks before it */
	EXT_NAME_MORE,
	EXT_NAME_END, /* after blanks following it: '=' or ';' */
	EXT_VALUE,    /* its first byte, or blanks before it */
	EXT_VALUE_MORE,
	EXT_QUOTED,
	EXT_ESCAPED,
	EXT_END,      /* after the closing quote */
	SIZE_LF,
	DATA,
	DATA_CR,
	DATA_LF,
	TRAILER,      /* the first byte of a line: of a field, or the final CR */
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	END_LF,
	OVER
};

/* Maximum hexadecimal digits of a chunk size, including leading zeros. */
#define SIZE_DIGITS 16
/* Framing bytes per chunk that are not counted. */
#define FRAME_FREE 16

static int
body_fail(struct h1_body *b, enum http_bad why)
{
	b->bad = (uint16_t)why;
	return -1;
}

static int
body_goto(struct h1_body *b, enum state next)
{
	b->state = (uint8_t)next;
	return 0;
}

static unsigned int
chunk_digit(char c)
{
	return c <= '9' ? (unsigned int)(c - '0') : (unsigned int)((c | 0x20) - 'a') + 10;
}

/*
 * Unnecessary framing is counted against the message, and payload in its favour: chunks that are
 * mostly extensions or trailers would cost more than they carry.
 */
static void
body_credit(struct h1_body *b, uint64_t n)
{
	b->overhead -= (uint32_t)MIN(n, b->overhead);
}

static int
size_digit(struct h1_body *b, char c)
{
	if (b->state == SIZE) {
		b->left = 0;
		b->line = 0;
		body_credit(b, FRAME_FREE);
	}
	/* With 16 digits, the first one shows whether the size is above 2^63 - 1. */
	if (b->line == SIZE_DIGITS || b->left > INT64_MAX >> 4)
		return body_fail(b, HTTP_BAD_CHUNK_SIZE);
	b->left = b->left << 4 | chunk_digit(c);
	return body_goto(b, SIZE_MORE);
}

/* After a size or an extension's value: another extension, or the end of the line. */
static int
after_size(struct h1_body *b, char c, enum state blank)
{
	if (c == ';')
		return body_goto(b, EXT_NAME);
	if (c == '\r')
		return body_goto(b, SIZE_LF);
	return str_is_blank(c) ? body_goto(b, blank) : body_fail(b, HTTP_BAD_CHUNK_SIZE);
}

static int
size_line_end(struct h1_body *b, char c)
{
	if (c != '\n')
		return body_fail(b, HTTP_BAD_CHUNK_SIZE);
	return body_goto(b, b->left ? DATA : TRAILER);
}

/*
 * An extension is ";" name ["=" value], the value a token or a quoted string. Extensions are
 * forwarded without interpretation, but their grammar is checked: recipients that disagree about
 * the end of a line allow request smuggling.
 */
static int
chunk_extension(struct h1_body *b, enum state state, char c)
{
	int is_token = http_is(c, HTTP_C_TOKEN);

	if (state == EXT_BLANK || state == EXT_NAME_END) {
		if (str_is_blank(c))
			return 0;
		if (c == '=' && state == EXT_NAME_END)
			return body_goto(b, EXT_VALUE);
		return c == ';' ? body_goto(b, EXT_NAME) : body_fail(b, HTTP_BAD_CHUNK_SIZE);
	}
	if (state == EXT_NAME || state == EXT_VALUE) {
		if (str_is_blank(c))
			return 0;
		if (c == '"' && state == EXT_VALUE)
			return body_goto(b, EXT_QUOTED);
		if (!is_token)
			return body_fail(b, HTTP_BAD_CHUNK_SIZE);
		return body_goto(b, state == EXT_NAME ? EXT_NAME_MORE : EXT_VALUE_MORE);
	}
	if (state == EXT_QUOTED || state == EXT_ESCAPED) {
		if (!http_is(c, HTTP_C_VALUE))
			return body_fail(b, HTTP_BAD_CHUNK_SIZE);
		if (state == EXT_ESCAPED)
			return body_goto(b, EXT_QUOTED);
		return body_goto(b, c == '"' ? EXT_END : c == '\\' ? EXT_ESCAPED : EXT_QUOTED);
	}
	if (state == EXT_NAME_MORE && c == '=')
		return body_goto(b, EXT_VALUE);
	if (state != EXT_END && is_token)
		return 0;
	return after_size(b, c, state == EXT_NAME_MORE ? EXT_NAME_END : EXT_BLANK);
}

/* --- trailers --- */

/* Names may arrive in pieces. They are stored up to the length of the longest forbidden one. */
static int
trailer_is_forbidden(const struct h1_body *b)
{
	return b->line <= sizeof(b->name) &&
		http_is_forbidden_trailer((struct str){ b->name, b->line });
}

static int
trailer_byte(struct h1_body *b, enum state state, char c)
{
	if (state == TRAILER) {
		b->line = 0;
		if (c == '\r')
			return body_goto(b, END_LF);
		if (!http_is(c, HTTP_C_TOKEN))
			return body_fail(b, HTTP_BAD_TRAILER);
	}
	if (state == TRAILER_VALUE) {
		if (c == '\r')
			return body_goto(b, TRAILER_LF);
		return http_is(c, HTTP_C_VALUE) ? 0 : body_fail(b, HTTP_BAD_TRAILER);
	}
	if (http_is(c, HTTP_C_TOKEN)) {
		if (b->line < sizeof(b->name))
			b->name[b->line] = c;
		return body_goto(b, TRAILER_NAME);
	}
	if (c != ':' || trailer_is_forbidden(b))
		return body_fail(b, HTTP_BAD_TRAILER);
	return body_goto(b, TRAILER_VALUE);
}

/* --- the judge --- */

static int
body_expect(struct h1_body *b, char got, char want, enum state next, enum http_bad otherwise)
{
	return got == want ? body_goto(b, next) : body_fail(b, otherwise);
}

/* Parses one byte of framing. 0, or -1. */
static int
framing_byte(struct h1_body *b, char c)
{
	enum state state = (enum state)b->state;

	switch (state) {
	case SIZE:
		return http_is(c, HTTP_C_HEX) ? size_digit(b, c)
					      : body_fail(b, HTTP_BAD_CHUNK_SIZE);
	case SIZE_MORE:
		return http_is(c, HTTP_C_HEX) ? size_digit(b, c) : after_size(b, c, EXT_BLANK);
	case EXT_BLANK:
	case EXT_NAME:
	case EXT_NAME_MORE:
	case EXT_NAME_END:
	case EXT_VALUE:
	case EXT_VALUE_MORE:
	case EXT_QUOTED:
	case EXT_ESCAPED:
	case EXT_END:
		return chunk_extension(b, state, c);
	case SIZE_LF:
		return size_line_end(b, c);
	case DATA_CR:
		return body_expect(b, c, '\r', DATA_LF, HTTP_BAD_CHUNK_END);
	case DATA_LF:
		return body_expect(b, c, '\n', SIZE, HTTP_BAD_CHUNK_END);
	case TRAILER:
	case TRAILER_NAME:
	case TRAILER_VALUE:
		return trailer_byte(b, state, c);
	case TRAILER_LF:
		return body_expect(b, c, '\n', TRAILER, HTTP_BAD_TRAILER);
	case END_LF:
		return body_expect(b, c, '\n', OVER, HTTP_BAD_TRAILER);
	case DATA:
	case OVER:
		break;
	}
	return 0;
}

static enum h1_piece
body_framing(struct h1_body *b, const char *p, size_t n, size_t *len)
{
	size_t i = 0;

	while (i < n && b->state != DATA && b->state != OVER) {
		int is_chunk_line = b->state < DATA;

		if (framing_byte(b, p[i])) {
			*len = i;
			return H1_PIECE_BAD;
		}
		i++;
		b->line++;
		b->overhead++;
		if ((is_chunk_line && b->line > H1_CHUNK_LINE_MAX) ||
			b->overhead > H1_CHUNK_EXCESS_MAX) {
			b->bad = HTTP_BAD_OVERHEAD;
			*len = i;
			return H1_PIECE_BAD;
		}
	}
	*len = i;
	return H1_PIECE_FRAME;
}

static enum h1_piece
body_payload(struct h1_body *b, size_t n, size_t *len)
{
	*len = (size_t)MIN((uint64_t)n, b->left);
	b->left -= *len;
	if (b->framing == HTTP_BODY_CHUNKED) {
		body_credit(b, *len);
		b->line = 0;
		if (!b->left)
			b->state = DATA_CR;
	}
	return H1_PIECE_DATA;
}

int
h1_body_is_over(const struct h1_body *b)
{
	switch (b->framing) {
	case HTTP_BODY_NONE:
		return 1;
	case HTTP_BODY_LENGTH:
		return b->left == 0;
	case HTTP_BODY_CHUNKED:
		return b->state == OVER;
	case HTTP_BODY_CLOSE:
	case HTTP_BODY_TUNNEL:
		break;
	}
	return 0;
}

int
h1_body_is_in_trailers(const struct h1_body *b)
{
	return b->framing == HTTP_BODY_CHUNKED && b->state >= TRAILER && b->state < OVER;
}

enum h1_piece
h1_body_next(struct h1_body *b, const char *p, size_t n, size_t *len)
{
	*len = 0;
	if (b->bad != HTTP_BAD_NONE)
		return H1_PIECE_BAD;
	if (!n || h1_body_is_over(b))
		return H1_PIECE_MORE;
	if (b->framing == HTTP_BODY_LENGTH || (b->framing == HTTP_BODY_CHUNKED && b->state == DATA))
		return body_payload(b, n, len);
	if (b->framing == HTTP_BODY_CHUNKED)
		return body_framing(b, p, n, len);
	*len = n;
	return H1_PIECE_DATA;
}

long
h1_body_take(struct h1_body *b, const char *p, size_t n)
{
	size_t at = 0, len;

	while (at < n && !h1_body_is_over(b)) {
		if (h1_body_next(b, p + at, n - at, &len) == H1_PIECE_BAD) {
			b->bad_at = (uint32_t)(at + len);
			return -1;
		}
		at += len;
	}
	return (long)at;
}

int
h1_body_decode(struct h1_body *b, char *to, const char *p, size_t n, size_t *used, size_t *out)
{
	size_t at = 0, put = 0, len;
	int bad = 0;

	while (at < n && !bad && !h1_body_is_over(b)) {
		enum h1_piece piece = h1_body_next(b, p + at, n - at, &len);

		bad = piece == H1_PIECE_BAD;
		if (piece == H1_PIECE_DATA) {
			memmove(to + put, p + at, len);
			put += len;
		}
		if (!bad)
			at += len;
		else
			b->bad_at = (uint32_t)(at + len);
	}
	*used = at;
	*out = put;
	return bad ? -1 : 0;
}

void
h1_body_skip(struct h1_body *b, uint64_t n)
{
	assert(b->framing != HTTP_BODY_CHUNKED && b->framing != HTTP_BODY_NONE);
	if (b->framing != HTTP_BODY_LENGTH)
		return;
	assert(n <= b->left);
	b->left -= n;
}
