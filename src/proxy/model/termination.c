/* Termination codes, and who is counted as having aborted. Runs on the session's worker. */
#include "proxy/model/termination.h"

#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "base/counter.h"

void
session_blame(struct session *s, char cause, char phase)
{
	if (s->term[0] == '-')
		s->term[0] = cause;
	if (s->term[1] == '-')
		s->term[1] = phase;
}

void
session_note_failure(struct session *s, int side)
{
	if (s->state != SESSION_RELAY)
		return;
	if (s->term[0] == '-' && side == CLIENT) {
		counter_add(&be_stat(s)->cli_abrt, 1);
		counter_add(&srv_stat(s)->cli_abrt, 1);
	} else if (s->term[0] == '-') {
		counter_add(&be_stat(s)->srv_abrt, 1);
		counter_add(&srv_stat(s)->srv_abrt, 1);
	}
	session_blame(s, side == CLIENT ? 'C' : 'S', http_awaits_head(s, SERVER) ? 'H' : 'D');
}
