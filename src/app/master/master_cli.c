/* Connections of the master's socket, from accept to close. Master process, one thread. */
#include "app/master/master_cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "app/master/master.h"
#include "app/process/cli_line.h"
#include "base/err.h"
#include "base/mem.h"

static void
end_master_conn(struct master_conn *c)
{
	if (c->gone)
		return;
	c->gone = 1;
	timer_stop(loop_timers(c->master->loop), &c->timer);
	loop_post_end(c->master->loop, &c->end);
}

static void
free_master_conn(struct master_conn *c)
{
	struct master_cli *cli = &c->master->cli;

	timer_stop(loop_timers(c->master->loop), &c->timer);
	master_cli_end_relay(c);
	conn_close(&c->conn);
	sbuf_fini(&c->in);
	sbuf_fini(&c->out);
	list_remove(&c->link);
	cli->n--;
	listener_release(&cli->listener);
	mem_free(c);
}

static void
on_conn_end(struct task *t)
{
	free_master_conn(container_of(t, struct master_conn, end));
}

/* Ends an idle connection. A reload, or a command that a worker process answers, may take long:
 * then the connection ends only if the client has closed it, or does not read its answer. */
static void
on_conn_idle(struct timer *t)
{
	struct master_conn *c = container_of(t, struct master_conn, timer);
	struct loop *l = c->master->loop;

	if (!c->is_relaying || c->sent < c->out.len || !master_cli_has_client(c) ||
		timer_set(loop_timers(l), t, loop_now_ms(l) + MASTER_CLI_IDLE_MS))
		end_master_conn(c);
}

static void
send_answers(struct master_conn *c)
{
	if (!c->gone && conn_send_sbuf(&c->conn, &c->out, &c->sent) == IO_ERR)
		end_master_conn(c);
}

static void
fail_line(struct master_conn *c, const char *why)
{
	master_cli_end_relay(c);
	c->has_line = 0;
	c->quit = 1;
	if (c->out.failed) {
		sbuf_reset(&c->out);
		c->sent = 0;
	}
	sbuf_adds(&c->out, why);
}

/* The length of the next line with its payload; 0: it is incomplete, or too long. */
static size_t
find_line(struct master_conn *c)
{
	size_t len = cli_line_len(c->in.p, c->in.len, c->conn.eof, &c->scan);

	if (cli_line_is_long(c->in.p, c->in.len, len)) {
		fail_line(c, "Command line too long\n\n");
		return 0;
	}
	return len;
}

/* 0: there is no more for now. */
static int
read_master_input(struct master_conn *c)
{
	char buf[CLI_READ_CHUNK];
	size_t got;
	enum io_result r;

	if (c->conn.eof || !loop_is_ready(c->conn.loop, c->conn.fd, DIR_R))
		return 0;
	r = conn_recv(&c->conn, buf, sizeof(buf), &got);
	if (r == IO_ERR)
		end_master_conn(c);
	if (r == IO_OK) {
		sbuf_add(&c->in, buf, got);
		explicit_bzero(buf, got);
	}
	if (c->in.failed)
		fail_line(c, "Out of memory\n\n");
	return r == IO_OK || (r == IO_EOF && c->in.len);
}

/* The next line becomes the current one. Bytes behind it stay in the socket, however many:
 * 0: there is none yet. */
static int
take_master_line(struct master_conn *c)
{
	size_t len;

	while (!(len = find_line(c)))
		if (c->quit || !read_master_input(c) || c->gone)
			return 0;
	master_cli_begin(c, len);
	return 1;
}

static int
is_waiting(const struct master_conn *c)
{
	return c->waits_for || c->is_relaying;
}

/* Without a prompt a connection is for one line. */
static void
run_master_lines(struct master_conn *c)
{
	while (!c->gone && !c->quit && !is_waiting(c)) {
		if (!c->has_line && !take_master_line(c))
			return;
		master_cli_continue(c);
		if (c->has_line)
			return;
		if (!c->prompt && !c->waits_for)
			c->quit = 1;
		cli_line_drop(&c->in, c->line_len, &c->scan);
	}
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
		if (r != IO_OK) {
			master_cli_end_relay(c);
			return;
		}
		sbuf_add(&c->out, buf, got);
		explicit_bzero(buf, got);
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

/* Takes the received part of the answer; c->is_relaying 0: it was the last. */
static void
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

/* Continues until it has to wait for the client or for an answer. */
static void
advance_client(struct master_conn *c)
{
	do {
		if (c->is_relaying)
			master_cli_settle_relay(c);
		run_master_lines(c);
		if (c->out.failed)
			fail_line(c, "Out of memory or answer too large\n\n");
		send_answers(c);
		if (c->is_relaying)
			master_cli_settle_relay(c);
	} while (!c->gone && !c->quit && c->has_line && !is_waiting(c) && c->sent == c->out.len);
}

/* Discards input until the client closes. */
static void
linger_on(struct master_conn *c)
{
	if (conn_discard(&c->conn))
		end_master_conn(c);
	else
		conn_want(&c->conn, EV_R);
}

/* A close resets a TCP connection whose client sends more, and then it loses what it has not
 * received yet. */
static void
finish_master_conn(struct master_conn *c)
{
	struct loop *l = c->master->loop;

	if (addr_family(&c->master->cli.listener.addr) == AF_UNIX || c->conn.fd < 0 ||
		c->conn.eof || c->conn.err ||
		timer_set(loop_timers(l), &c->timer, loop_now_ms(l) + MASTER_CLI_LINGER_MS)) {
		end_master_conn(c);
		return;
	}
	c->is_lingering = 1;
	conn_shut(&c->conn);
	linger_on(c);
}

/* Reads and sends what is there. */
static void
master_cli_serve(struct master_conn *c)
{
	struct loop *l = c->master->loop;
	int has_output, waits;

	if (c->gone)
		return;
	if (c->is_lingering) {
		linger_on(c);
		return;
	}
	advance_client(c);
	waits = is_waiting(c);
	has_output = c->sent < c->out.len;
	if (c->gone)
		return;
	if (!has_output && !waits && (c->quit || c->conn.eof)) {
		finish_master_conn(c);
		return;
	}
	loop_want(l, c->conn.fd, has_output ? EV_W : waits ? 0 : EV_R);
	/* A reload may take its time. */
	if (timer_set(loop_timers(l), &c->timer,
		    c->waits_for ? TIMER_NEVER : loop_now_ms(l) + MASTER_CLI_IDLE_MS))
		end_master_conn(c);
}

static void
on_master_conn(void *owner, int fd, uint32_t ev)
{
	struct master_conn *c = owner;

	if (c->gone)
		return;
	loop_progress(c->master->loop, fd);
	if (ev & EV_SPIN)
		end_master_conn(c);
	else
		master_cli_serve(c);
}

/* True if a client is refused: the kernel knows which process has connected. Only a worker process
 * whose configuration permits it may: an attacker in another one must not control all processes. */
static int
is_refused(const struct master *m, int fd)
{
	struct ucred other = { 0 };
	socklen_t len = sizeof(other);
	struct worker_process *w;

	if (sys_getsockopt(m->sys, fd, SOL_SOCKET, SO_PEERCRED, &other, &len) < 0)
		return 1;
	w = master_find_pid(m, other.pid);
	if (!w || w->asks_master)
		return 0;
	if (!w->was_refused)
		report_msg(m->report, REPORT_WARNING,
			"worker (%d) connects to the master's socket, and is refused",
			(int)other.pid);
	w->was_refused = 1;
	return 1;
}

static void
on_master_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct master *m = ln->owner;
	struct master_conn *c = is_refused(m, fd) ? NULL : mem_zalloc(sizeof(*c));

	(void)peer;
	if (!c || conn_open(&c->conn, m->loop, fd, on_master_conn, c, CONN_UNIX) < 0) {
		mem_free(c);
		(void)sys_close(m->sys, fd);
		listener_release(ln);
		return;
	}
	c->master = m;
	c->level = ln->bind->level;
	c->severity = ln->bind->severity;
	sbuf_init_secret(&c->in, CLI_INPUT_MAX);
	sbuf_init_secret(&c->out, MASTER_CLI_OUT);
	timer_init(&c->timer, on_conn_idle);
	task_init(&c->end, on_conn_end);
	list_append(&m->cli.conns, &c->link);
	m->cli.n++;
	loop_want(m->loop, fd, EV_R);
	if (timer_set(loop_timers(m->loop), &c->timer,
		    loop_now_ms(m->loop) + MASTER_CLI_IDLE_MS))
		end_master_conn(c);
}

/* Answers those that wait for it. */
static void
answer_reload(struct master *m, unsigned int number, int success)
{
	list_each(it, &m->cli.conns) {
		struct master_conn *c = list_entry(it, struct master_conn, link);

		if (c->gone || !c->waits_for || c->waits_for > number)
			continue;
		sbuf_addf(&c->out, "Success=%d\n--\n%s\n", success,
			m->startup_log ? m->startup_log : "");
		c->waits_for = 0;
		c->quit = 1;
		master_cli_serve(c);
	}
}

static void
accept_all(struct master *m)
{
	struct listener *ln = &m->cli.listener;
	long fd = 0;

	while (ln->loop && ln->fd >= 0 && (fd >= 0 || fd == -ECONNABORTED)) {
		struct addr peer = { .len = sizeof(peer.u) };

		fd = sys_accept4(m->sys, ln->fd, &peer.u.sa, &peer.len,
			SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			listener_take(ln, (int)fd, &peer);
	}
}

int
master_cli_bind(struct master *m, char *why, size_t len)
{
	struct listener *ln = &m->cli.listener;

	list_init(&m->cli.conns);
	m->cli.on_reload = answer_reload;
	m->cli.accept_all = accept_all;
	m->cli.serve = master_cli_serve;
	if (!m->cli.bind)
		return 0;
	m->cli.bind->maxconn = MASTER_CLI_CONNS;
	ln->owner = m;
	ln->on_accept = on_master_accept;
	return listener_bind(ln, m->sys, MASTER_CLI_CONNS, why, len);
}

int
master_cli_start(struct master *m)
{
	return m->cli.bind ? listener_start(&m->cli.listener, m->loop) : 0;
}

void
master_cli_close(struct master *m)
{
	if (!m->cli.bind)
		return;
	list_each_safe(it, &m->cli.conns) {
		struct master_conn *c = list_entry(it, struct master_conn, link);

		task_cancel(&c->end);
		free_master_conn(c);
	}
	listener_unlink(&m->cli.listener, m->sys);
	listener_close(&m->cli.listener, m->sys);
}
