/* Addresses and networks as patterns: 10.12/8, 192.168.0.0/255.255.0.0, 2001:db8::/32. */
#include "rule/match/pattern_net.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/sbuf.h"
#include "base/str.h"

/* --- numbers --------------------------------------------------------------------------------- */

/* Numbers, ranges and versions as text. Pure. */

int
pattern_number_parse(struct str s, int64_t *out)
{
	int negative = s.len && s.p[0] == '-';
	size_t i = s.len && (s.p[0] == '-' || s.p[0] == '+');
	int64_t v = 0;

	if (i == s.len)
		return -1;
	for (; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		/* Counts downwards: the negative range is larger by one. */
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_sub_overflow(v, s.p[i] - '0', &v))
			return -1;
	}
	if (!negative && v == INT64_MIN)
		return -1;
	*out = negative ? v : -v;
	return 0;
}

static int
dotted_parse(struct str s, int64_t *out)
{
	const char *dot = memchr(s.p, '.', s.len);
	struct str major = { s.p, dot ? (size_t)(dot - s.p) : s.len };
	int64_t a, b = 0;

	if (pattern_number_parse(major, &a) < 0)
		return -1;
	if (dot && pattern_number_parse((struct str){ dot + 1, s.len - major.len - 1 }, &b) < 0)
		return -1;
	if (a < 0 || a > 65535 || b < 0 || b > 65535)
		return -1;
	*out = a << 16 | b;
	return 0;
}

/* Separator of a range: a colon, and between versions also a dash. */
static const char *
range_sign(struct str s, int dotted)
{
	const char *colon = s.len ? memchr(s.p, ':', s.len) : NULL;

	return !colon && dotted && s.len ? memchr(s.p, '-', s.len) : colon;
}

int
pattern_range_parse(struct str s, int dotted, int64_t *lo, int64_t *hi, const char **why)
{
	int (*parse)(struct str, int64_t *) = dotted ? dotted_parse : pattern_number_parse;
	const char *colon = range_sign(s, dotted);
	struct str from = { s.p, colon ? (size_t)(colon - s.p) : s.len };
	struct str to = colon ? (struct str){ colon + 1, s.len - from.len - 1 } : from;

	*lo = INT64_MIN;
	*hi = INT64_MAX;
	*why = dotted ? "is not a version such as 1.2" : "is not a number";
	if (!from.len && !to.len)
		return -1;
	if ((from.len && parse(from, lo) < 0) || (to.len && parse(to, hi) < 0))
		return -1;
	*why = "is a range that ends before it begins";
	return *lo > *hi ? -1 : 0;
}

static void
put_range_end(struct sbuf *b, int64_t v, int dotted)
{
	if (dotted)
		sbuf_addf(b, "%lld.%lld", (long long)(v >> 16), (long long)(v & 0xffff));
	else
		sbuf_addf(b, "%lld", (long long)v);
}

int
pattern_range_text(int64_t lo, int64_t hi, int dotted, char *out)
{
	const int64_t last = dotted ? UINT32_MAX : INT64_MAX;
	struct sbuf b;

	if (lo > hi || lo > last || (dotted && hi < 0))
		return -1;
	sbuf_init_fixed(&b, out, PATTERN_RANGE_MAX);
	if (lo != INT64_MIN)
		put_range_end(&b, lo, dotted);
	sbuf_addc(&b, ':');
	if (hi != INT64_MAX)
		put_range_end(&b, hi, dotted);
	return 0;
}

/* --- networks -------------------------------------------------------------------------------- */

/* One to four numbers; the last is the last byte, and missing ones before it are 0. */
static int
v4_parse(struct str s, uint32_t *out)
{
	uint32_t part[4] = { 0 };
	unsigned int n = 0;
	size_t i = 0;

	while (i < s.len) {
		size_t from = i;

		if (n == 4)
			return -1;
		for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9' && i - from < 3; i++)
			part[n] = part[n] * 10 + (uint32_t)(s.p[i] - '0');
		/* 010 is ambiguous: eight or ten. */
		if (i == from || part[n] > 255 || (i - from > 1 && s.p[from] == '0'))
			return -1;
		n++;
		if (i < s.len && (s.p[i++] != '.' || i == s.len))
			return -1;
	}
	if (!n)
		return -1;
	*out = part[n - 1];
	for (unsigned int k = 0; k + 1 < n; k++)
		*out |= part[k] << (24 - 8 * k);
	return 0;
}

static int
bits_parse(struct str s, int v6, uint8_t *out)
{
	int64_t n;
	uint32_t mask;

	if (pattern_number_parse(s, &n) == 0) {
		if (n < 0 || n > (v6 ? 128 : 32))
			return -1;
		*out = (uint8_t)n;
		return 0;
	}
	/* Complete, without omitted parts. */
	if (v6 || s.len < 7 || v4_parse(s, &mask) < 0 || (~mask & (~mask + 1)))
		return -1;
	*out = (uint8_t)__builtin_popcount(mask);
	return 0;
}

static int
v6_parse(struct str s, struct pattern_net *out)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr a;
	uint64_t half[2];

	if (s.len >= sizeof(text))
		return -1;
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	if (inet_pton(AF_INET6, text, &a) != 1)
		return -1;
	memcpy(half, &a, sizeof(half));
	out->hi = be64toh(half[0]);
	out->lo = be64toh(half[1]);
	return 0;
}

void
pattern_net_cut(struct pattern_net *net, unsigned int bits)
{
	const uint64_t all = ~UINT64_C(0);

	net->bits = (uint8_t)bits;
	net->hi &= bits >= 64 ? all : bits ? all << (64 - bits) : 0;
	net->lo &= bits >= 128 ? all : bits > 64 ? all << (128 - bits) : 0;
}

size_t
pattern_net_key(const struct pattern_net *net, char *key)
{
	uint32_t v4 = (uint32_t)(net->hi >> 32);

	if (!net->v6) {
		memcpy(key, &v4, 4);
		key[4] = (char)net->bits;
		return PATTERN_NET_KEY4;
	}
	memcpy(key, &net->hi, 8);
	memcpy(key + 8, &net->lo, 8);
	key[16] = (char)net->bits;
	return PATTERN_NET_KEY;
}

uint64_t
pattern_net_hash(const struct keyhash *key, const struct pattern_net *net)
{
	uint64_t h = keyhash_number(key, 0, net->hi);

	if (net->v6)
		h = keyhash_number(key, h, net->lo);
	return keyhash_end(key, keyhash_digit(key, h, net->bits + 1u));
}

void
pattern_net_of(const struct sample *s, struct pattern_net *net)
{
	uint64_t half[2];

	memset(net, 0, sizeof(*net));
	net->v6 = s->type == SAMPLE_IPV6;
	net->bits = net->v6 ? 128 : 32;
	if (!net->v6) {
		net->hi = (uint64_t)ntohl(s->u.ipv4.s_addr) << 32;
		return;
	}
	memcpy(half, &s->u.ipv6, sizeof(half));
	net->hi = be64toh(half[0]);
	net->lo = be64toh(half[1]);
}

static void
set_sample(const struct pattern_net *net, struct sample *s)
{
	uint64_t half[2] = { htobe64(net->hi), htobe64(net->lo) };

	s->type = net->v6 ? SAMPLE_IPV6 : SAMPLE_IPV4;
	if (net->v6)
		memcpy(&s->u.ipv6, half, sizeof(half));
	else
		s->u.ipv4.s_addr = htonl((uint32_t)(net->hi >> 32));
}

int
pattern_net_parse(struct str text, struct pattern_net *out, const char **why)
{
	const char *slash = text.len ? memchr(text.p, '/', text.len) : NULL;
	struct str host = { text.p, slash ? (size_t)(slash - text.p) : text.len };
	uint32_t v4;

	memset(out, 0, sizeof(*out));
	*why = "is not an IPv4 or IPv6 address or network";
	out->v6 = host.len && memchr(host.p, ':', host.len) != NULL;
	out->bits = out->v6 ? 128 : 32;
	if (out->v6 ? v6_parse(host, out) : v4_parse(host, &v4))
		return -ERR_SYNTAX;
	if (!out->v6)
		out->hi = (uint64_t)v4 << 32;
	*why = out->v6 ? "has a mask that is no number of bits from 0 to 128"
		       : "has a mask that is neither 0 to 32 bits nor one such as 255.255.0.0";
	if (slash && bits_parse((struct str){ slash + 1, text.len - host.len - 1 }, out->v6,
			     &out->bits))
		return -ERR_SYNTAX;
	pattern_net_cut(out, out->bits);
	return 0;
}

int
pattern_address_parse(struct str text, struct sample *s)
{
	struct pattern_net net;
	const char *why;
	int dots = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '/')
			return -1;
		dots += text.p[i] == '.';
	}
	if (pattern_net_parse(text, &net, &why) < 0 || (!net.v6 && dots != 3))
		return -1;
	set_sample(&net, s);
	return 0;
}
