/* Asks the kernel for the handshakes in progress, by netlink (sock_diag(7)). */
/* Before compiler.h, whose word `unused` is a member there. */
#include <linux/inet_diag.h>

#include "net/handshakes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define REPLY_MAX 8192

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 ask;
};

static int
has_port(const struct handshake_ports *p, unsigned int port)
{
	return p->bit[port / 64 & 1023] >> port % 64 & 1;
}

/* Adds the sockets of n bytes to *found. 1: the reply has ended; 0: more follows; or -errno. */
static int
count_sockets(const char *p, size_t n, const struct handshake_ports *ports, int *found)
{
	while (n >= NLMSG_HDRLEN) {
		const struct nlmsghdr *h = (const void *)p;
		const struct inet_diag_msg *sock = (const void *)(p + NLMSG_HDRLEN);
		const struct nlmsgerr *bad = (const void *)(p + NLMSG_HDRLEN);
		size_t len = h->nlmsg_len;

		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR)
			return len >= NLMSG_LENGTH(sizeof(*bad)) && bad->error < 0 ? bad->error
										    : -EPROTO;
		if (len < NLMSG_LENGTH(sizeof(*sock)) || len > n)
			return -EPROTO;
		*found += has_port(ports, ntohs(sock->id.idiag_sport));
		len = MIN(NLMSG_ALIGN(len), n);
		p += len;
		n -= len;
	}
	return 0;
}

/* Adds those of one family of addresses to *found: 0 or -errno. */
static int
ask_family(struct sys *sys, int fd, uint8_t family, const struct handshake_ports *ports, int *found)
{
	const struct question q = {
		.head = { .nlmsg_len = sizeof(q),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.ask = { .sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = 1u << TCP_SYN_RECV },
	};
	char reply[REPLY_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	long n = sys_sendto(sys, fd, &q, sizeof(q), 0);
	int r = 0;

	while (n >= 0 && r == 0) {
		n = sys_recvfrom(sys, fd, reply, sizeof(reply), 0);
		if (n >= 0)
			r = n ? count_sockets(reply, (size_t)n, ports, found) : -EPROTO;
	}
	return n < 0 ? (int)n : MIN(r, 0);
}

int
handshakes_pending(struct sys *sys, const struct handshake_ports *ports)
{
	long fd = sys_socket(sys, AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int found = 0, r;

	if (fd < 0)
		return (int)fd;
	r = ask_family(sys, (int)fd, AF_INET, ports, &found);
	if (r == 0)
		r = ask_family(sys, (int)fd, AF_INET6, ports, &found);
	(void)sys_close(sys, (int)fd);
	return r < 0 ? r : found;
}
