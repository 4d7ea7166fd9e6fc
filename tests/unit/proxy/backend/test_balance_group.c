#include "base/hash.h"
#include "proxy/backend/balance.h"
#include "unit/proxy/backend_rig.h"
#include "proxy/config/proxy_life.h"

/* Over a full cycle every server is chosen as often as its weight requires, wherever the cycle
 * begins. */
static void
test_exact(void **state)
{
	static const int sets[][8] = {
		{ 1, 256, -1 },
		{ 256, 255, 254, -1 },
		{ 3, 5, 7, 11, 13, -1 },
		{ 100, 1, 1, -1 },
		{ 6, 10, 15, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct proxy *be = farm(BALANCE_ROUNDROBIN, sets[i]);
		unsigned int times[MAX_SERVERS];
		int total = 0;

		for (int k = 0; sets[i][k] >= 0; k++)
			total += sets[i][k];
		farm_picks(be, (int)i * 37);
		farm_count(be, total, times);
		for (int k = 0; sets[i][k] >= 0; k++)
			assert_int_equal(times[k], sets[i][k]);
		farm_free(&be);
	}
}

/* After any number of choices no server deviates from its share by more than one and a half. */
static void
no_server_deviates_from_its_share(void **state)
{
	const int w[] = { 3, 5, 7, 11, 13, -1 };
	struct proxy *be = farm(BALANCE_ROUNDROBIN, w);
	int seen[5] = { 0 };

	(void)state;
	for (int n = 1; n <= 39; n++) {
		int full;

		seen[balance_pick(be, NULL, NULL, &full)->name[0] - 'A']++;
		for (int k = 0; k < 5; k++) {
			int off = seen[k] * 39 - n * w[k];

			assert_in_range(off + 58, 0, 2 * 58);
		}
	}
	farm_free(&be);
}

static void
a_changed_weight_changes_the_shares(void **state)
{
	struct proxy *be = farm(BALANCE_ROUNDROBIN, W(1, 1));
	unsigned int times[MAX_SERVERS];

	(void)state;
	assert_int_equal(put_weight(farm_server(be, 0), 256), 0);
	farm_count(be, 257, times);
	assert_int_equal(times[0], 256);
	assert_int_equal(times[1], 1);
	assert_int_equal(put_weight(farm_server(be, 0), 0), 0);
	assert_string_equal(farm_picks(be, 4), "BBBB");
	assert_int_equal(put_weight(farm_server(be, 0), 3), 0);
	farm_count(be, 4, times);
	assert_int_equal(times[0], 3);
	farm_free(&be);
}

/* A server that goes down and up again and again does not restart the cycle each time. */
static void
a_flapping_server_does_not_restart_the_cycle(void **state)
{
	struct proxy *be = farm(BALANCE_ROUNDROBIN, W(1, 1, 1, 1));
	unsigned int times[MAX_SERVERS] = { 0 };

	(void)state;
	for (int i = 0; i < 400; i++) {
		int full;

		put_admin(farm_server(be, 3), i & 1 ? SERVER_READY : SERVER_MAINT_FORCED, 0);
		times[balance_pick(be, NULL, NULL, &full)->name[0] - 'A']++;
	}
	for (int k = 0; k < 3; k++)
		assert_true(times[k] > 50);
	farm_free(&be);
}

static void
test_backup(void **state)
{
	struct proxy *be = farm(BALANCE_ROUNDROBIN, W(1, 1, 1, 1));

	(void)state;
	farm_server(be, 1)->conf.backup = farm_server(be, 2)->conf.backup = 1;
	balance_refresh(be);
	assert_string_equal(farm_picks(be, 4), "ADAD");
	put_admin(farm_server(be, 0), SERVER_MAINT_FORCED, 0);
	assert_string_equal(farm_picks(be, 2), "DD");
	put_admin(farm_server(be, 3), SERVER_MAINT_FORCED, 0);
	assert_string_equal(farm_picks(be, 3), "BBB");
	put_admin(farm_server(be, 1), SERVER_MAINT_FORCED, 0);
	assert_string_equal(farm_picks(be, 3), "CCC");
	put_admin(farm_server(be, 1), SERVER_READY, 0);
	assert_string_equal(farm_picks(be, 3), "BBB");
	be->options |= OPT_ALLBACKUPS;
	balance_refresh(be);
	assert_string_equal(farm_picks(be, 4), "BCBC");
	put_admin(farm_server(be, 0), SERVER_READY, 0);
	assert_string_equal(farm_picks(be, 2), "AA");
	/* Backup servers are not used because the active ones are full. */
	farm_server(be, 0)->conf.maxconn = farm_server(be, 0)->cur = 1;
	assert_string_equal(farm_picks(be, 2), "!!");
	farm_free(&be);
}

static void
too_many_servers_are_an_error(void **state)
{
	struct proxy *be = proxy_new("be", PROXY_BE);

	(void)state;
	assert_non_null(be);
	be->n_servers = BALANCE_SERVERS_MAX + 1;
	assert_int_equal(balance_init(be), -ERR_FULL);
	be->n_servers = 0;
	proxy_free(&be);
}

static void
give_part(struct proxy *be, int n, unsigned int part)
{
	farm_server(be, n)->weight_part = part;
	balance_refresh(be);
}

/* Even a weight of one has sixteenths, and large ones are rounded up where room is short. */
static void
test_parts(void **state)
{
	static const struct {
		int weights[4];
		unsigned int part, of_first, of_others;
	} rows[] = {
		{ { 1, 1, -1 }, 1, 1, 16 },
		{ { 1, 1, -1 }, 12, 3, 4 },
		{ { 10, 5, -1 }, 1, 1, 8 },
		{ { 256, 256, -1 }, 1, 1, 16 },
		{ { 255, 256, -1 }, 1, 32, 512 },
		{ { 100, 7, 9, -1 }, 8, 25, 8 },
	};
	static const enum balance_algo algos[] = { BALANCE_ROUNDROBIN, BALANCE_RANDOM };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(algos); i++) {
		enum balance_algo algo = algos[i % ARRAY_LEN(algos)];
		unsigned int first = rows[i / 2].of_first, all = first + rows[i / 2].of_others;
		struct proxy *be = farm(algo, rows[i / 2].weights);
		unsigned int times[MAX_SERVERS];

		be->balance_draws = 1;
		give_part(be, 0, rows[i / 2].part);
		farm_count(be, (int)all * 20, times);
		if (algo == BALANCE_ROUNDROBIN)
			assert_int_equal(times[0], first * 20);
		else
			assert_in_range(times[0], first * 20 / 3, first * 60);
		give_part(be, 0, SERVER_WEIGHT_SCALE);
		if (algo == BALANCE_ROUNDROBIN)
			assert_in_range(be->lb.map.len, 1, 2 * 256);
		farm_free(&be);
	}
}

static void
put_oper(struct server *s, enum server_oper oper)
{
	lock_take(&s->be->lock, NULL);
	server_put_state_locked(s, (struct server_state){ s->admin, oper }, 1);
	lock_drop(&s->be->lock);
}

/* Below half of the servers all of them are used, but not those that checks did not stop. */
static void
test_panic(void **state)
{
	struct proxy *be = farm(BALANCE_ROUNDROBIN, W(1, 1, 1, 1));

	(void)state;
	be->panic_threshold = 50;
	put_oper(farm_server(be, 0), SERVER_STOPPED);
	put_oper(farm_server(be, 1), SERVER_STOPPED);
	assert_int_equal(be->lb.panic, 0);
	assert_string_equal(farm_picks(be, 4), "CDCD");
	put_oper(farm_server(be, 2), SERVER_STOPPED);
	assert_int_equal(be->lb.panic, 1);
	assert_string_equal(farm_picks(be, 4), "ABCD");
	assert_int_equal(proxy_usable_servers(be), 1);
	/* One of three known servers is left. */
	put_admin(farm_server(be, 2), SERVER_MAINT_FORCED, 1);
	assert_int_equal(be->lb.panic, 1);
	assert_int_equal(be->lb.n_known, 3);
	assert_null(strchr(farm_picks(be, 6), 'C'));
	/* Then one of two. */
	assert_int_equal(put_weight(farm_server(be, 1), 0), 0);
	assert_int_equal(be->lb.panic, 0);
	assert_string_equal(farm_picks(be, 3), "DDD");
	put_admin(farm_server(be, 3), SERVER_DRAIN_FORCED, 1);
	assert_int_equal(be->lb.panic, 1);
	assert_string_equal(farm_picks(be, 3), "AAA");
	assert_int_equal(proxy_usable_servers(be), 0);
	put_oper(farm_server(be, 0), SERVER_STOPPING);
	assert_int_equal(be->lb.panic, 0);
	assert_string_equal(farm_picks(be, 1), "-");
	put_oper(farm_server(be, 0), SERVER_RUNNING);
	assert_string_equal(farm_picks(be, 3), "AAA");
	farm_free(&be);
}

/* Off by default; a usable backup comes before servers that are down. */
static void
test_panic_and_backups(void **state)
{
	struct proxy *be = farm(BALANCE_LEASTCONN, W(1, 1, 1));

	(void)state;
	farm_server(be, 2)->conf.backup = 1;
	put_oper(farm_server(be, 0), SERVER_STOPPED);
	assert_string_equal(farm_picks(be, 2), "BB");
	be->panic_threshold = 100;
	balance_refresh(be);
	assert_string_equal(farm_picks(be, 2), "AB");
	put_oper(farm_server(be, 1), SERVER_STOPPED);
	assert_int_equal(be->lb.panic, 0);
	assert_string_equal(farm_picks(be, 2), "CC");
	put_oper(farm_server(be, 2), SERVER_STOPPED);
	assert_int_equal(be->lb.panic, 1);
	assert_string_equal(farm_picks(be, 2), "AB");
	farm_free(&be);
}

/* The maximum number of servers, with weights without a common divisor. */
static void
test_many(void **state)
{
	struct proxy *be = proxy_new("be", PROXY_BE);
	int full;

	(void)state;
	assert_non_null(be);
	for (int i = 0; i < BALANCE_SERVERS_MAX; i++) {
		struct server *s = server_new(be, "s", &be->default_server);

		assert_non_null(s);
		s->conf.weight = s->uweight = 256 - i % 2;
		list_append(&be->servers, &s->link);
		be->n_servers++;
	}
	assert_int_equal(balance_init(be), 0);
	assert_int_equal(be->lb.map.len, 2048 * 256 + 2047 * 255);
	for (unsigned int i = 0; i < be->lb.map.len; i++)
		balance_pick(be, NULL, NULL, &full)->cur++;
	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, struct server, link);

		assert_int_equal(s->cur, s->uweight);
	}
	farm_free(&be);
}

/* The servers of 1000 keys, by name; of addresses in the order of `text`, at the same time. */
static void
owners(const char *const *text, enum server_hash_key by, char *out)
{
	struct proxy *be = farm(BALANCE_HASH, W(1, 1, 1));

	be->hash_type.consistent = 1;
	for (int k = 0; k < 3; k++) {
		struct addr_spec spec;
		const char *why;

		assert_int_equal(addr_parse(text[k], 0, &spec, &why), 0);
		addr_cell_set(&farm_server(be, k)->addr, &spec.addr);
		farm_server(be, k)->conf.hash_key = by;
	}
	assert_int_equal(balance_init(be), 0);
	for (uint32_t key = 0; key < 1000; key++) {
		uint32_t hash = hash_avalanche(key);
		int full;
		const struct server *s = balance_pick(be, &hash, NULL, &full);

		out[key] = (char)(text[s->name[0] - 'A'][strlen(text[s->name[0] - 'A']) - 1]);
	}
	farm_free(&be);
}

/* With a key of addresses the order of the servers does not matter; with that of ids it does. */
static void
test_hash_keys(void **state)
{
	static const char *const one[] = { "10.0.0.1:81", "10.0.0.2:82", "[::1]:83" };
	static const char *const two[] = { "[::1]:83", "10.0.0.1:81", "10.0.0.2:82" };
	static const char *const ports[] = { "10.0.0.1:81", "10.0.0.1:82", "10.0.0.1:83" };
	char a[1000], b[1000];
	unsigned int times[3] = { 0 };

	(void)state;
	for (enum server_hash_key by = SERVER_HASH_ID; by <= SERVER_HASH_ADDR_PORT; by++) {
		owners(one, by, a);
		owners((const char *const[]){ two[1], two[2], two[0] }, by, b);
		assert_memory_equal(a, b, sizeof(a));
		owners((const char *const[]){ one[1], one[0], one[2] }, by, b);
		assert_int_equal(memcmp(a, b, sizeof(a)) == 0, by != SERVER_HASH_ID);
	}
	/* the port counts if it should */
	owners(ports, SERVER_HASH_ADDR_PORT, a);
	for (size_t i = 0; i < sizeof(a); i++)
		times[a[i] - '1']++;
	for (int k = 0; k < 3; k++)
		assert_in_range(times[k], 100, 700);
	/* and only then: of three servers at the same points two are next to keys */
	owners(ports, SERVER_HASH_ADDR, b);
	assert_null(memchr(b, '2', sizeof(b)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_keys),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(no_server_deviates_from_its_share),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_panic),
		cmocka_unit_test(test_panic_and_backups),
		cmocka_unit_test(a_changed_weight_changes_the_shares),
		cmocka_unit_test(a_flapping_server_does_not_restart_the_cycle),
		cmocka_unit_test(test_backup),
		cmocka_unit_test(too_many_servers_are_an_error),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
