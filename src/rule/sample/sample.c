/* Samples and the casts between their types. A cast that makes text takes it from the worker's
 * arena; one that fails leaves no sample. */
#include "rule/sample/sample.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/sbuf.h"

/* "-9223372036854775808" and a NUL. */
#define INT_TEXT 21
#define BIN_INT 8 /* bytes of a number */

const char *
sample_type_name(enum sample_type t)
{
	static const char *const names[] = {
		[SAMPLE_BOOL] = "boolean",
		[SAMPLE_SINT] = "integer",
		[SAMPLE_IPV4] = "ipv4",
		[SAMPLE_IPV6] = "ipv6",
		[SAMPLE_STR] = "string",
		[SAMPLE_BIN] = "binary",
		[SAMPLE_ADDR] = "ip",
		[SAMPLE_ANY] = "any",
	};

	return names[t];
}

const char *
sample_type_word(enum sample_type t)
{
	static const char *const words[SAMPLE_TYPES] = {
		[SAMPLE_BOOL] = "bool", [SAMPLE_SINT] = "sint", [SAMPLE_IPV4] = "ipv4",
		[SAMPLE_IPV6] = "ipv6", [SAMPLE_STR] = "str",   [SAMPLE_BIN] = "bin"
	};

	return words[t];
}

void
sample_add_printable(struct sbuf *b, struct str text, size_t max)
{
	for (size_t i = 0; i < text.len && i < max; i++) {
		char byte = text.p[i];

		sbuf_addc(b, (char)(byte >= ' ' && byte <= '~' ? byte : '.'));
	}
}

int
sample_parse_int(struct str text, int64_t *out)
{
	/* collected as a negative number, whose range is larger by one */
	int64_t v = 0;
	size_t i = 0;
	int minus = 0, over = 0;

	if (text.len == 0)
		return -1;
	if (text.p[0] == '-' || text.p[0] == '+')
		minus = text.p[i++] == '-';
	for (; i < text.len && text.p[i] >= '0' && text.p[i] <= '9'; i++)
		over |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_sub_overflow(v, text.p[i] - '0', &v);
	if (over)
		*out = minus ? INT64_MIN : INT64_MAX;
	else if (minus)
		*out = v;
	else
		*out = v == INT64_MIN ? INT64_MAX : -v;
	return 0;
}

/* --- text and bytes --- */

static int
to_text(struct sample *s, struct arena *a)
{
	char buf[MAX(INT_TEXT, INET6_ADDRSTRLEN)];
	struct str t = { buf, 0 };

	if (s->type == SAMPLE_IPV4 || s->type == SAMPLE_IPV6) {
		if (!inet_ntop(s->type == SAMPLE_IPV4 ? AF_INET : AF_INET6, &s->u, buf,
			    sizeof(buf)))
			return -1;
		t.len = strlen(buf);
	} else {
		t.len = (size_t)snprintf(buf, sizeof(buf), "%lld", (long long)s->u.sint);
	}
	t = arena_copy(a, t);
	if (!t.p)
		return -1;
	sample_set_str(s, t);
	return 0;
}

/* Numbers as eight bytes, addresses unchanged, in network byte order. */
static int
to_bytes(struct sample *s, struct arena *a)
{
	unsigned char buf[BIN_INT];
	struct str t = { (const char *)&s->u, sizeof(s->u.ipv6) };

	if (s->type == SAMPLE_IPV4) {
		t.len = sizeof(s->u.ipv4);
	} else if (s->type != SAMPLE_IPV6) {
		for (unsigned int i = 0; i < BIN_INT; i++)
			buf[i] = (unsigned char)((uint64_t)s->u.sint >> (8 * (BIN_INT - 1 - i)));
		t = (struct str){ (const char *)buf, BIN_INT };
	}
	t = arena_copy(a, t);
	if (!t.p)
		return -1;
	sample_set_str(s, t);
	s->type = SAMPLE_BIN;
	return 0;
}

/* --- addresses --- */

static void
to_mapped(struct sample *s)
{
	struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	memcpy(&a.s6_addr[12], &s->u.ipv4, sizeof(s->u.ipv4));
	s->type = SAMPLE_IPV6;
	s->u.ipv6 = a;
}

static int
from_mapped(struct sample *s)
{
	struct in_addr a;

	if (!IN6_IS_ADDR_V4MAPPED(&s->u.ipv6))
		return -1;
	memcpy(&a, &s->u.ipv6.s6_addr[12], sizeof(a));
	s->type = SAMPLE_IPV4;
	s->u.ipv4 = a;
	return 0;
}

/* The length of the text without a trailing ":PORT"; 0 if the port is invalid. */
static size_t
without_port(struct str t)
{
	const char *colon = memchr(t.p, ':', t.len);
	unsigned int port = 0;
	size_t i, len = colon ? (size_t)(colon - t.p) : t.len;

	for (i = len + 1; i < t.len; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return 0;
		port = port * 10 + (unsigned int)(t.p[i] - '0');
		if (port > 65535)
			return 0;
	}
	return colon && i == len + 1 ? 0 : len;
}

static int
text_to_ip(struct sample *s, enum sample_type to)
{
	struct str t = s->u.str;
	char buf[INET6_ADDRSTRLEN];
	struct in_addr v4;
	struct in6_addr v6;
	size_t n;

	if (t.len == 0)
		return -1;
	n = without_port(t);
	if (n > 0 && n < INET_ADDRSTRLEN) {
		memcpy(buf, t.p, n);
		buf[n] = '\0';
		if (inet_pton(AF_INET, buf, &v4) == 1) {
			s->type = SAMPLE_IPV4;
			s->u.ipv4 = v4;
			if (to == SAMPLE_IPV6)
				to_mapped(s);
			return 0;
		}
	}
	if (t.len >= sizeof(buf))
		return -1;
	memcpy(buf, t.p, t.len);
	buf[t.len] = '\0';
	/* inet_pton() would stop at a NUL */
	if (strlen(buf) != t.len || inet_pton(AF_INET6, buf, &v6) != 1)
		return -1;
	s->type = SAMPLE_IPV6;
	s->u.ipv6 = v6;
	return to == SAMPLE_IPV4 ? from_mapped(s) : 0;
}

static int
to_ip(struct sample *s, enum sample_type to)
{
	if (s->type == SAMPLE_STR)
		return text_to_ip(s, to);
	if (s->type == SAMPLE_IPV6)
		return to == SAMPLE_IPV4 ? from_mapped(s) : 0;
	if (s->type == SAMPLE_SINT) {
		s->u.ipv4.s_addr = htonl((uint32_t)s->u.sint);
		s->type = SAMPLE_IPV4;
	}
	if (to == SAMPLE_IPV6)
		to_mapped(s);
	return 0;
}

/* --- numbers --- */

static int
to_int(struct sample *s, enum sample_type to)
{
	int64_t v = s->u.sint;

	if (s->type == SAMPLE_STR && sample_parse_int(s->u.str, &v))
		return -1;
	if (s->type == SAMPLE_IPV4)
		v = ntohl(s->u.ipv4.s_addr);
	if (to == SAMPLE_BOOL)
		sample_set_bool(s, v != 0);
	else
		sample_set_int(s, v);
	return 0;
}

#define TO(t) (1u << SAMPLE_##t)
#define TO_TEXT (TO(STR) | TO(BIN) | TO(ANY))
#define TO_IP (TO(IPV4) | TO(IPV6) | TO(ADDR))

static const unsigned int casts[] = {
	[SAMPLE_BOOL] = TO(BOOL) | TO(SINT) | TO_TEXT,
	[SAMPLE_SINT] = TO(BOOL) | TO(SINT) | TO_IP | TO_TEXT,
	[SAMPLE_IPV4] = TO(SINT) | TO_IP | TO_TEXT,
	[SAMPLE_IPV6] = TO_IP | TO_TEXT,
	[SAMPLE_STR] = TO(BOOL) | TO(SINT) | TO_IP | TO_TEXT,
	[SAMPLE_BIN] = TO_TEXT,
	/* their actual type is known at run time */
	[SAMPLE_ADDR] = TO(SINT) | TO_IP | TO_TEXT,
	[SAMPLE_ANY] = TO(BOOL) | TO(SINT) | TO_IP | TO_TEXT,
};

int
sample_can_cast(enum sample_type from, enum sample_type to)
{
	return (casts[from] >> to) & 1;
}

int
sample_cast(struct sample *s, enum sample_type to, struct arena *a)
{
	if (s->type == to || to == SAMPLE_ANY)
		return 0;
	if (!sample_can_cast(s->type, to))
		return -1;
	switch (to) {
	case SAMPLE_BOOL:
	case SAMPLE_SINT:
		return to_int(s, to);
	case SAMPLE_IPV4:
	case SAMPLE_IPV6:
	case SAMPLE_ADDR:
		return to_ip(s, to);
	case SAMPLE_STR:
		if (s->type != SAMPLE_BIN)
			return to_text(s, a);
		s->type = SAMPLE_STR;
		if (s->u.str.len > 0)
			s->u.str.len = strnlen(s->u.str.p, s->u.str.len);
		return 0;
	case SAMPLE_BIN:
		if (s->type != SAMPLE_STR)
			return to_bytes(s, a);
		s->type = SAMPLE_BIN;
		return 0;
	case SAMPLE_ANY:
		break;
	}
	return -1;
}
