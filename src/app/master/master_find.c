/* Look-ups among worker processes. Master process, one thread. */
#include <string.h>
#include <sys/socket.h>

#include "app/master/master.h"

struct worker_process *
master_find_worker(const struct master *m, enum worker_state state)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == state)
			return w;
	}
	return NULL;
}

struct worker_process *
master_find_pid(const struct master *m, pid_t pid)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->own.pid == pid)
			return w;
	}
	return NULL;
}

/* --- sending --------------------------------------------------------------------------------- */

/* Messages of the master to worker processes with a descriptor. Master process, one thread. */

long
master_send_fd(const struct worker_process *w, const char *text, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sys_sendmsg(w->master->sys, w->own.fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}
