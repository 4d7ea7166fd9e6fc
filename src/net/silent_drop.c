/* Closing without a word to the peer (manual, silent-drop), on the connection's worker. */
#include "net/silent_drop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "net/conn_stream.h"

static long
set_option(struct conn *c, int level, int opt)
{
	int one = 1;

	return sys_setsockopt(loop_sys(c->loop), c->fd, level, opt, &one, sizeof(one));
}

void
conn_silent_drop_on_close(struct conn *c)
{
	if (conn_is_stream(c)) {
		conn_stream_of(c)->ends_below = CONN_STREAM_DROPS;
		return;
	}
	if (unlikely(c->xprt))
		conn_xprt_silence(c);
	if (set_option(c, IPPROTO_TCP, TCP_REPAIR) >= 0)
		return;
	/* An IPv6 socket may carry IPv4: sets both, and one of them may fail. */
	(void)set_option(c, IPPROTO_IP, IP_TTL);
	(void)set_option(c, IPPROTO_IPV6, IPV6_UNICAST_HOPS);
	/* One packet, which is not retransmitted. */
	conn_reset_on_close(c);
}
