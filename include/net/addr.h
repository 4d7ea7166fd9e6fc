/* Socket addresses: IPv4, IPv6, unix and abstract unix, in one value. */
#ifndef TACIT_NET_ADDR_H
#define TACIT_NET_ADDR_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/compiler.h"

struct addr {
	socklen_t len; /* 0: none */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} u;
};

/* Size of the longest text of an address: "abns@" or "unix@", a path, and a NUL. */
#define ADDR_TEXT 128

/* AF_UNSPEC when empty. */
static inline int
addr_family(const struct addr *a)
{
	return a->len ? a->u.sa.sa_family : AF_UNSPEC;
}

/* Port in host order; 0 for unix. */
unsigned int addr_port(const struct addr *a);
void addr_set_port(struct addr *a, unsigned int port);
/* True for a port below 1024, which is for root, or CAP_NET_BIND_SERVICE. */
static inline int
addr_has_privileged_port(const struct addr *a)
{
	unsigned int port = addr_port(a);

	return port && port < 1024;
}

/* The host part, as in HAProxy's %ci: "unix" for unix sockets. buf holds ADDR_TEXT. */
const char *addr_host_text(const struct addr *a, char *buf);
/* The complete address: "127.0.0.1:80", "[::1]:80", "unix@/run/x", "abns@x". buf holds
 * ADDR_TEXT. */
const char *addr_text(const struct addr *a, char *buf);
/* 0.0.0.0 or ::, with any port. */
int addr_is_any(const struct addr *a);
/* 127.0.0.0/8 (also IPv4-mapped), ::1, or a unix socket. */
int addr_is_loopback(const struct addr *a);
/* The same IP address, with any port. */
int addr_is_same_host(const struct addr *a, const struct addr *b);
/* Peer or local address of a socket: 0 or -errno. */
struct sys;
int addr_of_peer(struct sys *sys, int fd, struct addr *a) must_check;
int addr_of_socket(struct sys *sys, int fd, struct addr *a) must_check;
/* The address that a client of this family connected to before NAT redirected it here: 0, or a
 * negative reason if it was not (SO_ORIGINAL_DST of linux/netfilter_ipv4.h). */
int addr_before_nat(struct sys *sys, int fd, int family, struct addr *a) must_check;

/*
 * An address as in `bind`, `server` and `source` (manual 11): [<prefix>@]<address>[:<port>]. The
 * address is an IPv4 or IPv6 address, `*`, empty, a host name, or a path; an IPv6 address may be in
 * brackets. Prefixes: ip ipv4 ipv6 tcp tcp4 tcp6 mptcp mptcp4 mptcp6 unix abns fd, each optionally
 * after stream+. Ports: 80, a range 80-90 (bind, source), or +N, -N, 0 or none (server: the
 * client's port plus an offset).
 */
enum addr_kind { ADDR_INET, ADDR_UNIX, ADDR_ABNS, ADDR_FD };

struct addr_spec {
	enum addr_kind kind;
	struct addr addr;       /* port: port_lo; len 0 for ADDR_FD */
	int fd;                 /* ADDR_FD, otherwise -1 */
	unsigned int port_lo, port_hi; /* equal unless a range; both 0 when no port was given */
	int port_offset;        /* has_offset: signed, 0 when no port was given */
	int has_offset;
	int family;             /* required by the prefix, or AF_UNSPEC */
	int is_stream;          /* the prefix names a stream socket */
	int is_mptcp;           /* the prefix names Multipath TCP */
	const char *name;       /* ADDR_KEEP_NAME: the host name, in the text; NULL: none */
	size_t name_len;
	const char *given;      /* ADDR_FD: the number or name, in the text */
};

#define ADDR_WANT_PORT    1u  /* an inet address needs a port of 1..65535 */
#define ADDR_ALLOW_RANGE  2u
#define ADDR_ALLOW_OFFSET 4u  /* +N, -N, or none at all */
#define ADDR_ALLOW_FD     8u
#define ADDR_ALLOW_NAME   16u /* host names, resolved by libc; may block for seconds */
#define ADDR_ALLOW_UNIX   32u /* paths and abstract names */
#define ADDR_NO_PORT      64u /* a port is an error */
#define ADDR_KEEP_NAME    128u /* host names are not resolved: spec.name, and addr.len is 0 */
#define ADDR_ALLOW_DGRAM  256u /* udp@ udp4@ udp6@ dgram+ */
#define ADDR_ALLOW_FD_NAME 1024u /* fd@ with a name: spec.name, and fd is -1 */
#define ADDR_ALLOW_MPTCP  512u /* mptcp@ mptcp4@ mptcp6@ */

/* Parses an IPv4 or IPv6 address, perhaps in brackets, without a port: 0 or -ERR_SYNTAX. */
int addr_parse_ip(const char *s, struct addr *out) must_check;
/* Parses one address. On failure a negative reason, and *why is a static text that describes it. */
int addr_parse(const char *s, unsigned int flags, struct addr_spec *out,
	       const char **why) must_check;

#endif
