/* The servers that are to be chosen from, and what choices look them up in. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

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

/* --- room for it --- */

static int
has_ring(const struct proxy *be)
{
	return balance_hashes(be->balance) && be->hash_type.consistent;
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
