/* Backends of a few servers, and sequences of choices among them. */
#ifndef TESTS_UNIT_PROXY_BALANCE_RIG_H
#define TESTS_UNIT_PROXY_BALANCE_RIG_H

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxy.h"
#include "proxy/config/proxy_life.h"
#include "unit/test.h"

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
nth(struct proxy *be, int n)
{
	list_each(it, &be->servers) {
		if (n-- == 0)
			return list_entry(it, struct server, link);
	}
	fail();
	return NULL;
}

static inline void
unload(struct proxy *be)
{
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		s->cur = s->queued = 0;
	}
}

static inline void
destroy(struct proxy **be)
{
	unload(*be);
	proxy_free(be);
}

/* The names of n choices; '-' for none; lower case: full, the session is queued at that server. */
static inline const char *
picks(struct proxy *be, int n)
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
count(struct proxy *be, int n, unsigned int *times)
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
