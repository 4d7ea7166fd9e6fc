/* TCP options of listening sockets. Main thread at start, or a loop's thread. */
#include "net/listener_options.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/sys.h"
#include "net/keepalive.h"
#include "net/listener.h"
#include "net/sockbuf.h"

/* Seconds to wait for data with the handshake's last ACK; HAProxy's value (manual 5.1
 * defer-accept). */
#define DEFER_SECONDS 1
#define TFO_QUEUE_MIN 128

struct option_target {
	struct sys *sys;
	int fd;
	const char **what;
};

static int
set_listener_option(const struct option_target *t, const char *what, int level, int opt, int value)
{
	*t->what = what;
	return (int)MIN(sys_setsockopt(t->sys, t->fd, level, opt, &value, sizeof(value)), 0);
}

static int
set_tcp_option(const struct option_target *t, const char *what, int opt, int value)
{
	return set_listener_option(t, what, IPPROTO_TCP, opt, value);
}

static int
is_unknown(int r)
{
	return r == -ENOPROTOOPT || r == -EOPNOTSUPP;
}

/* A kind of socket that does not know the option does not have a value either. */
static int
clear_tcp_option(const struct option_target *t, const char *what, int opt)
{
	int r = set_tcp_option(t, what, opt, 0);

	return is_unknown(r) ? 0 : r;
}

/* The kernel may not have the values for MPTCP: they are the system's then. */
static int
unless_is_mptcp(const struct listener *ln, int r)
{
	return is_unknown(r) && ln->is_mptcp ? 0 : r;
}

static int
set_keepalive(const struct listener *ln, const struct option_target *t)
{
	*t->what = "set the keep-alive";
	return unless_is_mptcp(ln, keepalive_set(t->sys, t->fd, ln->keepalive));
}

static int
clear_keepalive(const struct listener *ln, const struct option_target *t)
{
	if (!ln->keepalive)
		return set_listener_option(t, "clear SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 0);
	*t->what = "reset the keep-alive";
	return unless_is_mptcp(ln, keepalive_reset(t->sys, t->fd, ln->keepalive));
}

int
listener_has_quickack(const struct listener *ln)
{
	return addr_family(&ln->addr) != AF_UNIX && !ln->is_mptcp;
}

int
listener_options_set(const struct listener *ln, struct sys *sys, int fd, const char **what)
{
	const struct option_target t = { sys, fd, what };
	const struct bind_conf *b = ln->bind;
	int r = ln->sockbuf ? sockbuf_set(sys, fd, AF_INET, ln->sockbuf, what) : 0;

	if (r == 0 && ln->nodelay)
		r = set_tcp_option(&t, "set TCP_NODELAY", TCP_NODELAY, 1);
	if (r == 0 && ln->keepalive)
		r = set_keepalive(ln, &t);
	if (r == 0 && b->user_timeout_ms)
		r = set_tcp_option(
			&t, "set TCP_USER_TIMEOUT", TCP_USER_TIMEOUT, (int)b->user_timeout_ms);
	if (r == 0 && b->mss)
		r = set_tcp_option(&t, "set TCP_MAXSEG", TCP_MAXSEG, b->mss);
	if (r == 0 && b->defer_accept)
		r = set_tcp_option(
			&t, "set TCP_DEFER_ACCEPT", TCP_DEFER_ACCEPT, DEFER_SECONDS);
	if (r == 0 && b->tfo)
		r = set_tcp_option(
			&t, "set TCP_FASTOPEN", TCP_FASTOPEN, MAX(b->backlog, TFO_QUEUE_MIN));
	return r;
}

int
listener_options_clear(const struct listener *ln, struct sys *sys, int fd, const char **what)
{
	const struct option_target t = { sys, fd, what };
	const struct bind_conf *b = ln->bind;
	int r = clear_keepalive(ln, &t);

	if (r == 0 && !b->user_timeout_ms)
		r = set_tcp_option(&t, "clear TCP_USER_TIMEOUT", TCP_USER_TIMEOUT, 0);
	if (r == 0 && !b->mss)
		r = clear_tcp_option(&t, "clear TCP_MAXSEG", TCP_MAXSEG);
	if (r == 0 && !(ln->sockbuf && ln->sockbuf->notsent))
		r = clear_tcp_option(&t, "clear TCP_NOTSENT_LOWAT", TCP_NOTSENT_LOWAT);
	if (r == 0 && !b->defer_accept)
		r = set_tcp_option(&t, "clear TCP_DEFER_ACCEPT", TCP_DEFER_ACCEPT, 0);
	if (r == 0 && !b->tfo)
		r = set_tcp_option(&t, "clear TCP_FASTOPEN", TCP_FASTOPEN, 0);
	if (r == 0 && !ln->quickack_off && listener_has_quickack(ln))
		r = set_tcp_option(&t, "set TCP_QUICKACK", TCP_QUICKACK, 1);
	return r;
}
