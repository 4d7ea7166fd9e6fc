/* Interest and deadline of a session. Pure: computed from its state after each dispatch, never
 * stored. */
#include "proxy/session/derive.h"

#include "proxy/http1/exchange.h"
#include "proxy/model/stream_extras.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/http1/http_read.h"
#include "proxy/http1/http_reply.h"
#include "proxy/http2/h2_client.h"
#include "proxy/session/tcp_content_rules.h"

/* A rule of a response waits for an answer, or for a time, and the server is not read meanwhile.
 * For a client that holds in the states READ and INSPECT only, which derive themselves. */
static inline int
awaits_answer(const struct stream *s, int side)
{
	return side == SERVER && unlikely(s->dir[SERVER].ops->due) && stream_awaits_answer(s);
}

/* pending[side]: bytes from there, here or in the kernel, have to be sent first. */
static inline unsigned int
wants_relay(const struct stream *s, int side, const int *pending)
{
	const struct direction *from = &s->dir[side], *to = &s->dir[!side];
	unsigned int dirs = 0;

	if (from->state == DIRECTION_OPEN && !pending[side] && !direction_is_waiting(from) &&
		!awaits_answer(s, side))
		dirs |= EV_R;
	if (pending[!side] && to->state != DIRECTION_CLOSED)
		dirs |= EV_W;
	if (unlikely(s->conn[side]->owes_preface) || conn_is_ending(s->conn[side]))
		dirs |= EV_W;
	return dirs;
}

/* Data flows in both directions. */
static int
relays_plainly(const struct stream *s)
{
	return s->state == STREAM_RELAY && exchange_is_plain(s);
}

/* Returns a timeout: a rule's value takes precedence over the backend's. */
static unsigned int
timeout_given(const struct stream *s, enum rule_timeout which, unsigned int ms)
{
	return s->txn && s->txn->timeout_ms[which] ? s->txn->timeout_ms[which] : ms;
}

static inline unsigned int
idle_limit(const struct stream *s, int side, int half_closed)
{
	const struct proxy_timeouts *to = side == CLIENT ? &s->sess->fe->to : &s->be->to;
	unsigned int ms = side == CLIENT ? to->client_fin : to->server_fin;

	if (half_closed && ms)
		return ms;
	ms = relays_plainly(s) ? timeout_given(s, RULE_TIMEOUT_TUNNEL, s->be->to.tunnel) : 0;
	if (ms)
		return ms;
	return side == CLIENT ? to->client : timeout_given(s, RULE_TIMEOUT_SERVER, to->server);
}

unsigned int
stream_idle_limit(const struct stream *s, int side, int half_closed)
{
	return idle_limit(s, side, half_closed);
}

static int
has_ended(const struct direction *d)
{
	return d->state == DIRECTION_DRAIN || d->state == DIRECTION_CLOSED;
}

/*
 * A timeout applies if a side has to send data, or to accept data: see wants_relay(). A session
 * without a buffer waits no longer than for missing data.
 */
static inline uint64_t
side_deadline(const struct stream *s, int side, unsigned int dirs)
{
	int half_closed = has_ended(&s->dir[side]) || s->dir[!side].state == DIRECTION_CLOSED;

	if (!dirs && !s->dir[side].waits_for_buffer)
		return TIMER_NEVER;
	return timer_key_after(s->last_ms[side], idle_limit(s, side, half_closed));
}

int
stream_late_side(const struct stream *s)
{
	int pending[SIDES];
	uint64_t due[SIDES];

	for (int side = 0; side < SIDES; side++)
		pending[side] = direction_has_pending(&s->dir[side]);
	for (int side = 0; side < SIDES; side++)
		due[side] = side_deadline(s, side, wants_relay(s, side, pending));
	return due[CLIENT] <= due[SERVER] ? CLIENT : SERVER;
}

/* A session without a buffer tries again before its timeout, and one that a filter holds back. */
static void
derive_buffer_wait(const struct stream *s, int side, struct derived *d)
{
	if (direction_is_waiting(&s->dir[side]))
		d->deadline = MIN(d->deadline, s->wake_ms);
}

/* Compiled for each side: most of it is where a member stands. */
static inline void
derive_side(const struct stream *s, int side, const int *pending, struct derived *d)
{
	unsigned int dirs = wants_relay(s, side, pending);
	uint64_t due = side_deadline(s, side, dirs);

	/* A bulk transfer that waits for its turn needs no event. */
	if (unlikely(s->dir[side].waits))
		dirs &= ~EV_R;
	if (unlikely(s->dir[!side].waits))
		dirs &= ~EV_W;
	d->wants[side] = dirs;
	d->deadline = MIN(d->deadline, due);
	derive_buffer_wait(s, side, d);
}

void
derive_relay(const struct stream *s, struct derived *d)
{
	const int pending[SIDES] = { direction_has_pending(&s->dir[CLIENT]),
		direction_has_pending(&s->dir[SERVER]) };

	derive_side(s, CLIENT, pending, d);
	derive_side(s, SERVER, pending, d);
	/* Most likely the server has ended then, and a client that is silent until then need not be
	 * registered. */
	if (s->dir[SERVER].reads_early && (d->wants[SERVER] & EV_R) && speculation_reads_server(s))
		d->wants[CLIENT] &= ~EV_R;
	if (exchange_watches_client(s))
		d->wants[CLIENT] |= EV_R;
	if (s->dir[SERVER].ops->due)
		d->deadline = MIN(d->deadline, s->dir[SERVER].ops->due(s));
}

void
derive_read(const struct stream *s, struct derived *d)
{
	const struct direction *dir = &s->dir[CLIENT];

	if (!dir->waits_for_buffer && !http_read_awaits_answer(s) &&
		direction_has_room(s->engine, dir))
		d->wants[CLIENT] = EV_R;
	/* An informational response. */
	if (direction_has_pending(&s->dir[SERVER]))
		d->wants[CLIENT] |= EV_W;
	d->low_water = http_read_low_water(s);
	d->deadline = http_read_deadline(s);
	derive_buffer_wait(s, CLIENT, d);
}

/* The backend's timeout if it is known. Without a timeout the client is answered at once. */
void
derive_tarpit(const struct stream *s, struct derived *d)
{
	const struct proxy *be = stream_backend(s);

	d->wants[CLIENT] = s->conn[CLIENT]->eof ? 0 : EV_R;
	d->deadline = s->state_ms + (be ? be->to.tarpit : s->sess->fe->to.tarpit);
}

/* The deadline is not extended by received bytes: slow sending gains nothing. */
void
derive_header(const struct session *sess, struct derived *d)
{
	const struct stream *s = &sess->stream;

	d->wants[CLIENT] = s->dir[CLIENT].waits_for_buffer ? 0 : EV_R;
	d->deadline = timer_key_after(s->state_ms, sess->fe->to.client);
	derive_buffer_wait(s, CLIENT, d);
}

/* The same: neither does a slow handshake. */
void
derive_multiplex(const struct session *sess, struct derived *d)
{
	d->wants[CLIENT] = h2_client_wants(sess);
	d->deadline = h2_client_deadline(sess);
}

void
derive_client_handshake(const struct session *sess, struct derived *d)
{
	unsigned int hs = sess->fe->to.client_hs;

	d->wants[CLIENT] = EV_R;
	d->deadline = timer_key_after(sess->stream.state_ms, hs ? hs : sess->fe->to.client);
}

/* A session that only waits for a name server may have all of the client's data. */
void
derive_inspect(const struct stream *s, struct derived *d)
{
	const struct direction *dir = &s->dir[CLIENT];

	if (!dir->waits_for_buffer && dir->state == DIRECTION_OPEN &&
		direction_has_room(s->engine, dir))
		d->wants[CLIENT] = EV_R;
	d->deadline = tcp_content_deadline(s);
	derive_buffer_wait(s, CLIENT, d);
}

void
derive_reply(const struct stream *s, struct derived *d)
{
	if (direction_has_pending(&s->dir[SERVER]))
		d->wants[CLIENT] |= EV_W;
	if (http_reply_drains(s) && !s->conn[CLIENT]->eof)
		d->wants[CLIENT] |= EV_R;
	if (conn_is_ending(s->conn[CLIENT]))
		d->wants[CLIENT] |= EV_W;
	d->deadline = http_reply_deadline(s);
	derive_buffer_wait(s, SERVER, d);
}

/* Before a server has responded. */
void
derive_early(const struct stream *s, struct derived *d)
{
	const struct direction *dir = &s->dir[CLIENT];

	d->wants[CLIENT] =
		dir->state == DIRECTION_OPEN && direction_has_room(s->engine, dir) ? EV_R : 0;
	if (exchange_watches_client(s))
		d->wants[CLIENT] |= EV_R;
	d->wants[SERVER] = EV_W;
}

void
derive_queue(const struct stream *s, struct derived *d)
{
	derive_early(s, d);
	d->deadline = timer_key_after(s->state_ms, s->be->to.queue);
}

void
derive_connect(const struct stream *s, struct derived *d)
{
	derive_early(s, d);
	d->deadline = timer_key_after(s->state_ms, s->be->to.connect);
}

/* `timeout connect` is for the connection and the handshake together. */
void
derive_handshake(const struct stream *s, struct derived *d)
{
	derive_early(s, d);
	d->wants[SERVER] = s->conn[SERVER]->owes_preface ? EV_W : EV_R;
	d->deadline = s->wake_ms;
}

void
derive_retry(const struct stream *s, struct derived *d)
{
	derive_early(s, d);
	d->deadline = s->wake_ms;
}

void
derive_linger(const struct stream *s, struct derived *d)
{
	d->deadline = s->wake_ms;
}

void
derive_nothing(const struct stream *s, struct derived *d)
{
	(void)s;
	(void)d;
}
