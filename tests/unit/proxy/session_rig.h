/*
 * A simulated world (tests/sim/world.h) for tests of the files that move sessions (rig_*), sessions
 * made by hand in it for those that are called directly, and dialogues in mode http: scripts of
 * texts, and what each end must receive (http_*). Users: tests of proxy/session, proxy/http1,
 * proxy/relay, and those of proxy/model and proxy/backend that need connections.
 */
#ifndef TESTS_UNIT_PROXY_SESSION_RIG_H
#define TESTS_UNIT_PROXY_SESSION_RIG_H

#include <stdlib.h>
#include <string.h>

#include "proxy/model/memory.h"
#include "sim/agent.h"
#include "sim/world.h"
#include "unit/test.h"

/* Part of a struct world_config: timeouts, so that no test hangs. */
#define RIG_WORLD                                                                          \
	.mode = INTEREST_MERGED, .to = { .connect = 5000, .client = 30000,                 \
					 .server = 30000, .queue = 5000 }
#define RIG_LIMIT (300 * FAKE_SEC)

static struct world w;

static inline void
rig_open(const struct world_config *cfg, const struct step *origin)
{
	if (world_open(&w, cfg) < 0)
		fail_msg("%s", w.why);
	w.origin_steps = origin;
}

/* Closes the world with all its checks: bytes, ends, open descriptors. */
static inline void
rig_close(void)
{
	if (world_close(&w) < 0)
		fail_msg("%s", w.why);
}

/* Plays one connection from its beginning to its end. */
static inline void
rig_play(const struct world_config *cfg, const struct step *client, const struct step *origin)
{
	rig_open(cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
}

/* No further buffer can be allocated until rig_restore_memory(). */
static inline void *
rig_exhaust_memory(void)
{
	void *kept = NULL;

	while (w.engine.pools.buf.kept) {
		void **p = pool_get(&w.engine.pools.buf);

		*p = kept;
		kept = p;
	}
	w.engine.limits.max_memory = memory_used(&w.engine);
	return kept;
}

static inline void
rig_restore_memory(void *kept)
{
	while (kept) {
		void *next = *(void **)kept;

		pool_put(&w.engine.pools.buf, kept);
		kept = next;
	}
	w.engine.limits.max_memory = 0;
}

/* The nth live session. */
static inline struct stream *
rig_session(int n)
{
	list_each(it, &w.engine.streams) {
		if (n-- == 0)
			return list_entry(it, struct stream, link);
	}
	fail_msg("there is no such session");
	return NULL;
}

/* A session made by hand, not connected, on the first server. */
static struct session rig_hand;

static inline struct stream *
rig_hand_made(void)
{
	struct stream *s = &rig_hand.stream;

	memset(&rig_hand, 0, sizeof(rig_hand));
	stream_join(s, &rig_hand, &rig_hand.conn);
	s->engine = &w.engine;
	s->sess->listener = w.ln;
	s->sess->fe = s->be = w.px;
	s->srv = w.srv[0];
	s->term[0] = s->term[1] = '-';
	conn_init(s->conn[CLIENT]);
	conn_init(s->conn[SERVER]);
	list_init(&s->queue_link);
	return s;
}

static inline const char *
rig_terms(void)
{
	static char text[400];

	return world_terms(&w, text, sizeof(text));
}

/* --- dialogues in mode http --- */

#define HTTP_WORLD RIG_WORLD, .http = 1
/* A client with one request. An origin that reads a request head and then plays the steps. One that
 * sends a 200. */
#define CLIENT_GET .client = { SAY(GET "\r\n"), EOF_CLOSE }
#define REPLY(...) .origin = { AWAIT("\r\n\r\n"), __VA_ARGS__ }
#define REPLY_OK REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE)
#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"

struct http_dialogue {
	const char *name;
	struct world_config cfg;
	struct step client[AGENT_STEPS], origin[AGENT_STEPS];
	const char *to_server; /* received by the origin on its first connection; NULL: any */
	const char *to_client; /* all that the client received */
	const char *terms;
	unsigned int served;   /* number of connections to the origin */
	int reuses;            /* they may carry several requests */
};

static inline void
http_play(const struct http_dialogue *d)
{
	struct world_config cfg = d->cfg;

	cfg.http = 1;
	if (!d->reuses && !cfg.persistence)
		cfg.persistence = HTTP_SERVER_CLOSE;
	rig_play(&cfg, d->client, d->origin);
	if (d->to_server && strcmp(w.served[0].text, d->to_server) != 0)
		fail_msg("%s: the server read \"%s\", expected \"%s\"", d->name, w.served[0].text,
			d->to_server);
	if (d->to_client && strcmp(w.client[0].text, d->to_client) != 0)
		fail_msg("%s: the client read \"%s\", expected \"%s\"", d->name, w.client[0].text,
			d->to_client);
	if (strcmp(rig_terms(), d->terms) != 0)
		fail_msg("%s: sessions ended with %s, expected %s", d->name, rig_terms(), d->terms);
	if (w.n_served != d->served)
		fail_msg("%s: %u connections to the origin, expected %u", d->name,
			w.n_served, d->served);
	rig_close();
}

static inline void
http_play_all(const struct http_dialogue *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		http_play(&d[i]);
}

#endif
