#include <string.h>

#include "base/err.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"
#include "unit/proxy/backend_rig.h"
#include "proxy/config/proxy_life.h"
#include "unit/test.h"

static struct proxy *
backend(void)
{
	struct proxy *be = proxy_new("be", PROXY_BE);

	assert_non_null(be);
	return be;
}

static struct server *
add(struct proxy *be, const char *name)
{
	struct server *s = server_new(be, name, &be->default_server);

	assert_non_null(s);
	list_append(&be->servers, &s->link);
	be->n_servers++;
	return s;
}

static void
a_new_server_has_the_defaults(void **state)
{
	struct proxy *be = backend();
	struct server *s;

	(void)state;
	be->default_server.weight = 7;
	be->default_server.disabled = 1;
	be->default_server.maxconn = 3;
	s = add(be, "s1");
	assert_string_equal(s->name, "s1");
	assert_int_equal(s->uweight, 7);
	assert_int_equal(s->conf.maxconn, 3);
	assert_int_equal(s->admin, SERVER_MAINT_FORCED);
	assert_int_equal(s->spec.fd, -1);
	assert_false(server_is_usable(s));
	proxy_free(&be);
	assert_null(be);
}

static void
test_slots(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");
	struct server_stat st = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_true(server_has_room(s));
		server_get_slot(s, &st);
	}
	s->conf.maxconn = 5;
	assert_false(server_has_room(s));
	server_put_slot(s);
	assert_true(server_has_room(s));
	assert_int_equal(s->cur, 4);
	assert_int_equal(st.cur_max, 5);
	while (s->cur)
		server_put_slot(s);
	proxy_free(&be);
}

static void
test_admin(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");
	char text[SERVER_STATUS_MAX];

	(void)state;
	assert_int_equal(balance_init(be), 0);
	assert_int_equal(proxy_usable_servers(be), 1);
	assert_string_equal(server_status_text(s, text), "no check");
	put_admin(s, SERVER_MAINT_FORCED, 5000);
	assert_string_equal(server_status_text(s, text), "MAINT");
	assert_int_equal(s->last_change_ms, 5000);
	assert_int_equal(proxy_usable_servers(be), 0);
	put_admin(s, SERVER_MAINT_FORCED, 6000);
	assert_int_equal(s->last_change_ms, 5000);
	put_admin(s, SERVER_DRAIN_FORCED, 7000);
	assert_string_equal(server_status_text(s, text), "DRAIN");
	assert_false(server_is_usable(s));
	put_admin(s, SERVER_READY, 8000);
	assert_int_equal(proxy_usable_servers(be), 1);
	proxy_free(&be);
}

static void
test_weight(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");

	(void)state;
	s->conf.weight = s->uweight = 10;
	assert_int_equal(balance_init(be), 0);
	assert_int_equal(put_weight(s, -1), -ERR_RANGE);
	assert_int_equal(put_weight(s, 257), -ERR_RANGE);
	assert_int_equal(put_weight(s, 256), 0);
	assert_int_equal(s->uweight, 256);
	assert_int_equal(put_weight(s, 0), 0);
	assert_int_equal(proxy_usable_servers(be), 0);
	be->balance = BALANCE_SOURCE;
	assert_int_equal(put_weight(s, 9), -ERR_UNSUPPORTED);
	assert_int_equal(put_weight(s, 10), 0);
	assert_int_equal(put_weight(s, 0), 0);
	proxy_free(&be);
}

/* A new server counts as far after one miss; it is tried again once in 64, and is near again after
 * a success. */
static void
a_missed_server_is_tried_as_near_once_in_64(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");
	unsigned int guesses = 0;

	(void)state;
	assert_int_equal(proxy_make_shards(be, 1), 0);
	assert_true(server_guess(s->shard, SERVER_NEAR));
	server_learn(s->shard, SERVER_NEAR, 0);
	for (int i = 0; i < 65 * 4; i++)
		guesses += (unsigned int)server_guess(s->shard, SERVER_NEAR);
	assert_int_equal(guesses, 4);
	server_learn(s->shard, SERVER_NEAR, 1);
	assert_true(server_guess(s->shard, SERVER_NEAR));
	proxy_free(&be);
}

/* Early reads are worthwhile while two of three find data. */
static void
test_quick(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");
	unsigned int guesses = 0;

	(void)state;
	assert_int_equal(proxy_make_shards(be, 1), 0);
	for (int i = 0; i < 300; i++) {
		assert_true(server_guess(s->shard, SERVER_QUICK));
		server_learn(s->shard, SERVER_QUICK, i % 4 < 3);
	}
	for (int i = 0; i < 300; i++)
		if (server_guess(s->shard, SERVER_QUICK)) {
			guesses++;
			server_learn(s->shard, SERVER_QUICK, i % 2);
		}
	assert_in_range(guesses, 1, 60);
	for (int i = 0; i < 65 && !server_guess(s->shard, SERVER_QUICK); i++)
		;
	server_learn(s->shard, SERVER_QUICK, 1);
	assert_true(server_guess(s->shard, SERVER_QUICK));
	proxy_free(&be);
}

/* Early reads of both are worthwhile while one of three finds data; a long series of successes
 * permits a long series of misses. */
static void
early_reads_last_while_one_of_three_finds_data(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");
	unsigned int misses = 0;

	(void)state;
	assert_int_equal(proxy_make_shards(be, 1), 0);
	for (int i = 0; i < 300; i++) {
		assert_true(server_guess(s->shard, SERVER_BRIEF));
		server_learn(s->shard, SERVER_BRIEF, i % 3 == 0);
	}
	for (int i = 0; i < 300; i++)
		server_learn(s->shard, SERVER_BRIEF, 1);
	for (; server_guess(s->shard, SERVER_BRIEF); misses++)
		server_learn(s->shard, SERVER_BRIEF, 0);
	assert_int_equal(misses, 33);
	proxy_free(&be);
}

/* A near server may miss a few times in a row, however long it was near. */
static void
test_near_forgives(void **state)
{
	struct proxy *be = backend();
	struct server *s = add(be, "s");

	(void)state;
	assert_int_equal(proxy_make_shards(be, 1), 0);
	for (int i = 0; i < 1000; i++)
		server_learn(s->shard, SERVER_NEAR, 1);
	for (int i = 0; i < 3; i++) {
		assert_true(server_guess(s->shard, SERVER_NEAR));
		server_learn(s->shard, SERVER_NEAR, 0);
	}
	assert_false(server_guess(s->shard, SERVER_NEAR));
	for (int i = 0; i < 1000; i++)
		server_learn(s->shard, SERVER_NEAR, 0);
	server_learn(s->shard, SERVER_NEAR, 1);
	assert_true(server_guess(s->shard, SERVER_NEAR));
	proxy_free(&be);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_server_has_the_defaults),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_admin),
		cmocka_unit_test(test_weight),
		cmocka_unit_test(a_missed_server_is_tried_as_near_once_in_64),
		cmocka_unit_test(test_near_forgives),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(early_reads_last_while_one_of_three_finds_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
