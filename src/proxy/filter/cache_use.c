/* The action cache-use, and streams that wait for what another one brings (`collapse`). On their
 * worker; the holder of a claim may be on another one, which notifies this worker at its end. */
#include "proxy/filter/cache_use.h"

#include "base/atomic.h"
#include "base/counter.h"
#include "cfg/value.h"
#include "event/profile.h"
#include "http/caching.h"
#include "http/vary.h"
#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "rule/sample/arena.h"
#include "tls/conn_info.h"

/* So much longer than a stream's own timer the rule waits. */
#define WAIT_SPARE_MS UINT64_C(1000)

/* --- waiting --- */

/* Releases the claim of another stream. */
static void
leave_claim(struct cache_wait *w)
{
	struct cache_caller by = stream_cache_caller(w->s);

	if (w->next)
		w->next->at = w->at;
	*w->at = w->next;
	timer_stop(loop_timers(w->s->engine->loop), &w->timer);
	cache_leave_claim(w->cache, &by, w->claim);
	w->claim = NULL;
}

/* The stream's rule continues. */
static void
end_wait(struct cache_wait *w)
{
	leave_claim(w);
	stream_take_answer(w->s);
}

static void
on_cache_wait_timer(struct timer *t)
{
	end_wait(container_of(t, struct cache_wait, timer));
}
PROFILE_NAME(on_cache_wait_timer, cache_wait_timer)

/* Waits for a claim that another stream holds. 0 or -ERR_NOMEM. */
static int
begin_wait(struct cache_wait *w)
{
	struct cache_wait **first = &w->s->engine->cache_waits;
	int r;

	timer_init(&w->timer, on_cache_wait_timer);
	r = timer_set(loop_timers(w->s->engine->loop), &w->timer, w->until_ms);
	w->at = first;
	w->next = *first;
	if (w->next)
		w->next->at = &w->next;
	*first = w;
	if (r < 0)
		leave_claim(w);
	else
		stream_await_answer(w->s);
	return r;
}

void
cache_waits_collect(struct engine *e)
{
	struct cache_wait *next;

	for (struct cache_wait *w = e->cache_waits; w; w = next) {
		next = w->next;
		if (atomic_look(&w->claim->is_over))
			end_wait(w);
	}
}

/* Others need not wait for the stream any more. is_refused: its response is not stored. */
static void
end_own_claim(struct cache_wait *w, int is_refused)
{
	struct engine *e = w->s->engine;
	struct cache_caller by = stream_cache_caller(w->s);
	uint64_t who = cache_end_claim(w->cache, &by, w->claim, is_refused);

	w->claim = NULL;
	w->is_mine = 0;
	for (; who; who &= who - 1) {
		unsigned int worker = (unsigned int)__builtin_ctzll(who);

		if (worker == e->index)
			cache_waits_collect(e);
		else
			e->hooks.wake_caches(e, worker);
	}
}

/* cache_wait.end */
static void
end_claim_or_wait(struct cache_wait *w, int is_refused)
{
	if (w->is_mine)
		end_own_claim(w, is_refused);
	else if (w->claim)
		leave_claim(w);
}

/* --- the rule --- */

/* The key of the request, in the arena; len 0: it has none. */
static struct str
request_key(const struct stream *s, const struct http_head *req, struct arena *a)
{
	size_t cap = MIN(CACHE_KEY_MAX, http_texts_size(req) + sizeof("https://"));
	struct str key = { arena_get(a, cap), 0 };
	long n;

	if (!key.p)
		return key;
	n = http_caching_key(req, tls_is_used(s->conn[CLIENT]), (char *)(uintptr_t)key.p, cap);
	key.len = n > 0 ? (size_t)n : 0;
	return key;
}

/* Sets *value to that of a field; NULL: there is none. False if there are several: it is not known
 * which of them the server uses. */
static int
request_value(const struct http_head *req, struct str name, struct str *value)
{
	int at = http_find(req, name, 0);

	*value = at < 0 ? (struct str){ NULL, 0 } : req->field[at].value;
	return at < 0 || http_find(req, name, (unsigned int)at + 1) < 0;
}

/* Sets the values of the request that may select a response. False if they do not select one. */
static int
find_variant(const struct cache_section *c, const struct http_head *req, struct cache_variant *v)
{
	*v = (struct cache_variant){ .by = 0 };
	if (!c->varies)
		return 1;
	v->codings = http_codings_accepted(req);
	return request_value(req, STR("Referer"), &v->text[0]) &
		request_value(req, STR("Origin"), &v->text[1]);
}

/* A rule runs. */
struct use_run {
	const struct rule *r;
	struct stream *s;
	unsigned int may;          /* bits of enum http_caching */
	const struct http_head *req;
	struct cache_wait *wait;   /* NULL: the rule has not waited */
	struct str key;
	struct cache_variant asked;
};

static struct proxy_stat *
stat_of_rule(const struct use_run *u)
{
	const struct proxy *px = ((const struct cache_rule *)u->r->ref)->px;

	return px == u->s->sess->fe ? fe_stat(u->s) : &px->shard[u->s->engine->index].be;
}

/* Ends claims of rules before this one: the stream must not wait for itself, and a hit asks no
 * server. */
static void
drop_claims(const struct stream *s, const struct filter_kind *caches)
{
	struct filter *f = s->extras ? s->extras->filters[CLIENT] : NULL;

	for (; f; f = f->next)
		if (f->conf->kind == caches)
			end_claim_or_wait(&((struct cache_part *)f)->wait, 0);
}

/* The stream has the stored response, whose reference is taken over. 1, or 0: there is no
 * memory. */
static int
take_hit(const struct use_run *u, struct cache *c, struct cache_entry *e)
{
	struct cache_caller by = stream_cache_caller(u->s);
	struct stream_extras *x = stream_extras_get(u->s);

	if (!x) {
		cache_unref(c, &by, e);
		return 0;
	}
	counter_add(&stat_of_rule(u)->cache_hits, 1);
	stream_end_hit(u->s);
	x->hit = (struct cache_hit){ .cache = c, .entry = e };
	drop_claims(u->s, ((const struct cache_rule *)u->r->ref)->conf->kind);
	return 1;
}

/* 1, and the stream has the stored response; or 0. */
static int
find_stored(const struct use_run *u, struct cache *c)
{
	struct cache_caller by = stream_cache_caller(u->s);
	struct cache_entry *e = cache_find(c, &by, u->key, &u->asked);

	if (!u->wait)
		counter_add(&stat_of_rule(u)->cache_lookups, 1);
	return e && take_hit(u, c, e);
}

/* The rule has waited, or is waiting; NULL: neither. */
static struct cache_wait *
wait_of(const struct stream *s, const struct rule *r)
{
	const struct cache_rule *x = r->ref;
	struct cache_part *f = (struct cache_part *)filter_find(s, CLIENT, x->conf);

	return f && f->wait.by == r ? &f->wait : NULL;
}

/* Asks whether the stream is to wait for the object, which was not found. 1: it is; 0: the request
 * continues, and the stream may have the stored response after all. */
static int
wait_for_object(const struct use_run *u, struct cache *c)
{
	const struct cache_rule *x = u->r->ref;
	struct cache_caller by = stream_cache_caller(u->s);
	struct cache_claimed got;
	struct cache_part *f;

	/* A tunnel may last. What a sequence leaves out does not see the response. */
	if (!x->section->conf.collapse_ms || !(u->may & HTTP_CACHE_STORES) ||
		!filter_conf_runs(x->conf, SERVER) ||
		http_find_id(u->req, HTTP_F_UPGRADE, 0) >= 0 ||
		(u->wait && u->wait->until_ms <= by.now_ms))
		return 0;
	f = (struct cache_part *)filter_get(u->s, CLIENT, x->conf);
	if (!f)
		return 0;
	drop_claims(u->s, x->conf->kind);
	got = cache_claim(c, &by, u->key, &u->asked, u->s->engine->index,
		!http_caching_is_partial(u->req));
	f->wait.s = u->s;
	f->wait.end = end_claim_or_wait;
	f->wait.cache = c;
	f->wait.claim = got.claim;
	f->wait.is_mine = got.is_mine;
	f->wait.by = u->r;
	if (!u->wait)
		f->wait.until_ms = by.now_ms + x->section->conf.collapse_ms;
	if (got.entry)
		(void)take_hit(u, c, got.entry);
	return got.claim && !got.is_mine && begin_wait(&f->wait) == 0;
}

/* 1: the rule waits; 0: the request continues. */
static int
use_cache(const struct use_run *u)
{
	struct cache *c = ((const struct cache_rule *)u->r->ref)->section->store;

	if ((u->may & HTTP_CACHE_SERVES) && (find_stored(u, c) || wait_for_object(u, c)))
		return !stream_is_served_by_cache(u->s);
	/* Without memory the response is not stored. */
	if (!stream_is_served_by_cache(u->s))
		(void)!stream_note_cache_use(u->s, c, u->may, u->key, &u->asked);
	return 0;
}

/* The rule waits. The time of its own timer is a little shorter. */
static enum rule_result
yield_to_claim(const struct cache_rule *x, struct rule_outcome *out)
{
	out->awaits_answer = 1;
	out->wait_ms = (unsigned int)MIN(x->section->conf.collapse_ms + WAIT_SPARE_MS,
		CFG_TIME_MAX_MS);
	return RULE_YIELD;
}

enum rule_result
cache_use_run(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct cache_rule *x = r->ref;
	struct use_run u = { .r = r, .s = out->proxy, .req = cx->req };
	size_t mark = arena_mark(cx->arena);
	int waits;

	u.may = http_caching_of_request(cx->req, u.s->txn->asked);
	/* The first cache that has it responds. */
	if (!u.may || stream_is_served_by_cache(u.s))
		return RULE_CONT;
	u.wait = wait_of(u.s, r);
	if (u.wait && !u.wait->is_mine && u.wait->claim)
		return yield_to_claim(x, out);
	if (u.wait) {
		stream_forget_answer(u.s);
		u.s->txn->wait_until_ms = 0;
	}
	u.key = request_key(u.s, cx->req, cx->arena);
	if (!find_variant(x->section, cx->req, &u.asked))
		u.may &= HTTP_CACHE_FORGETS;
	waits = u.key.len && use_cache(&u);
	arena_release(cx->arena, mark);
	return waits ? yield_to_claim(x, out) : RULE_CONT;
}

int
cache_use_has_waited(const struct rule *r, const struct rule_outcome *out)
{
	return wait_of(out->proxy, r) != NULL;
}
