/* Parses an RDP client's first packet. Pure, any thread: it only reads the bytes. */
#include "rule/sample/rdp.h"

#include <string.h>
#include <strings.h>

#include "base/compiler.h"

enum { RDP_HEAD = 11 }; /* bytes of TPKT and X.224 before the cookie */

static const char rdp_word[] = "Cookie:";

enum rdp_found
rdp_find_cookie(struct str b, struct str *name, struct str *value)
{
	static const unsigned char fixed[RDP_HEAD][2] = { { 0, 3 }, { 5, 0xe0 } };
	const size_t word = sizeof(rdp_word) - 1;
	const char *equals, *end;
	struct str line;

	for (int i = 0; i < 2; i++)
		if (b.len > fixed[i][0] && (unsigned char)b.p[fixed[i][0]] != fixed[i][1])
			return RDP_NOT;
	if (b.len <= RDP_HEAD)
		return RDP_MORE;
	line = (struct str){ b.p + RDP_HEAD, b.len - RDP_HEAD };
	if (strncasecmp(line.p, rdp_word, MIN(word, line.len)) != 0)
		return RDP_NOT;
	end = memchr(line.p, '\r', line.len);
	if (!end || end + 1 == line.p + line.len)
		return RDP_MORE;
	equals = memchr(line.p, '=', (size_t)(end - line.p));
	if (!equals || end[1] != '\n')
		return RDP_NOT;
	line = (struct str){ line.p + word, (size_t)(equals - line.p) - word };
	while (line.len && *line.p == ' ') {
		line.p++;
		line.len--;
	}
	*name = line;
	*value = (struct str){ equals + 1, (size_t)(end - equals) - 1 };
	return RDP_COOKIE;
}

int
rdp_find_named(struct str bytes, const char *name, struct str *value)
{
	struct str got;

	return rdp_find_cookie(bytes, &got, value) == RDP_COOKIE && got.len == strlen(name) &&
		strncasecmp(got.p, name, got.len) == 0;
}

/* A number of at most max that ends with a dot; *text continues behind it. */
static int
token_number(struct str *text, uint64_t max, uint32_t *out)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < text->len && text->p[n] >= '0' && text->p[n] <= '9'; n++) {
		v = v * 10 + (uint64_t)(text->p[n] - '0');
		if (v > max)
			return -1;
	}
	if (n == 0 || n == text->len || text->p[n] != '.')
		return -1;
	*out = (uint32_t)v;
	text->p += n + 1;
	text->len -= n + 1;
	return 0;
}

int
rdp_parse_token(struct str value, uint32_t *ip, uint16_t *port)
{
	uint32_t a, p;

	if (token_number(&value, UINT32_MAX, &a) < 0 || token_number(&value, UINT16_MAX, &p) < 0)
		return -1;
	*ip = __builtin_bswap32(a);
	*port = __builtin_bswap16((uint16_t)p);
	return 0;
}
