/* Processes that are replaced by this one. Main thread, at start; in a worker process of a master
 * only the sockets are its business, the master sends the signals. */
#include "app/process/former.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "app/process/inherited.h"
#include "app/process/socket_pass.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "net/listener_key.h"

/* --- sockets of another process -------------------------------------------------------------- */

/* The most text that is read and not used yet: less than two lines. */
#define TEXT_MAX 8192

struct fetching {
	struct socket_fetch *f;
	struct inherited_sockets *to;
	struct sbuf text;
	int has_count;
	unsigned int got;
	char *why;
	size_t why_len;
};

static int
explain_fetch(struct fetching *g, int reason, const char *text)
{
	(void)snprintf(g->why, g->why_len, "%s", text);
	return reason;
}

/* The first line. Other answers are messages for people. */
static int
take_count(struct fetching *g, const char *line)
{
	size_t n = sizeof(SOCKET_PASS_COUNT) - 1;
	unsigned long count;
	char *end;

	if (strncmp(line, SOCKET_PASS_COUNT, n) != 0)
		return explain_fetch(g, -ERR_SYNTAX, *line ? line : "it does not pass sockets");
	count = strtoul(line + n, &end, 10);
	if (*end || end == line + n || count > SOCKET_FETCH_MAX)
		return explain_fetch(g, -ERR_RANGE, "it passes too many sockets");
	g->f->n = (unsigned int)count;
	g->has_count = 1;
	return 0;
}

/* Each line after the first one comes with the descriptor that it names. */
static int
take_fetched_lines(struct fetching *g, int fd)
{
	char *at = g->text.p, *nl;
	int r = 0;

	while (!r && at && (nl = strchr(at, '\n')) != NULL) {
		*nl = '\0';
		if (!g->has_count) {
			r = take_count(g, at);
		} else if (fd < 0) {
			r = explain_fetch(g, -ERR_SYNTAX, "a socket is missing");
		} else {
			r = inherited_add(g->to, fd, at, INHERITED_FETCHED);
			fd = -1;
			g->got += !r;
		}
		at = nl + 1;
	}
	if (at)
		sbuf_cut_front(&g->text, (size_t)(at - g->text.p));
	if (fd >= 0) {
		(void)sys_close(g->f->sys, fd);
		if (!r)
			r = explain_fetch(g, -ERR_SYNTAX, "a socket has no name");
	}
	return r;
}

/* Returns the descriptor of a message, -1: it has none. */
static int
fetched_fd(struct msghdr *h)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Uses the text and the descriptor of a message; -1: it has none. */
static int
take_fetched(struct fetching *g, const char *text, const struct mmsghdr *msg, int fd)
{
	const char *why = NULL;
	int reason = -ERR_SYNTAX;

	sbuf_add(&g->text, text, msg->msg_len);
	if (msg->msg_hdr.msg_flags & MSG_CTRUNC) {
		reason = -EMFILE;
		why = "a socket cannot be received";
	} else if (g->text.failed) {
		why = "it does not pass sockets";
	}
	if (!why)
		return take_fetched_lines(g, fd);
	if (fd >= 0)
		(void)sys_close(g->f->sys, fd);
	return explain_fetch(g, reason, why);
}

/* One message, which has at most one descriptor: there is no room for more. */
static int
read_fetched(struct fetching *g)
{
	char buf[LISTENER_KEY_MAX * 2];
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct mmsghdr msg = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int)) } };
	long r = sys_recvmmsg(g->f->sys, g->f->fd, &msg, 1, MSG_CMSG_CLOEXEC);

	if (r < 0)
		return explain_fetch(g, (int)r,
			r == -EAGAIN ? "it does not answer" : err_text((int)r));
	if (msg.msg_len == 0)
		return explain_fetch(g, -ERR_SYNTAX, "it has closed the connection");
	return take_fetched(g, buf, &msg, fetched_fd(&msg.msg_hdr));
}

static int
fetch_all(struct fetching *g)
{
	static const char command[] = "_getsocks\n";
	struct timeval limit = { .tv_sec = SOCKET_FETCH_MS / 1000 };
	struct socket_fetch *f = g->f;
	long r = sys_setsockopt(f->sys, f->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));

	if (r >= 0)
		r = sys_sendto(f->sys, f->fd, command, sizeof(command) - 1, MSG_NOSIGNAL);
	if (r < 0)
		return explain_fetch(g, (int)r, err_text((int)r));
	r = 0;
	while (!r && (!g->has_count || g->got < f->n))
		r = read_fetched(g);
	return (int)r;
}

static void
socket_fetch_close(struct socket_fetch *f)
{
	if (f->fd >= 0)
		(void)sys_close(f->sys, f->fd);
	f->fd = -1;
}

/* Closes the sockets that came before a failure: the other process keeps all. */
static void
drop_fetched(const struct socket_fetch *f, struct inherited_sockets *of)
{
	while (of->n > f->first) {
		struct inherited_socket *k = &of->v[--of->n];

		(void)sys_close(f->sys, k->fd);
		mem_free(k->name);
	}
}

/* The same on a connection, which it owns from now on. */
static int
socket_fetch_from(struct socket_fetch *f, struct sys *sys, int fd, struct inherited_sockets *to,
	char *why, size_t len)
{
	struct fetching g = { .f = f, .to = to, .why = why, .why_len = len };
	int r;

	*f = (struct socket_fetch){ .sys = sys, .fd = fd, .first = to->n };
	sbuf_init(&g.text, TEXT_MAX);
	r = fetch_all(&g);
	sbuf_fini(&g.text);
	if (r) {
		drop_fetched(f, to);
		socket_fetch_close(f);
	}
	return r;
}

/* Connects to a stats socket and adds the sockets to the list. 0, or a negative reason with a text
 * in why. */
static int
socket_fetch_path(struct socket_fetch *f, struct sys *sys, const char *path,
	struct inherited_sockets *to, char *why, size_t len)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	long fd, r = -ENAMETOOLONG;

	f->fd = -1;
	fd = sys_socket(sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		(void)snprintf(why, len, "%s", err_text((int)fd));
		return (int)fd;
	}
	if (strlen(path) < sizeof(un.sun_path)) {
		memcpy(un.sun_path, path, strlen(path) + 1);
		r = sys_connect(sys, (int)fd, (const struct sockaddr *)(const void *)&un,
			sizeof(un));
	}
	if (r < 0) {
		(void)snprintf(why, len, "%s", err_text((int)r));
		(void)sys_close(sys, (int)fd);
		return (int)r;
	}
	return socket_fetch_from(f, sys, (int)fd, to, why, len);
}

static long
report_fetched(struct socket_fetch *f, const struct inherited_sockets *of)
{
	char text[64];
	long r = 0;
	int n;

	for (unsigned int i = 0; i < f->n && r >= 0; i++) {
		if (!of->v[f->first + i].taken)
			continue;
		n = snprintf(text, sizeof(text), SOCKET_PASS_USES "%u\n", i);
		r = sys_sendto(f->sys, f->fd, text, (size_t)n, MSG_NOSIGNAL);
	}
	if (r >= 0)
		r = sys_sendto(f->sys, f->fd, SOCKET_PASS_READY "\n",
			sizeof(SOCKET_PASS_READY "\n") - 1, MSG_NOSIGNAL);
	return r;
}

/* Reports to the other process which ones were taken and waits until it has understood. 0, or a
 * negative reason: it may be gone. */
static int
socket_fetch_done(struct socket_fetch *f, const struct inherited_sockets *of)
{
	char buf[16];
	long r;

	if (f->fd < 0)
		return 0;
	r = report_fetched(f, of);
	/* The other side closes when it has read all. */
	while (r > 0)
		r = sys_recvfrom(f->sys, f->fd, buf, sizeof(buf), 0);
	socket_fetch_close(f);
	return (int)r;
}

void
former_init(struct former *f, struct sys *sys, const struct report *report,
	struct inherited_sockets *sockets)
{
	memset(f, 0, sizeof(*f));
	f->sys = sys;
	f->report = report;
	f->sockets = sockets;
	f->helper_fd = f->ask_fd = -1;
}

int
former_fetch(struct former *f, const char *path)
{
	char why[200] = "";
	int r = socket_fetch_path(&f->fetch[0], f->sys, path, f->sockets, why, sizeof(why));

	if (r) {
		report_msg(f->report, REPORT_ALERT,
			"cannot get the listening sockets through '%s': %s", path, why);
		return r;
	}
	f->n_fetches = 1;
	return 0;
}

/* --- signals --- */

/* Sends a signal to each process that this one replaces. Returns how many got it; one that has
 * ended before is no failure. */
static unsigned int
signal_all(const struct former *f, int sig)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->n_pids; i++) {
		long r = sys_kill(f->sys, f->pids[i], sig);

		if (r < 0 && r != -ESRCH)
			report_msg(f->report, REPORT_ALERT, "cannot signal process %ld: %s",
				(long)f->pids[i], err_text((int)r));
		n += r >= 0;
	}
	return n;
}

/* The helper, which has kept the privileges that signals need: a byte from fd has it ask the
 * replaced processes to end; the end of the file means that the start has failed. */
static void
run_helper(const struct former *f, int fd)
{
	char byte;

	if (sys_read(f->sys, fd, &byte, 1) == 1)
		(void)signal_all(f, f->sig);
	_Exit(0);
}

int
former_keep_privileges(struct former *f)
{
	int ends[2];
	long r;

	if (!f->n_pids || f->helper_fd >= 0)
		return 0;
	r = sys_pipe2(f->sys, ends, O_CLOEXEC);
	if (r < 0)
		return (int)r;
	r = sys_clone(f->sys);
	if (r == 0) {
		(void)sys_close(f->sys, ends[1]);
		run_helper(f, ends[0]);
	}
	(void)sys_close(f->sys, ends[0]);
	if (r < 0) {
		(void)sys_close(f->sys, ends[1]);
		return (int)r;
	}
	f->helper_fd = ends[1];
	f->helper = (pid_t)r;
	return 0;
}

static void
end_helper(struct former *f, int stops)
{
	int status;

	if (stops)
		(void)sys_write(f->sys, f->helper_fd, "", 1);
	(void)sys_close(f->sys, f->helper_fd);
	(void)sys_wait4(f->sys, f->helper, &status, 0);
	f->helper_fd = -1;
}

void
former_stop(struct former *f)
{
	if (f->helper_fd >= 0)
		end_helper(f, 1);
	else
		(void)signal_all(f, f->sig);
	f->n_pids = 0;
}

/* --- sockets --- */

static void
open_ask_socket(struct former *f)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_usec = FORMER_STEP_MS * 1000 };
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, SOCKET_PASS_NAME,
		sys_getpid(f->sys));
	long r = sys_socket(f->sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	f->ask_fd = (int)r;
	if (r >= 0)
		r = sys_bind(f->sys, f->ask_fd, (const struct sockaddr *)(const void *)&un,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
	if (r >= 0)
		r = sys_listen(f->sys, f->ask_fd, FORMER_FETCHES);
	if (r >= 0)
		r = sys_setsockopt(
			f->sys, f->ask_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (r >= 0)
		return;
	report_msg(f->report, REPORT_WARNING,
		"cannot ask previous processes for their sockets: %s", err_text((int)r));
	if (f->ask_fd >= 0)
		(void)sys_close(f->sys, f->ask_fd);
	f->ask_fd = -1;
}

/* True if the peer of fd runs as root, or as a user of this process: no other may give it
 * sockets. */
static int
is_former(const struct former *f, int fd)
{
	struct ucred other = { 0 };
	socklen_t len = sizeof(other);

	if (sys_getsockopt(f->sys, fd, SOL_SOCKET, SO_PEERCRED, &other, &len) < 0)
		return 0;
	return other.uid == 0 || other.uid == f->user ||
		other.uid == (uid_t)sys_getuid(f->sys);
}

void
former_ask(struct former *f)
{
	char why[200];
	long fd;

	if (!f->has_asked) {
		open_ask_socket(f);
		f->n_asked = signal_all(f, SIGTTOU);
		f->has_asked = 1;
	}
	if (f->ask_fd < 0)
		futex_pause(f->sys, FORMER_STEP_MS);
	fd = f->ask_fd < 0 ? -EAGAIN : sys_accept4(f->sys, f->ask_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (f->n_fetches == FORMER_FETCHES || !is_former(f, (int)fd))
		(void)sys_close(f->sys, (int)fd);
	else if (socket_fetch_from(&f->fetch[f->n_fetches], f->sys, (int)fd, f->sockets, why,
			 sizeof(why)))
		report_msg(f->report, REPORT_WARNING,
			"cannot get the listening sockets of a previous process: %s", why);
	else
		f->n_fetches++;
}

static void
close_ask_socket(struct former *f)
{
	if (f->ask_fd >= 0)
		(void)sys_close(f->sys, f->ask_fd);
	f->ask_fd = -1;
}

void
former_report_ready(struct former *f)
{
	for (unsigned int i = 0; i < f->n_fetches; i++) {
		int r = socket_fetch_done(&f->fetch[i], f->sockets);

		if (r < 0)
			report_msg(f->report, REPORT_WARNING,
				"the process that passed its sockets does not answer: %s",
				err_text(r));
	}
	f->n_fetches = 0;
	close_ask_socket(f);
	f->has_asked = 0;
}

void
former_close(struct former *f)
{
	if (f->has_asked)
		(void)signal_all(f, SIGTTIN);
	f->has_asked = 0;
	close_ask_socket(f);
	for (unsigned int i = 0; i < f->n_fetches; i++)
		socket_fetch_close(&f->fetch[i]);
	f->n_fetches = 0;
	if (f->helper_fd >= 0)
		end_helper(f, 0);
}
