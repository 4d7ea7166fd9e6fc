/*
 * The rare members of a stream, in a block of their own that is allocated on first use: a stream
 * that needs none of them pays for a pointer. Tracked entries (manual, track-sc0) are among them;
 * those of a session are seen by all its streams.
 */
#ifndef TACIT_PROXY_MODEL_STREAM_EXTRAS_H
#define TACIT_PROXY_MODEL_STREAM_EXTRAS_H

#include "base/compiler.h"
#include "proxy/model/session.h"
#include "table/tracked.h"

struct dns_ask;

/* A key that the server is to be stored for. */
struct stick_note {
	struct stick_note *next;
	struct table *table;
	struct table_key key;
	unsigned char bytes[];     /* of a long key */
};

struct stream_extras {
	struct proxy *upgraded_to; /* set by http_upgrade.c, for its first request; else NULL */
	struct dns_ask *asks;      /* do-resolve: names that its rules ask for; NULL: none */
	uint8_t has_counted;       /* its request is counted in the entries of that time */
	struct stick_note *notes;  /* stick store-request: keys that wait for the server; or NULL */
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

/* Frees the keys that wait for the server. s has extras. */
void stream_drop_notes(struct stream *s);

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
void stream_count_tracked(const struct stream *s, enum table_data counter, enum table_data rate,
	uint64_t n);
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
