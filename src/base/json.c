/* Strings as JSON (RFC 8259). Pure, any thread. The output is UTF-8, whatever the bytes were. */
#include "base/json.h"

#include "base/compiler.h"

static int
is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The length of the multi-byte character at p; 0: invalid. Overlong forms and surrogates are
 * invalid. */
static size_t
length_of(const unsigned char *p, size_t n)
{
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		return n >= 2 && is_tail(p[1]) ? 2 : 0;
	if ((p[0] & 0xf0) == 0xe0) {
		if (n < 3 || !is_tail(p[1]) || !is_tail(p[2]) || (p[0] == 0xe0 && p[1] < 0xa0) ||
			(p[0] == 0xed && p[1] > 0x9f))
			return 0;
		return 3;
	}
	if (p[0] < 0xf0 || p[0] > 0xf4 || n < 4 || !is_tail(p[1]) || !is_tail(p[2]) ||
		!is_tail(p[3]) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return 4;
}

static void
put_byte(struct sbuf *out, unsigned char c)
{
	if (c == '"' || c == '\\') {
		sbuf_addc(out, '\\');
		sbuf_addc(out, (char)c);
	} else if (c < 0x20 || c == 0x7f) {
		sbuf_addf(out, "\\u%04x", c);
	} else {
		sbuf_addc(out, (char)c);
	}
}

void
json_put(struct sbuf *out, struct str text, size_t max)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t end = MIN(text.len, max), n;

	if (!text.p) {
		sbuf_adds(out, "null");
		return;
	}
	sbuf_addc(out, '"');
	for (size_t i = 0; i < end; i += n) {
		n = 1;
		if (p[i] < 0x80) {
			put_byte(out, p[i]);
			continue;
		}
		n = length_of(p + i, text.len - i);
		if (n > end - i)
			break;
		if (n)
			sbuf_add(out, text.p + i, n);
		else
			sbuf_adds(out, "\\ufffd");
		n = n ? n : 1;
	}
	sbuf_addc(out, '"');
}
