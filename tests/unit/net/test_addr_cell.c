/* An address that is changed while others read it. */
#include <pthread.h>
#include <string.h>

#include "net/addr_cell.h"
#include "unit/test.h"

static struct addr
inet_addr_of(const char *text)
{
	struct addr_spec spec;
	const char *why = "";

	assert_int_equal(addr_parse(text, ADDR_ALLOW_UNIX, &spec, &why), 0);
	return spec.addr;
}

static void
the_address_that_was_set_is_read(void **st)
{
	static const char *const texts[] = { "10.1.2.3:80", "[2001:db8::1]:65535", "0.0.0.0:0",
		"[::]:1", "unix@/run/x", "abns@name" };
	struct addr_cell c = { 0 };
	struct addr a, got;
	char shown[2][ADDR_TEXT];

	(void)st;
	assert_int_equal(addr_cell_get(&c, &got), 0);
	assert_int_equal(got.len, 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		uint32_t before = addr_cell_gen(&c), gen;

		a = inet_addr_of(texts[i]);
		addr_cell_set(&c, &a);
		gen = addr_cell_get(&c, &got);
		assert_int_not_equal(gen, before);
		assert_int_equal(gen, addr_cell_gen(&c));
		assert_int_equal(got.len, a.len);
		assert_string_equal(addr_text(&got, shown[0]), addr_text(&a, shown[1]));
	}
	memset(&a, 0, sizeof(a));
	addr_cell_set(&c, &a);
	(void)addr_cell_get(&c, &got);
	assert_int_equal(got.len, 0);
}

static void
the_scope_is_kept(void **st)
{
	struct addr_cell c = { 0 };
	struct addr a = inet_addr_of("[fe80::1]:80"), got;

	(void)st;
	a.u.in6.sin6_scope_id = 7;
	addr_cell_set(&c, &a);
	(void)addr_cell_get(&c, &got);
	assert_int_equal(got.u.in6.sin6_scope_id, 7);
}

/* Each half of the address contains the port, so that a mixture is detected. */
#define READS 300000
#define LAST 65535

static struct addr_cell shared;

struct reader {
	pthread_t thread;
	_Atomic unsigned int reads;
	unsigned int torn, changes;
};

static void
set_number(unsigned int n)
{
	struct addr a = { .len = sizeof(a.u.in6) };
	uint64_t half = n;

	a.u.in6.sin6_family = AF_INET6;
	memcpy(&a.u.in6.sin6_addr.s6_addr[0], &half, 8);
	memcpy(&a.u.in6.sin6_addr.s6_addr[8], &half, 8);
	addr_set_port(&a, n);
	addr_cell_set(&shared, &a);
}

static void *
read_numbers(void *arg)
{
	struct reader *r = arg;
	uint64_t half[2];
	struct addr a;
	uint32_t gen, last = 0;

	do {
		gen = addr_cell_get(&shared, &a);
		memcpy(half, &a.u.in6.sin6_addr, sizeof(half));
		r->torn += half[0] != half[1] || half[0] != addr_port(&a) || gen < last;
		r->changes += gen != last;
		last = gen;
		r->reads++;
	} while (addr_port(&a) != LAST);
	return NULL;
}

static void
readers_see_whole_addresses(void **st)
{
	struct reader r[2] = { { .torn = 0 }, { .torn = 0 } };

	(void)st;
	set_number(1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&r[i].thread, NULL, read_numbers, &r[i]), 0);
	for (unsigned int n = 1; r[0].reads < READS || r[1].reads < READS; n++)
		set_number(n % 60000 + 1);
	set_number(LAST);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(r[i].thread, NULL), 0);
		assert_int_equal(r[i].torn, 0);
		/* They have read during changes. */
		assert_true(r[i].changes > 1);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_address_that_was_set_is_read),
		cmocka_unit_test(the_scope_is_kept),
		cmocka_unit_test(readers_see_whole_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
