#include "proxy/backend/balance.h"
#include "sim/dice.h"
#include "unit/net/net_rig.h"
#include "unit/proxy/backend_rig.h"

static void
test_order(void **state)
{
	static const struct {
		int w[8];
		const char *even, *claims; /* include/proxy/weighted_rr.h */
	} t[] = {
		{ { 1, 1, 1, -1 }, "ABCABC", "ABCABC" },
		{ { 9, 9, 9, -1 }, "ABCABC", "ABCABC" },
		{ { 2, 1, -1 }, "ABAABA", "AABAAB" },
		{ { 3, 1, -1 }, "AABAAABA", "AAABAAAB" },
		{ { 1, 2, 3, -1 }, "CBACBCCBACBC", "ACBCBCACBCBC" },
		{ { 5, 1, 1, -1 }, "AAABCAAAAABCAA", "AAABAACAAABAAC" },
		{ { 7, -1 }, "AAAA", "AAAA" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct proxy *be = farm(BALANCE_ROUNDROBIN, t[i].w);

		assert_string_equal(farm_picks(be, (int)strlen(t[i].even)), t[i].even);
		farm_free(&be);
		be = farm(BALANCE_STATIC_RR, t[i].w);
		assert_string_equal(farm_picks(be, (int)strlen(t[i].claims)), t[i].claims);
		farm_free(&be);
	}
}

static void
a_full_server_queues_or_is_passed_over(void **state)
{
	static const enum balance_algo all[] = { BALANCE_ROUNDROBIN, BALANCE_STATIC_RR,
		BALANCE_LEASTCONN, BALANCE_FIRST, BALANCE_RANDOM };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct proxy *be = farm(all[i], W(1, 1, 1));

		for (int k = 0; k < 3; k++) {
			farm_server(be, k)->conf.maxconn = 1;
			farm_server(be, k)->cur = 1;
		}
		assert_string_equal(farm_picks(be, 3), "!!!");
		farm_server(be, 1)->cur = 0;
		assert_string_equal(farm_picks(be, 5), "BBBBB");
		farm_free(&be);
	}
}

/* A full server with most places in a long map does not hide a small one. */
static void
full_heavy_servers_do_not_hide_a_small_one(void **state)
{
	static const enum balance_algo all[] = { BALANCE_ROUNDROBIN, BALANCE_RANDOM };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct proxy *be = farm(all[i], W(256, 256, 256, 256, 256, 256, 1));

		for (int k = 0; k < 6; k++) {
			farm_server(be, k)->conf.maxconn = 1;
			farm_server(be, k)->cur = 1;
		}
		assert_string_equal(farm_picks(be, 9), "GGGGGGGGG");
		farm_free(&be);
	}
}

static void
no_usable_server_means_no_choice(void **state)
{
	struct proxy *be = farm(BALANCE_ROUNDROBIN, W(1, 1));

	(void)state;
	put_admin(farm_server(be, 0), SERVER_MAINT_FORCED, 0);
	put_admin(farm_server(be, 1), SERVER_DRAIN_FORCED, 0);
	assert_string_equal(farm_picks(be, 2), "--");
	farm_free(&be);
	be = farm(BALANCE_LEASTCONN, (const int[]){ -1 });
	assert_string_equal(farm_picks(be, 2), "--");
	farm_free(&be);
}

static void
test_avoid(void **state)
{
	static const enum balance_algo all[] = { BALANCE_ROUNDROBIN, BALANCE_STATIC_RR,
		BALANCE_LEASTCONN, BALANCE_SOURCE, BALANCE_FIRST, BALANCE_RANDOM };
	uint32_t key;
	int full;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct proxy *be = farm(all[i], W(1, 1, 1));
		const struct server *bad = farm_server(be, 0);

		for (key = 0; key < 50; key++)
			assert_ptr_not_equal(balance_pick(be, &key, bad, &full), bad);
		/* The only server with a free slot, then the only server that is up. */
		farm_server(be, 1)->conf.maxconn = farm_server(be, 2)->conf.maxconn = 1;
		farm_server(be, 1)->cur = farm_server(be, 2)->cur = 1;
		if (all[i] != BALANCE_SOURCE) {
			assert_ptr_equal(balance_pick(be, &key, bad, &full), bad);
			assert_int_equal(full, 0);
		}
		put_admin(farm_server(be, 1), SERVER_MAINT_FORCED, 0);
		put_admin(farm_server(be, 2), SERVER_MAINT_FORCED, 0);
		assert_ptr_equal(balance_pick(be, &key, bad, &full), bad);
		farm_free(&be);
	}
}

/* When n sessions come and stay, each server gets its share by weight. */
static void
test_leastconn(void **state)
{
	struct proxy *be = farm(BALANCE_LEASTCONN, W(1, 2, 5));

	(void)state;
	for (int i = 0; i < 800; i++) {
		int full;

		balance_pick(be, NULL, NULL, &full)->cur++;
	}
	assert_int_equal(farm_server(be, 0)->cur, 100);
	assert_int_equal(farm_server(be, 1)->cur, 200);
	assert_int_equal(farm_server(be, 2)->cur, 500);
	farm_server(be, 0)->cur = 90;
	assert_string_equal(farm_picks(be, 2), "AA");
	farm_unload(be);
	/* Servers with equal loads take turns (A was last); queued sessions count as load. */
	assert_string_equal(farm_picks(be, 6), "BCABCA");
	farm_server(be, 0)->queued = 1;
	assert_string_equal(farm_picks(be, 4), "BCBC");
	farm_free(&be);
}

static void
leastconn_takes_the_shortest_queue(void **state)
{
	struct proxy *be = farm(BALANCE_LEASTCONN, W(1, 1));

	(void)state;
	for (int k = 0; k < 2; k++) {
		farm_server(be, k)->conf.maxconn = farm_server(be, k)->cur = 1;
		farm_server(be, k)->conf.maxqueue = 2;
	}
	assert_string_equal(farm_picks(be, 2), "ab");
	farm_server(be, 0)->queued = farm_server(be, 1)->queued = 2;
	assert_string_equal(farm_picks(be, 2), "!!");
	farm_server(be, 1)->queued = 1;
	assert_string_equal(farm_picks(be, 2), "bb");
	farm_free(&be);
}

static void
test_first(void **state)
{
	struct proxy *be = farm(BALANCE_FIRST, W(1, 100, 1));

	(void)state;
	farm_server(be, 0)->id = 30;
	farm_server(be, 1)->id = 10;
	farm_server(be, 2)->id = 20;
	balance_refresh(be);
	for (int k = 0; k < 3; k++)
		farm_server(be, k)->conf.maxconn = 2;
	assert_string_equal(farm_picks(be, 3), "BBB");
	farm_server(be, 1)->cur = 2;
	assert_string_equal(farm_picks(be, 3), "CCC");
	farm_server(be, 2)->cur = 2;
	assert_string_equal(farm_picks(be, 3), "AAA");
	farm_server(be, 1)->cur = 1;
	assert_string_equal(farm_picks(be, 3), "BBB");
	farm_free(&be);
}

static char
by_source(struct proxy *be, const char *text, int *full)
{
	struct addr a = addr_of(text);
	uint32_t key;
	const struct server *s;

	assert_int_equal(balance_key_of_addr(&be->hash_type, &a, &key), 1);
	s = balance_pick(be, &key, NULL, full);

	return s ? s->name[0] : '-';
}

/* The servers that HAProxy 2.6 chooses for these clients among 13 and 4 servers of equal weight
 * (observed). */
static void
test_source_places(void **state)
{
	static const struct {
		const char *src;
		char of13, of4;
	} t[] = {
		{ "[::1]", 'B', 'B' },
		{ "[2001:db8:1:2:3:4:5:6]", 'A', 0 },
		{ "[1:2:3:4:5:6:7:8]", 'I', 0 },
		{ "[8000::8000:1]", 'B', 0 },
		{ "127.0.0.1", 0, 'B' },
		{ "127.0.0.2", 0, 'C' },
		{ "127.0.0.3", 0, 'D' },
		{ "127.0.0.4", 0, 'A' },
		{ "127.1.7.3", 0, 'D' },
	};
	struct proxy *be13 = farm(BALANCE_SOURCE, W(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
	struct proxy *be4 = farm(BALANCE_SOURCE, W(8, 8, 8, 8));
	int full;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		if (t[i].of13)
			assert_int_equal(by_source(be13, t[i].src, &full), t[i].of13);
		if (t[i].of4)
			assert_int_equal(by_source(be4, t[i].src, &full), t[i].of4);
	}
	farm_free(&be13);
	farm_free(&be4);
}

static void
test_source_sticks(void **state)
{
	struct proxy *be = farm(BALANCE_SOURCE, W(1, 1, 1, 1));
	int full;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(by_source(be, "127.0.0.1", &full), 'B');
	/* The server is full: the session is queued there, unless the queue has a limit that is
	 * reached. */
	farm_server(be, 1)->conf.maxconn = farm_server(be, 1)->cur = 1;
	assert_int_equal(by_source(be, "127.0.0.1", &full), 'B');
	assert_int_equal(full, 1);
	farm_server(be, 1)->conf.maxqueue = 1;
	assert_int_equal(by_source(be, "127.0.0.1", &full), 'B');
	farm_server(be, 1)->queued = 1;
	assert_int_equal(by_source(be, "127.0.0.1", &full), 'C');
	assert_int_equal(full, 0);
	farm_unload(be);
	/* In maintenance: another server is chosen; back up: the same one as before. */
	put_admin(farm_server(be, 1), SERVER_MAINT_FORCED, 0);
	assert_int_not_equal(by_source(be, "127.0.0.1", &full), 'B');
	put_admin(farm_server(be, 1), SERVER_READY, 0);
	assert_int_equal(by_source(be, "127.0.0.1", &full), 'B');
	/* Without an address to hash: round robin. */
	assert_string_equal(farm_picks(be, 4), "ABCD");
	farm_free(&be);
}

/* The servers of one key: '-' none, '!' the backend's queue, lower case the queue of that one. */
static char
letter_of_key(struct proxy *be, uint32_t key)
{
	int full;
	struct server *s = balance_pick(be, &key, NULL, &full);

	return (char)(!s ? (full ? '!' : '-') : s->name[0] + (full ? 'a' - 'A' : 0));
}

static void
test_affinity(void **state)
{
	struct proxy *be = farm(BALANCE_HASH, W(1, 1, 1));
	const uint32_t key = 12345;
	struct server *own, *other;
	char of;

	(void)state;
	be->hash_type.consistent = 1;
	assert_int_equal(balance_init(be), 0);
	of = letter_of_key(be, key);
	own = farm_server(be, of - 'A');
	for (int k = 0; k < 3; k++)
		farm_server(be, k)->conf.maxconn = 1;
	own->cur = 1;
	/* without a limit of its queue, only `maxconn` passes over it */
	for (enum hash_affinity a = HASH_AFFINITY_QUEUE; a <= HASH_AFFINITY_ALWAYS; a++) {
		be->hash_affinity = a;
		assert_int_equal(letter_of_key(be, key) == of + 'a' - 'A', a != HASH_AFFINITY_CONN);
	}
	be->hash_affinity = HASH_AFFINITY_CONN;
	other = farm_server(be, letter_of_key(be, key) - 'A');
	assert_ptr_not_equal(other, own);
	/* its queue is full: only `always` stays with it */
	own->conf.maxqueue = own->queued = 1;
	be->hash_affinity = HASH_AFFINITY_QUEUE;
	assert_int_equal(letter_of_key(be, key), other->name[0]);
	be->hash_affinity = HASH_AFFINITY_ALWAYS;
	assert_int_equal(letter_of_key(be, key), of + 'a' - 'A');
	/* all are full: `maxconn` waits for the one before it on the ring */
	be->hash_affinity = HASH_AFFINITY_CONN;
	for (int k = 0; k < 3; k++)
		farm_server(be, k)->cur = 1;
	own = be->lb.group[be->lb.ring.point[(consistent_hash_find(&be->lb.ring, key) +
		be->lb.ring.n - 1) % be->lb.ring.n].who];
	own->conf.maxqueue = 0;
	assert_int_equal(letter_of_key(be, key), own->name[0] + 'a' - 'A');
	own->conf.maxqueue = own->queued = 1;
	assert_int_equal(letter_of_key(be, key), '!');
	/* map-based hashing has no ring */
	be->hash_type.consistent = 0;
	assert_int_equal(balance_init(be), 0);
	farm_unload(be);
	own = farm_server(be, letter_of_key(be, key) - 'A');
	own->cur = 1;
	own->conf.maxqueue = 0;
	assert_int_equal(letter_of_key(be, key), own->name[0] + 'a' - 'A');
	farm_free(&be);
}

static void
shares_of_source_follow_weights(void **state)
{
	struct proxy *be = farm(BALANCE_SOURCE, W(10, 20, 30));
	unsigned int times[3] = { 0 };

	(void)state;
	for (int i = 0; i < 600; i++) {
		char text[32];
		int full;

		(void)snprintf(text, sizeof(text), "10.0.%d.%d", i / 200, i % 200);
		times[by_source(be, text, &full) - 'A']++;
	}
	for (int k = 0; k < 3; k++)
		assert_in_range(times[k], (k + 1) * 90, (k + 1) * 110);
	farm_free(&be);
}

static void
random_takes_the_less_loaded_of_its_draws(void **state)
{
	struct proxy *be = farm(BALANCE_RANDOM, W(10, 20, 70));
	unsigned int times[MAX_SERVERS];

	(void)state;
	be->balance_draws = 1;
	farm_count(be, 10000, times);
	assert_in_range(times[0], 800, 1200);
	assert_in_range(times[1], 1700, 2300);
	assert_in_range(times[2], 6500, 7500);
	/* The less loaded of two draws: with many draws it is the least loaded server. */
	be->balance_draws = 64;
	farm_server(be, 1)->cur = farm_server(be, 2)->cur = 1000;
	farm_count(be, 100, times);
	assert_in_range(times[0], 95, 100);
	farm_free(&be);
}

static void
algorithms_have_names_and_kinds(void **state)
{
	(void)state;
	assert_string_equal(balance_name(BALANCE_STATIC_RR), "static-rr");
	assert_string_equal(balance_name(BALANCE_RANDOM), "random");
	assert_true(balance_hashes(BALANCE_SOURCE));
	assert_false(balance_hashes(BALANCE_RANDOM));
}

static void
static_algorithms_are_known(void **state)
{
	struct proxy *be = farm(BALANCE_SOURCE, W(1, 1));

	(void)state;
	assert_true(balance_is_static(be));
	be->hash_type.consistent = 1;
	assert_false(balance_is_static(be));
	be->balance = BALANCE_STATIC_RR;
	assert_true(balance_is_static(be));
	be->balance = BALANCE_ROUNDROBIN;
	assert_false(balance_is_static(be));
	farm_free(&be);
}

#define KEYS 4000u

static struct proxy *
ring_farm(const int *weights)
{
	struct proxy *be = farm(BALANCE_SOURCE, weights);

	balance_fini(be);
	be->hash_type = (struct hash_type){ .consistent = 1, .avalanche = 1 };
	assert_int_equal(balance_init(be), 0);
	return be;
}

static char
by_key(struct proxy *be, uint32_t n)
{
	int full;
	uint32_t key = balance_key_of_text(&be->hash_type, &n, sizeof(n));
	const struct server *s = balance_pick(be, &key, NULL, &full);

	return s ? s->name[0] : '-';
}

/* A server that leaves or changes its weight only moves its own clients. */
static void
test_consistent(void **state)
{
	struct proxy *be = ring_farm(W(8, 8, 8));
	static char before[KEYS];
	unsigned int of_b = 0, still_b = 0;

	(void)state;
	for (uint32_t k = 0; k < KEYS; k++) {
		before[k] = by_key(be, k);
		of_b += before[k] == 'B';
	}
	assert_in_range(of_b, KEYS / 5, KEYS / 2);
	assert_int_equal(put_weight(farm_server(be, 1), 4), 0);
	balance_refresh(be);
	for (uint32_t k = 0; k < KEYS; k++) {
		char now = by_key(be, k);

		assert_true(now == before[k] || before[k] == 'B');
		still_b += now == 'B';
	}
	assert_in_range(still_b, of_b / 3, of_b * 4 / 5);
	put_admin(farm_server(be, 1), SERVER_MAINT_FORCED, 0);
	for (uint32_t k = 0; k < KEYS; k++) {
		char now = by_key(be, k);

		assert_true(before[k] == 'B' ? now != 'B' : now == before[k]);
	}
	/* Without a key: round robin. */
	assert_string_equal(farm_picks(be, 4), "ACAC");
	farm_free(&be);
}

/* A single key: the balance factor distributes it, within the bound and by weight. */
static void
bound_load(unsigned int factor)
{
	struct proxy *be = ring_farm(W(2, 1, 1));
	const struct server *owner;
	uint32_t key = 7;
	int full;

	owner = balance_pick(be, &key, NULL, &full);
	for (int i = 0; i < 40; i++)
		assert_ptr_equal(balance_pick(be, &key, NULL, &full), owner);
	be->hash_balance_factor = (uint16_t)factor;
	for (unsigned int all = 1; all <= 400; all++) {
		struct server *s = balance_pick(be, &key, NULL, &full);

		s->cur++;
		/* The factor times the server's share, rounded up. */
		assert_true(s->cur <= (all * (unsigned int)s->uweight * factor + 399) / 400);
	}
	assert_true(owner->cur >= 400 * (unsigned int)owner->uweight * factor / 400 - 1);
	/* With a factor of 150 two servers may be enough: 0.75 and 0.375 of the load. */
	for (int i = 0; i < 3; i++)
		assert_true(factor >= 150 || farm_server(be, i)->cur);
	farm_free(&be);
}

static void
no_server_exceeds_its_bounded_load(void **state)
{
	(void)state;
	bound_load(150);
	bound_load(110);
}

/* As in the manual: each server is compared with the sum over all servers. */
static int
is_above(struct proxy *be, const struct server *s)
{
	uint64_t conns = 1, weights = 0;

	for (unsigned int i = 0; i < be->lb.n; i++) {
		conns += be->lb.group[i]->cur;
		weights += (unsigned int)be->lb.group[i]->uweight;
	}
	return (uint64_t)s->cur * weights * 100 >=
		conns * (unsigned int)s->uweight * be->hash_balance_factor;
}

/* The first server on the ring that is not above its share is chosen, for all loads. */
static void
a_bounded_hash_takes_the_next_on_the_ring(void **st)
{
	struct dice d = dice_seed(8);

	(void)st;
	for (int round = 0; round < 300; round++) {
		struct proxy *be = proxy_new("be", PROXY_BE);
		const struct consistent_hash *r = &be->lb.ring;
		uint32_t key = dice(&d, UINT32_MAX);
		struct server *want = NULL;
		unsigned int at;
		int full;

		be->balance = BALANCE_SOURCE;
		be->hash_type.consistent = 1;
		be->hash_balance_factor = (uint16_t)(101 + dice(&d, 100));
		for (int i = 0; i < 8; i++) {
			char name[2] = { (char)('A' + i), 0 };
			struct server *s = server_new(be, name, &be->default_server);

			assert_non_null(s);
			s->conf.weight = s->uweight = 1 + (int)dice(&d, 20);
			s->id = i + 1;
			s->cur = dice(&d, 10);
			list_append(&be->servers, &s->link);
			be->n_servers++;
		}
		assert_int_equal(balance_init(be), 0);
		at = consistent_hash_find(r, key);
		for (unsigned int i = 0; !want && i < r->n; i++) {
			want = be->lb.group[r->point[(at + i) % r->n].who];
			if (is_above(be, want))
				want = NULL;
		}
		assert_ptr_equal(balance_pick(be, &key, NULL, &full), want);
		farm_free(&be);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(a_full_server_queues_or_is_passed_over),
		cmocka_unit_test(full_heavy_servers_do_not_hide_a_small_one),
		cmocka_unit_test(no_usable_server_means_no_choice),
		cmocka_unit_test(test_avoid),
		cmocka_unit_test(test_leastconn),
		cmocka_unit_test(leastconn_takes_the_shortest_queue),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_source_places),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_source_sticks),
		cmocka_unit_test(shares_of_source_follow_weights),
		cmocka_unit_test(random_takes_the_less_loaded_of_its_draws),
		cmocka_unit_test(algorithms_have_names_and_kinds),
		cmocka_unit_test(static_algorithms_are_known),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(no_server_exceeds_its_bounded_load),
		cmocka_unit_test(a_bounded_hash_takes_the_next_on_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
