/* Picks a server. Under the backend's lock; a server that takes no sessions is never picked. */
#include "proxy/backend/balance.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

/* Steps along the map before all servers are checked instead: many entries may be those of a full
 * server. */
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
	case BALANCE_RDP_COOKIE:
		return "rdp-cookie";
	}
	return "?";
}

int
balance_hashes(enum balance_algo algo)
{
	return algo == BALANCE_SOURCE || algo == BALANCE_HASH || algo == BALANCE_RDP_COOKIE ||
		balance_needs_http(algo);
}

int
balance_needs_http(enum balance_algo algo)
{
	return algo == BALANCE_URI || algo == BALANCE_URL_PARAM || algo == BALANCE_HDR;
}

int
balance_is_static(const struct proxy *be)
{
	return be->balance == BALANCE_STATIC_RR ||
		(balance_hashes(be->balance) && !be->hash_type.consistent);
}

/* --- choices --- */

static unsigned int
load_of(const struct server *s)
{
	return s->cur + s->queued;
}

/* True if it has fewer connections for its weight. */
static int
is_less_loaded(const struct server *a, const struct server *b)
{
	return (uint64_t)load_of(a) * server_eweight(b) < (uint64_t)load_of(b) * server_eweight(a);
}

static int
is_as_loaded(const struct server *a, const struct server *b)
{
	return !is_less_loaded(a, b) && !is_less_loaded(b, a);
}

/* True if a session may wait in the server's own queue: only where `maxqueue` limits it. */
static int
has_queue_room(const struct server *s)
{
	return s->conf.maxqueue > 0 && s->queued < (unsigned int)s->conf.maxqueue;
}

/* Totals of the group, including the new connection. */
struct group_load {
	uint64_t conns, weights; /* unknown without hash-balance-factor */
};

/* Computed once for each choice: the lock is held, so no server's load changes meanwhile. */
static struct group_load
sum_group(const struct proxy *be)
{
	struct group_load all = { .conns = 1 };

	if (!be->hash_balance_factor)
		return all;
	for (unsigned int i = 0; i < be->lb.n; i++) {
		all.conns += load_of(be->lb.group[i]);
		all.weights += server_eweight(be->lb.group[i]);
	}
	return all;
}

/*
 * True if one more connection would exceed `hash-balance-factor`: a percentage of the server's
 * share, by weight, of all connections of the group including this one.
 */
static int
is_above_share(const struct proxy *be, const struct server *s, const struct group_load *all)
{
	uint64_t share;

	if (!be->hash_balance_factor)
		return 0;
	/* Rounded up: a share below one is one. */
	share = all->conns * server_eweight(s) * be->hash_balance_factor;
	return load_of(s) >= (share + all->weights * 100 - 1) / (all->weights * 100);
}

/* The least loaded server with a free slot; servers with equal load take turns. queues: also
 * servers with room in their queue. */
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
	unsigned int steps = MIN(lb->map.len, MAP_STEPS_MAX);

	for (unsigned int i = 0; i < steps; i++) {
		struct server *s = lb->group[lb->map.slot[lb->map_pos]];

		if (++lb->map_pos == lb->map.len)
			lb->map_pos = 0;
		if (s != avoid && server_has_room(s))
			return s;
	}
	/* If no server has a free slot the position in the map does not change, modulo whole
	 * turns. */
	return steps < lb->map.len ? pick_least(lb, avoid, 0) : NULL;
}

static uint32_t
next_random(struct balance *lb)
{
	uint64_t z = lb->rnd += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* A random server, in proportion to weights. */
static struct server *
draw_server(struct balance *lb)
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
	struct group_load all = sum_group(be);
	struct server *best = NULL;

	for (unsigned int i = 0; i < be->balance_draws; i++) {
		struct server *s = draw_server(lb);

		if (s != avoid && server_has_room(s) && !is_above_share(be, s, &all) &&
			(!best || is_less_loaded(s, best)))
			best = s;
	}
	return best ? best : pick_least(lb, avoid, 0);
}

/* Returns the server of the hash or, in order, one of those behind it on the ring. at: the index on
 * the ring. */
static struct server *
hash_candidate(const struct balance *lb, uint32_t key, unsigned int at, unsigned int nth)
{
	const struct consistent_hash *r = &lb->ring;

	if (r->cap)
		return lb->group[r->point[(at + nth) % r->n].who];
	return lb->group[lb->map.slot[(key + nth) % lb->map.len]];
}

/* Without a free slot: is it the server nevertheless, for its queue? */
static int
hash_waits_for(const struct proxy *be, const struct server *s)
{
	if (be->lb.ring.cap && be->hash_affinity == HASH_AFFINITY_ALWAYS)
		return 1;
	if (be->lb.ring.cap && be->hash_affinity == HASH_AFFINITY_CONN)
		return 0;
	return s->conf.maxqueue == 0 || has_queue_room(s);
}

/* With `hash-preserve-affinity maxconn` the session waits for the server before that of its hash
 * (manual) if no server has a free slot and that queue is not full. */
static struct server *
hash_last_resort(const struct proxy *be, unsigned int at)
{
	const struct consistent_hash *r = &be->lb.ring;
	struct server *s;

	if (!r->cap || be->hash_affinity != HASH_AFFINITY_CONN)
		return NULL;
	s = be->lb.group[r->point[(at + r->n - 1) % r->n].who];
	return s->conf.maxqueue == 0 || has_queue_room(s) ? s : NULL;
}

/*
 * The server that a hash selects is the result even if it has no free slot, unless its queue is
 * full too or its load limit is reached; or as hash-preserve-affinity decides.
 */
static struct server *
pick_hash(struct proxy *be, const uint32_t *key, const struct server *avoid, int *full)
{
	struct balance *lb = &be->lb;
	unsigned int steps = MIN(lb->ring.cap ? lb->ring.n : lb->map.len, MAP_STEPS_MAX);
	struct group_load all;
	struct server *free;
	unsigned int at;

	if (!key)
		return pick_next(lb, avoid);
	all = sum_group(be);
	at = lb->ring.cap ? consistent_hash_find(&lb->ring, *key) : 0;
	for (unsigned int i = 0; i < steps; i++) {
		struct server *s = hash_candidate(lb, *key, at, i);

		if (s == avoid || (lb->ring.cap && is_above_share(be, s, &all)))
			continue;
		if (server_has_room(s))
			return s;
		if (hash_waits_for(be, s)) {
			*full = 1;
			return s;
		}
	}
	free = pick_least(lb, avoid, 0);
	if (!free)
		free = hash_last_resort(be, at);
	*full = free && !server_has_room(free);
	return free;
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
	case BALANCE_RDP_COOKIE:
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
	if (be->dispatch)
		return be->dispatch;
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

void
balance_seed(struct proxy *be, uint64_t seed)
{
	be->lb.rnd = seed;
}

/* --- groups ---------------------------------------------------------------------------------- */

/* The group of servers that is used, and the tables in which choices find them. */

_Static_assert(SERVER_WEIGHT_MAX <= WEIGHTED_RR_WEIGHT_MAX &&
	SERVER_WEIGHT_MAX * CONSISTENT_HASH_POINTS_PER_WEIGHT <= CONSISTENT_HASH_ROW,
	"any weight has its slots and points");
_Static_assert(CONSISTENT_HASH_POINTS_PER_WEIGHT == SERVER_WEIGHT_SCALE, "a point for each part");

static void
insert_by_id(struct balance *lb, struct server *s)
{
	unsigned int at = lb->n++;

	for (; at > 0 && lb->group[at - 1]->id > s->id; at--)
		lb->group[at] = lb->group[at - 1];
	lb->group[at] = s;
}

static int
needs_backup(const struct proxy *be)
{
	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (!s->conf.backup && server_is_usable(s))
			return 0;
	}
	return 1;
}

/* True if the server is of the group in use. Without `option allbackups` only one backup server is
 * used, at any load. */
static int
belongs_to_group(const struct proxy *be, const struct server *s, int backup)
{
	if (!!s->conf.backup != backup || be->lb.n == be->lb.cap)
		return 0;
	if (!server_is_usable(s) && !(be->lb.panic && server_may_serve(s)))
		return 0;
	return !backup || be->lb.n == 0 || (be->options & OPT_ALLBACKUPS);
}

/* Counts the servers that only checks can take out of use. */
static void
count_group(struct proxy *be)
{
	struct balance *lb = &be->lb;
	unsigned int up = 0, all = 0, backups = 0;

	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->conf.backup) {
			backups += (unsigned int)server_is_usable(s);
		} else if (server_may_serve(s)) {
			all++;
			up += (unsigned int)server_is_usable(s);
		}
	}
	atomic_write(&lb->n_known, all);
	atomic_write(&lb->panic, up * 100 < all * be->panic_threshold && (up || !backups));
}

/* Collects the servers of the group in use. Other workers read in_group without the lock: it is
 * written once, with its new value. */
static void
collect_group(struct proxy *be)
{
	struct balance *lb = &be->lb;
	unsigned int usable = 0;
	int backup;

	count_group(be);
	backup = !lb->panic && needs_backup(be);
	lb->n = 0;
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);
		int belongs = belongs_to_group(be, s, backup);

		if (belongs && be->balance == BALANCE_FIRST)
			insert_by_id(lb, s);
		else if (belongs)
			lb->group[lb->n++] = s;
		atomic_write(&s->in_group, belongs);
		usable += (unsigned int)(belongs && server_is_usable(s));
	}
	atomic_write(&lb->usable, usable);
}

/*
 * The divisor of scaled weights in the map: the smallest for which there is room, so that also a
 * small weight has a fraction. Without a common divisor the map of weights in full is no longer.
 */
static unsigned int
map_divisor(const struct balance *lb)
{
	unsigned int sum = 0, by = 1;

	for (unsigned int i = 0; i < lb->n; i++)
		sum += server_eweight(lb->group[i]);
	while (by < SERVER_WEIGHT_SCALE && sum / by + lb->n > lb->map.cap)
		by *= 2;
	return by;
}

/* Its slots; at least one: static, configured with 0 and raised since. */
static unsigned int
slots_of(const struct server *s, int is_static, unsigned int by)
{
	unsigned int n = is_static ? (unsigned int)s->conf.weight
				   : (server_eweight(s) + by - 1) / by;

	return n ? n : 1;
}

static void
build_map(struct proxy *be)
{
	struct balance *lb = &be->lb;
	unsigned int old = lb->map.len;
	int is_static = balance_is_static(be);
	unsigned int by = is_static ? 1 : map_divisor(lb);

	weighted_rr_clear(&lb->map);
	for (unsigned int i = 0; i < lb->n; i++)
		weighted_rr_add(&lb->map, slots_of(lb->group[i], is_static, by));
	weighted_rr_build(&lb->map, is_static ? WEIGHTED_RR_CLAIMS : WEIGHTED_RR_EVEN);
	/* Continues at about the same position: a restart at each change would favour the first
	 * servers. */
	lb->map_pos = old ? (unsigned int)((uint64_t)lb->map_pos * lb->map.len / old) : 0;
}

/* 1 and the key of an address, the same on every machine; 0: there is none. */
static int
address_key(const struct server *s, uint32_t *key)
{
	struct addr a;
	uint16_t port;

	(void)addr_cell_get(&s->addr, &a);
	if (addr_family(&a) == AF_INET)
		*key = hash_crc32c(0, &a.u.in.sin_addr, sizeof(a.u.in.sin_addr));
	else if (addr_family(&a) == AF_INET6)
		*key = hash_crc32c(0, &a.u.in6.sin6_addr, sizeof(a.u.in6.sin6_addr));
	else
		return 0;
	port = htons((uint16_t)addr_port(&a));
	if (s->conf.hash_key == SERVER_HASH_ADDR_PORT)
		*key = hash_crc32c(*key, &port, sizeof(port));
	return 1;
}

static void
add_to_ring(struct consistent_hash *r, unsigned int i, const struct server *s)
{
	uint32_t key;

	if (s->conf.hash_key != SERVER_HASH_ID && address_key(s, &key))
		consistent_hash_add_key(r, (uint16_t)i, key, server_eweight(s));
	else
		consistent_hash_add(r, (uint16_t)i, (uint32_t)s->id, server_eweight(s));
}

static void
build_ring(struct proxy *be)
{
	struct balance *lb = &be->lb;

	consistent_hash_clear(&lb->ring);
	for (unsigned int i = 0; i < lb->n; i++)
		add_to_ring(&lb->ring, i, lb->group[i]);
	consistent_hash_sort(&lb->ring);
}

void
balance_refresh(struct proxy *be)
{
	struct balance *lb = &be->lb;
	uint32_t sum = 0;

	if (lb->is_held)
		lb->is_due = 1;
	if (!lb->cap || lb->is_held)
		return;
	collect_group(be);
	if (lb->map.cap)
		build_map(be);
	if (lb->ring.cap)
		build_ring(be);
	for (unsigned int i = 0; lb->sums && i < lb->n; i++) {
		sum += server_eweight(lb->group[i]);
		lb->sums[i] = sum;
	}
}

/* --- room for it --- */

static int
has_ring(const struct proxy *be)
{
	return balance_hashes(be->balance) && be->hash_type.consistent;
}

/* Hash algorithms need one too, for connections without a key. */
static int
has_map(const struct proxy *be)
{
	return be->balance == BALANCE_ROUNDROBIN || be->balance == BALANCE_STATIC_RR ||
		balance_hashes(be->balance);
}

static void
free_balance(struct balance *lb)
{
	mem_free(lb->group);
	mem_free(lb->sums);
	weighted_rr_fini(&lb->map);
	consistent_hash_fini(&lb->ring);
}

static int
make_balance(const struct proxy *be, struct balance *lb, unsigned int n)
{
	lb->group = mem_zalloc(n * sizeof(struct server *));
	if (!lb->group)
		return -ERR_NOMEM;
	lb->cap = n;
	if (be->balance == BALANCE_RANDOM)
		lb->sums = mem_alloc(n * sizeof(*lb->sums));
	if ((be->balance == BALANCE_RANDOM && !lb->sums) ||
		(has_map(be) && weighted_rr_init(&lb->map, n) < 0) ||
		(has_ring(be) && consistent_hash_init(&lb->ring, n * CONSISTENT_HASH_ROW) < 0)) {
		free_balance(lb);
		return -ERR_NOMEM;
	}
	return 0;
}

int
balance_init(struct proxy *be)
{
	struct balance next = { .seq = be->lb.seq, .rnd = be->lb.rnd };

	if (be->n_servers > BALANCE_SERVERS_MAX)
		return -ERR_FULL;
	if (be->n_servers && make_balance(be, &next, be->n_servers) < 0)
		return -ERR_NOMEM;
	free_balance(&be->lb);
	be->lb = next;
	balance_refresh(be);
	return 0;
}

void
balance_fini(struct proxy *be)
{
	uint64_t rnd = be->lb.rnd;

	free_balance(&be->lb);
	be->lb = (struct balance){ .rnd = rnd };
}
