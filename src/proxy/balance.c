#include "proxy/balance.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

/* Steps along the map before every server is looked at instead: a full one may fill much of it. */
#define MAP_STEPS_MAX 1024u

const char *
balance_name(enum balance_algo algo)
{
	switch (algo) {
	case BALANCE_ROUNDROBIN:
		return "roundrobin";
	case BALANCE_STATIC_RR:
		return "static-rr";
	case BALANCE_LEASTCONN:
		return "leastconn";
	case BALANCE_SOURCE:
		return "source";
	case BALANCE_FIRST:
		return "first";
	case BALANCE_RANDOM:
		return "random";
	case BALANCE_URI:
		return "uri";
	case BALANCE_URL_PARAM:
		return "url_param";
	case BALANCE_HDR:
		return "hdr";
	case BALANCE_HASH:
		return "hash";
	}
	return "?";
}

int
balance_hashes(enum balance_algo algo)
{
	return algo == BALANCE_SOURCE || algo == BALANCE_HASH || balance_needs_http(algo);
}

int
balance_needs_http(enum balance_algo algo)
{
	return algo == BALANCE_URI || algo == BALANCE_URL_PARAM || algo == BALANCE_HDR;
}

static int
has_ring(const struct proxy *be)
{
	return balance_hashes(be->balance) && be->hash_type.consistent;
}

int
balance_is_static(const struct proxy *be)
{
	return be->balance == BALANCE_STATIC_RR ||
		(balance_hashes(be->balance) && !be->hash_type.consistent);
}

/* Those that hash need one too: for whoever has no key. */
static int
has_map(const struct proxy *be)
{
	return be->balance == BALANCE_ROUNDROBIN || be->balance == BALANCE_STATIC_RR ||
		balance_hashes(be->balance);
}

int
balance_init(struct proxy *be)
{
	struct balance *lb = &be->lb;
	unsigned int n = be->n_servers;

	if (n > BALANCE_SERVERS_MAX)
		return -ERR_FULL;
	balance_fini(be);
	if (n == 0)
		return 0;
	lb->group = mem_zalloc(n * sizeof(struct server *));
	if (!lb->group)
		return -ERR_NOMEM;
	lb->cap = n;
	if (has_map(be)) {
		lb->map_cap = n * SERVER_WEIGHT_MAX;
		lb->map = mem_alloc(lb->map_cap * sizeof(*lb->map));
		lb->heap = mem_alloc(n * sizeof(*lb->heap));
	} else if (be->balance == BALANCE_RANDOM) {
		lb->sums = mem_alloc(n * sizeof(*lb->sums));
	}
	if ((has_map(be) && (!lb->map || !lb->heap)) ||
		(be->balance == BALANCE_RANDOM && !lb->sums) ||
		(has_ring(be) &&
			ring_init(&lb->ring, n * SERVER_WEIGHT_MAX * RING_POINTS_PER_WEIGHT) < 0)) {
		balance_fini(be);
		return -ERR_NOMEM;
	}
	balance_refresh(be);
	return 0;
}

void
balance_fini(struct proxy *be)
{
	struct balance *lb = &be->lb;
	uint64_t rnd = lb->rnd;

	mem_free(lb->group);
	mem_free(lb->sums);
	mem_free(lb->map);
	mem_free(lb->heap);
	ring_fini(&lb->ring);
	memset(lb, 0, sizeof(*lb));
	lb->rnd = rnd;
}

/* --- the group and what is derived from it --- */

static void
insert_by_id(struct balance *lb, struct server *s)
{
	unsigned int at = lb->n++;

	for (; at > 0 && lb->group[at - 1]->id > s->id; at--)
		lb->group[at] = lb->group[at - 1];
	lb->group[at] = s;
}

static void
collect(struct proxy *be, int backup)
{
	struct balance *lb = &be->lb;

	lb->n = 0;
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (!!s->conf.backup != backup || !server_is_usable(s) || lb->n == lb->cap)
			continue;
		if (be->balance == BALANCE_FIRST)
			insert_by_id(lb, s);
		else
			lb->group[lb->n++] = s;
		/* Without `option allbackups` one backup server stands in, however much there is
		 * to do. */
		if (backup && !(be->options & OPT_ALLBACKUPS))
			break;
	}
}

static unsigned int
common_divisor(unsigned int a, unsigned int b)
{
	while (b) {
		unsigned int r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* The k-th of w appearances belongs at (2k+1)/2w of the way: does a's next one come before b's? */
static int
is_sooner(const struct balance *lb, unsigned int a, unsigned int b)
{
	const struct server *x = lb->group[a], *y = lb->group[b];
	uint32_t left = (2 * x->lb_done + 1) * y->lb_weight;
	uint32_t right = (2 * y->lb_done + 1) * x->lb_weight;

	return left != right ? left < right : a < b;
}

static void
sift_down(const struct balance *lb, unsigned int at)
{
	uint16_t moving = lb->heap[at];

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= lb->n)
			break;
		if (child + 1 < lb->n && is_sooner(lb, lb->heap[child + 1], lb->heap[child]))
			child++;
		if (!is_sooner(lb, lb->heap[child], moving))
			break;
		lb->heap[at] = lb->heap[child];
		at = child;
	}
	lb->heap[at] = moving;
}

static void
build_map(struct proxy *be)
{
	struct balance *lb = &be->lb;
	unsigned int common = 0, old = lb->map_len;
	uint64_t total = 0;

	for (unsigned int i = 0; i < lb->n; i++) {
		struct server *s = lb->group[i];

		s->lb_weight = (unsigned int)(balance_is_static(be) ? s->conf.weight
									     : s->uweight);
		/* Static, configured as 0 and raised since: counts as one. */
		if (s->lb_weight == 0)
			s->lb_weight = 1;
		common = common_divisor(s->lb_weight, common);
	}
	for (unsigned int i = 0; i < lb->n; i++) {
		lb->group[i]->lb_weight /= common;
		lb->group[i]->lb_done = 0;
		total += lb->group[i]->lb_weight;
		lb->heap[i] = (uint16_t)i;
	}
	for (unsigned int i = lb->n / 2; i-- > 0;)
		sift_down(lb, i);
	lb->map_len = (unsigned int)total;
	for (unsigned int i = 0; i < lb->map_len; i++) {
		lb->map[i] = lb->heap[0];
		lb->group[lb->heap[0]]->lb_done++;
		sift_down(lb, 0);
	}
	/* Goes on about where it was: a start from the beginning at each change would favour the
	 * first. */
	lb->map_pos = old ? (unsigned int)((uint64_t)lb->map_pos * total / old) : 0;
}

static void
build_ring(struct proxy *be)
{
	struct balance *lb = &be->lb;

	ring_clear(&lb->ring);
	for (unsigned int i = 0; i < lb->n; i++)
		ring_add(&lb->ring, (uint16_t)i, (uint32_t)lb->group[i]->id,
			(unsigned int)lb->group[i]->uweight * RING_POINTS_PER_WEIGHT);
	ring_sort(&lb->ring);
}

void
balance_refresh(struct proxy *be)
{
	struct balance *lb = &be->lb;
	uint32_t sum = 0;

	if (!lb->cap)
		return;
	collect(be, 0);
	if (lb->n == 0)
		collect(be, 1);
	if (lb->map)
		build_map(be);
	if (lb->ring.cap)
		build_ring(be);
	for (unsigned int i = 0; lb->sums && i < lb->n; i++) {
		sum += (uint32_t)lb->group[i]->uweight;
		lb->sums[i] = sum;
	}
}

/* --- choices --- */

static unsigned int
load_of(const struct server *s)
{
	return s->cur + s->queued;
}

/* Fewer connections for its weight. */
static int
is_less_loaded(const struct server *a, const struct server *b)
{
	return (uint64_t)load_of(a) * (unsigned int)b->uweight <
		(uint64_t)load_of(b) * (unsigned int)a->uweight;
}

static int
is_as_loaded(const struct server *a, const struct server *b)
{
	return !is_less_loaded(a, b) && !is_less_loaded(b, a);
}

/* A session may wait in the server's own queue: only where `maxqueue` bounds it. */
static int
has_queue_room(const struct server *s)
{
	return s->conf.maxqueue > 0 && s->queued < (unsigned int)s->conf.maxqueue;
}

/*
 * Would one more give it more than `hash-balance-factor` allows: so many per cent of its share, by
 * weight, of what all of the group have with that one?
 */
static int
is_above_share(const struct proxy *be, const struct server *s)
{
	const struct balance *lb = &be->lb;
	uint64_t all = 1, weights = 0;

	if (!be->hash_balance_factor)
		return 0;
	for (unsigned int i = 0; i < lb->n; i++) {
		all += load_of(lb->group[i]);
		weights += (unsigned int)lb->group[i]->uweight;
	}
	/* Rounded up: a share of less than one is one. */
	all = all * (unsigned int)s->uweight * be->hash_balance_factor;
	return load_of(s) >= (all + weights * 100 - 1) / (weights * 100);
}

/* The least loaded with room; those of equal load take turns. queues: those with room in their
 * queue too. */
static struct server *
pick_least(struct balance *lb, const struct server *avoid, int queues)
{
	struct server *best = NULL;

	for (unsigned int i = 0; i < lb->n; i++) {
		struct server *s = lb->group[i];

		if (s == avoid || !(server_has_room(s) || (queues && has_queue_room(s))))
			continue;
		if (!best || is_less_loaded(s, best) ||
			(s->lb_last < best->lb_last && is_as_loaded(s, best)))
			best = s;
	}
	return best;
}

static struct server *
pick_first(struct balance *lb, const struct server *avoid)
{
	for (unsigned int i = 0; i < lb->n; i++) {
		if (lb->group[i] != avoid && server_has_room(lb->group[i]))
			return lb->group[i];
	}
	return NULL;
}

static struct server *
pick_next(struct balance *lb, const struct server *avoid)
{
	unsigned int steps = MIN(lb->map_len, MAP_STEPS_MAX);

	for (unsigned int i = 0; i < steps; i++) {
		struct server *s = lb->group[lb->map[lb->map_pos]];

		if (++lb->map_pos == lb->map_len)
			lb->map_pos = 0;
		if (s != avoid && server_has_room(s))
			return s;
	}
	/* Even when none has room the map is left where it was found, modulo whole turns. */
	return steps < lb->map_len ? pick_least(lb, avoid, 0) : NULL;
}

static uint32_t
next_random(struct balance *lb)
{
	uint64_t z = lb->rnd += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* One server with a chance in proportion to its weight. */
static struct server *
draw(struct balance *lb)
{
	uint32_t total = lb->sums[lb->n - 1];
	uint32_t at = (uint32_t)(((uint64_t)next_random(lb) * total) >> 32);
	unsigned int lo = 0, hi = lb->n - 1;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (lb->sums[mid] > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lb->group[lo];
}

static struct server *
pick_random(struct proxy *be, const struct server *avoid)
{
	struct balance *lb = &be->lb;
	struct server *best = NULL;

	for (unsigned int i = 0; i < be->balance_draws; i++) {
		struct server *s = draw(lb);

		if (s != avoid && server_has_room(s) && !is_above_share(be, s) &&
			(!best || is_less_loaded(s, best)))
			best = s;
	}
	return best ? best : pick_least(lb, avoid, 0);
}

/* Whom the hash belongs to, and those behind it, one after the other. */
static struct server *
candidate(const struct balance *lb, uint32_t key, unsigned int nth)
{
	const struct ring *r = &lb->ring;

	if (r->cap)
		return lb->group[r->point[(ring_find(r, key) + nth) % r->n].who];
	return lb->group[lb->map[(key + nth) % lb->map_len]];
}

/*
 * Bound to one server, which is the answer even when it has no room, unless its queue is full as
 * well, or it has more than its share where that is bounded.
 */
static struct server *
pick_hash(struct proxy *be, const uint32_t *key, const struct server *avoid, int *full)
{
	struct balance *lb = &be->lb;
	unsigned int steps = MIN(lb->ring.cap ? lb->ring.n : lb->map_len, MAP_STEPS_MAX);

	if (!key)
		return pick_next(lb, avoid);
	for (unsigned int i = 0; i < steps; i++) {
		struct server *s = candidate(lb, *key, i);

		if (s == avoid || (lb->ring.cap && is_above_share(be, s)))
			continue;
		if (server_has_room(s))
			return s;
		if (s->conf.maxqueue == 0 || has_queue_room(s)) {
			*full = 1;
			return s;
		}
	}
	return pick_least(lb, avoid, 0);
}

static struct server *
pick_from_group(struct proxy *be, const uint32_t *key, const struct server *avoid, int *full)
{
	struct balance *lb = &be->lb;
	struct server *s;

	switch (be->balance) {
	case BALANCE_ROUNDROBIN:
	case BALANCE_STATIC_RR:
		return pick_next(lb, avoid);
	case BALANCE_SOURCE:
	case BALANCE_URI:
	case BALANCE_URL_PARAM:
	case BALANCE_HDR:
	case BALANCE_HASH:
		return pick_hash(be, key, avoid, full);
	case BALANCE_FIRST:
		return pick_first(lb, avoid);
	case BALANCE_RANDOM:
		return pick_random(be, avoid);
	case BALANCE_LEASTCONN:
		break;
	}
	s = pick_least(lb, avoid, 1);
	*full = s && !server_has_room(s);
	return s;
}

struct server *
balance_pick(struct proxy *be, const uint32_t *key, const struct server *avoid, int *full)
{
	struct server *s;

	*full = 0;
	if (be->lb.n == 0)
		return NULL;
	s = pick_from_group(be, key, avoid, full);
	if (!s && avoid)
		s = pick_from_group(be, key, NULL, full);
	if (!s)
		*full = 1;
	else
		s->lb_last = ++be->lb.seq;
	return s;
}

int
balance_has(const struct proxy *be, const struct server *srv)
{
	if (!srv->conf.backup)
		return server_is_usable(srv);
	for (unsigned int i = 0; i < be->lb.n; i++)
		if (be->lb.group[i] == srv)
			return 1;
	return 0;
}

void
balance_seed(struct proxy *be, uint64_t seed)
{
	be->lb.rnd = seed;
}
