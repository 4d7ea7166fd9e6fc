/* Closing without a word to the peer (manual, silent-drop), on the connection's worker. */
#include "net/silent_drop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "net/conn.h"

static long
set_option(struct sys *sys, int fd, int level, int opt)
{
	int one = 1;

	return sys_setsockopt(sys, fd, level, opt, &one, sizeof(one));
}

void
silent_drop_on_close(struct sys *sys, int fd)
{
	if (set_option(sys, fd, IPPROTO_TCP, TCP_REPAIR) >= 0)
		return;
	/* An IPv6 socket may carry IPv4: sets both, and one of them may fail. */
	(void)set_option(sys, fd, IPPROTO_IP, IP_TTL);
	(void)set_option(sys, fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS);
	/* One packet, which is not retransmitted. */
	conn_fd_reset_on_close(sys, fd);
}

void
conn_silent_drop_on_close(struct conn *c)
{
	if (unlikely(c->xprt))
		conn_xprt_silence(c);
	silent_drop_on_close(loop_sys(c->loop), c->fd);
}
