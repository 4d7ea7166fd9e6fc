#include "app/process/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "event/loop.h"
#include "event/poller.h"
#include "net/conn.h"
#include "net/listener.h"

static const char answer[] =
	"HTTP/1.1 200 OK\r\nServer: tacit-demo-origin\r\nContent-Type: text/plain\r\n"
	"Content-Length: 60\r\nConnection: close\r\n\r\n"
	"Hello. This page came through tacit from its built-in page.\n";

struct origin {
	struct sys *sys;
	struct loop *loop;
	struct listener listener;
	struct bind_conf bind;
	struct list conns;
	unsigned int n;
	int watch_fd; /* ends when the parent goes */
	int stop;
};

enum exchange_state { EXCHANGE_REQUEST, EXCHANGE_ANSWER, EXCHANGE_DRAIN };

struct exchange {
	struct list link;
	struct origin *o;
	struct conn conn;
	struct timer timer;
	enum exchange_state state;
	size_t sent;
	unsigned int seen;    /* bytes of the request so far */
	unsigned int matched; /* of "\r\n\r\n" */
};

static void
finish(struct exchange *x)
{
	struct origin *o = x->o;

	timer_stop(loop_timers(o->loop), &x->timer);
	conn_close(&x->conn);
	list_remove(&x->link);
	mem_free(x);
	o->n--;
	listener_release(&o->listener);
}

static void
on_timeout(struct timer *t)
{
	finish(container_of(t, struct exchange, timer));
}

/* Has the blank line that ends the head come? */
static int
is_whole(struct exchange *x, const char *p, size_t n)
{
	static const char end[] = "\r\n\r\n";

	for (size_t i = 0; i < n && x->matched < 4; i++) {
		if (p[i] == end[x->matched])
			x->matched++;
		else
			x->matched = p[i] == '\r';
	}
	x->seen += (unsigned int)n;
	return x->matched == 4;
}

/* One step; 1 while there may be more to do at once, 0 to wait, -1 when it is over. */
static int
step(struct exchange *x)
{
	char buf[4096];
	size_t n = 0;
	enum io_result r;

	if (x->state == EXCHANGE_ANSWER) {
		r = conn_send(&x->conn, answer + x->sent, sizeof(answer) - 1 - x->sent, 1, &n);
		if (r != IO_OK)
			return r == IO_AGAIN ? 0 : -1;
		x->sent += n;
		if (x->sent < sizeof(answer) - 1)
			return 0;
		conn_shut(&x->conn);
		x->state = EXCHANGE_DRAIN;
		return 1;
	}
	r = conn_recv(&x->conn, buf, sizeof(buf), &n);
	if (r != IO_OK)
		return r == IO_AGAIN ? 0 : -1;
	if (x->state == EXCHANGE_REQUEST && is_whole(x, buf, n))
		x->state = EXCHANGE_ANSWER;
	return x->state == EXCHANGE_REQUEST && x->seen > ORIGIN_REQUEST_MAX ? -1 : 1;
}

static void
on_ready(void *owner, int fd, uint32_t ev)
{
	struct exchange *x = owner;
	int more = ev & EV_SPIN ? -1 : 1;

	for (int i = 0; i < 8 && more > 0; i++) {
		enum dir d = x->state == EXCHANGE_ANSWER ? DIR_W : DIR_R;

		loop_want(x->o->loop, fd, d == DIR_W ? EV_W : EV_R);
		if (!x->conn.eof && !loop_is_ready(x->o->loop, fd, d))
			return;
		more = step(x);
	}
	if (more < 0)
		finish(x);
}

static void
on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct origin *o = ln->owner;
	struct exchange *x = o->n < ORIGIN_CONNS_MAX ? mem_zalloc(sizeof(*x)) : NULL;

	(void)peer;
	if (!x || conn_open(&x->conn, o->loop, fd, on_ready, x, CONN_TCP_NODELAY)) {
		mem_free(x);
		(void)sys_close(o->sys, fd);
		listener_release(ln);
		return;
	}
	x->o = o;
	o->n++;
	list_append(&o->conns, &x->link);
	timer_init(&x->timer, on_timeout);
	loop_want(o->loop, fd, EV_R);
	if (timer_set(loop_timers(o->loop), &x->timer, loop_now_ms(o->loop) + ORIGIN_TIMEOUT_MS))
		finish(x);
}

static void
on_parent_gone(void *owner, int fd, uint32_t ev)
{
	struct origin *o = owner;

	(void)fd;
	(void)ev;
	o->stop = 1;
}

static int
open_all(struct origin *o, const struct addr *at, char *why, size_t why_len)
{
	struct loop_config lc = { .poller = &poller_epoll, .mode = INTEREST_MERGED, .lazy = 1,
				  .max_fd = ORIGIN_CONNS_MAX + 64, .max_events = 64 };
	int r = 0;

	list_init(&o->bind.listeners);
	list_init(&o->conns);
	o->bind.uid = (uid_t)-1;
	o->bind.gid = (gid_t)-1;
	listener_init(&o->listener, &o->bind);
	o->listener.addr = *at;
	o->listener.owner = o;
	o->listener.on_accept = on_accept;
	o->listener.max_accept = 64;
	o->listener.nodelay = 1;
	r = listener_bind(&o->listener, o->sys, 1024, why, why_len);
	if (r)
		return r;
	o->loop = loop_new(o->sys, &lc, &r);
	if (!o->loop)
		return r;
	r = loop_add(o->loop, o->watch_fd, LOOP_CONN, on_parent_gone, o);
	if (r)
		return r;
	loop_want(o->loop, o->watch_fd, EV_R);
	loop_again(o->loop, o->watch_fd, DIR_R);
	return listener_start(&o->listener, o->loop);
}

/* The child's whole life. ready_fd gets one byte once it listens, nothing otherwise. */
static void
serve(struct origin *o, const struct global_conf *g, const struct report *report, int ready_fd)
{
	const struct cfg_where *at = &g->demo_origin_where;
	char why[256] = "";
	int r = open_all(o, &g->demo_origin, why, sizeof(why));

	if (r)
		report_msg(report, REPORT_ALERT, "demo-origin [%s:%u]: %s",
			at->file ? at->file->name : "-", at->line, why[0] ? why : err_text(r));
	else
		(void)sys_write(o->sys, ready_fd, "", 1);
	(void)sys_close(o->sys, ready_fd);
	while (!r && !o->stop) {
		r = loop_turn(o->loop, -1);
		if (r == -EINTR)
			r = 0;
	}
	list_each_safe(it, &o->conns)
		finish(list_entry(it, struct exchange, link));
	if (o->listener.fd >= 0)
		listener_close(&o->listener, o->sys);
	if (o->loop) {
		loop_forget(o->loop, o->watch_fd);
		loop_free(&o->loop);
	}
}

int
origin_spawn(struct sys *sys, const struct global_conf *g, const struct report *report, int *fd)
{
	struct origin o = { .sys = sys };
	int life[2] = { -1, -1 }, ready[2] = { -1, -1 };
	char byte;
	long r;

	*fd = -1;
	if (!g->demo_origin.len)
		return 0;
	r = sys_pipe2(sys, life, O_CLOEXEC);
	if (r >= 0)
		r = sys_pipe2(sys, ready, O_CLOEXEC);
	if (r >= 0)
		r = sys_clone(sys);
	if (r < 0) {
		for (int i = 0; i < 2; i++) {
			if (life[i] >= 0)
				(void)sys_close(sys, life[i]);
			if (ready[i] >= 0)
				(void)sys_close(sys, ready[i]);
		}
		report_msg(report, REPORT_ALERT, "demo-origin: %s", err_text((int)r));
		return (int)r;
	}
	if (r == 0) {
		(void)sys_close(sys, life[1]);
		(void)sys_close(sys, ready[0]);
		o.watch_fd = life[0];
		serve(&o, g, report, ready[1]);
		(void)sys_close(sys, life[0]);
		return ORIGIN_ENDED;
	}
	(void)sys_close(sys, life[0]);
	(void)sys_close(sys, ready[1]);
	*fd = life[1];
	r = sys_read(sys, ready[0], &byte, 1);
	(void)sys_close(sys, ready[0]);
	return r == 1 ? 0 : -ERR_SYS;
}
