/*
 * A simulated world (tests/sim/world.h) for tests of the units that move sessions, and sessions
 * made by hand in it for those that are called directly.
 */
#ifndef TESTS_UNIT_PROXY_SESSION_RIG_H
#define TESTS_UNIT_PROXY_SESSION_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world.h"

/* Of a struct world_config: no test is to hang. */
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

/* Everything is judged: bytes, ends, what is left open. */
static inline void
rig_close(void)
{
	if (world_close(&w) < 0)
		fail_msg("%s", w.why);
}

/* One connection from its beginning to its end. */
static inline void
rig_play(const struct world_config *cfg, const struct step *client, const struct step *origin)
{
	rig_open(cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
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

static inline const char *
rig_terms(void)
{
	static char text[400];

	return world_terms(&w, text, sizeof(text));
}

#endif
