/*
 * The rare members of a stream, in a block of their own that is allocated on first use: a stream
 * that needs none of them pays for a pointer. Tracked entries (manual, track-sc0) are among them;
 * those of a session are seen by all its streams.
 */
#ifndef TACIT_PROXY_MODEL_STREAM_EXTRAS_H
#define TACIT_PROXY_MODEL_STREAM_EXTRAS_H

#include "base/compiler.h"
#include "net/outbound.h"
#include "proxy/model/caching.h"
#include "proxy/model/rules.h"
#include "proxy/model/session.h"
#include "table/tracked.h"

struct dns_ask;
struct filter;
struct filter_conf;
struct subrequest;

/* A key that the server is to be stored for. */
struct stick_note {
	struct stick_note *next;
	struct table *table;
	struct table_key key;
	unsigned char bytes[];     /* of a long key */
};

/* A rule waits for a time. */
struct stream_pause {
	struct timer timer;
	struct stream *s;
	const struct rule *by;
	unsigned int ms;
	uint8_t is_over;
};

struct stream_extras {
	struct proxy *upgraded_to; /* set by http_upgrade(), for its first request; else NULL */
	struct dns_ask *asks;      /* do-resolve: names that its rules ask for; NULL: none */
	struct subrequest *subrequest; /* auth-request: the last one; NULL: none */
	struct rules_at content_at; /* the rule of tcp content rules that waits for data */
	uint64_t answer_due_ms;    /* a rule of tcp-response content waits for an agent so long */
	struct outbound_packets to_server; /* set-bc-mark, set-bc-tos: of its next connection */
	uint8_t has_counted;       /* its request is counted in the entries of that time */
	uint8_t awaits_agent;      /* a rule waits for an agent */
	uint8_t has_answer;        /* the agent has answered, and the rule does not know it */
	struct stream_pause *pause; /* the rule pause that waits; NULL: none */
	struct stick_note *notes;  /* stick store-request: keys that wait for the server; or NULL */
	struct cache_use *cache_use; /* NULL: no cache may store the response */
	struct cache_hit hit;      /* a cache responds */
	struct filter *filters[SIDES]; /* of its directions: model/filter.h */
	struct tracked tracked[];  /* engine.n_tracked of them */
};

/* slots: the number of entries that a stream or session can track. To be called on an engine
 * without sessions, before memory_bound(). */
void engine_allow_tracking(struct engine *e, unsigned int slots);
/* The extras of s, allocated on first use: NULL without memory. */
struct stream_extras *stream_extras_get(struct stream *s) must_check;
/* Releases what they hold, and their memory, unless the session tracks something: then its streams
 * have extras all the time. s has some. */
void stream_extras_drop(struct stream *s);
/* Frees those of a stream that ends, if it has some. */
void stream_extras_free(struct stream *s);
/* Ends what the session tracks, after all its streams have ended. */
void session_tracked_end(struct session *sess);

/* awaits: a rule begins to wait for an agent. Otherwise the agent has answered or was given up, and
 * the rules run again. s has extras. */
void stream_await_answer(struct stream *s);
void stream_take_answer(struct stream *s);
int stream_question_is_open(const struct stream *s);
/* True if a rule waits for an agent, a name server, or a subrequest. */
static inline int
stream_awaits_answer(const struct stream *s)
{
	return unlikely(s->extras != NULL) && stream_question_is_open(s);
}
/* True if there may be an answer that its rule has not used yet. */
int stream_has_answer(const struct stream *s);
/* Notes that the rule has used the answer. */
static inline void
stream_forget_answer(struct stream *s)
{
	s->extras->has_answer = 0;
}

/* The packets of its connection to a server, which no other stream may use; NULL: as all. */
static inline const struct outbound_packets *
stream_packets(const struct stream *s)
{
	const struct outbound_packets *p = unlikely(s->extras != NULL) ? &s->extras->to_server
								       : NULL;

	return p && (p->has_mark || p->has_tos) ? p : NULL;
}

/* Called when an exchange is over. */
static inline void
stream_extras_end(struct stream *s)
{
	if (unlikely(s->extras != NULL))
		stream_extras_drop(s);
}

/* The backend that it was upgraded for, until its first request is over; NULL: none. */
static inline struct proxy *
stream_upgraded_to(const struct stream *s)
{
	return unlikely(s->extras != NULL) ? s->extras->upgraded_to : NULL;
}

/* Ends the wait of a rule pause. s has extras. */
void stream_drop_pause(struct stream *s);

/* Frees the keys that wait for the server. s has extras. */
void stream_drop_notes(struct stream *s);

/* The filter of that direction with this configuration, or NULL. */
struct filter *filter_find(const struct stream *s, int side, const struct filter_conf *conf);
/* The same, zeroed and new if there is none: NULL without memory. */
struct filter *filter_get(struct stream *s, int side, const struct filter_conf *conf) must_check;

/* --- caches --- */

static inline struct cache_caller
stream_cache_caller(const struct stream *s)
{
	return (struct cache_caller){ .sys = s->engine->sys, .now_ms = stream_now_ms(s) };
}

/* Notes the key under which the response may be stored, and what selects among its objects: 0 or
 * -ERR_NOMEM. */
int stream_note_cache_use(struct stream *s, struct cache *c, unsigned int may, struct str key,
	const struct cache_variant *asked) must_check;
/* True if a rule has found a stored response, and no rule has ended the request: its rules wait for
 * no answer. */
static inline int
stream_is_served_by_cache(const struct stream *s)
{
	return unlikely(s->extras != NULL) && s->extras->hit.entry;
}
/* Releases the stored response. s has extras. */
void stream_end_hit(struct stream *s);

/* --- tracked entries --- */

static inline struct table_caller
stream_table_caller(const struct stream *s)
{
	return (struct table_caller){ .sys = s->engine->sys, .now_ms = stream_now_ms(s) };
}

/* The entry that s or its session tracks in this slot; NULL: none. */
const struct tracked *stream_tracked(const struct stream *s, unsigned int slot);
/* Tracks an entry, whose reference is taken over, in an empty slot of s, or of its session. Without
 * memory it is not tracked. */
void stream_track(struct stream *s, int by_session, unsigned int slot, struct table *t,
	struct table_entry *entry);
/* Counts n of something in all tracked entries. s has extras. */
void stream_count_in_tracked(const struct stream *s, enum table_data counter, enum table_data rate,
	uint64_t n);
/* The same; it costs little where no tracked entry counts it. */
static inline void
stream_count_tracked(const struct stream *s, enum table_data counter, enum table_data rate,
	uint64_t n)
{
	uint32_t stores = s->engine->tracked_stores;

	if ((stores >> counter | stores >> rate) & 1)
		stream_count_in_tracked(s, counter, rate, n);
}
/* The same of the request, once. */
void stream_count_tracked_request(struct stream *s);

/* Counts an error of the client or a failure of the server, if a status of the server is one. s has
 * extras. */
void stream_count_tracked_status(const struct stream *s, unsigned int status);

/* The same of a request that is invalid, late or aborted, answered with this status: HAProxy does
 * not count a late one as an error. */
void stream_count_refused(struct stream *s, unsigned int status);

/* Counts an error of the client, or a failure of the server, if something is tracked. */
static inline void
stream_count_client_error(const struct stream *s)
{
	if (unlikely(s->extras != NULL))
		stream_count_tracked(s, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE, 1);
}

static inline void
stream_count_server_failure(const struct stream *s)
{
	if (unlikely(s->extras != NULL))
		stream_count_tracked(s, TABLE_HTTP_FAIL_CNT, TABLE_HTTP_FAIL_RATE, 1);
}

#endif
