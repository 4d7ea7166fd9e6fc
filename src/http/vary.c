/* Reads Vary, Accept-Encoding and Content-Encoding. Pure. */
#include "http/vary.h"

#include <string.h>

#include "base/compiler.h"

/* --- Vary --- */

static int
bit_of(struct str name)
{
	static const struct { const char *name; int bit; } known[] = {
		{ "accept-encoding", HTTP_BY_ACCEPT_ENCODING }, { "referer", HTTP_BY_REFERER },
		{ "origin", HTTP_BY_ORIGIN }
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is_nocase(name, str_of(known[i].name)))
			return known[i].bit;
	return -1;
}

int
http_vary_of(const struct http_head *res)
{
	const struct str vary = STR("Vary");
	int at = http_find(res, vary, 0), by = 0;

	if (at < 0)
		return 0;
	for (; at >= 0; at = http_find(res, vary, (unsigned int)at + 1)) {
		struct str rest = res->field[at].value, one;

		while (http_list_next(&rest, &one)) {
			int bit = bit_of(one);

			if (bit < 0)
				return -1;
			by |= bit;
		}
	}
	return by ? by : -1;
}

/* --- codings --- */

/* The registered ones; names that are aliases have the same bit. */
static const struct { const char *name; uint32_t bit; } codings_known[] = {
	{ "gzip", 1 }, { "x-gzip", 1 }, { "deflate", 2 }, { "br", 4 }, { "compress", 8 },
	{ "x-compress", 8 }, { "aes128gcm", 0x10 }, { "exi", 0x20 }, { "pack200-gzip", 0x40 },
	{ "zstd", 0x80 }, { "identity", 0x100 }
};
#define CODING_IDENTITY 0x100u
#define CODINGS_ALL 0x1ffu

/* Returns the bit of a coding; 0: it is not registered. */
static uint32_t
coding_bit(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(codings_known); i++)
		if (str_is_nocase(name, str_of(codings_known[i].name)))
			return codings_known[i].bit;
	return 0;
}

int
http_codings_of(const struct http_head *res, uint32_t *codings)
{
	int at = http_find_id(res, HTTP_F_CONTENT_ENCODING, 0);

	*codings = 0;
	for (; at >= 0; at = http_find_id(res, HTTP_F_CONTENT_ENCODING, (unsigned int)at + 1)) {
		struct str rest = res->field[at].value, one;

		while (http_list_next(&rest, &one)) {
			uint32_t bit = coding_bit(one);

			if (!bit)
				return -1;
			*codings |= bit;
		}
	}
	if (!*codings)
		*codings = CODING_IDENTITY;
	return 0;
}

/* The weight of a parameter list such as ";q=0.5", in thousandths. */
static unsigned int
coding_weight(struct str params)
{
	const char *q = params.len ? memchr(params.p, '=', params.len) : NULL;
	const char *end = params.p + params.len;
	unsigned int v = 0, unit = 1000;

	/* A weight that is none counts as HAProxy has it. */
	if (!q || q + 1 == end || (q[1] != '.' && (q[1] < '0' || q[1] > '9')))
		return 1000;
	for (q++; q < end && unit; q++) {
		if (*q == '.')
			continue;
		if (*q < '0' || *q > '9')
			break;
		v += unit * (unsigned int)(*q - '0');
		unit /= 10;
	}
	return MIN(v, 1000);
}

struct str
http_coding_split(struct str element, unsigned int *weight)
{
	const char *semicolon = memchr(element.p, ';', element.len);
	size_t n = semicolon ? (size_t)(semicolon - element.p) : element.len;

	*weight = coding_weight((struct str){ element.p + n, element.len - n });
	return str_trim((struct str){ element.p, n });
}

/* Elements of Accept-Encoding. */
struct accepted {
	uint32_t yes, no;  /* those that it names */
	int any;           /* "*": 1 accepted, 0 refused, -1 absent */
};

static void
take_element(struct accepted *a, struct str element)
{
	unsigned int weight;
	struct str name = http_coding_split(element, &weight);
	uint32_t bit;

	if (str_is(name, STR("*"))) {
		a->any = weight > 0;
		return;
	}
	bit = coding_bit(name);
	a->yes |= weight ? bit : 0;
	a->no |= weight ? 0 : bit;
}

uint32_t
http_codings_accepted(const struct http_head *req)
{
	const struct str accept = STR("Accept-Encoding");
	struct accepted a = { 0, 0, -1 };
	int at = http_find(req, accept, 0);
	uint32_t others;

	if (at < 0)
		return CODINGS_ALL;
	for (; at >= 0; at = http_find(req, accept, (unsigned int)at + 1)) {
		struct str rest = req->field[at].value, one;

		while (http_list_next(&rest, &one))
			take_element(&a, one);
	}
	others = a.any < 0 ? CODING_IDENTITY : a.any ? CODINGS_ALL : 0;
	return (a.yes | others) & ~a.no;
}
