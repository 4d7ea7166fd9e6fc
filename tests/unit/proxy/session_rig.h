/*
 * A simulated world (tests/sim/world.h) for tests of the files that move sessions, and sessions
 * made by hand in it for those that are called directly.
 */
#ifndef TESTS_UNIT_PROXY_SESSION_RIG_H
#define TESTS_UNIT_PROXY_SESSION_RIG_H

#include <stdlib.h>
#include <string.h>

#include "proxy/model/memory.h"
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

	while (w.engine.buf_pool.kept) {
		void **p = pool_get(&w.engine.buf_pool);

		*p = kept;
		kept = p;
	}
	w.engine.max_memory = memory_used(&w.engine);
	return kept;
}

static inline void
rig_restore_memory(void *kept)
{
	while (kept) {
		void *next = *(void **)kept;

		pool_put(&w.engine.buf_pool, kept);
		kept = next;
	}
	w.engine.max_memory = 0;
}

/* The nth live session. */
static inline struct session *
rig_session(int n)
{
	list_each(it, &w.engine.sessions) {
		if (n-- == 0)
			return list_entry(it, struct session, link);
	}
	fail_msg("there is no such session");
	return NULL;
}

/* A session made by hand, not connected, on the first server. */
static struct session rig_hand;

static inline struct session *
rig_hand_made(void)
{
	struct session *s = &rig_hand;

	memset(s, 0, sizeof(*s));
	s->engine = &w.engine;
	s->listener = w.ln;
	s->fe = s->be = w.px;
	s->srv = w.srv[0];
	s->term[0] = s->term[1] = '-';
	conn_init(&s->conn[CLIENT]);
	conn_init(&s->conn[SERVER]);
	list_init(&s->queue_link);
	return s;
}

static inline const char *
rig_terms(void)
{
	static char text[400];

	return world_terms(&w, text, sizeof(text));
}

#endif
