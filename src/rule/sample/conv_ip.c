/* Converters of addresses, and of the hosts that Host fields name (manual 7.3.1). */
#include "rule/sample/conv.h"

/* Masks an address. One that is mapped becomes IPv4, as clients of a socket for both families. */
static int
conv_ipmask(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	if (sample_cast(s, SAMPLE_IPV4, cx->arena) == 0) {
		s->u.ipv4.s_addr &= a->arg[0].u.ipv4.s_addr;
		return 1;
	}
	/* the behaviour before there was a second mask */
	if (a->arg[1].type != ARG_IPMASK6)
		return 0;
	for (unsigned int i = 0; i < sizeof(s->u.ipv6); i++)
		s->u.ipv6.s6_addr[i] &= a->arg[1].u.ipv6.s6_addr[i];
	return 1;
}

/* The length of "host:port" without the port: its colon may follow a ']'. */
static size_t
host_len(struct str t)
{
	for (size_t i = t.len; i > 0 && t.p[i - 1] != ']'; i--)
		if (t.p[i - 1] == ':')
			return i - 1;
	return t.len;
}

struct str
conv_host_part(struct str host, struct arena *a)
{
	size_t n = host_len(host);
	char *p = arena_get(a, n);

	for (size_t i = 0; p && i < n; i++)
		p[i] = str_lower(host.p[i]);
	return (struct str){ p, p ? n : 0 };
}

static int
conv_host(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str t = conv_host_part(s->u.str, cx->arena);

	return conv_text(cx, s, (char *)(uintptr_t)t.p, t.len);
}

/* 0 if there is none or it is invalid. */
static int
conv_port(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	size_t n = host_len(s->u.str);
	struct str t = { s->u.str.p + n, s->u.str.len - n };
	int64_t port = 0;

	for (size_t i = 1; i < t.len; i++) {
		port = t.p[i] >= '0' && t.p[i] <= '9' ? port * 10 + (t.p[i] - '0') : 65536;
		if (port > 65535) {
			port = 0;
			break;
		}
	}
	sample_set_int(s, port);
	return 1;
}

const struct rule_conv rule_ip_convs[] = {
	{ .name = "host_only",
		.example = "str(Www.example.org:80),host_only gives www.example.org",
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_host,
		.doc = "The host of a Host field, in lower case." },
	{ .name = "ipmask",
		.example = "ipv4(192.0.2.77),ipmask(24) gives 192.0.2.0",
		.arg = { ARG_IPMASK4, ARG_IPMASK6 },
		.min = 1,
		.in = SAMPLE_ADDR,
		.out = SAMPLE_ADDR,
		.conv = conv_ipmask,
		.syntax = "<mask4>[,<mask6>]",
		.doc = "Applies a network mask. An IPv4-mapped address becomes IPv4. Without a "
			"mask for IPv6, other IPv6 addresses have no result." },
	{ .name = "port_only",
		.example = "str(x:81),port_only gives 81",
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_port,
		.doc = "The port of a Host field, or 0." },
	{ .name = NULL },
};
