/* The TCP connection to a name server. On the first worker; it is closed after any failure, and
 * opened again by the next query. */
#include "dns/stream.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/outbound.h"

#define LENGTH_SIZE 2
#define IN_SIZE (LENGTH_SIZE + 65535)

static void on_idle_stream(struct timer *t);

void
dns_stream_init(struct dns_stream *s, struct loop *l, const struct addr *to)
{
	s->loop = l;
	s->to = to;
	conn_init(&s->conn);
	timer_init(&s->idle, on_idle_stream);
	sbuf_init(&s->out, DNS_STREAM_OUT_MAX);
	s->sent = s->got = 0;
	s->in = NULL;
}

void
dns_stream_close(struct dns_stream *s)
{
	if (!s->loop)
		return;
	conn_close_late(&s->conn);
	timer_stop(loop_timers(s->loop), &s->idle);
	sbuf_fini(&s->out);
	sbuf_init(&s->out, DNS_STREAM_OUT_MAX);
	mem_free(s->in);
	s->in = NULL;
	s->sent = s->got = 0;
}

static void
on_idle_stream(struct timer *t)
{
	dns_stream_close(container_of(t, struct dns_stream, idle));
}
PROFILE_NAME(on_idle_stream, dns_stream_idle)

static int
postpone_idle(struct dns_stream *s)
{
	return timer_set(
		loop_timers(s->loop), &s->idle, loop_now_ms(s->loop) + DNS_STREAM_IDLE_MS);
}

static int
flush_stream(struct dns_stream *s)
{
	enum io_result r = conn_send_sbuf(&s->conn, &s->out, &s->sent);

	if (r == IO_ERR)
		return -ERR_CLOSED;
	conn_want(&s->conn, r == IO_AGAIN ? EV_R | EV_W : EV_R);
	return 0;
}

/* Delivers the complete messages in the buffer. The receiver may send, which may close the
 * connection, and open another one. */
static void
deliver_messages(struct dns_stream *s)
{
	int fd = s->conn.fd;

	while (s->got >= LENGTH_SIZE) {
		size_t n = LENGTH_SIZE + ((size_t)s->in[0] << 8 | s->in[1]);

		if (s->got < n)
			return;
		s->on_message(s->owner, s->in + LENGTH_SIZE, n - LENGTH_SIZE);
		if (s->conn.fd != fd)
			return;
		s->got -= n;
		memmove(s->in, s->in + n, s->got);
	}
}

static void
read_stream(struct dns_stream *s)
{
	int fd = s->conn.fd;
	size_t got;

	for (;;) {
		switch (conn_recv(&s->conn, s->in + s->got, IN_SIZE - s->got, &got)) {
		case IO_OK:
			s->got += got;
			deliver_messages(s);
			if (s->conn.fd != fd || !conn_is_ready(&s->conn, DIR_R))
				return;
			break;
		case IO_AGAIN:
			return;
		case IO_EOF:
		case IO_ERR:
			dns_stream_close(s);
			return;
		}
	}
}

static void
on_stream_io(void *owner, int fd, uint32_t ev)
{
	struct dns_stream *s = owner;

	(void)fd;
	if ((ev & EV_SPIN) || (s->sent < s->out.len && (ev & EV_W) && flush_stream(s) < 0)) {
		dns_stream_close(s);
		return;
	}
	if (ev & (EV_R | EV_RDHUP | EV_HUP | EV_ERR))
		read_stream(s);
}
PROFILE_NAME(on_stream_io, dns_stream_io)

static int
open_stream(struct dns_stream *s)
{
	struct outbound o = { .to = s->to };
	int r;

	s->in = mem_alloc(IN_SIZE);
	if (!s->in)
		return -ERR_NOMEM;
	r = outbound_open(&s->conn, s->loop, &o, on_stream_io, s);
	if (r < 0) {
		mem_free(s->in);
		s->in = NULL;
		return r;
	}
	outbound_await(&s->conn);
	return 0;
}

int
dns_stream_send(struct dns_stream *s, const uint8_t *p, size_t n)
{
	char head[LENGTH_SIZE] = { (char)(n >> 8), (char)n };
	int is_new = !conn_is_open(&s->conn), r = is_new ? open_stream(s) : 0;

	if (r < 0)
		return r;
	if (s->out.len + LENGTH_SIZE + n > DNS_STREAM_OUT_MAX)
		return -ERR_FULL;
	sbuf_add(&s->out, head, sizeof(head));
	sbuf_add(&s->out, (const char *)p, n);
	r = s->out.failed ? -ERR_NOMEM : postpone_idle(s);
	if (r == 0 && !is_new)
		r = flush_stream(s);
	if (r < 0)
		dns_stream_close(s);
	return r;
}
