/* Termination codes, and the counters of aborts by client and server. On the session's worker. */
#include "proxy/model/termination.h"

#include "proxy/model/count.h"
#include "proxy/model/http_count.h"
#include "proxy/model/http_txn.h"
#include "base/counter.h"

void
stream_set_term(struct stream *s, char cause, char phase)
{
	if (s->term[0] == '-')
		s->term[0] = cause;
	if (s->term[1] == '-')
		s->term[1] = phase;
}

void
session_set_conn_err(struct session *sess, enum conn_err err)
{
	sess->conn_err = (uint8_t)err;
	stream_set_term(&sess->stream, 'P', 'R');
}

/* A transfer was in progress, and that side is the first to end it. */
static void
count_abort(struct stream *s, int side)
{
	struct proxy_stat *be = be_stat(s);
	struct server_stat *srv = srv_stat(s);

	if (s->term[0] != '-')
		return;
	counter_add(side == CLIENT ? &be->cli_abrt : &be->srv_abrt, 1);
	counter_add(side == CLIENT ? &srv->cli_abrt : &srv->srv_abrt, 1);
}

void
stream_note_late(struct stream *s, int side)
{
	count_abort(s, side);
	stream_set_term(s, side == CLIENT ? 'c' : 's', 'D');
}

void
stream_note_abandoned(struct stream *s, char phase)
{
	count_abort(s, CLIENT);
	stream_set_term(s, 'C', phase);
}

/* A client that fails before the response counts as failing during the data phase, as in
 * HAProxy. */
void
stream_note_failure(struct stream *s, int side)
{
	int head = side == SERVER && http_awaits_head(s, SERVER);

	if (s->state != STREAM_RELAY)
		return;
	if (side == SERVER && s->term[0] == '-' && s->txn && http_response_is_cut(s->txn))
		http_count_bad_response(s);
	count_abort(s, side);
	stream_set_term(s, side == CLIENT ? 'C' : 'S', head ? 'H' : 'D');
}
