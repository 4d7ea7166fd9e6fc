/* Socket addresses. Pure, but for those that ask the kernel; len 0 is no address. */
#include "net/addr.h"

#include <arpa/inet.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

unsigned int
addr_port(const struct addr *a)
{
	switch (addr_family(a)) {
	case AF_INET:
		return ntohs(a->u.in.sin_port);
	case AF_INET6:
		return ntohs(a->u.in6.sin6_port);
	default:
		return 0;
	}
}

void
addr_set_port(struct addr *a, unsigned int port)
{
	switch (addr_family(a)) {
	case AF_INET:
		a->u.in.sin_port = htons((uint16_t)port);
		break;
	case AF_INET6:
		a->u.in6.sin6_port = htons((uint16_t)port);
		break;
	default:
		break;
	}
}

const char *
addr_host_text(const struct addr *a, char *buf)
{
	switch (addr_family(a)) {
	case AF_INET:
		return inet_ntop(AF_INET, &a->u.in.sin_addr, buf, ADDR_TEXT);
	case AF_INET6:
		return inet_ntop(AF_INET6, &a->u.in6.sin6_addr, buf, ADDR_TEXT);
	case AF_UNIX:
		snprintf(buf, ADDR_TEXT, "unix");
		return buf;
	default:
		buf[0] = '\0';
		return buf;
	}
}

static const char *
unix_text(const struct addr *a, char *buf)
{
	size_t base = offsetof(struct sockaddr_un, sun_path);
	size_t max = a->len > base ? a->len - base : 0;
	const char *path = a->u.un.sun_path;

	if (max > 1 && path[0] == '\0')
		snprintf(buf, ADDR_TEXT, "abns@%.*s", (int)max - 1, path + 1);
	else
		snprintf(buf, ADDR_TEXT, "unix@%.*s", (int)max, path);
	return buf;
}

const char *
addr_text(const struct addr *a, char *buf)
{
	char host[ADDR_TEXT];

	switch (addr_family(a)) {
	case AF_INET:
		inet_ntop(AF_INET, &a->u.in.sin_addr, host, INET_ADDRSTRLEN);
		snprintf(buf, ADDR_TEXT, "%.*s:%u", INET_ADDRSTRLEN, host, addr_port(a));
		return buf;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->u.in6.sin6_addr, host, INET6_ADDRSTRLEN);
		snprintf(buf, ADDR_TEXT, "[%.*s]:%u", INET6_ADDRSTRLEN, host, addr_port(a));
		return buf;
	case AF_UNIX:
		return unix_text(a, buf);
	default:
		buf[0] = '\0';
		return buf;
	}
}

int
addr_is_any(const struct addr *a)
{
	switch (addr_family(a)) {
	case AF_INET:
		return a->u.in.sin_addr.s_addr == htonl(INADDR_ANY);
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&a->u.in6.sin6_addr);
	default:
		return 0;
	}
}

int
addr_is_loopback(const struct addr *a)
{
	const struct in6_addr *in6 = &a->u.in6.sin6_addr;

	switch (addr_family(a)) {
	case AF_INET:
		return ntohl(a->u.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(in6) ||
			(IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
	default:
		return addr_family(a) == AF_UNIX;
	}
}

int
addr_is_same_host(const struct addr *a, const struct addr *b)
{
	if (addr_family(a) != addr_family(b))
		return 0;
	switch (addr_family(a)) {
	case AF_INET:
		return a->u.in.sin_addr.s_addr == b->u.in.sin_addr.s_addr;
	case AF_INET6:
		return memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr,
			       sizeof(a->u.in6.sin6_addr)) == 0;
	default:
		return 0;
	}
}

/* Sets the length of an address from the result of a call. The kernel returns the required length,
 * which may exceed the given one. */
static int
set_len(struct addr *a, long r, socklen_t len)
{
	if (r < 0) {
		a->len = 0;
		return (int)r;
	}
	a->len = MIN(len, (socklen_t)sizeof(a->u));
	return 0;
}

int
addr_of_peer(struct sys *sys, int fd, struct addr *a)
{
	socklen_t len = sizeof(a->u);
	long r = sys_getpeername(sys, fd, &a->u.sa, &len);

	return set_len(a, r, len);
}

int
addr_of_socket(struct sys *sys, int fd, struct addr *a)
{
	socklen_t len = sizeof(a->u);
	long r = sys_getsockname(sys, fd, &a->u.sa, &len);

	return set_len(a, r, len);
}

int
addr_before_nat(struct sys *sys, int fd, int family, struct addr *a)
{
	socklen_t len = sizeof(a->u);
	long r = family == AF_INET6
		? sys_getsockopt(sys, fd, IPPROTO_IPV6, IP6T_SO_ORIGINAL_DST, &a->u, &len)
		: sys_getsockopt(sys, fd, IPPROTO_IP, SO_ORIGINAL_DST, &a->u, &len);

	return set_len(a, r, len);
}
