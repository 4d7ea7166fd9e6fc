/* The worker process's end of its connection to the master. First worker; blocking until it is
 * added to the loop, since its messages before that must arrive. */
#include "app/process/master_link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

void
master_link_init(struct master_link *m, struct sys *sys)
{
	memset(m, 0, sizeof(*m));
	m->sys = sys;
	m->fd = m->stderr_fd = m->passed_fd = -1;
}

/* Lines of the form "17 127.0.0.1:80". */
static int
parse_socket_list(char *list, struct inherited_sockets *to)
{
	char *at = list;

	for (char *nl; (nl = strchr(at, '\n')) != NULL; at = nl + 1) {
		char *end;
		long fd = strtol(at, &end, 10);
		int r;

		*nl = '\0';
		if (end == at || *end != ' ')
			return -ERR_SYNTAX;
		r = inherited_add(to, (int)fd, end + 1, INHERITED_MASTER);
		if (r)
			return r;
	}
	return 0;
}

/* Three numbers with commas between them. */
static int
parse_link_value(const char *s, int out[3])
{
	for (int i = 0; i < 3; i++) {
		char *end;
		long n = strtol(s, &end, 10);

		if (end == s || n < 0 || n > INT32_MAX || *end != (i < 2 ? ',' : '\0'))
			return -ERR_SYNTAX;
		out[i] = (int)n;
		s = end + 1;
	}
	return 0;
}

int
master_link_inherit(struct master_link *m, const char *value, struct inherited_sockets *to)
{
	int fds[3];
	char *list;
	int r = parse_link_value(value, fds);

	if (r)
		return r;
	for (int i = 0; i < 3; i++) {
		long e = sys_fcntl(m->sys, fds[i], F_SETFD, FD_CLOEXEC);

		if (e < 0)
			return (int)e;
	}
	m->fd = fds[0];
	m->stderr_fd = fds[2];
	list = file_text(m->sys, fds[1], SIZE_MAX);
	(void)sys_close(m->sys, fds[1]);
	r = list ? parse_socket_list(list, to) : -ERR_SYS;
	mem_free(list);
	return r;
}

int
master_link_keep(struct master_link *m, const char *key, int fd, int is_new)
{
	char text[MASTER_LINK_MSG_MAX];
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = text };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	long r;

	if (is_new) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		iov.iov_len = (size_t)snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", key);
	} else {
		iov.iov_len = (size_t)snprintf(text, sizeof(text), "X_USES=%d", fd);
	}
	r = sys_sendmsg(m->sys, m->fd, &msg, MSG_NOSIGNAL);
	return r < 0 ? (int)r : 0;
}

void
master_link_given(struct master_link *m, const char *key)
{
	char text[MASTER_LINK_MSG_MAX];
	int n = snprintf(text, sizeof(text), "X_GIVEN=%s", key);

	(void)sys_sendto(m->sys, m->fd, text, (size_t)n, MSG_NOSIGNAL);
}

void
master_link_restore_stderr(struct master_link *m)
{
	if (m->stderr_fd < 0)
		return;
	(void)sys_dup2(m->sys, m->stderr_fd, 2);
	(void)sys_close(m->sys, m->stderr_fd);
	m->stderr_fd = -1;
}

static void
pass_lines(struct master_link *m, char *text)
{
	for (char *nl; text; text = nl ? nl + 1 : NULL) {
		nl = strchr(text, '\n');
		if (nl)
			*nl = '\0';
		if (*text)
			m->fn(m->owner, text);
	}
}

/* Gives the worker process MASTER_LINK_END_S to end by itself: the next SIGALRM ends it. */
static void
on_end_of_master(int sig)
{
	(void)sig;
	(void)sys_linux.alarm(NULL, MASTER_LINK_END_S);
}

int
master_link_end_with(struct master_link *m)
{
	struct sigaction sa = { .sa_handler = on_end_of_master,
		.sa_flags = SA_RESTART | (int)SA_RESETHAND };
	long r = sys_rt_sigaction(m->sys, SIGALRM, &sa);

	if (r >= 0)
		r = sys_prctl(m->sys, PR_SET_PDEATHSIG, SIGALRM);
	return r < 0 ? (int)r : 0;
}

/* The descriptor that came with a message; -1: none. */
static int
fd_of_message(struct msghdr *h)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Reads a message; m->passed_fd is its descriptor. Returns its length, 0 at the end, or -errno. */
static long
read_message(struct master_link *m, char text[MASTER_LINK_MSG_MAX + 1])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = text, .iov_len = MASTER_LINK_MSG_MAX };
	struct mmsghdr msg = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int)) } };
	long r = sys_recvmmsg(m->sys, m->fd, &msg, 1, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (r <= 0 || msg.msg_len == 0)
		return r < 0 ? r : 0;
	text[msg.msg_len] = '\0';
	m->passed_fd = fd_of_message(&msg.msg_hdr);
	return (long)msg.msg_len;
}

void
master_link_read(struct master_link *m)
{
	char text[MASTER_LINK_MSG_MAX + 1];
	long r;

	if (!m->loop)
		return;
	while ((r = read_message(m, text)) > 0) {
		pass_lines(m, text);
		if (m->passed_fd >= 0)
			(void)sys_close(m->sys, m->passed_fd);
		m->passed_fd = -1;
	}
	if (r == -EAGAIN) {
		loop_again(m->loop, m->fd, DIR_R);
		return;
	}
	master_link_close(m);
	m->fn(m->owner, NULL);
}

static void
on_master(void *owner, int fd, uint32_t ev)
{
	struct master_link *m = owner;

	(void)ev;
	loop_progress(m->loop, fd);
	master_link_read(m);
}

int
master_link_open(struct master_link *m, struct loop *l, master_link_fn *fn, void *owner)
{
	long flags = sys_fcntl(m->sys, m->fd, F_GETFL, 0);
	int r;

	if (flags < 0 || (flags = sys_fcntl(m->sys, m->fd, F_SETFL, flags | O_NONBLOCK)) < 0)
		return (int)flags;
	r = loop_add(l, m->fd, LOOP_CONN, on_master, m);
	if (r)
		return r;
	m->loop = l;
	m->fn = fn;
	m->owner = owner;
	loop_want(l, m->fd, EV_R);
	return 0;
}

void
master_link_close(struct master_link *m)
{
	if (m->loop)
		loop_detach(m->loop, m->fd);
	m->loop = NULL;
}

void
master_link_fini(struct master_link *m)
{
	master_link_close(m);
	master_link_restore_stderr(m);
	if (m->fd >= 0)
		(void)sys_close(m->sys, m->fd);
	m->fd = -1;
}
