/* Listening sockets on their way to the next process. First worker; nothing waits for the other
 * side, and until it reports that it is ready nothing of this process changes. */
#include "app/process/socket_pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/listener.h"
#include "net/listener_key.h"
#include "net/shards.h"

#define LINES_MAX 4096

void
socket_pass_init(struct socket_pass *sp, struct process *p)
{
	memset(sp, 0, sizeof(*sp));
	sp->process = p;
	sp->fd = -1;
}

void
socket_pass_close(struct socket_pass *sp)
{
	if (sp->fd < 0)
		return;
	loop_detach(process_loop(sp->process), sp->fd);
	(void)sys_close(sp->process->sys, sp->fd);
	sp->fd = -1;
	mem_free(sp->v);
	sp->v = NULL;
	sp->n = sp->n_files = sp->sent = 0;
	sp->has_count = 0;
	sbuf_fini(&sp->in);
}

/* --- passed sockets --- */

static int
can_pass(const struct listener *ln)
{
	return !ln->lead && ln->fd >= 0 && ln->state != LISTENER_SUSPENDED &&
		ln->state != LISTENER_CLOSED;
}

static void
count_passed(struct listener *ln, void *n)
{
	*(unsigned int *)n += (unsigned int)can_pass(ln);
}

static void
add_passed(struct listener *ln, void *arg)
{
	struct socket_pass *sp = arg;

	if (can_pass(ln))
		sp->v[sp->n++] = ln;
}

/* The other process takes over it and its copies, and removes its path. */
static void
give_away(struct process *p, struct listener *ln)
{
	const struct listener_group *g = ln->group;
	char key[LISTENER_KEY_MAX];

	if (p->master && ln->kept_open) {
		listener_key(ln, key);
		master_link_given(p->master, key);
	}
	ln->kept_open |= LISTENER_KEPT_NEXT;
	ln->made_ino = 0;
	for (unsigned int i = 0; g && i < g->n; i++)
		if (g->of[i]->lead == ln)
			g->of[i]->kept_open |= LISTENER_KEPT_NEXT;
}

/* --- the dialogue --- */

/* 0, or -errno. fd -1: the text alone. */
static long
send_line(const struct socket_pass *sp, const char *text, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = (char *)(uintptr_t)text, .iov_len = strlen(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	return sys_sendmsg(sp->process->sys, sp->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* 0: all are sent; -EAGAIN: the other side has to read first; or -errno. */
static int
send_sockets(struct socket_pass *sp)
{
	char key[LISTENER_KEY_MAX], text[LISTENER_KEY_MAX + 1];
	long r = 1;

	if (!sp->has_count) {
		(void)snprintf(text, sizeof(text), SOCKET_PASS_COUNT "%u\n",
			sp->n + sp->n_files);
		r = send_line(sp, text, -1);
		sp->has_count = r > 0;
	}
	while (r > 0 && sp->sent < sp->n) {
		listener_key(sp->v[sp->sent], key);
		(void)snprintf(text, sizeof(text), "%s\n", key);
		r = send_line(sp, text, sp->v[sp->sent]->fd);
		sp->sent += r > 0;
	}
	while (r > 0 && sp->sent < sp->n + sp->n_files) {
		const char *name;
		int fd = process_tables_passed(sp->process, sp->sent - sp->n, &name);

		(void)snprintf(text, sizeof(text), "%s\n", name);
		r = send_line(sp, text, fd);
		sp->sent += r > 0;
	}
	return r > 0 ? 0 : (int)r;
}

/* 1: it was the last line. */
static int
take_pass_line(struct socket_pass *sp, const char *line)
{
	size_t n = sizeof(SOCKET_PASS_USES) - 1;
	unsigned long i;
	char *end;

	if (strncmp(line, SOCKET_PASS_USES, n) == 0) {
		i = strtoul(line + n, &end, 10);
		if (end != line + n && !*end && i < MIN(sp->sent, sp->n))
			give_away(sp->process, sp->v[i]);
	}
	return strcmp(line, SOCKET_PASS_READY) == 0;
}

static int
take_pass_lines(struct socket_pass *sp)
{
	char *at = sp->in.p, *nl;
	int is_last = 0;

	while (!is_last && sp->in.len &&
		(nl = memchr(at, '\n', sp->in.len - (size_t)(at - sp->in.p))) != NULL) {
		*nl = '\0';
		is_last = take_pass_line(sp, at);
		at = nl + 1;
	}
	if (sp->in.len)
		sbuf_cut_front(&sp->in, (size_t)(at - sp->in.p));
	return is_last;
}

/* 1: it is over. */
static int
read_pass(struct socket_pass *sp)
{
	char buf[512];
	long r;

	while ((r = sys_recvfrom(sp->process->sys, sp->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		sbuf_add(&sp->in, buf, (size_t)r);
		if (sp->in.failed || take_pass_lines(sp))
			return 1;
	}
	return r != -EAGAIN;
}

static void
on_pass(void *owner, int fd, uint32_t ev)
{
	struct socket_pass *sp = owner;
	struct loop *l = process_loop(sp->process);
	int r = send_sockets(sp);

	(void)ev;
	loop_progress(l, fd);
	if ((r && r != -EAGAIN) || read_pass(sp)) {
		socket_pass_close(sp);
		return;
	}
	loop_again(l, fd, DIR_R);
	if (r)
		loop_again(l, fd, DIR_W);
	loop_want(l, fd, r ? EV_R | EV_W : EV_R);
}
PROFILE_NAME(on_pass, socket_pass_io)

int
socket_pass_start(struct socket_pass *sp, int fd)
{
	struct process *p = sp->process;
	unsigned int n = 0;
	const char *name;
	int r;

	socket_pass_close(sp);
	process_each_listener(p, count_passed, &n);
	sp->v = mem_zalloc((n + 1) * sizeof(struct listener *));
	r = sp->v ? loop_add(process_loop(p), fd, LOOP_CONN, on_pass, sp) : -ERR_NOMEM;
	if (r) {
		mem_free(sp->v);
		sp->v = NULL;
		(void)sys_close(p->sys, fd);
		return r;
	}
	sp->fd = fd;
	sbuf_init(&sp->in, LINES_MAX);
	process_each_listener(p, add_passed, sp);
	while (process_tables_passed(p, sp->n_files, &name) >= 0)
		sp->n_files++;
	loop_want(process_loop(p), fd, EV_R | EV_W);
	return 0;
}

void
socket_pass_assume(struct socket_pass *sp)
{
	if (sp->fd < 0)
		return;
	for (unsigned int i = 0; i < MIN(sp->sent, sp->n); i++)
		give_away(sp->process, sp->v[i]);
	socket_pass_close(sp);
}

/* --- on request of a signal --- */

/* Checks the process at the other end. 0: it is of root or of our own user, and could
 * trace this one anyway; or -ERR_PERM. */
static int
check_peer(struct sys *sys, int fd)
{
	struct ucred other = { 0 };
	socklen_t len = sizeof(other);

	if (sys_getsockopt(sys, fd, SOL_SOCKET, SO_PEERCRED, &other, &len) < 0)
		return -ERR_PERM;
	return other.uid == 0 || other.uid == (uid_t)sys_getuid(sys) ? 0 : -ERR_PERM;
}

int
socket_pass_connect(struct sys *sys, pid_t pid)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, SOCKET_PASS_NAME, (long)pid);
	long fd, r;

	if (pid <= 0)
		return -ERR_INVAL;
	fd = sys_socket(sys, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	/* Without blocking: it returns EAGAIN when that process does not accept. */
	r = sys_connect(sys, (int)fd, (const struct sockaddr *)(const void *)&un,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
	if (r >= 0)
		r = check_peer(sys, (int)fd);
	if (r >= 0)
		return (int)fd;
	(void)sys_close(sys, (int)fd);
	return (int)r;
}

void
socket_pass_to(struct socket_pass *sp, pid_t pid, int fd)
{
	struct process *p = sp->process;

	if (p->state != PROCESS_RUNNING) {
		if (fd >= 0)
			(void)sys_close(p->sys, fd);
		return;
	}
	if (fd < 0)
		fd = socket_pass_connect(p->sys, pid);
	if (fd < 0)
		return;
	log_msg(process_log(p), LOG_LEVEL_NOTICE, "process %ld asks for the listening sockets",
		(long)pid);
	(void)!socket_pass_start(sp, fd);
}
