/* Stored responses, on the stream's worker. The stored bytes do not change while the stream has its
 * reference: what the client's socket does not take stays where it is. Filters get copies. */
#include "proxy/http1/cache_reply.h"

#include <string.h>

#include "base/age.h"
#include "base/counter.h"
#include "base/err.h"
#include "http/caching.h"
#include "http/h1_framing.h"
#include "http/status.h"
#include "http/stored.h"
#include "proxy/http1/filtered.h"
#include "proxy/http1/local_reply.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/count.h"
#include "proxy/model/http_count.h"
#include "proxy/model/memory.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/filter.h"
#include "proxy/sample/eval.h"

/* Bytes of one send, and of a stream before others have their turn. */
#define SENT_AT_ONCE 262144u
#define SENT_IN_A_TURN 1048576u
/* The same of those that filters change. */
#define FILTERED_IN_A_TURN 262144u

/* --- the head --- */

/* Begins the head of the response in the fields of the request, which is not needed any more. */
static void
init_own_head(struct stream *s, struct http_head *h)
{
	struct http_txn *t = s->txn;

	http_head_init(h, HTTP_RESPONSE, t->req.field, 0);
	http_txn_allow_added(s, h);
	t->req.n = 0;
	t->req_is_gone = 1;
}

/* The clocks of workers differ by a turn: another one may have stored it a millisecond later. */
static uint64_t
age_ms_of(const struct stream *s)
{
	return age_between(s->extras->hit.entry->born_ms, stream_now_ms(s));
}

static int
add_age(const struct stream *s, struct http_head *h, char digits[HTTP_LENGTH_DIGITS])
{
	return http_add(h, STR("Age"), http_length_text(age_ms_of(s) / 1000, digits));
}

/* Reads the stored fields, in the arena. 0 or negative. */
static int
read_fields(struct stream *s, struct http_head *h)
{
	struct cache_hit *hit = &s->extras->hit;
	struct str bytes = { NULL, hit->entry->head_len };
	char *to = arena_get(&s->engine->eval.arena, MAX(bytes.len, 1));

	if (!to)
		return -ERR_NOMEM;
	cache_read_head(hit->cache, hit->entry, to, &hit->at);
	bytes.p = to;
	return http_stored_read(bytes, h);
}

/* 1: the client has this response already, 0, or negative. */
static int
check_condition(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct http_head *h;
	int64_t now_s = (int64_t)(loop_wall_ns(s->engine->loop) / 1000000000u);
	int r;

	if (!http_caching_has_condition(&s->txn->req))
		return 0;
	h = rule_outcome_head(s);
	r = read_fields(s, h);
	if (r == 0)
		r = http_caching_is_unmodified(&s->txn->req, h,
			now_s - (int64_t)(age_ms_of(s) / 1000));
	/* The arena has room for one head. */
	arena_release(a, mark);
	return r;
}

/* Sets what the status implies: 200 with a length, or 304. */
static int
set_status(struct stream *s, struct http_head *h, int is_same, char digits[HTTP_LENGTH_DIGITS])
{
	struct cache_hit *hit = &s->extras->hit;

	h->version = HTTP_1_1;
	h->method = s->txn->asked;
	h->status = is_same ? 304 : 200;
	h->reason = str_of(http_status_reason(h->status));
	hit->left = is_same || s->txn->asked == HTTP_HEAD ? 0 : hit->entry->body_len;
	return is_same ? 0 : http_set_length(h, hit->entry->body_len, digits);
}

/* --- rules --- */

/* NONE, or what a rule has ended the response with. */
static enum stream_event
apply_reply_outcome(struct stream *s, const struct rule_outcome *v)
{
	stream_end_hit(s);
	if (v->what == RULE_END_DROP)
		return rule_outcome_drop_response(s, v);
	rule_outcome_set_term(s, v, v->what == RULE_END_REJECT ? 'D' : 'H');
	if (!rule_outcome_is_reply(v->what) && v->what != RULE_END_ERROR)
		count_denied_resp(s);
	if (v->what == RULE_END_REJECT)
		return STREAM_EV_CLOSE;
	rule_outcome_reply(s, v);
	return STREAM_EV_ANSWER;
}

/* Runs rules http-response of a proxy, as on a response of a server: the body is complete. Nothing
 * would continue a rule that waits. */
static enum stream_event
run_reply_rules(struct stream *s, const struct proxy *px, struct http_head *h)
{
	struct rules_at at = { NULL, 0 };
	enum rule_result result;
	struct rule_outcome v;
	struct eval eval;

	if (!px || !proxy_has_rules(&px->rules, RULE_HTTP_RESPONSE))
		return STREAM_EV_NONE;
	v.head = rule_outcome_head(s);
	v.most = 0;
	http_end_req_vars(s->txn);
	eval_init(&eval, s, rule_place_scope(RULE_HTTP_RESPONSE));
	eval.cx.req = NULL;
	eval.cx.res = h;
	eval.cx.res_body = (struct sample_body){ .is_whole = 1 };
	eval.cx.req_ended = 1;
	result = rule_outcome_run(s, px, RULE_HTTP_RESPONSE, &at, &eval, &v);
	assert(result != RULE_YIELD);
	return result == RULE_FINAL ? apply_reply_outcome(s, &v) : STREAM_EV_NONE;
}

/* --- all of it --- */

/* The fields are in *h, its texts in the arena. 0 or negative. */
static int
make_head(struct stream *s, struct http_head *h, char digits[2][HTTP_LENGTH_DIGITS])
{
	int r, is_same = check_condition(s);

	if (is_same < 0)
		return is_same;
	init_own_head(s, h);
	r = read_fields(s, h);
	if (r == 0)
		r = set_status(s, h, is_same, digits[0]);
	return r == 0 ? add_age(s, h, digits[1]) : r;
}

static enum stream_event
make_reply(struct stream *s)
{
	char digits[2][HTTP_LENGTH_DIGITS];
	struct proxy *be = stream_backend(s);
	enum stream_event ev = STREAM_EV_NONE;
	struct http_head h;
	int r;

	filtered_begin_stored_request(s);
	r = make_head(s, &h, digits);
	if (r == 0)
		ev = run_reply_rules(s, be != s->sess->fe ? be : NULL, &h);
	if (r == 0 && ev == STREAM_EV_NONE)
		ev = run_reply_rules(s, s->sess->fe, &h);
	if (ev != STREAM_EV_NONE)
		return ev;
	if (r == 0)
		r = local_reply_make(s, &h, (struct str){ NULL, 0 });
	s->txn->is_served = r == 0;
	if (r < 0)
		local_reply_failed(s);
	/* A failure, or a status that rules have set. */
	if (r < 0 || !s->extras->hit.left || http_status_has_no_body(s->txn->status))
		stream_end_hit(s);
	return STREAM_EV_ANSWER;
}

enum stream_event
cache_reply_make(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	enum stream_event ev;

	s->txn->served_by = "<CACHE>";
	ev = make_reply(s);
	arena_release(a, mark);
	return ev;
}

/* --- the body --- */

static void
count_stored(struct stream *s, size_t n)
{
	s->dir[SERVER].bytes += n;
	counter_add(&s->engine->stat.bytes_out, n);
}

/* n more bytes are sent. */
static void
advance_hit(struct cache_hit *hit, size_t n)
{
	hit->left -= n;
	while (n)
		n -= cache_read(hit->cache, &hit->at, n).len;
}

/* Sends from the memory of the cache until the socket takes no more, or what is left fits into a
 * buffer. 0: the other sessions are served first. */
static int
send_from_cache(struct stream *s)
{
	struct cache_hit *hit = &s->extras->hit;
	struct conn *sink = s->conn[CLIENT];
	size_t all = 0, put = 0;

	while (hit->left > s->engine->bufsize && conn_is_ready(sink, DIR_W)) {
		struct cache_place at = hit->at;
		struct str p = cache_read(hit->cache, &at,
			(size_t)MIN(hit->left - s->engine->bufsize, SENT_AT_ONCE));

		if (conn_send(sink, p.p, p.len, 0, &put) != IO_OK)
			break;
		advance_hit(hit, put);
		count_stored(s, put);
		s->last_ms[CLIENT] = stream_now_ms(s);
		all += put;
		if (all >= SENT_IN_A_TURN) {
			s->engine->hooks.on_service(s);
			return 0;
		}
	}
	return 1;
}

/* Copies the next n bytes. */
static void
copy_stored(struct cache_hit *hit, char *to, size_t n)
{
	hit->left -= n;
	while (n) {
		struct str p = cache_read(hit->cache, &hit->at, n);

		memcpy(to, p.p, p.len);
		to += p.len;
		n -= p.len;
	}
}

/* Copies what fits behind the bytes in the buffer. */
static void
put_stored(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	size_t n = (size_t)MIN(s->extras->hit.left, s->engine->bufsize - d->tail);

	copy_stored(&s->extras->hit, d->buf + d->tail, n);
	d->tail += (uint32_t)n;
	count_stored(s, n);
}

/* The same with what filters make of the next piece. 0: they let nothing pass now, or others have
 * their turn first. */
static int
put_filtered(struct stream *s)
{
	struct engine *e = s->engine;
	struct cache_hit *hit = &s->extras->hit;
	struct direction *d = &s->dir[SERVER];
	uint64_t before = hit->left;
	size_t out, n = filters_fit(s, SERVER, (size_t)MIN(before, e->bufsize));
	char *to;

	/* A head leaves first if it is that long. */
	if (!n)
		return 1;
	n = filters_grant(s, SERVER, n);
	if (!n)
		return 0;
	copy_stored(hit, e->scratch, n);
	to = filtered_run_stored(s, e->scratch, n, !hit->left, &out);
	assert(d->tail + out <= e->bufsize);
	memcpy(d->buf + d->tail, to, out);
	d->tail += (uint32_t)out;
	count_stored(s, out);
	if (before / FILTERED_IN_A_TURN == hit->left / FILTERED_IN_A_TURN || !hit->left)
		return 1;
	e->hooks.on_service(s);
	return 0;
}

/* A filter has let nothing pass: the client's time begins now. */
static void
end_hold(struct stream *s)
{
	s->dir[SERVER].waits_to_pass = 0;
	s->last_ms[CLIENT] = stream_now_ms(s);
}

int
cache_reply_fill(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	int more = 1, is_filtered = stream_filtering(s, SERVER) != FILTER_ABSENT;

	/* Transports that make other bytes of these take them out of a buffer. */
	if (!is_filtered && !direction_pending(d) && conn_can(s->conn[CLIENT], XPRT_SPLICE) &&
		!send_from_cache(s))
		return 0;
	if (d->waits_to_pass)
		end_hold(s);
	d->waits_for_buffer = 0;
	if ((!d->buf && !memory_reserve_buffer(s->engine)) || direction_buf_get(s->engine, d) < 0) {
		direction_wait_for_buffer(s, SERVER);
		return 0;
	}
	if (is_filtered)
		more = put_filtered(s);
	else
		put_stored(s);
	if (!s->extras->hit.left) {
		stream_end_hit(s);
		direction_event(s, SERVER, DIRECTION_EV_MSG_END);
	}
	return more;
}
