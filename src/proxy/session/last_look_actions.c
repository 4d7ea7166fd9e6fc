/*
 * The deadline has passed: bytes that came before it are read first, or an end by timeout would be
 * a truncated stream that looks complete. An answer that came is given to its rule, too: both are
 * due in the same run of a worker that was stopped. Actions of LAST_LOOK, on the session's worker.
 */
#include "net/conn_socket.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "proxy/relay/direction.h"
#include "proxy/session/actions.h"
#include "proxy/session/handlers.h"

/* There was nothing: TIMEOUT, unless the deadline has moved. */
static enum stream_event
late_unless(struct stream *s, enum stream_event ev)
{
	if (ev != STREAM_EV_NONE)
		return ev;
	return stream_deadline(s) <= stream_now_ms(s) ? STREAM_EV_TIMEOUT
								   : STREAM_EV_NONE;
}

/* There may be a few bytes of a slow head, not enough to complete it but possibly invalid: 1, and
 * they are read. */
static int
end_low_water(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];

	if (!conn_ignores_few(c))
		return 0;
	conn_presume_ready(c, DIR_R);
	return 1;
}

enum stream_event
stream_do_read_last_look(struct stream *s)
{
	enum stream_event ev = STREAM_EV_NONE;

	if (direction_end_buffer_wait(s, CLIENT) || end_low_water(s) || stream_has_answer(s) ||
		presume_left_event(s, CLIENT))
		ev = http_read(s);
	return late_unless(s, ev);
}

enum stream_event
stream_do_inspect_last_look(struct stream *s)
{
	enum stream_event ev = STREAM_EV_NONE;

	if (direction_end_buffer_wait(s, CLIENT) || stream_has_answer(s) ||
		presume_left_event(s, CLIENT))
		ev = tcp_content_read(s);
	return late_unless(s, ev);
}

/* Asks for the result of connect(), whose event may be left: NONE, there is none yet. */
static enum stream_event
connect_result(struct stream *s)
{
	struct conn *c = s->conn[SERVER];
	struct addr peer;

	if (s->joins || !loop_left_events(s->engine->loop))
		return STREAM_EV_NONE;
	if (conn_take_error(c))
		return STREAM_EV_REFUSED;
	return conn_peer_addr(c, &peer) < 0 ? STREAM_EV_NONE : handshake_or_up(s);
}

enum stream_event
stream_do_connect_last_look(struct stream *s)
{
	enum stream_event ev = STREAM_EV_NONE;

	/* The connection that it waits for has got its result in this turn: its task follows. */
	if (s->posted != STREAM_EV_NONE)
		return STREAM_EV_NONE;
	if (s->state == STREAM_CONNECT)
		ev = connect_result(s);
	else if (presume_left_event(s, SERVER))
		ev = handshake_io(s, SERVER, EV_R);
	return late_unless(s, ev);
}

enum stream_event
stream_do_relay_last_look(struct stream *s)
{
	enum stream_event ev;

	/* Both first: one that waits again gives a new time for both. */
	for (int side = 0; side < SIDES; side++)
		(void)direction_end_buffer_wait(s, side);
	/* An answer that came before it, too. */
	ev = relay_task(s);
	for (int side = 0; side < SIDES && ev == STREAM_EV_NONE; side++) {
		if (!(stream_derive(s).wants[side] & EV_R) && !s->dir[side].waits)
			continue;
		(void)presume_left_event(s, side);
		ev = direction_pump_now(s, side);
	}
	return late_unless(s, ev);
}
