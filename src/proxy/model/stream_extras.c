/* Rare members of streams, and what sessions track, out of the worker's pools. On the stream's
 * worker; tracked entries are shared with others. */
#include "proxy/model/stream_extras.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "proxy/model/dns_ask.h"
#include "proxy/model/filter.h"
#include "proxy/model/memory.h"
#include "proxy/model/subrequest.h"

/* Objects kept for reuse. */
#define EXTRAS_KEPT 256

void
engine_allow_tracking(struct engine *e, unsigned int slots)
{
	size_t size = slots * sizeof(struct tracked);

	e->n_tracked = slots;
	pool_init(&e->pools.extras, "extras", sizeof(struct stream_extras) + size, EXTRAS_KEPT);
	pool_init(&e->pools.tracked, "tracked", MAX(size, sizeof(void *)), EXTRAS_KEPT);
}

static void *
get_zeroed(struct engine *e, struct pool *p)
{
	void *got = memory_reserve(e, p) ? pool_get(p) : NULL;

	if (got)
		memset(got, 0, p->size);
	memory_watch(e);
	return got;
}

struct stream_extras *
stream_extras_get(struct stream *s)
{
	if (!s->extras)
		s->extras = get_zeroed(s->engine, &s->engine->pools.extras);
	return s->extras;
}

static void
end_tracked(const struct stream *s, struct tracked *t)
{
	struct table_caller by = stream_table_caller(s);

	for (unsigned int i = 0; i < s->engine->n_tracked; i++)
		if (t[i].table)
			tracked_end(&t[i], &by);
}

void
stream_drop_pause(struct stream *s)
{
	struct stream_pause *p = s->extras->pause;

	if (!p)
		return;
	timer_stop(loop_timers(s->engine->loop), &p->timer);
	mem_free(p);
	s->extras->pause = NULL;
}

void
stream_drop_notes(struct stream *s)
{
	while (s->extras->notes) {
		struct stick_note *n = s->extras->notes;

		s->extras->notes = n->next;
		mem_free(n);
	}
}

void
stream_await_answer(struct stream *s)
{
	s->extras->awaits_agent = 1;
	s->extras->answer_due_ms = 0;
}

void
stream_take_answer(struct stream *s)
{
	s->extras->awaits_agent = 0;
	s->extras->has_answer = 1;
	s->engine->hooks.on_resolved(s);
}

int
stream_question_is_open(const struct stream *s)
{
	return s->extras->awaits_agent || dns_ask_is_pending(s) || subrequest_is_pending(s);
}

int
stream_has_answer(const struct stream *s)
{
	const struct stream_extras *x = s->extras;

	return x && (x->has_answer || x->asks || x->subrequest) && !stream_awaits_answer(s);
}

struct filter *
filter_find(const struct stream *s, int side, const struct filter_conf *conf)
{
	struct filter *f = s->extras ? s->extras->filters[side] : NULL;

	while (f && f->conf != conf)
		f = f->next;
	return f;
}

struct filter *
filter_get(struct stream *s, int side, const struct filter_conf *conf)
{
	struct filter *f = filter_find(s, side, conf);

	if (f || !stream_extras_get(s))
		return f;
	f = mem_zalloc(conf->kind->size);
	if (!f)
		return NULL;
	f->conf = conf;
	f->next = s->extras->filters[side];
	s->extras->filters[side] = f;
	return f;
}

static void
free_filters(struct filter **chain)
{
	while (*chain) {
		struct filter *f = *chain;

		*chain = f->next;
		if (f->conf->kind->fini)
			f->conf->kind->fini(f);
		mem_free(f);
	}
}

/* --- caches --- */

int
stream_note_cache_use(struct stream *s, struct cache *c, unsigned int may, struct str key,
	const struct cache_variant *asked)
{
	struct stream_extras *x = stream_extras_get(s);
	struct cache_caller by = stream_cache_caller(s);
	size_t size = key.len;
	struct cache_use *use;
	char *to;

	for (unsigned int i = 0; i < CACHE_TEXTS; i++)
		size += asked->text[i].len;
	use = x ? mem_alloc(sizeof(*use) + size) : NULL;
	if (!use)
		return -ERR_NOMEM;
	use->cache = c;
	use->may = may;
	use->is_filled = 0;
	use->mark = cache_mark(c, &by, key);
	use->key_len = (uint32_t)key.len;
	memcpy(use->key, key.p, key.len);
	use->asked = *asked;
	to = use->key + key.len;
	for (unsigned int i = 0; i < CACHE_TEXTS; i++) {
		use->asked.text[i].p = to;
		if (asked->text[i].len)
			memcpy(to, asked->text[i].p, asked->text[i].len);
		to += asked->text[i].len;
	}
	mem_free(x->cache_use);
	x->cache_use = use;
	return 0;
}

void
stream_end_hit(struct stream *s)
{
	struct cache_hit *hit = &s->extras->hit;

	if (hit->entry) {
		struct cache_caller by = stream_cache_caller(s);

		cache_unref(hit->cache, &by, hit->entry);
	}
	hit->entry = NULL;
	hit->left = 0;
}

static void
end_caching(struct stream *s)
{
	stream_end_hit(s);
	s->extras->hit.cache = NULL;
	if (s->extras->cache_use)
		mem_free(s->extras->cache_use);
	s->extras->cache_use = NULL;
}

/* True if they hold something besides tracked entries. */
static int
extras_hold_more(const struct stream_extras *x)
{
	return x->asks || x->subrequest || x->pause || x->notes || x->filters[CLIENT] ||
		x->filters[SERVER] || x->cache_use || x->hit.cache;
}

static void
end_rare_extras(struct stream *s)
{
	dns_ask_drop_all(s);
	if (unlikely(s->extras->subrequest != NULL))
		s->engine->hooks.drop_subrequest(s);
	stream_drop_pause(s);
	stream_drop_notes(s);
	for (int side = 0; side < SIDES; side++)
		free_filters(&s->extras->filters[side]);
	end_caching(s);
}

/* Releases all that they hold. */
static void
end_extras(struct stream *s)
{
	if (unlikely(extras_hold_more(s->extras)))
		end_rare_extras(s);
	end_tracked(s, s->extras->tracked);
}

void
stream_extras_free(struct stream *s)
{
	if (!s->extras)
		return;
	end_extras(s);
	pool_put(&s->engine->pools.extras, s->extras);
	s->extras = NULL;
	memory_watch(s->engine);
}

void
stream_extras_drop(struct stream *s)
{
	if (!s->sess->tracked) {
		stream_extras_free(s);
		return;
	}
	end_extras(s);
	s->extras->upgraded_to = NULL;
	s->extras->content_at = (struct rules_at){ 0 };
	s->extras->to_server = (struct outbound_packets){ 0 };
	s->extras->has_counted = 0;
	s->extras->awaits_agent = s->extras->has_answer = 0;
}

void
session_tracked_end(struct session *sess)
{
	struct engine *e = sess->stream.engine;

	if (!sess->tracked)
		return;
	end_tracked(&sess->stream, sess->tracked);
	pool_put(&e->pools.tracked, sess->tracked);
	sess->tracked = NULL;
	memory_watch(e);
}

const struct tracked *
stream_tracked(const struct stream *s, unsigned int slot)
{
	if (!s->extras || slot >= s->engine->n_tracked)
		return NULL;
	if (s->extras->tracked[slot].table)
		return &s->extras->tracked[slot];
	return s->sess->tracked && s->sess->tracked[slot].table ? &s->sess->tracked[slot] : NULL;
}

void
stream_track(struct stream *s, int by_session, unsigned int slot, struct table *t,
	struct table_entry *entry)
{
	struct table_caller by = stream_table_caller(s);
	struct engine *e = s->engine;
	struct tracked *slots = NULL;

	assert(slot < e->n_tracked);
	if (stream_extras_get(s)) {
		if (by_session && !s->sess->tracked)
			s->sess->tracked = get_zeroed(e, &e->pools.tracked);
		slots = by_session ? s->sess->tracked : s->extras->tracked;
	}
	if (!slots) {
		table_unref(entry);
		return;
	}
	tracked_begin(&slots[slot], t, entry, &by);
	e->tracked_stores |= slots[slot].stores;
	if (by_session)
		return;
	/* Bytes that were counted already are the stream's, too. */
	if (s->dir[CLIENT].counted)
		tracked_count(&slots[slot], TABLE_BYTES_IN_CNT, TABLE_BYTES_IN_RATE, &by,
			s->dir[CLIENT].counted);
	if (s->dir[SERVER].counted)
		tracked_count(&slots[slot], TABLE_BYTES_OUT_CNT, TABLE_BYTES_OUT_RATE, &by,
			s->dir[SERVER].counted);
}

void
stream_count_in_tracked(
	const struct stream *s, enum table_data counter, enum table_data rate, uint64_t n)
{
	const struct tracked *own = s->extras->tracked, *shared = s->sess->tracked;

	for (unsigned int i = 0; i < s->engine->n_tracked; i++) {
		const struct tracked *t = shared && !own[i].table ? &shared[i] : &own[i];
		struct table_caller by;

		if (!tracked_stores(t, counter, rate))
			continue;
		by = stream_table_caller(s);
		tracked_count(t, counter, rate, &by, n);
	}
}

void
stream_count_tracked_request(struct stream *s)
{
	if (s->extras->has_counted)
		return;
	s->extras->has_counted = 1;
	stream_count_tracked(s, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, 1);
}

void
stream_count_tracked_status(const struct stream *s, unsigned int status)
{
	for (unsigned int i = 0; i < s->engine->n_tracked; i++)
		tracked_prefetch(&s->extras->tracked[i]);
	if (status_set_has(&s->engine->err_codes, status))
		stream_count_client_error(s);
	if (status_set_has(&s->engine->fail_codes, status))
		stream_count_server_failure(s);
}

void
stream_count_refused(struct stream *s, unsigned int status)
{
	stream_count_tracked_request(s);
	if (status / 100 == 4 && status != 408)
		stream_count_client_error(s);
}
