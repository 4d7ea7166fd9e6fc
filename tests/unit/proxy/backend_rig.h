/*
 * Servers of a backend, without an engine: their forced states and weights (put_admin, put_weight),
 * and farms of a few servers with the choices that a balancing algorithm makes among them (farm_*).
 * Users: tests of proxy/backend, and those that need a server in a certain state.
 */
#ifndef TESTS_UNIT_PROXY_BACKEND_RIG_H
#define TESTS_UNIT_PROXY_BACKEND_RIG_H

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/server_state.h"
#include "proxy/config/proxy_life.h"
#include "proxy/model/proxy.h"
#include "unit/test.h"

static const unsigned int forced_states[] = { SERVER_READY, SERVER_MAINT_FORCED,
	SERVER_DRAIN_FORCED };

static inline void
put_admin(struct server *s, unsigned int admin, uint64_t now_ms)
{
	lock_take(&s->be->lock, NULL);
	server_put_state_locked(s, (struct server_state){ admin, s->oper }, now_ms);
	lock_drop(&s->be->lock);
}

static inline int
put_weight(struct server *s, int weight)
{
	int r;

	lock_take(&s->be->lock, NULL);
	r = server_put_weight_locked(s, weight);
	lock_drop(&s->be->lock);
	return r;
}

/* --- farms --- */

#define MAX_SERVERS 16

/* A backend of servers called A, B, C, ... with these weights (terminated by -1). */
static inline struct proxy *
farm(enum balance_algo algo, const int *weights)
{
	struct proxy *be = proxy_new("be", PROXY_BE);

	assert_non_null(be);
	be->balance = algo;
	for (int i = 0; weights[i] >= 0; i++) {
		char name[2] = { (char)('A' + i), 0 };
		struct server *s = server_new(be, name, &be->default_server);

		assert_non_null(s);
		s->conf.weight = s->uweight = weights[i];
		s->id = i + 1;
		list_append(&be->servers, &s->link);
		be->n_servers++;
	}
	assert_int_equal(balance_init(be), 0);
	balance_seed(be, 42);
	return be;
}

#define W(...) ((const int[]){ __VA_ARGS__, -1 })

static inline struct server *
farm_server(struct proxy *be, int n)
{
	list_each(it, &be->servers) {
		if (n-- == 0)
			return list_entry(it, struct server, link);
	}
	fail();
	return NULL;
}

static inline void
farm_unload(struct proxy *be)
{
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		s->cur = s->queued = 0;
	}
}

static inline void
farm_free(struct proxy **be)
{
	farm_unload(*be);
	proxy_free(be);
}

/* The names of n choices; '-' for none; lower case: full, the session is queued at that server. */
static inline const char *
farm_picks(struct proxy *be, int n)
{
	static char text[600];
	int i;

	assert_true(n < (int)sizeof(text));
	for (i = 0; i < n; i++) {
		int full = 7;
		struct server *s = balance_pick(be, NULL, NULL, &full);

		assert_true(full == 0 || full == 1);
		text[i] = !s ? (full ? '!' : '-') : (char)(s->name[0] + (full ? 'a' - 'A' : 0));
	}
	text[i] = '\0';
	return text;
}

static inline void
farm_count(struct proxy *be, int n, unsigned int *times)
{
	memset(times, 0, MAX_SERVERS * sizeof(*times));
	for (int i = 0; i < n; i++) {
		int full;
		struct server *s = balance_pick(be, NULL, NULL, &full);

		assert_non_null(s);
		times[s->name[0] - 'A']++;
	}
}

#endif
