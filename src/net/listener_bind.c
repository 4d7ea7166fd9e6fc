/* Making listening sockets, at start. */
#include "net/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/sys.h"
#include "net/keepalive.h"
#include "net/sockbuf.h"

struct maker {
	struct listener *ln;
	struct sys *sys;
	int fd;
	int shares_port; /* other sockets of this process are bound to it */
	char *why;       /* NULL: the reason is enough */
	size_t why_len;
};

static int
bind_failed(struct maker *m, const char *what, long r)
{
	char host[ADDR_TEXT];

	unsigned int port = addr_port(&m->ln->addr);

	(void)snprintf(m->why, m->why_len, "cannot %s for %s: %s%s", what,
		addr_text(&m->ln->addr, host), err_text((int)r),
		r == -EACCES && port && port < 1024
			? " (ports below 1024 are for root or need CAP_NET_BIND_SERVICE)"
			: "");
	return (int)r;
}

static int
set_int(struct maker *m, const char *what, int level, int opt, int value)
{
	long r = sys_setsockopt(m->sys, m->fd, level, opt, &value, sizeof(value));

	return r < 0 ? bind_failed(m, what, r) : 0;
}

static int
set_transparent(struct maker *m, int family)
{
	if (family == AF_INET6)
		return set_int(m, "set transparent", IPPROTO_IPV6, IPV6_TRANSPARENT, 1);
	return set_int(m, "set transparent", IPPROTO_IP, IP_TRANSPARENT, 1);
}

/* Options to be set before bind(). */
static int
set_address_options(struct maker *m, int family)
{
	const struct bind_conf *b = m->ln->bind;
	int r = set_int(m, "set SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1);

	if (r == 0 && m->shares_port)
		r = set_int(m, "set SO_REUSEPORT", SOL_SOCKET, SO_REUSEPORT, 1);
	if (r == 0 && family == AF_INET6 && (b->v6only || b->v4v6))
		r = set_int(m, "set IPV6_V6ONLY", IPPROTO_IPV6, IPV6_V6ONLY, b->v6only != 0);
	if (r == 0 && b->transparent)
		r = set_transparent(m, family);
	if (r == 0 && b->interface[0]) {
		long e = sys_setsockopt(m->sys, m->fd, SOL_SOCKET, SO_BINDTODEVICE, b->interface,
					(socklen_t)strlen(b->interface) + 1);

		if (e < 0)
			r = bind_failed(m, "bind to the interface", e);
	}
	return r;
}

/* --- options --------------------------------------------------------------------------------- */

/* TCP options of listening sockets. Main thread at start, or a loop's thread. */

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

/* The kernel does not have TCP_QUICKACK for MPTCP. listen() resets it: it is set afterwards. */
static int
listener_has_quickack(const struct listener *ln)
{
	return addr_family(&ln->addr) != AF_UNIX && !ln->is_mptcp;
}

/* Both return 0, or -errno with *what: what failed, as it follows "cannot". */
static int
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

/* Gives the socket the kernel's defaults where the listener has no value: it may have one of a
 * previous configuration. */
static int
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

/* --- binding --------------------------------------------------------------------------------- */

/* Sets what accepted sockets inherit. A socket that was bound before may have other values. */
static int
set_tcp_options(struct maker *m, int was_bound)
{
	const char *what = "";
	int r = 0;

	if (was_bound)
		r = listener_options_clear(m->ln, m->sys, m->fd, &what);
	if (r == 0)
		r = listener_options_set(m->ln, m->sys, m->fd, &what);
	return r < 0 ? bind_failed(m, what, r) : 0;
}

/*
 * A unix socket is bound under a temporary name and renamed, so that clients always find one, and
 * an old process's socket is only replaced by a working one.
 */
static int
bind_path(struct maker *m, struct addr *tmp)
{
	const struct bind_conf *b = m->ln->bind;
	const char *path = m->ln->addr.u.un.sun_path;
	long r;
	int n;

	*tmp = m->ln->addr;
	n = snprintf(tmp->u.un.sun_path, sizeof(tmp->u.un.sun_path), "%s.%ld.tmp", path,
		     sys_getpid(m->sys));
	if (n < 0 || (size_t)n >= sizeof(tmp->u.un.sun_path)) {
		/* A truncated name may be that of another file. */
		tmp->u.un.sun_path[0] = '\0';
		return bind_failed(m, "bind: path too long", -ENAMETOOLONG);
	}
	tmp->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
	(void)sys_unlink(m->sys, tmp->u.un.sun_path);
	r = sys_bind(m->sys, m->fd, &tmp->u.sa, tmp->len);
	if (r < 0)
		return bind_failed(m, "bind", r);
	if (b->mode && (r = sys_chmod(m->sys, tmp->u.un.sun_path, b->mode)) < 0)
		return bind_failed(m, "change the mode", r);
	if ((b->uid != (uid_t)-1 || b->gid != (gid_t)-1) &&
	    (r = sys_chown(m->sys, tmp->u.un.sun_path, b->uid, b->gid)) < 0)
		return bind_failed(m, "change the owner", r);
	return 0;
}

/* Accepted sockets inherit this too, but listen() resets the state of ACKs: it is set
 * afterwards. */
static int
start_listening(struct maker *m, int backlog)
{
	long r = sys_listen(m->sys, m->fd, backlog);

	if (r < 0)
		return bind_failed(m, "listen", r);
	if (m->ln->quickack_off && listener_has_quickack(m->ln))
		return set_int(m, "clear TCP_QUICKACK", IPPROTO_TCP, TCP_QUICKACK, 0);
	return 0;
}

static int
is_path(const struct addr *a)
{
	return addr_family(a) == AF_UNIX && a->u.un.sun_path[0] != '\0';
}

/* Identifies the socket for listener_unlink(): a rename changes neither number. */
static void
remember_path(struct maker *m, const char *path)
{
	struct stat st;

	if (sys_stat(m->sys, path, &st) < 0)
		return;
	m->ln->made_dev = st.st_dev;
	m->ln->made_ino = st.st_ino;
}

void
listener_unlink(struct listener *ln, struct sys *sys)
{
	struct stat st;

	if (ln->made_ino && sys_stat(sys, ln->addr.u.un.sun_path, &st) == 0 &&
	    st.st_dev == ln->made_dev && st.st_ino == ln->made_ino)
		(void)sys_unlink(sys, ln->addr.u.un.sun_path);
	ln->made_ino = 0;
}

/* Nothing may be left behind after an error. */
static int
listen_at_path(struct maker *m, int backlog)
{
	struct addr tmp;
	int e = bind_path(m, &tmp);
	long r;

	if (!e)
		e = start_listening(m, backlog);
	if (!e) {
		remember_path(m, tmp.u.un.sun_path);
		r = sys_rename(m->sys, tmp.u.un.sun_path, m->ln->addr.u.un.sun_path);
		if (r < 0) {
			m->ln->made_ino = 0;
			e = bind_failed(m, "rename the socket", r);
		}
	}
	if (e && tmp.u.un.sun_path[0])
		(void)sys_unlink(m->sys, tmp.u.un.sun_path);
	return e;
}

static int
bind_and_listen(struct maker *m, int backlog)
{
	long r;

	if (is_path(&m->ln->addr))
		return listen_at_path(m, backlog);
	r = sys_bind(m->sys, m->fd, &m->ln->addr.u.sa, m->ln->addr.len);
	return r < 0 ? bind_failed(m, "bind", r) : start_listening(m, backlog);
}

static int
open_socket(struct maker *m, int family)
{
	long fd = sys_socket(m->sys, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		m->ln->is_mptcp ? IPPROTO_MPTCP : 0);

	if (fd < 0)
		return bind_failed(m, "make a socket", fd);
	m->fd = (int)fd;
	return 0;
}

/*
 * With SO_REUSEPORT the kernel would share a port with another process that uses it, such as an old
 * instance: the first of several sockets tries without it.
 */
static int
probe_port(struct maker *m, int family)
{
	int r = open_socket(m, family);
	long e;

	if (r == 0)
		r = set_address_options(m, family);
	if (r == 0) {
		e = sys_bind(m->sys, m->fd, &m->ln->addr.u.sa, m->ln->addr.len);
		r = e < 0 ? bind_failed(m, "bind", e) : 0;
	}
	if (m->fd >= 0)
		(void)sys_close(m->sys, m->fd);
	m->fd = -1;
	return r;
}

/* Bind lines that share a port are probed before the first of them holds it. */
static int
probe_ports(struct maker *m)
{
	int r = 0;

	for (struct listener *ln = m->ln; ln && r == 0; ln = ln->overlap_next) {
		struct maker one = *m;

		one.ln = ln;
		r = probe_port(&one, addr_family(&ln->addr));
	}
	return r;
}

static int
make_socket(struct maker *m, int backlog)
{
	int family = addr_family(&m->ln->addr);
	int r = 0;

	if (m->ln->reuseport && !m->ln->first && !m->ln->overlap_root && !m->ln->port_kept)
		r = probe_ports(m);
	m->shares_port = m->ln->reuseport;
	if (r == 0)
		r = open_socket(m, family);
	if (r < 0)
		return r;
	r = family == AF_UNIX ? 0 : set_address_options(m, family);
	if (r == 0 && family != AF_UNIX)
		r = set_tcp_options(m, 0);
	if (r == 0)
		r = bind_and_listen(m, backlog);
	return r;
}

/* --- network namespaces --- */

static int
netns_failed(struct maker *m, long r)
{
	char host[ADDR_TEXT];

	(void)snprintf(m->why, m->why_len, "cannot enter the network namespace '%s' for %s: %s%s",
		m->ln->bind->netns, addr_text(&m->ln->addr, host), err_text((int)r),
		r == -ENOENT  ? " ('ip netns list' shows those that exist)"
		: r == -EPERM ? " (it needs CAP_SYS_ADMIN, which a master gives up after its start)"
			      : "");
	return (int)r;
}

static long
enter_netns(struct maker *m)
{
	char path[sizeof(NETNS_DIR) + NETNS_MAX];
	long fd, r;

	(void)snprintf(path, sizeof(path), NETNS_DIR "/%s", m->ln->bind->netns);
	fd = sys_openat(m->sys, path, O_RDONLY | O_CLOEXEC, 0);
	r = fd < 0 ? fd : sys_setns(m->sys, (int)fd, CLONE_NEWNET);
	if (fd >= 0)
		(void)sys_close(m->sys, (int)fd);
	return r;
}

/* Makes the socket in the namespace of the line. The calling thread, which is alone, is there
 * meanwhile. */
static int
make_socket_there(struct maker *m, int backlog)
{
	long own, r, back;
	int e;

	if (!m->ln->bind->netns)
		return make_socket(m, backlog);
	own = sys_openat(m->sys, "/proc/self/ns/net", O_RDONLY | O_CLOEXEC, 0);
	if (own < 0)
		return bind_failed(m, "open /proc/self/ns/net", own);
	r = enter_netns(m);
	e = r < 0 ? netns_failed(m, r) : make_socket(m, backlog);
	back = r < 0 ? 0 : sys_setns(m->sys, (int)own, CLONE_NEWNET);
	(void)sys_close(m->sys, (int)own);
	return back < 0 ? bind_failed(m, "leave the network namespace", back) : e;
}

/* fd@N: a socket bound by the parent. Clients may be waiting in its backlog. */
static int
take_over(struct maker *m, int backlog)
{
	long flags, r;
	int e = addr_of_socket(m->sys, m->ln->inherit_fd, &m->ln->addr);

	if (e < 0)
		return bind_failed(m, "use the inherited descriptor", e);
	m->fd = m->ln->inherit_fd;
	flags = sys_fcntl(m->sys, m->fd, F_GETFL, 0);
	if (flags < 0 || (r = sys_fcntl(m->sys, m->fd, F_SETFL, flags | O_NONBLOCK)) < 0 ||
	    (r = sys_fcntl(m->sys, m->fd, F_SETFD, FD_CLOEXEC)) < 0)
		return bind_failed(m, "set up the inherited descriptor", flags < 0 ? flags : r);
	if (addr_family(&m->ln->addr) != AF_UNIX) {
		e = set_tcp_options(m, 0);
		if (e < 0)
			return e;
	}
	return start_listening(m, backlog);
}

/* Uses a socket that was bound for this address before, and listens. Others may share its port. */
static int
use_kept(struct maker *m, int backlog)
{
	long r;
	int e = 0;

	m->fd = m->ln->kept_fd;
	r = sys_fcntl(m->sys, m->fd, F_SETFD, FD_CLOEXEC);
	if (r < 0)
		return bind_failed(m, "set up the kept socket", r);
	if (addr_family(&m->ln->addr) != AF_UNIX) {
		if (m->ln->reuseport)
			e = set_int(m, "set SO_REUSEPORT", SOL_SOCKET, SO_REUSEPORT, 1);
		if (e == 0)
			e = set_tcp_options(m, 1);
	}
	if (e == 0)
		e = start_listening(m, backlog);
	if (e == 0 && is_path(&m->ln->addr))
		remember_path(m, m->ln->addr.u.un.sun_path);
	return e;
}

int
listener_bind(struct listener *ln, struct sys *sys, int default_backlog, char *why, size_t why_len)
{
	struct maker m = { .ln = ln, .sys = sys, .fd = -1, .why = why, .why_len = why_len };
	int backlog = ln->bind->backlog ? ln->bind->backlog : default_backlog;
	int r;

	ln->backlog = backlog;
	if (ln->lead) {
		assert(ln->lead->state == LISTENER_BOUND);
		ln->fd = ln->lead->fd;
		ln->addr = ln->lead->addr;
		counter_set(&ln->state, LISTENER_BOUND);
		return 0;
	}
	/* Any port: the same one for all copies. */
	if (ln->first)
		ln->addr = ln->first->addr;
	if (ln->kept_fd >= 0)
		r = use_kept(&m, backlog);
	else
		r = ln->inherit_fd >= 0 ? take_over(&m, backlog)
				       : make_socket_there(&m, backlog);
	if (r < 0) {
		if (m.fd >= 0)
			(void)sys_close(sys, m.fd);
		/* The bind may be tried again. */
		ln->kept_fd = -1;
		return r;
	}
	ln->fd = m.fd;
	counter_set(&ln->state, LISTENER_BOUND);
	/* Port 0 means any port: asks which one was assigned. */
	if (addr_family(&ln->addr) != AF_UNIX && !addr_port(&ln->addr)) {
		ln->any_port = 1;
		(void)!addr_of_socket(sys, ln->fd, &ln->addr);
	}
	return 0;
}

int
listener_listen_again(struct listener *ln, struct sys *sys)
{
	struct maker m = { .ln = ln, .sys = sys, .fd = ln->fd };
	long r;

	/* listen() had picked an ephemeral port and suspending released it: bind again. */
	if (ln->any_port) {
		r = sys_bind(sys, ln->fd, &ln->addr.u.sa, ln->addr.len);
		if (r < 0)
			return (int)r;
		ln->any_port = 0;
	}
	return start_listening(&m, ln->backlog);
}
