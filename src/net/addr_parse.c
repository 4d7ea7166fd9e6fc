/* Addresses as the configuration writes them, parsed at start. The order of the steps is HAProxy's:
 * prefix, port, host. */
#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "net/addr.h"

/* Host names: RFC 1035, with room for an IPv6 zone. */
#define HOST_MAX 255
#define PORT_MAX 65535u

struct prefix {
	const char *text;
	enum addr_kind kind;
	int family;      /* ADDR_INET: AF_UNSPEC for either */
	const char *why; /* not NULL: the address is unusable */
};

static const char why_datagram[] = "datagram addresses are not acceptable here";
static const char why_quic[] = "'quic' is not supported: remove this line, and rules that offer "
			       "HTTP/3 by 'alt-svc'; clients use the line for TCP";
static const char why_mptcp[] = "MPTCP is not acceptable here";

static const struct prefix prefixes[] = {
	{ "ip@", ADDR_INET, AF_UNSPEC, NULL },
	{ "ipv4@", ADDR_INET, AF_INET, NULL },
	{ "ipv6@", ADDR_INET, AF_INET6, NULL },
	{ "tcp@", ADDR_INET, AF_UNSPEC, NULL },
	{ "tcp4@", ADDR_INET, AF_INET, NULL },
	{ "tcp6@", ADDR_INET, AF_INET6, NULL },
	{ "unix@", ADDR_UNIX, AF_UNIX, NULL },
	{ "abns@", ADDR_ABNS, AF_UNIX, NULL },
	{ "fd@", ADDR_FD, AF_UNSPEC, NULL },
	{ "udp@", ADDR_INET, AF_UNSPEC, why_datagram },
	{ "udp4@", ADDR_INET, AF_INET, why_datagram },
	{ "udp6@", ADDR_INET, AF_INET6, why_datagram },
	{ "dgram+", ADDR_INET, AF_UNSPEC, why_datagram },
	{ "quic4@", ADDR_INET, AF_INET, why_quic },
	{ "quic6@", ADDR_INET, AF_INET6, why_quic },
	{ "mptcp@", ADDR_INET, AF_UNSPEC, why_mptcp },
	{ "mptcp4@", ADDR_INET, AF_INET, why_mptcp },
	{ "mptcp6@", ADDR_INET, AF_INET6, why_mptcp },
	{ "abnsz@", ADDR_ABNS, AF_UNIX, "\"abnsz@\" is not supported, only \"abns@\"" },
	{ "uxst@", ADDR_UNIX, AF_UNIX, "\"uxst@\" is not supported, only \"unix@\"" },
	{ "sockpair@", ADDR_FD, AF_UNSPEC, "\"sockpair@\" is not supported" },
	{ "rhttp@", ADDR_INET, AF_UNSPEC, "reverse HTTP is not supported" },
};

static const struct prefix no_prefix = { "", ADDR_INET, AF_UNSPEC, NULL };
static const struct prefix a_path = { "", ADDR_UNIX, AF_UNIX, NULL };

/* Skips the prefix. */
static const struct prefix *
take_prefix(const char **s, int *is_stream)
{
	static const char stream[] = "stream+";

	*is_stream = !strncmp(*s, stream, sizeof(stream) - 1);
	if (*is_stream)
		*s += sizeof(stream) - 1;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i].text);

		if (!strncmp(*s, prefixes[i].text, n)) {
			*is_stream |= !strncmp(*s, "tcp", 3) || prefixes[i].why == why_mptcp;
			*s += n;
			return &prefixes[i];
		}
	}
	return **s == '/' ? &a_path : &no_prefix;
}

/* Parses all n bytes as a decimal number up to max: 0, or a negative reason. */
static int
take_number(const char *s, size_t n, unsigned int max, unsigned int *out)
{
	unsigned long v = 0;

	if (n == 0)
		return -ERR_SYNTAX;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -ERR_SYNTAX;
		v = v * 10 + (unsigned long)(s[i] - '0');
		if (v > max)
			return -ERR_RANGE;
	}
	*out = (unsigned int)v;
	return 0;
}

static int
parse_fd(const char *s, unsigned int flags, struct addr_spec *out, const char **why)
{
	unsigned int n;

	out->given = s;
	if (!(flags & ADDR_ALLOW_FD)) {
		*why = "a file descriptor is not acceptable here";
		return -ERR_INVAL;
	}
	if ((flags & ADDR_ALLOW_FD_NAME) && *s && *s != '-' && (*s < '0' || *s > '9')) {
		out->name = s;
		out->name_len = strlen(s);
		return 0;
	}
	if (take_number(s, strlen(s), 0x7fffffffu, &n) < 0) {
		*why = "the file descriptor is not a number of 0..2147483647";
		return -ERR_SYNTAX;
	}
	out->fd = (int)n;
	return 0;
}

static int
parse_unix(const char *s, unsigned int flags, struct addr_spec *out, const char **why)
{
	struct sockaddr_un *un = &out->addr.u.un;
	size_t n = strlen(s);
	size_t skip = out->kind == ADDR_ABNS;

	if (!(flags & ADDR_ALLOW_UNIX)) {
		*why = "a unix socket is not acceptable here";
		return -ERR_INVAL;
	}
	if (n == 0) {
		*why = "the name of the unix socket is empty";
		return -ERR_SYNTAX;
	}
	if (n >= sizeof(un->sun_path)) {
		*why = "the name of the unix socket is too long (107 bytes at most)";
		return -ERR_RANGE;
	}
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path + skip, s, n);
	/* Abstract names use the whole structure, padded with zeros, as other programs do. */
	out->addr.len = skip ? (socklen_t)sizeof(*un)
			     : (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return 0;
}

static int
parse_offset(const char *port, unsigned int flags, struct addr_spec *out, const char **why)
{
	unsigned int n;

	if (!(flags & ADDR_ALLOW_OFFSET)) {
		*why = "a port offset is not permitted here";
		return -ERR_INVAL;
	}
	if (take_number(port + 1, strlen(port + 1), PORT_MAX, &n) < 0) {
		*why = "the port offset is not a number of 0..65535";
		return -ERR_RANGE;
	}
	out->has_offset = 1;
	out->port_offset = *port == '-' ? -(int)n : (int)n;
	return 0;
}

static int
parse_port_range(const char *port, const char *dash, struct addr_spec *out, const char **why)
{
	if (take_number(port, (size_t)(dash - port), PORT_MAX, &out->port_lo) < 0 ||
		take_number(dash + 1, strlen(dash + 1), PORT_MAX, &out->port_hi) < 0) {
		*why = "the ports of the range are not numbers of 1..65535";
		return -ERR_RANGE;
	}
	if (out->port_lo == 0 || out->port_lo > out->port_hi) {
		*why = "the port range is empty or starts at 0";
		return -ERR_RANGE;
	}
	return 0;
}

/* port: NULL or "" if there is none. */
static int
parse_port(const char *port, unsigned int flags, struct addr_spec *out, const char **why)
{
	const char *dash;

	if (!port || !*port) {
		if (flags & ADDR_WANT_PORT) {
			*why = "the port is missing";
			return -ERR_MISSING;
		}
		out->has_offset = (flags & ADDR_ALLOW_OFFSET) != 0;
		return 0;
	}
	if (flags & ADDR_NO_PORT) {
		*why = "a port is not permitted here";
		return -ERR_INVAL;
	}
	if (*port == '+' || *port == '-')
		return parse_offset(port, flags, out, why);
	dash = strchr(port, '-');
	if (dash && !(flags & ADDR_ALLOW_RANGE)) {
		*why = "a port range is not permitted here";
		return -ERR_INVAL;
	}
	if (dash)
		return parse_port_range(port, dash, out, why);
	if (take_number(port, strlen(port), PORT_MAX, &out->port_lo) < 0 ||
		(out->port_lo == 0 && (flags & ADDR_WANT_PORT))) {
		*why = flags & ADDR_WANT_PORT ? "the port is not a number of 1..65535"
					      : "the port is not a number of 0..65535";
		return -ERR_RANGE;
	}
	out->port_hi = out->port_lo;
	/* Equivalent to none. */
	if (out->port_lo == 0)
		out->has_offset = (flags & ADDR_ALLOW_OFFSET) != 0;
	return 0;
}

static void
set_any(struct addr *a, int family)
{
	if (family == AF_INET6) {
		a->u.in6.sin6_family = AF_INET6;
		a->len = sizeof(a->u.in6);
	} else {
		a->u.in.sin_family = AF_INET;
		a->len = sizeof(a->u.in);
	}
}

static int
resolve_host(const char *host, int family, struct addr *a)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int r = names_host(host, family, &ss, &len);

	if (r < 0)
		return r;
	if (len > sizeof(a->u))
		return -ERR_RESOLVE;
	memcpy(&a->u, &ss, len);
	a->len = len;
	return 0;
}

static int
parse_host(const char *host, int family, unsigned int flags, struct addr *a, const char **why)
{
	if (!*host || !strcmp(host, "*")) {
		set_any(a, family);
		return 0;
	}
	if (family != AF_INET6 && inet_pton(AF_INET, host, &a->u.in.sin_addr) == 1) {
		set_any(a, AF_INET);
		return 0;
	}
	if (family != AF_INET && inet_pton(AF_INET6, host, &a->u.in6.sin6_addr) == 1) {
		set_any(a, AF_INET6);
		return 0;
	}
	*why = family == AF_INET     ? "this is no IPv4 address"
		: family == AF_INET6 ? "this is no IPv6 address"
				     : "this is no address";
	/* Text with colons is no host name: not resolved. */
	if (!(flags & (ADDR_ALLOW_NAME | ADDR_KEEP_NAME)) ||
		(strchr(host, ':') && !strchr(host, '%')))
		return -ERR_SYNTAX;
	if (flags & ADDR_KEEP_NAME)
		return 0;
	if (resolve_host(host, family, a) < 0) {
		*why = "the host name could not be resolved";
		return -ERR_RESOLVE;
	}
	return 0;
}

static int
parse_inet(const char *s, int family, unsigned int flags, struct addr_spec *out, const char **why)
{
	char host[HOST_MAX + 1];
	const char *colon = strrchr(s, ':');
	const char *bracket = strrchr(s, ']');
	size_t n;
	int r;

	/* Only a port may follow the last bracket; without brackets the port follows the last
	 * colon. */
	if (bracket && colon && colon < bracket)
		colon = NULL;
	n = colon ? (size_t)(colon - s) : strlen(s);
	r = parse_port(colon ? colon + 1 : NULL, flags, out, why);
	if (r < 0)
		return r;
	if (n > 2 && s[0] == '[' && s[n - 1] == ']') {
		s++;
		n -= 2;
	}
	if (n > HOST_MAX) {
		*why = "the host name is too long (255 bytes at most)";
		return -ERR_RANGE;
	}
	memcpy(host, s, n);
	host[n] = '\0';
	r = parse_host(host, family, flags, &out->addr, why);
	if (r < 0)
		return r;
	if (!out->addr.len) {
		out->name = s;
		out->name_len = n;
	}
	addr_set_port(&out->addr, out->port_lo);
	return 0;
}

int
addr_parse(const char *s, unsigned int flags, struct addr_spec *out, const char **why)
{
	const struct prefix *p;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (!*s) {
		*why = "the address is empty (is an environment variable missing?)";
		return -ERR_SYNTAX;
	}
	p = take_prefix(&s, &out->is_stream);
	out->kind = p->kind;
	out->family = p->family;
	out->is_mptcp = p->why == why_mptcp;
	if (p->why && !(p->why == why_datagram && (flags & ADDR_ALLOW_DGRAM)) &&
		!(out->is_mptcp && (flags & ADDR_ALLOW_MPTCP))) {
		*why = p->why;
		return -ERR_UNSUPPORTED;
	}
	switch (p->kind) {
	case ADDR_FD:
		return parse_fd(s, flags, out, why);
	case ADDR_UNIX:
	case ADDR_ABNS:
		return parse_unix(s, flags, out, why);
	case ADDR_INET:
		break;
	}
	return parse_inet(s, p->family, flags, out, why);
}

int
addr_parse_ip(const char *s, struct addr *out)
{
	size_t n = strlen(s), skip = n > 2 && s[0] == '[' && s[n - 1] == ']';
	char host[INET6_ADDRSTRLEN];

	memset(out, 0, sizeof(*out));
	if (n - 2 * skip >= sizeof(host))
		return -ERR_SYNTAX;
	memcpy(host, s + skip, n - 2 * skip);
	host[n - 2 * skip] = '\0';
	if (inet_pton(AF_INET, host, &out->u.in.sin_addr) == 1)
		set_any(out, AF_INET);
	else if (inet_pton(AF_INET6, host, &out->u.in6.sin6_addr) == 1)
		set_any(out, AF_INET6);
	return out->len ? 0 : -ERR_SYNTAX;
}
