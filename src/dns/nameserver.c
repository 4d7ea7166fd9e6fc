/* Queries to one name server and their responses, over UDP and TCP. On the first worker. A message
 * is handed on only if its id is that of an unanswered query. */
#include "dns/nameserver.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/random.h"
#include "dns/resolvers.h"
#include "event/profile.h"
#include "net/outbound.h"

/* --- over TCP -------------------------------------------------------------------------------- */

#define LENGTH_SIZE 2
#define IN_SIZE (LENGTH_SIZE + 65535)

static void on_idle_stream(struct timer *t);

/* on_message must be set before the first query. `to` is borrowed. */
static void
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

/* Closes the connection, if any. */
static void
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

/* 0, or a negative reason: no connection can be opened, or too much is unsent. */
static int
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

/* Datagrams taken in a turn: the rest has to wait for the next one. */
#define DATAGRAMS_MAX 64
/* Tries to find an id that is not in use. */
#define ID_TRIES 32

struct dns_nameserver *
dns_nameserver_new(struct resolvers *res, const char *name)
{
	struct dns_nameserver *ns = mem_zalloc(sizeof(*ns));

	if (!ns)
		return NULL;
	ns->name = mem_strdup(name);
	if (!ns->name) {
		mem_free(ns);
		return NULL;
	}
	ns->res = res;
	ns->fd = -1;
	list_init(&ns->link);
	for (unsigned int i = 0; i < DNS_QUERY_CHAINS; i++)
		list_init(&ns->queries[i]);
	return ns;
}

/* --- messages --- */

static struct dns_query *
find_query(const struct dns_nameserver *ns, uint16_t id)
{
	list_each(it, &ns->queries[id % DNS_QUERY_CHAINS]) {
		struct dns_query *q = list_entry(it, struct dns_query, link);

		if (q->id == id)
			return q;
	}
	return NULL;
}

static void
take_message(struct dns_nameserver *ns, const uint8_t *p, size_t n, int by_stream)
{
	struct dns_query *q = n >= 2 ? find_query(ns, dns_message_id(p)) : NULL;

	if (n < 2)
		ns->stat.invalid++;
	else if (!q || q->by_stream != by_stream)
		ns->stat.outdated++;
	else
		ns->res->on_message(q, p, n);
}

static void
on_stream_message(void *owner, const uint8_t *p, size_t n)
{
	take_message(owner, p, n, 1);
}

/* Reads one datagram: 1, or 0: there is none. An error that a previous query met is read like
 * one. */
static int
read_datagram(struct dns_nameserver *ns)
{
	struct resolvers *res = ns->res;
	int fd = ns->fd;
	long n = sys_recvfrom(loop_sys(res->loop), fd, res->buf, res->payload + 1, 0);

	if (n == -EAGAIN) {
		loop_again(res->loop, fd, DIR_R);
		return 0;
	}
	if (n < 0)
		return 1;
	loop_progress(res->loop, fd);
	if (n > (long)res->payload)
		ns->stat.too_big++;
	else
		take_message(ns, res->buf, (size_t)n, 0);
	return 1;
}

static void
on_datagram(void *owner, int fd, uint32_t ev)
{
	struct dns_nameserver *ns = owner;

	if (ev & EV_SPIN) {
		dns_nameserver_renew(ns);
		return;
	}
	/* A callback may close the socket. */
	for (int i = 0; i < DATAGRAMS_MAX && ns->fd == fd; i++)
		if (!read_datagram(ns))
			return;
}
PROFILE_NAME(on_datagram, dns_datagram_io)

/* --- life --- */

void
dns_nameserver_start(struct dns_nameserver *ns)
{
	dns_stream_init(&ns->stream, ns->res->loop, &ns->addr);
	ns->stream.on_message = on_stream_message;
	ns->stream.owner = ns;
}

void
dns_nameserver_renew(struct dns_nameserver *ns)
{
	if (ns->fd < 0)
		return;
	loop_close(ns->res->loop, ns->fd);
	ns->fd = -1;
}

void
dns_nameserver_stop(struct dns_nameserver *ns)
{
	dns_nameserver_renew(ns);
	dns_stream_close(&ns->stream);
}

/* --- queries --- */

int
dns_nameserver_draw_id(struct dns_nameserver *ns, uint16_t *id)
{
	for (int i = 0; i < ID_TRIES; i++) {
		int r = random_bytes(&ns->res->random, id, sizeof(*id));

		if (r < 0)
			return r;
		if (!find_query(ns, *id))
			return 0;
	}
	return -ERR_FULL;
}

static int
open_datagram(struct dns_nameserver *ns)
{
	struct outbound o = { .to = &ns->addr, .options = OUTBOUND_DATAGRAM };
	struct loop *l = ns->res->loop;
	int fd, r;

	if (ns->fd >= 0)
		return 0;
	fd = outbound_connect(loop_sys(l), &o);
	if (fd < 0)
		return fd;
	r = loop_add(l, fd, LOOP_CONN, on_datagram, ns);
	if (r < 0) {
		(void)sys_close(loop_sys(l), fd);
		return r;
	}
	ns->fd = fd;
	loop_presume_again(l, fd, DIR_R);
	loop_want(l, fd, EV_R);
	return 0;
}

static int
send_datagram(struct dns_nameserver *ns, const uint8_t *p, size_t n)
{
	int r = open_datagram(ns);
	long put;

	if (r < 0)
		return r;
	put = sys_sendto(loop_sys(ns->res->loop), ns->fd, p, n, MSG_NOSIGNAL);
	/* An earlier datagram was refused, which is reported once; this one was not sent. */
	if (put == -ECONNREFUSED)
		put = sys_sendto(loop_sys(ns->res->loop), ns->fd, p, n, MSG_NOSIGNAL);
	return put < 0 ? (int)put : 0;
}

int
dns_nameserver_send(struct dns_query *q, const uint8_t *p, size_t n)
{
	struct dns_nameserver *ns = q->ns;
	int r;

	r = q->by_stream ? dns_stream_send(&ns->stream, p, n) : send_datagram(ns, p, n);
	if (r < 0) {
		ns->stat.send_error++;
		return r;
	}
	ns->stat.sent++;
	if (list_is_empty(&q->link))
		list_append(&ns->queries[q->id % DNS_QUERY_CHAINS], &q->link);
	return 0;
}
