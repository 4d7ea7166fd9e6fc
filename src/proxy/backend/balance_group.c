/* The servers that are to be chosen from, and what choices look them up in. */
#include <arpa/inet.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

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

/* Without `option allbackups` only one backup server is used, whatever the load. */
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

/* Others read in_group without the lock: it is written once, with its new value. */
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

	if (!lb->cap)
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
