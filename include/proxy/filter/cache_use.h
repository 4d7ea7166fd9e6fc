/*
 * The action cache-use, with requests that wait for the object which another one brings
 * (`collapse`). For the files of caches here, and for workers.
 */
#ifndef TACIT_PROXY_FILTER_CACHE_USE_H
#define TACIT_PROXY_FILTER_CACHE_USE_H

#include "event/timer.h"
#include "proxy/model/caching.h"
#include "proxy/model/filter.h"
#include "rule/action/action.h"

struct engine;

/* The ref of a rule of a cache. */
struct cache_rule {
	struct proxy *px;              /* that has the rule */
	struct cache_section *section; /* these when it has been checked */
	const struct filter_conf *conf;
};

/* On the worker of its stream. */
struct cache_wait {
	/* Ends the stream's own claim, or its wait for another one. is_refused: the stream's
	 * response is not stored. NULL: the stream has had neither. */
	void (*end)(struct cache_wait *w, int is_refused);
	struct stream *s;
	struct cache *cache;
	struct cache_claim *claim; /* with a reference; NULL: none */
	int is_mine;               /* of the claim: others wait for this stream */
	const struct rule *by;     /* that waits, or has waited; NULL: none */
	uint64_t until_ms;         /* how long it does */
	/* While it waits. */
	struct timer timer;
	struct cache_wait *next, **at; /* engine.cache_waits */
};

/* Begins the part of a cache in a direction; the wait is that of a request. */
struct cache_part {
	struct filter f;
	struct cache_wait wait;
};

/* Runs the action: an object is served, the stream waits for one, or the rules continue. */
enum rule_result cache_use_run(const struct rule *r, struct sample_ctx *cx,
	struct rule_outcome *out);
/* True if the rule waits, or has waited, for another stream. */
int cache_use_has_waited(const struct rule *r, const struct rule_outcome *out);
/* Lets rules continue whose claims are over. */
void cache_waits_collect(struct engine *e);

#endif
