#include "net/vanish.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static long
set(struct sys *sys, int fd, int level, int opt)
{
	int one = 1;

	return sys_setsockopt(sys, fd, level, opt, &one, sizeof(one));
}

void
vanish_on_close(struct sys *sys, int fd)
{
	struct linger lg = { .l_onoff = 1, .l_linger = 0 };

	if (set(sys, fd, IPPROTO_TCP, TCP_REPAIR) >= 0)
		return;
	/* An IPv6 socket may carry IPv4: both, and one of them may fail. */
	(void)set(sys, fd, IPPROTO_IP, IP_TTL);
	(void)set(sys, fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS);
	/* One packet, which nobody sends again. */
	(void)sys_setsockopt(sys, fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
}
