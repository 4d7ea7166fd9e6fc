/* Forwards a ring to a syslog server. On the first worker; nothing here waits. The reader stands at
 * the first message that the socket has not taken whole: a new connection begins there. */
#include "net/log_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/conn_err.h"
#include "net/outbound.h"

#define OUT_SIZE 16384u
/* Room for the decimal length and a blank, or the line feed. */
#define FRAME_MAX 12u

static void open_log_conn(struct log_client *c);

static void
set_client_timer(struct log_client *c, uint32_t ms)
{
	uint64_t at = timer_key_after(loop_now_ms(c->loop), ms);

	/* Without memory for a timer the event of the socket still comes. */
	(void)!timer_set(loop_timers(c->loop), &c->timer, at);
}

/* --- frames --- */

/* Bytes of a message of this length on the wire. */
static size_t
frame_len(const struct log_client *c, size_t len)
{
	size_t digits = 1;

	if (!c->conf->counts_octets)
		return len + 1;
	for (size_t n = len; n >= 10; n /= 10)
		digits++;
	return digits + 1 + len;
}

static void
put_frame(struct log_client *c, size_t len)
{
	char *at = c->out + c->len;

	if (c->conf->counts_octets)
		at += snprintf(at, FRAME_MAX, "%zu ", len);
	c->filled = log_ring_copy(c->reader.ring, c->filled, at);
	if (!c->conf->counts_octets)
		at[len] = '\n';
	c->len += frame_len(c, len);
}

/* As many messages as fit. The buffer is empty. */
static void
fill_out(struct log_client *c)
{
	struct log_ring *r = c->reader.ring;
	long len;

	c->filled = c->reader.at;
	while ((len = log_ring_len(r, c->filled)) >= 0 &&
		c->size - c->len >= (size_t)len + FRAME_MAX)
		put_frame(c, (size_t)len);
}

/* The reader goes past the messages that were sent whole. */
static void
advance_over(struct log_client *c, size_t n)
{
	c->sent += n;
	c->taken += n;
	while (c->reader.at < c->filled) {
		size_t whole = frame_len(c, (size_t)log_ring_len(c->reader.ring, c->reader.at));

		if (c->sent - c->done < whole)
			return;
		c->done += whole;
		log_ring_advance(&c->reader);
	}
	c->len = c->sent = c->done = 0;
}

/* --- the connection --- */

static void
close_log_conn(struct log_client *c)
{
	conn_close_late(&c->conn);
	c->reader.holds = 0;
	c->len = c->sent = c->done = 0;
}

static const char *
text_of_failure(const struct log_client *c, int err)
{
	const struct xprt *x = c->conn.xprt;

	if (c->state == LOG_CLIENT_HANDSHAKING && x)
		return conn_err_text(err == ETIMEDOUT ? CONN_ERR_TLS_LATE
				: x->failure	      ? (enum conn_err)x->failure
						      : CONN_ERR_TLS_FAILED);
	return err ? err_text(-err) : "end of file";
}

static void
fail_log_conn(struct log_client *c, int err)
{
	if (c->on_failure)
		c->on_failure(c->arg, text_of_failure(c, err));
	close_log_conn(c);
	c->state = LOG_CLIENT_PAUSING;
	set_client_timer(c, c->pause_ms);
	c->pause_ms = MIN(c->pause_ms * 2, (uint32_t)LOG_CLIENT_RETRY_MAX_MS);
}

/* Sends until the socket is full or the ring is empty. */
static void
pump_ring(struct log_client *c)
{
	size_t put;
	int progressed = 0;

	for (;;) {
		if (!c->len)
			fill_out(c);
		if (!c->len) {
			timer_stop(loop_timers(c->loop), &c->timer);
			conn_want(&c->conn, EV_R);
			return;
		}
		switch (conn_send(&c->conn, c->out + c->sent, c->len - c->sent, 0, &put)) {
		case IO_OK:
			advance_over(c, put);
			progressed = 1;
			break;
		case IO_AGAIN:
			if (progressed || !c->timer.pos)
				set_client_timer(c, c->conf->server_ms);
			conn_want(&c->conn, EV_R | EV_W);
			return;
		case IO_EOF:
		case IO_ERR:
			fail_log_conn(c, c->conn.err);
			return;
		}
	}
}

/* Servers send nothing; if one does it is ignored. 1: the connection has ended. */
static int
drain_log_conn(struct log_client *c)
{
	char ignored[512];
	size_t got;

	while (conn_is_ready(&c->conn, DIR_R)) {
		switch (conn_recv(&c->conn, ignored, sizeof(ignored), &got)) {
		case IO_OK:
			break;
		case IO_AGAIN:
			return 0;
		case IO_EOF:
		case IO_ERR:
			return 1;
		}
	}
	return 0;
}

static void
on_log_conn_up(struct log_client *c)
{
	c->state = LOG_CLIENT_UP;
	c->pause_ms = LOG_CLIENT_RETRY_MS;
	c->reader.holds = 1;
	timer_stop(loop_timers(c->loop), &c->timer);
}

/* True when the handshake is complete. Only then the ring waits for the server. */
static int
end_log_handshake(struct log_client *c)
{
	switch (conn_handshake(&c->conn)) {
	case IO_OK:
		on_log_conn_up(c);
		return 1;
	case IO_AGAIN:
		conn_want(&c->conn, EV_R);
		break;
	case IO_EOF:
	case IO_ERR:
		fail_log_conn(c, c->conn.err);
		break;
	}
	return 0;
}

/* True if it is connected. */
static int
end_log_connect(struct log_client *c, uint32_t ev)
{
	int err = conn_take_error(&c->conn);

	if (err) {
		fail_log_conn(c, err);
		return 0;
	}
	if (!(ev & EV_W))
		return 0;
	c->state = LOG_CLIENT_HANDSHAKING;
	if (c->conn.xprt && !c->conf->connect_ms)
		set_client_timer(c, LOG_CLIENT_HANDSHAKE_MS);
	return 1;
}

static void
on_log_io(void *owner, int fd, uint32_t ev)
{
	struct log_client *c = owner;

	(void)fd;
	if (ev & EV_SPIN) {
		fail_log_conn(c, ELOOP);
		return;
	}
	if (c->state == LOG_CLIENT_CONNECTING && !end_log_connect(c, ev))
		return;
	if (c->state == LOG_CLIENT_HANDSHAKING && !end_log_handshake(c))
		return;
	if ((ev & (EV_R | EV_RDHUP | EV_HUP | EV_ERR)) && drain_log_conn(c)) {
		fail_log_conn(c, c->conn.err);
		return;
	}
	pump_ring(c);
}
PROFILE_NAME(on_log_io, log_client_io)

static int
connect_log_server(struct log_client *c)
{
	struct outbound o = { .to = &c->conf->addr, .options = OUTBOUND_NAGLE, .xprt = c->xprt };
	int r = outbound_open(&c->conn, c->loop, &o, on_log_io, c);

	return r >= 0 && c->conn.xprt ? c->on_open(c->arg, &c->conn) : r;
}

static void
open_log_conn(struct log_client *c)
{
	int r = connect_log_server(c);

	c->state = LOG_CLIENT_CONNECTING;
	if (r < 0) {
		fail_log_conn(c, -r);
		return;
	}
	set_client_timer(c, c->conf->connect_ms);
	outbound_await(&c->conn);
}

static void
on_client_timer(struct timer *t)
{
	struct log_client *c = container_of(t, struct log_client, timer);

	if (c->state == LOG_CLIENT_PAUSING)
		open_log_conn(c);
	else
		fail_log_conn(c, ETIMEDOUT);
}
PROFILE_NAME(on_client_timer, log_client_timer)

static void
on_ring_news(struct log_ring_reader *rd)
{
	struct log_client *c = container_of(rd, struct log_client, reader);

	/* Otherwise the socket is full, and its event follows. */
	if (c->state == LOG_CLIENT_UP && !c->len)
		pump_ring(c);
}

int
log_client_start(struct log_client *c, struct loop *l, struct log_ring *r,
	const struct log_client_conf *conf)
{
	c->size = MAX(OUT_SIZE, r->maxlen + FRAME_MAX);
	c->out = mem_alloc(c->size);
	if (!c->out)
		return -ERR_NOMEM;
	c->loop = l;
	c->conf = conf;
	c->pause_ms = LOG_CLIENT_RETRY_MS;
	c->reader.on_news = on_ring_news;
	c->reader.holds = 0;
	c->reader.is_target = 1;
	conn_init(&c->conn);
	timer_init(&c->timer, on_client_timer);
	log_ring_join(r, &c->reader, 0);
	open_log_conn(c);
	return 0;
}

int
log_client_is_busy(const struct log_client *c)
{
	return c->state >= LOG_CLIENT_CONNECTING && log_ring_len(c->reader.ring, c->reader.at) >= 0;
}

/* Messages of the ring that were not sent whole. */
static unsigned int
count_unsent(const struct log_client *c)
{
	const struct log_ring *r = c->reader.ring;
	unsigned int n = 0;
	long len;

	for (uint64_t at = c->reader.at; (len = log_ring_len(r, at)) >= 0; n++)
		at += LOG_RING_OVERHEAD + (size_t)len;
	return n;
}

unsigned int
log_client_stop(struct log_client *c)
{
	unsigned int left;

	if (c->state == LOG_CLIENT_OFF)
		return 0;
	if (c->state == LOG_CLIENT_UP) {
		c->on_failure = NULL;
		pump_ring(c);
	}
	left = count_unsent(c);
	timer_stop(loop_timers(c->loop), &c->timer);
	close_log_conn(c);
	log_ring_leave(&c->reader);
	mem_free(c->out);
	c->out = NULL;
	c->state = LOG_CLIENT_OFF;
	return left;
}
