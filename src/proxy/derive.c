#include "derive.h"

#include "half.h"

static uint64_t
after(uint64_t start, unsigned int ms)
{
	return ms ? start + ms : TIMER_NEVER;
}

static unsigned int
wants_relay(const struct session *s, int side)
{
	const struct half *from = &s->half[side], *to = &s->half[!side];
	unsigned int dirs = 0;

	if (from->state == HALF_OPEN && !half_owes(from))
		dirs |= EV_R;
	if (to->state != HALF_CLOSED && half_owes(to))
		dirs |= EV_W;
	return dirs;
}

unsigned int
session_wants(const struct session *s, int side)
{
	unsigned int dirs;

	switch (s->state) {
	case SESSION_RELAY:
		/* A stream that waits for its turn needs nobody to wake it. */
		dirs = wants_relay(s, side);
		if (s->half[side].waits)
			dirs &= ~EV_R;
		if (s->half[!side].waits)
			dirs &= ~EV_W;
		return dirs;
	case SESSION_INIT:
	case SESSION_ASSIGN:
	case SESSION_QUEUE:
	case SESSION_RETRY:
	case SESSION_CONNECT:
		if (side == SERVER)
			return EV_W;
		return s->half[CLIENT].state == HALF_OPEN &&
				half_has_room(s->engine, &s->half[CLIENT])
			? EV_R
			: 0;
	case SESSION_LINGER:
	case SESSION_CLOSED:
	case SESSION_STATES:
		break;
	}
	return 0;
}

/* Bytes go both ways, whatever they are. */
static int
is_tunnel(const struct session *s)
{
	return s->state == SESSION_RELAY && s->fe->mode == PROXY_TCP;
}

unsigned int
session_patience(const struct session *s, int side, int half_closed)
{
	const struct proxy_timeouts *to = side == CLIENT ? &s->fe->to : &s->be->to;
	unsigned int fin = side == CLIENT ? to->client_fin : to->server_fin;

	if (half_closed && fin)
		return fin;
	if (is_tunnel(s) && s->be->to.tunnel)
		return s->be->to.tunnel;
	return side == CLIENT ? to->client : to->server;
}

/* A side is late when it owes bytes, or owes the acceptance of bytes. */
static uint64_t
side_deadline(const struct session *s, int side)
{
	int half_closed = s->half[side].state != HALF_OPEN || s->half[!side].state == HALF_CLOSED;

	if (!wants_relay(s, side))
		return TIMER_NEVER;
	return after(s->last_ms[side], session_patience(s, side, half_closed));
}

int
session_late_side(const struct session *s)
{
	return side_deadline(s, CLIENT) <= side_deadline(s, SERVER) ? CLIENT : SERVER;
}

uint64_t
session_deadline(const struct session *s)
{
	uint64_t client, server;

	switch (s->state) {
	case SESSION_QUEUE:
		return after(s->state_ms, s->be->to.queue);
	case SESSION_CONNECT:
		return after(s->state_ms, s->be->to.connect);
	case SESSION_RETRY:
	case SESSION_LINGER:
		return s->wake_ms;
	case SESSION_RELAY:
		client = side_deadline(s, CLIENT);
		server = side_deadline(s, SERVER);
		return MIN(client, server);
	case SESSION_INIT:
	case SESSION_ASSIGN:
	case SESSION_CLOSED:
	case SESSION_STATES:
		break;
	}
	return TIMER_NEVER;
}
