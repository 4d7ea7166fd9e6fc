/* The result of persistence for one request. Runs on the session's worker. */
#include "proxy/model/persist_state.h"

#include "proxy/model/http_txn.h"

void
persist_letters(const struct stream *s, char out[2])
{
	const struct persist_state *p = s->txn ? &s->txn->persist : NULL;
	const struct proxy *be = stream_backend(s);

	out[0] = out[1] = '-';
	if (!p || !s->txn->head_ms ||
		!persist_conf_shows(be ? &be->persist : &s->sess->fe->persist))
		return;
	/* The request was answered before its cookie was read. */
	if (!p->asked) {
		out[0] = out[1] = 'N';
		return;
	}
	/* D: sent to another server, as if its server had been down. */
	out[0] = p->asked == 'V' && s->srv && !persist_holds(s) ? 'D' : p->asked;
	out[1] = p->answered;
}
