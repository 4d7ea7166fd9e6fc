/* Commands of the master's socket that worker processes answer (@1, @!<pid>). Master process, one
 * thread; nothing waits for a worker process, and a slow client stops the reading of its answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "app/process/cli_line.h"
#include "app/process/master_link.h"
#include "base/err.h"

/* --- the target process --- */

/* One that serves or still has sessions: others do not read commands. */
static struct worker_process *
find_serving(const struct master *m, pid_t pid)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state != WORKER_STARTING && w->own.pid == pid && w->own.fd >= 0)
			return w;
	}
	return NULL;
}

/* Parses the text behind the @: nothing and "master" are the master, a number is relative, and only
 * the current process has one; ! and a pid is any process. */
int
master_cli_target(const struct master *m, const char *prefix, pid_t *pid)
{
	const struct worker_process *current;
	char *end;
	long n;

	*pid = 0;
	if (!*prefix || strcmp(prefix, "master") == 0)
		return 0;
	n = strtol(prefix + (*prefix == '!'), &end, 10);
	if (*end || n <= 0 || n > INT32_MAX)
		return -ERR_UNKNOWN;
	if (*prefix != '!') {
		current = n == 1 ? master_find_worker(m, WORKER_CURRENT) : NULL;
		if (current)
			*pid = current->own.pid;
		return *pid ? 0 : -ERR_UNKNOWN;
	}
	if (n == sys_getpid(m->sys))
		return 0;
	*pid = (pid_t)n;
	return find_serving(m, *pid) ? 0 : -ERR_UNKNOWN;
}

/* --- the dialogue --- */

void
master_cli_end_relay(struct master_conn *c)
{
	if (c->is_relaying)
		conn_close(&c->relay);
	c->is_relaying = 0;
	sbuf_fini(&c->ask);
	c->asked = 0;
}

/* Sends nothing, which fails only if the other end of a unix socket is closed: a client that has
 * only ended its side still reads. The end of a TCP connection shows when something is sent. */
int
master_cli_has_client(const struct master_conn *c)
{
	return sys_sendto(c->master->sys, c->conn.fd, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* As much as the client takes. */
static void
read_answer(struct master_conn *c)
{
	char buf[4096];
	size_t got;

	while (c->is_relaying && c->out.len - c->sent < MASTER_CLI_AHEAD &&
		loop_is_ready(c->relay.loop, c->relay.fd, DIR_R)) {
		enum io_result r = conn_recv(&c->relay, buf, sizeof(buf), &got);

		if (r == IO_AGAIN)
			return;
		if (r != IO_OK)
			master_cli_end_relay(c);
		else
			sbuf_add(&c->out, buf, got);
	}
}

/* A worker process that refuses the rest has answered why. */
static void
send_command(struct master_conn *c)
{
	if (conn_send_sbuf(&c->relay, &c->ask, &c->asked) != IO_ERR)
		return;
	sbuf_reset(&c->ask);
	c->asked = 0;
}

void
master_cli_settle_relay(struct master_conn *c)
{
	unsigned int dirs = 0;

	send_command(c);
	read_answer(c);
	if (!c->is_relaying)
		return;
	if (c->asked < c->ask.len)
		dirs = EV_W;
	if (c->out.len - c->sent < MASTER_CLI_AHEAD)
		dirs |= EV_R;
	loop_want(c->relay.loop, c->relay.fd, dirs);
}

static void
on_relay(void *owner, int fd, uint32_t ev)
{
	struct master_conn *c = owner;

	(void)ev;
	loop_progress(c->master->loop, fd);
	master_cli_serve(c);
}

/* Passes one end of a connection to the worker process, which serves it as its own socket does. */
static int
pass_connection(const struct master_conn *c, const struct worker_process *w, int fd)
{
	char text[64];

	(void)snprintf(text, sizeof(text), MASTER_CLI "%u,%u,%u", (unsigned int)c->level, c->modes,
		(unsigned int)c->severity);
	return (int)master_send_fd(w, text, fd);
}

int
master_cli_give_away(struct master_conn *c)
{
	const struct worker_process *w = master_find_worker(c->master, WORKER_CURRENT);
	int fd, r = w ? (int)master_send_fd(w, MASTER_GETSOCKS, c->conn.fd) : -ERR_UNKNOWN;

	if (r < 0)
		return r;
	fd = conn_take_fd(&c->conn);
	(void)sys_close(c->master->sys, fd);
	return 0;
}

/* 0 or -ERR_NOMEM. */
static int
make_command(struct master_conn *c, const char *text, const char *payload)
{
	struct sbuf *b = &c->ask;

	sbuf_init(b, 0);
	sbuf_addf(b, "%s%s\n", text, payload ? "<<" : "");
	if (payload) {
		sbuf_adds(b, payload);
		sbuf_adds(b, "\n");
	}
	return b->failed ? -ERR_NOMEM : 0;
}

int
master_cli_relay(struct master_conn *c, pid_t pid, const char *text, const char *payload)
{
	const struct worker_process *w = find_serving(c->master, pid);
	struct sys *sys = c->master->sys;
	int ends[2];
	int r;

	if (!w)
		return -ERR_UNKNOWN;
	r = (int)sys_socketpair(sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
	if (r < 0)
		return r;
	r = pass_connection(c, w, ends[1]);
	(void)sys_close(sys, ends[1]);
	if (r >= 0)
		r = make_command(c, text, payload);
	if (r >= 0)
		r = conn_open(&c->relay, c->master->loop, ends[0], on_relay, c, CONN_UNIX);
	if (r < 0) {
		(void)sys_close(sys, ends[0]);
		master_cli_end_relay(c);
		return r;
	}
	c->is_relaying = 1;
	return 0;
}
