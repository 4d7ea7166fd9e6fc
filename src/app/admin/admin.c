/* The admin service: its connections, from accept to close. The commands are in admin_*.c. */
#include "app/admin/admin.h"

#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/info.h"
#include "app/process/cli_line.h"
#include "base/mem.h"
#include "event/profile.h"
#include "proxy/model/byte_count.h"

static void on_io(void *owner, int fd, uint32_t ev);
static void resume_conn(struct admin_conn *c);

static void
end_conn(struct admin_conn *c)
{
	if (c->state == ADMIN_CLOSED)
		return;
	c->state = ADMIN_CLOSED;
	timer_stop(loop_timers(c->admin->worker->loop), &c->timer);
	loop_post_end(c->admin->worker->loop, &c->end);
}

static void
hold_all(struct admin *a, int hold)
{
	list_each(b, &a->process->cfg->global.admin_binds) {
		list_each(it, &list_entry(b, struct bind_conf, link)->listeners) {
			struct listener *ln = list_entry(it, struct listener, link);

			if (ln->state == LISTENER_CLOSED)
				continue;
			if (hold)
				listener_hold(ln, LISTENER_HOLD_FRONTEND);
			else
				listener_resume(ln, LISTENER_HOLD_FRONTEND);
		}
	}
}

static void
free_conn(struct admin_conn *c)
{
	struct admin *a = c->admin;

	conn_close(&c->conn);
	admin_abandon_line(c);
	sbuf_fini(&c->in);
	sbuf_fini(&c->out);
	list_remove(&c->link);
	if (!c->listener) {
		mem_free(c);
		return;
	}
	listener_release(c->listener);
	mem_free(c);
	if (a->n-- == (unsigned int)a->process->cfg->global.stats_maxconn)
		hold_all(a, 0);
}

/* A connection in use by a worker is freed when it is returned. */
static void
on_end(struct task *t)
{
	struct admin_conn *c = container_of(t, struct admin_conn, end);

	if (!c->ask.worker)
		free_conn(c);
}
PROFILE_NAME(on_end, admin_end)

/* True if it waits for a time, or for a call. A client that does not read its output has to take
 * that first, for as long as it may be idle. */
static int
is_paused(const struct admin_conn *c)
{
	return c->wake_ms && c->sent == c->out.len;
}

static void
on_timer(struct timer *t)
{
	struct admin_conn *c = container_of(t, struct admin_conn, timer);

	if (is_paused(c))
		resume_conn(c);
	else
		end_conn(c);
}
PROFILE_NAME(on_timer, admin_timer)

/* Sends pending output. 0 when all was sent, 1 when the peer is slow. */
static int
admin_flush(struct admin_conn *c)
{
	size_t len = c->out.len, before = c->sent;
	enum io_result r = conn_send_sbuf(&c->conn, &c->out, &c->sent);

	engine_count_sent(&c->admin->worker->engine, (r == IO_OK ? len : c->sent) - before);
	if (r == IO_ERR)
		end_conn(c);
	return r != IO_OK;
}

/* Discards what the client has sent during a walk that this stops. 1: the client is gone. */
static int
admin_heed_input(struct admin_conn *c)
{
	char ignored[512];
	size_t got;

	if (!c->walk.stops_on_input)
		return 0;
	while (!c->conn.eof && loop_is_ready(c->conn.loop, c->conn.fd, DIR_R)) {
		switch (conn_recv(&c->conn, ignored, sizeof(ignored), &got)) {
		case IO_OK:
			c->walk.is_stopped = 1;
			break;
		case IO_AGAIN:
			return 0;
		case IO_EOF:
			break;
		case IO_ERR:
			return 1;
		}
	}
	if (c->conn.eof || c->in.len > c->line_len)
		c->walk.is_stopped = 1;
	if (c->walk.is_stopped)
		c->in.len = c->line_len;
	return 0;
}

static size_t
command_len(struct admin_conn *c)
{
	return cli_line_len(c->in.p, c->in.len, c->conn.eof, &c->scan);
}

/* In interactive mode each payload line gets a prompt. */
static void
prompt_payload(struct admin_conn *c)
{
	if (!c->prompt)
		return;
	for (; c->plus < c->scan.lines; c->plus++)
		sbuf_adds(&c->out, "+ ");
}

/* The first `len` bytes of the input are a command. */
static void
begin_command(struct admin_conn *c, size_t len)
{
	if (c->scan.payload) {
		prompt_payload(c);
		c->plus = 0;
	}
	c->admin->lines++;
	c->line_len = len;
	admin_begin_line(c, c->in.p, cli_line_begin(c->in.p, len, c->scan.payload));
}

/* The next line of the input; 0: incomplete. */
static int
take_line(struct admin_conn *c)
{
	size_t len = command_len(c);

	if (len)
		begin_command(c, len);
	else if (c->scan.payload)
		prompt_payload(c);
	return len > 0;
}

static void
end_line(struct admin_conn *c)
{
	cli_line_drop(&c->in, c->line_len, &c->scan);
	c->line_len = 0;
	if (!c->prompt || c->quit)
		c->state = ADMIN_CLOSING;
}

/* A slice of a long response is incomplete: nothing of it has been sent. */
static int
is_filling_slice(const struct admin_conn *c)
{
	return c->line && !c->wake_ms && c->sent == 0 && c->out.len < ADMIN_SLICE;
}

/* Produces a part of a long response per turn, and waits after each slice until the client has read
 * it. */
static void
run_lines(struct admin_conn *c)
{
	while (c->state == ADMIN_READING) {
		if (!c->line && !take_line(c)) {
			(void)admin_flush(c);
			return;
		}
		admin_run_line(c);
		if (c->ask.worker)
			return;
		if (c->wake_ms) {
			(void)admin_flush(c);
			return;
		}
		if (c->out.failed) {
			sbuf_reset(&c->out);
			sbuf_adds(&c->out, "Out of memory or answer too large\n\n");
			admin_abandon_line(c);
			c->quit = 1;
		}
		if (!c->line)
			end_line(c);
		if (is_filling_slice(c) || admin_flush(c) || c->line)
			return;
	}
}

/* True if a command is complete, or longer than one may be: then the connection has its error. */
static int
find_admin_command(struct admin_conn *c)
{
	size_t len = command_len(c);

	if (!c->in.failed && !cli_line_is_long(c->in.p, c->in.len, len))
		return len > 0;
	sbuf_adds(&c->out, c->in.failed ? "Out of memory\n\n" : "Command line too long\n\n");
	c->state = ADMIN_CLOSING;
	return 1;
}

/* Up to the next complete command: later ones may wait in the socket, whatever their number. The
 * current line has pointers into the input, so there must be none. */
static void
read_input(struct admin_conn *c)
{
	char buf[CLI_READ_CHUNK];
	size_t got;

	assert(!c->line);
	while (c->state == ADMIN_READING && !find_admin_command(c) && !c->conn.eof &&
		loop_is_ready(c->conn.loop, c->conn.fd, DIR_R)) {
		switch (conn_recv(&c->conn, buf, sizeof(buf), &got)) {
		case IO_OK:
			sbuf_add(&c->in, buf, got);
			explicit_bzero(buf, got);
			break;
		case IO_AGAIN:
		case IO_EOF:
			return;
		case IO_ERR:
		default:
			end_conn(c);
			return;
		}
	}
}

/* When it continues, or has been idle for too long. */
static uint64_t
next_timer(const struct admin_conn *c)
{
	if (is_paused(c))
		return c->wake_ms;
	return c->timeout_ms ? loop_now_ms(c->admin->worker->loop) + c->timeout_ms : TIMER_NEVER;
}

/* Returns the directions to watch while nothing is to be read or written: the end of the connection
 * has to be noticed, but bytes that the client has sent already must not wake the loop. */
static unsigned int
dirs_of_pause(const struct admin_conn *c)
{
	int is_heard = c->walk.stops_on_input ||
		(c->wake_ms && !loop_is_ready(c->conn.loop, c->conn.fd, DIR_R));

	return is_heard ? EV_R : 0;
}

/* True if its client has closed both directions during a pause: the rest is not sent. */
static int
has_left(const struct admin_conn *c)
{
	return c->wake_ms && (loop_seen(c->conn.loop, c->conn.fd) & EV_HUP);
}

/* True if a close would reset the connection should its client send more, and it would lose what it
 * has not received yet. */
static int
may_reset(const struct admin_conn *c)
{
	int family = c->listener ? addr_family(&c->listener->addr) : AF_UNIX;

	return (family == AF_INET || family == AF_INET6) && c->conn.fd >= 0 && !c->conn.eof &&
		!c->conn.err;
}

/* Discards input until the client closes. */
static void
linger_on_socket(struct admin_conn *c)
{
	if (conn_discard(&c->conn))
		end_conn(c);
	else
		conn_want(&c->conn, EV_R);
}

static void
begin_to_linger(struct admin_conn *c)
{
	uint32_t ms = c->timeout_ms ? MIN(c->timeout_ms, (uint32_t)ADMIN_DRAIN_MS) : ADMIN_DRAIN_MS;
	struct loop *l = c->admin->worker->loop;

	c->state = ADMIN_LINGERING;
	conn_shut(&c->conn);
	if (timer_set(loop_timers(l), &c->timer, loop_now_ms(l) + ms) < 0)
		end_conn(c);
	else
		linger_on_socket(c);
}

/* Sets the interest, or ends the connection. A half-close by the client is no abort: its response
 * is still sent. */
static void
admin_settle(struct admin_conn *c)
{
	struct worker *w = c->admin->worker;
	unsigned int dirs = 0;

	if (c->state == ADMIN_CLOSED)
		return;
	if (c->ask.worker || is_paused(c))
		dirs = dirs_of_pause(c);
	else if (c->sent < c->out.len || c->line)
		dirs = EV_W;
	else if (c->state == ADMIN_CLOSING || c->conn.eof) {
		if (may_reset(c))
			begin_to_linger(c);
		else
			end_conn(c);
		return;
	} else {
		dirs = EV_R;
	}
	loop_want(w->loop, c->conn.fd, dirs);
	if (timer_set(loop_timers(w->loop), &c->timer, next_timer(c)) < 0)
		end_conn(c);
}

static void
resume_conn(struct admin_conn *c)
{
	if (c->state == ADMIN_LINGERING) {
		linger_on_socket(c);
		return;
	}
	if (admin_heed_input(c) || has_left(c)) {
		end_conn(c);
		return;
	}
	if (!c->ask.worker && (is_filling_slice(c) || !admin_flush(c))) {
		if (!c->line)
			read_input(c);
		else
			/* A pause in the response is not the client's inactivity. */
			loop_progress(c->conn.loop, c->conn.fd);
		run_lines(c);
		if (c->state == ADMIN_CLOSING)
			(void)admin_flush(c);
	}
	admin_settle(c);
}

void
admin_wake(struct admin_conn *c)
{
	if (c->state != ADMIN_CLOSED)
		resume_conn(c);
}

static void
on_io(void *owner, int fd, uint32_t ev)
{
	struct admin_conn *c = owner;

	(void)fd;
	if (c->state == ADMIN_CLOSED)
		return;
	if (ev & EV_SPIN)
		end_conn(c);
	else
		resume_conn(c);
}
PROFILE_NAME(on_io, admin_io)

static void
on_answer(struct admin_conn *c)
{
	if (c->state == ADMIN_CLOSED)
		loop_post_end(c->admin->worker->loop, &c->end);
	else
		resume_conn(c);
}

/* NULL: the descriptor is closed. */
static struct admin_conn *
open_admin_conn(struct admin *a, int fd)
{
	struct worker *w = a->worker;
	struct admin_conn *c = mem_zalloc(sizeof(*c));

	if (!c || conn_open(&c->conn, w->loop, fd, on_io, c, CONN_TCP_NODELAY) < 0) {
		mem_free(c);
		(void)sys_close(w->sys, fd);
		return NULL;
	}
	c->admin = a;
	c->timeout_ms = w->process->cfg->global.stats_timeout_ms;
	sbuf_init_secret(&c->in, CLI_INPUT_MAX);
	sbuf_init_secret(&c->out, ADMIN_OUT_MAX);
	timer_init(&c->timer, on_timer);
	task_init(&c->end, on_end);
	admin_ask_init(&c->ask, on_answer);
	list_append(&a->conns, &c->link);
	a->accepted++;
	return c;
}

static void
on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct admin *a = ln->owner;
	struct admin_conn *c;

	if (a->process->shared.denies_low_ports && addr_has_privileged_port(peer)) {
		listener_deny(ln, fd);
		return;
	}
	c = open_admin_conn(a, fd);
	if (!c) {
		listener_release(ln);
		return;
	}
	c->listener = ln;
	c->level = ln->bind->level;
	c->severity = ln->bind->severity;
	c->exposes_fd = ln->bind->expose_fd;
	if (++a->n >= (unsigned int)a->process->cfg->global.stats_maxconn)
		hold_all(a, 1);
	admin_settle(c);
}

/* The master bounds their number. */
static void
serve_master(struct admin *a, int fd, const struct cli_rights *rights)
{
	struct admin_conn *c = open_admin_conn(a, fd);

	if (!c)
		return;
	c->level = rights->level;
	c->modes = rights->modes;
	c->severity = rights->severity;
	admin_settle(c);
}

static struct admin *
open_service(struct worker *w)
{
	struct admin *a = mem_zalloc(sizeof(*a));

	if (!a)
		return NULL;
	a->worker = w;
	a->process = w->process;
	list_init(&a->conns);
	list_each(b, &w->process->cfg->global.admin_binds) {
		list_each(it, &list_entry(b, struct bind_conf, link)->listeners) {
			struct listener *ln = list_entry(it, struct listener, link);

			ln->owner = a;
			ln->worker = w;
			ln->on_accept = on_accept;
		}
	}
	return a;
}

/* --- drain ----------------------------------------------------------------------------------- */

/* Connections at a soft stop: a client that asks during a reload is answered. First worker. */

/* True if the connection's command is still to come. One with a prompt may be idle for hours, and
 * does not count. */
static int
is_expected(const struct admin_conn *c)
{
	return c->state == ADMIN_READING && !c->line && !c->prompt;
}

/* True if the client is owed an answer. A command that waits, for events or for a time, is cut
 * short. */
static int
is_owed(const struct admin_conn *c)
{
	if (c->state == ADMIN_CLOSED)
		return 0;
	if (c->line || c->ask.worker)
		return !c->wake_ms && !c->walk.stops_on_input;
	return c->sent < c->out.len || is_expected(c);
}

/* True while a connection is owed an answer. */
static int
admin_is_owing(const struct admin *a)
{
	list_each(it, &a->conns)
		if (is_owed(list_entry(it, const struct admin_conn, link)))
			return 1;
	return 0;
}

/* A soft stop has begun: connections get little time for what is still to come. */
static void
admin_drain(struct admin *a)
{
	struct loop *l = a->worker->loop;

	list_each(it, &a->conns) {
		struct admin_conn *c = list_entry(it, struct admin_conn, link);
		uint32_t most = is_expected(c) ? ADMIN_EXPECTED_MS : ADMIN_DRAIN_MS;

		if (c->state == ADMIN_CLOSED)
			continue;
		c->timeout_ms = c->timeout_ms ? MIN(c->timeout_ms, most) : most;
		/* A connection that waits for its time has set it already. Without memory for the
		 * timer hard-stop-after is the limit. */
		if (!c->wake_ms)
			(void)!timer_set(
				loop_timers(l), &c->timer, loop_now_ms(l) + c->timeout_ms);
	}
}

/* --- end ------------------------------------------------------------------------------------- */

/* Reports to a client that a command which waits for a time has not come to its end. */
static void
report_cut(struct admin_conn *c)
{
	if (c->state == ADMIN_CLOSED || !c->wake_ms || c->walk.stops_on_input)
		return;
	admin_msg(c, ADMIN_ERR, "The process has ended before this command.");
	(void)admin_flush(c);
}

static void
close_service(struct admin **ap)
{
	struct admin *a = *ap;

	if (!a)
		return;
	list_each_safe(it, &a->conns) {
		struct admin_conn *c = list_entry(it, struct admin_conn, link);

		report_cut(c);
		timer_stop(loop_timers(a->worker->loop), &c->timer);
		task_cancel(&c->end);
		task_cancel(&c->ask.again);
		c->ask.worker = NULL;
		free_conn(c);
	}
	mem_free(a);
	*ap = NULL;
}

const struct process_service admin_service = {
	.open = open_service, .serve = serve_master, .drain = admin_drain,
	.is_owing = admin_is_owing, .close = close_service,
	.keep = info_keep, .note = info_note
};
