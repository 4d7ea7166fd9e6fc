/* Rare members of streams, and what sessions track, out of the worker's pools. On the stream's
 * worker; tracked entries are shared with others. */
#include "proxy/model/stream_extras.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "proxy/model/dns_ask.h"
#include "proxy/model/memory.h"

/* Objects kept for reuse. */
#define EXTRAS_KEPT 256

void
engine_allow_tracking(struct engine *e, unsigned int slots)
{
	size_t size = slots * sizeof(struct tracked);

	e->n_tracked = slots;
	pool_init(&e->extras_pool, "extras", sizeof(struct stream_extras) + size, EXTRAS_KEPT);
	pool_init(&e->tracked_pool, "tracked", MAX(size, sizeof(void *)), EXTRAS_KEPT);
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
		s->extras = get_zeroed(s->engine, &s->engine->extras_pool);
	return s->extras;
}

static void
end_tracked(const struct stream *s, struct tracked *t)
{
	struct table_caller by = stream_table_caller(s);

	for (unsigned int i = 0; i < s->engine->n_tracked; i++)
		tracked_end(&t[i], &by);
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

/* Releases all that they hold. */
static void
end_extras(struct stream *s)
{
	dns_ask_drop_all(s);
	stream_drop_notes(s);
	end_tracked(s, s->extras->tracked);
}

void
stream_extras_free(struct stream *s)
{
	if (!s->extras)
		return;
	end_extras(s);
	pool_put(&s->engine->extras_pool, s->extras);
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
	s->extras->has_counted = 0;
}

void
session_tracked_end(struct session *sess)
{
	struct engine *e = sess->stream.engine;

	if (!sess->tracked)
		return;
	end_tracked(&sess->stream, sess->tracked);
	pool_put(&e->tracked_pool, sess->tracked);
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
			s->sess->tracked = get_zeroed(e, &e->tracked_pool);
		slots = by_session ? s->sess->tracked : s->extras->tracked;
	}
	if (slots)
		tracked_begin(&slots[slot], t, entry, &by);
	else
		table_unref(entry);
}

void
stream_count_tracked(
	const struct stream *s, enum table_data counter, enum table_data rate, uint64_t n)
{
	const struct tracked *own = s->extras->tracked, *shared = s->sess->tracked;
	struct table_caller by = stream_table_caller(s);

	for (unsigned int i = 0; i < s->engine->n_tracked; i++) {
		if (own[i].table)
			tracked_count(&own[i], counter, rate, &by, n);
		else if (shared && shared[i].table)
			tracked_count(&shared[i], counter, rate, &by, n);
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
