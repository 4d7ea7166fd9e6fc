/* Chunked bodies: the input follows the head. The result is the same however it arrives, and an
 * accepted body ends where a second, slower parser ends, with the same payload. */
#include "unit/http/http_rig.h"

#define SPLITS 8

static void
hold(int ok)
{
	if (!ok)
		abort();
}

/* The length of the line at p without CRLF. It must be complete, without control bytes. */
static size_t
line(const char *p, const char *end)
{
	const char *cr = memchr(p, '\r', (size_t)(end - p));

	hold(cr && cr + 1 < end && cr[1] == '\n');
	for (const char *c = p; c < cr; c++)
		hold((unsigned char)*c >= ' ' ? *c != 0x7f : *c == '\t');
	return (size_t)(cr - p);
}

static size_t
digits(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && strchr("0123456789abcdefABCDEF", p[i]) && p[i])
		i++;
	return i;
}

/* The length of a message that the parser accepted; its payload goes to *payload. */
static size_t
read_slowly(const char *text, size_t len, size_t *payload)
{
	const char *p = text, *end = text + len;
	unsigned long long size;

	*payload = 0;
	do {
		size_t n = line(p, end), d = digits(p, n);

		hold(d >= 1 && d <= 16);
		size = strtoull(p, NULL, 16);
		hold(d == n || p[d] == ';' || p[d] == ' ' || p[d] == '\t');
		p += n + 2;
		if (!size)
			break;
		hold(size <= (size_t)(end - p) && (size_t)(end - p) - size >= 2);
		*payload += (size_t)size;
		p += size;
		hold(p[0] == '\r' && p[1] == '\n');
		p += 2;
	} while (size);
	for (;;) {
		size_t n = line(p, end);
		const char *colon = memchr(p, ':', n);

		if (!n)
			return (size_t)(p + 2 - text);
		hold(colon && colon > p && !strchr(" \t", p[0]) && !strchr(" \t", colon[-1]));
		hold(strncasecmp(p, "content-length:", 15) != 0);
		hold(strncasecmp(p, "transfer-encoding:", 18) != 0);
		hold(strncasecmp(p, "host:", 5) != 0);
		p += n + 2;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct h1_body chunked = { .framing = HTTP_BODY_CHUNKED };
	struct fed_body got;
	size_t payload;
	/* strtoull() needs a terminator. */
	char *text = malloc(size + 1);

	hold(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	hold(!feed_body_all_ways(&got, &chunked, text, size, SPLITS));
	hold(got.used <= size && !(got.bad && got.over));
	if (got.over) {
		hold(read_slowly(text, size, &payload) == got.used);
		hold(payload == got.data_len);
	}
	free(text);
	return 0;
}
