/* A request to an HTTP server and its response. On the first worker. */
#include "app/process/ocsp_fetch.h"

#include "base/err.h"
#include "base/mem.h"
#include "event/loop.h"
#include "http/whole.h"
#include "net/outbound.h"

static void on_fetch_timer(struct timer *t);

void
ocsp_fetch_init(struct ocsp_fetch *f, struct loop *l, ocsp_fetched_fn *on_end)
{
	f->loop = l;
	f->on_end = on_end;
	conn_init(&f->conn);
	timer_init(&f->timer, on_fetch_timer);
	sbuf_init(&f->out, 0);
	f->in = NULL;
	f->sent = f->got = 0;
}

void
ocsp_fetch_stop(struct ocsp_fetch *f)
{
	conn_close_late(&f->conn);
	timer_stop(loop_timers(f->loop), &f->timer);
	sbuf_fini(&f->out);
	sbuf_init(&f->out, 0);
	mem_free(f->in);
	f->in = NULL;
	f->sent = f->got = 0;
}

static void
end_fetch(struct ocsp_fetch *f, unsigned int status, struct str body)
{
	char *in = f->in;

	f->in = NULL;
	ocsp_fetch_stop(f);
	f->on_end(f, status, body);
	mem_free(in);
}

static void
fail_fetch(struct ocsp_fetch *f)
{
	end_fetch(f, 0, (struct str){ NULL, 0 });
}

static void
on_fetch_timer(struct timer *t)
{
	fail_fetch(container_of(t, struct ocsp_fetch, timer));
}

/* 0, or -ERR_CLOSED. */
static int
send_fetch(struct ocsp_fetch *f)
{
	enum io_result r = conn_send_sbuf(&f->conn, &f->out, &f->sent);

	if (r == IO_ERR)
		return -ERR_CLOSED;
	conn_want(&f->conn, r == IO_AGAIN ? EV_R | EV_W : EV_R);
	return 0;
}

/* 1: it has ended. */
static int
look_at_response(struct ocsp_fetch *f, int ended)
{
	struct str body = { NULL, 0 };
	unsigned int status = 0;

	switch (http_whole_response(f->in, f->got, ended, &status, &body)) {
	case HTTP_WHOLE:
		end_fetch(f, status, body);
		return 1;
	case HTTP_WHOLE_MORE:
		if (f->got < OCSP_FETCH_MAX)
			return 0;
		break;
	case HTTP_WHOLE_BAD:
		break;
	}
	fail_fetch(f);
	return 1;
}

static void
read_response(struct ocsp_fetch *f)
{
	size_t got;

	do {
		switch (conn_recv(&f->conn, f->in + f->got, OCSP_FETCH_MAX - f->got, &got)) {
		case IO_OK:
			f->got += got;
			if (look_at_response(f, 0))
				return;
			break;
		case IO_AGAIN:
			return;
		case IO_EOF:
			(void)look_at_response(f, 1);
			return;
		case IO_ERR:
			fail_fetch(f);
			return;
		}
	} while (conn_is_ready(&f->conn, DIR_R));
}

static void
on_fetch_io(void *owner, int fd, uint32_t ev)
{
	struct ocsp_fetch *f = owner;

	(void)fd;
	if ((ev & EV_SPIN) || (f->sent < f->out.len && (ev & EV_W) && send_fetch(f) < 0))
		fail_fetch(f);
	else if (ev & (EV_R | EV_RDHUP | EV_HUP | EV_ERR))
		read_response(f);
}

int
ocsp_fetch_start(struct ocsp_fetch *f, const struct addr *to, struct sbuf *request)
{
	struct outbound o = { .to = to };
	int r = -ERR_NOMEM;

	f->out = *request;
	f->in = mem_alloc(OCSP_FETCH_MAX);
	if (f->in)
		r = timer_set(loop_timers(f->loop), &f->timer,
			loop_now_ms(f->loop) + OCSP_FETCH_MS);
	if (r >= 0)
		r = outbound_open(&f->conn, f->loop, &o, on_fetch_io, f);
	if (r < 0) {
		ocsp_fetch_stop(f);
		return r;
	}
	outbound_await(&f->conn);
	return 0;
}
