/* The admin service: its connections, from accept to close. What the commands say is in
 * admin_*.c. */
#include "app/admin.h"

#include <string.h>

#include "admin_int.h"
#include "base/mem.h"

#define READ_CHUNK 4096

static void on_io(void *owner, int fd, uint32_t ev);

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
	sbuf_fini(&c->in);
	sbuf_fini(&c->out);
	list_remove(&c->link);
	listener_release(c->listener);
	mem_free(c);
	if (a->n-- == (unsigned int)a->process->cfg->global.stats_maxconn)
		hold_all(a, 0);
}

static void
on_end(struct task *t)
{
	free_conn(container_of(t, struct admin_conn, end));
}

static void
on_idle(struct timer *t)
{
	end_conn(container_of(t, struct admin_conn, timer));
}

/* Sends what is there. 0 when all of it is out, 1 when the peer is slow. */
static int
flush(struct admin_conn *c)
{
	size_t put;

	while (c->sent < c->out.len) {
		if (!loop_is_ready(c->conn.loop, c->conn.fd, DIR_W))
			return 1;
		switch (conn_send(&c->conn, c->out.p + c->sent, c->out.len - c->sent, 0, &put)) {
		case IO_OK:
			c->sent += put;
			break;
		case IO_AGAIN:
			return 1;
		case IO_EOF:
		case IO_ERR:
		default:
			end_conn(c);
			return 1;
		}
	}
	sbuf_reset(&c->out);
	c->sent = 0;
	return 0;
}

/* Takes the first line out of the input: NULL when there is none yet. At EOF the rest is a line. */
static char *
next_line(struct admin_conn *c, size_t *used)
{
	char *nl = c->in.len ? memchr(c->in.p, '\n', c->in.len) : NULL;
	size_t len;

	if (!nl && !(c->conn.eof && c->in.len))
		return NULL;
	len = nl ? (size_t)(nl - c->in.p) : c->in.len;
	*used = nl ? len + 1 : len;
	if (len && c->in.p[len - 1] == '\r')
		len--;
	c->in.p[len] = '\0';
	return c->in.p;
}

static void
run_lines(struct admin_conn *c)
{
	size_t used = 0;
	char *line;

	while (c->state == ADMIN_READING && !c->out.len && (line = next_line(c, &used)) != NULL) {
		c->admin->lines++;
		/* What it shows and changes may belong to any worker. */
		rendezvous_begin(c->admin->process);
		admin_run_line(c, line);
		rendezvous_end(c->admin->process);
		memmove(c->in.p, c->in.p + used, c->in.len - used);
		c->in.len -= used;
		if (c->out.failed) {
			sbuf_reset(&c->out);
			sbuf_adds(&c->out, "Out of memory or answer too large\n\n");
			c->quit = 1;
		}
		if (!c->prompt || c->quit)
			c->state = ADMIN_CLOSING;
		if (flush(c))
			return;
	}
}

static int
has_line(const struct admin_conn *c)
{
	return c->in.len && memchr(c->in.p, '\n', c->in.len);
}

/* Up to a line that can be run: those behind it may wait in the socket, however many they are. */
static void
read_input(struct admin_conn *c)
{
	char buf[READ_CHUNK];
	size_t got;

	while (c->state == ADMIN_READING && !c->conn.eof && !has_line(c) &&
		loop_is_ready(c->conn.loop, c->conn.fd, DIR_R)) {
		switch (conn_recv(&c->conn, buf, sizeof(buf), &got)) {
		case IO_OK:
			sbuf_add(&c->in, buf, got);
			break;
		case IO_AGAIN:
		case IO_EOF:
			return;
		case IO_ERR:
		default:
			end_conn(c);
			return;
		}
		if (c->in.failed) {
			sbuf_adds(&c->out, "Command line too long\n\n");
			c->state = ADMIN_CLOSING;
		}
	}
}

/* What to wait for next, or the end. The client's half-close is no abort: its answer is still
 * due. */
static void
settle(struct admin_conn *c)
{
	struct worker *w = c->admin->worker;
	unsigned int dirs = 0;

	if (c->state == ADMIN_CLOSED)
		return;
	if (c->sent < c->out.len)
		dirs = EV_W;
	else if (c->state == ADMIN_CLOSING || c->conn.eof) {
		end_conn(c);
		return;
	} else {
		dirs = EV_R;
	}
	loop_want(w->loop, c->conn.fd, dirs);
	if (timer_set(loop_timers(w->loop), &c->timer,
		      c->timeout_ms ? loop_now_ms(w->loop) + c->timeout_ms : TIMER_NEVER) < 0)
		end_conn(c);
}

static void
on_io(void *owner, int fd, uint32_t ev)
{
	struct admin_conn *c = owner;

	(void)fd;
	if (c->state == ADMIN_CLOSED)
		return;
	if (ev & EV_SPIN) {
		end_conn(c);
		return;
	}
	if (!flush(c)) {
		read_input(c);
		run_lines(c);
		if (c->state == ADMIN_CLOSING)
			(void)flush(c);
	}
	settle(c);
}

static void
on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct admin *a = ln->owner;
	struct worker *w = a->worker;
	struct admin_conn *c = mem_zalloc(sizeof(*c));

	(void)peer;
	if (!c || conn_open(&c->conn, w->loop, fd, on_io, c, CONN_TCP_NODELAY) < 0) {
		mem_free(c);
		(void)sys_close(w->sys, fd);
		listener_release(ln);
		return;
	}
	c->admin = a;
	c->listener = ln;
	c->level = ln->bind->level;
	c->severity = ln->bind->severity;
	c->timeout_ms = w->process->cfg->global.stats_timeout_ms;
	sbuf_init(&c->in, ADMIN_LINE_MAX);
	sbuf_init(&c->out, ADMIN_OUT_MAX);
	timer_init(&c->timer, on_idle);
	task_init(&c->end, on_end);
	list_append(&a->conns, &c->link);
	if (++a->n >= (unsigned int)w->process->cfg->global.stats_maxconn)
		hold_all(a, 1);
	settle(c);
}

struct admin *
admin_new(struct worker *w)
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

void
admin_free(struct admin **ap)
{
	struct admin *a = *ap;

	if (!a)
		return;
	list_each_safe(it, &a->conns) {
		struct admin_conn *c = list_entry(it, struct admin_conn, link);

		timer_stop(loop_timers(a->worker->loop), &c->timer);
		task_cancel(&c->end);
		free_conn(c);
	}
	mem_free(a);
	*ap = NULL;
}

unsigned int
admin_conns(const struct admin *a)
{
	return a->n;
}
