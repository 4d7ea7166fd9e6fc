/* Counts bytes when a dispatch is over, on the session's worker: only then is it known to which
 * message those that were read belong. Frontend, backend and server count the same bytes. Other
 * counts in shards are made where they are found: count.h. */
#include "proxy/model/byte_count.h"

#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "tls/conn_info.h"

uint64_t
stream_message_bytes(const struct stream *s, int side)
{
	const struct direction *d = &s->dir[side];

	if (!s->is_http)
		return d->bytes;
	return s->txn && s->txn->head_ms ? d->bytes - d->lookahead : 0;
}

/* New bytes of side's message. */
static uint64_t
take_grown(struct stream *s, int side)
{
	uint64_t all = stream_message_bytes(s, side), before = s->dir[side].counted;

	/* Bytes in mode tcp that become part of a request have been counted. */
	if (all <= before)
		return 0;
	s->dir[side].counted = all;
	return all - before;
}

static struct proxy_stat *
stat_of(const struct stream *s, const struct proxy *p)
{
	return p ? &p->shard[s->engine->index].be : NULL;
}

/* Returns the backend that counts, NULL: none yet. As in HAProxy, a listen section is its own
 * backend for responses of tacit, and for sessions that end before they have another one. */
static const struct proxy *
counted_backend(const struct stream *s)
{
	const struct proxy *be = stream_backend(s);

	if (be || !(s->sess->fe->caps & PROXY_BE))
		return be;
	return s->state == STREAM_CLOSED || (s->txn && s->txn->local) ? s->sess->fe : NULL;
}

/* Before it is connected, or has failed, its server may change. While it is queued, srv is guarded
 * by the backend's lock. */
static int
has_its_server(const struct stream *s)
{
	return !s->waits && s->srv && (s->connected_ms || s->state == STREAM_CLOSED ||
		(s->txn && s->txn->local));
}

/* New bytes of the request; a backend or server that is new has all of it. */
static void
add_request_bytes(struct stream *s, struct proxy_stat *be, struct server_stat *srv, uint64_t n)
{
	uint64_t whole = s->dir[CLIENT].counted;

	counter_add(&fe_stat(s)->bytes_in, n);
	counter_add(&s->sess->listener->stat.bytes_in, n);
	if (be) {
		counter_add(&be->bytes_in, s->counts_be ? n : whole);
		s->counts_be = 1;
	}
	if (srv) {
		counter_add(&srv->bytes_in, s->counts_srv ? n : whole);
		s->counts_srv = 1;
	}
}

static void
add_response_bytes(struct stream *s, struct proxy_stat *be, struct server_stat *srv, uint64_t n)
{
	counter_add(&fe_stat(s)->bytes_out, n);
	counter_add(&s->sess->listener->stat.bytes_out, n);
	if (be)
		counter_add(&be->bytes_out, n);
	if (srv)
		counter_add(&srv->bytes_out, n);
}

static void
count_messages(struct stream *s)
{
	uint64_t in = take_grown(s, CLIENT), out = take_grown(s, SERVER);
	int is_owed = s->dir[CLIENT].counted && !(s->counts_be && s->counts_srv);
	struct server_stat *srv;
	struct proxy_stat *be;

	if (!in && !out && !is_owed)
		return;
	be = stat_of(s, counted_backend(s));
	srv = has_its_server(s) ? srv_stat(s) : NULL;
	if (in || is_owed)
		add_request_bytes(s, be, srv, in);
	if (out)
		add_response_bytes(s, be, srv, out);
	if (unlikely(s->extras != NULL) && in)
		stream_count_tracked(s, TABLE_BYTES_IN_CNT, TABLE_BYTES_IN_RATE, in);
	if (unlikely(s->extras != NULL) && out)
		stream_count_tracked(s, TABLE_BYTES_OUT_CNT, TABLE_BYTES_OUT_RATE, out);
}

void
engine_count_sent(struct engine *e, uint64_t n)
{
	counter_add(&e->stat.bytes_sent, n);
	e->stat.sent_rest += n;
	freq_add(&e->stat.sent_rate, loop_now_ms(e->loop),
		(uint32_t)(e->stat.sent_rest / SENT_PIECE));
	e->stat.sent_rest %= SENT_PIECE;
}

static void
count_sent(struct stream *s)
{
	uint64_t to_client = s->conn[CLIENT]->sent, to_server = s->conn[SERVER]->sent;

	if (!to_client && !to_server)
		return;
	s->conn[CLIENT]->sent = s->conn[SERVER]->sent = 0;
	engine_count_sent(s->engine, to_client + to_server);
	if (!s->is_http)
		return;
	if (!s->is_carried && !s->sess->is_multiplexed)
		counter_add(&fe_stat(s)->h1.out, to_client);
	if (s->be && !conn_is_stream(s->conn[SERVER]))
		counter_add(&be_stat(s)->h1.out, to_server);
}

void
stream_count_bytes(struct stream *s)
{
	count_messages(s);
	count_sent(s);
}

void
count_handshake(struct handshake_stat *st, const struct conn *c)
{
	int64_t is_resumed;

	if (tls_info_number(c, TLS_INFO_IS_RESUMED, &is_resumed) < 0)
		return;
	counter_add(is_resumed ? &st->resumed : &st->full, 1);
}
