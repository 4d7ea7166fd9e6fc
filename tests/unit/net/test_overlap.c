/* Bind lines that share a port: pure tables, no socket. */
#include <string.h>

#include "base/compiler.h"
#include "net/listener.h"
#include "net/overlap.h"
#include "unit/test.h"

#define LINES 6

static struct bind_conf binds[LINES];
static struct listener ln[LINES];
static struct listener *given[LINES];
static const struct listener *earlier_of[LINES];

static int
setup(void **st)
{
	(void)st;
	memset(binds, 0, sizeof(binds));
	memset(earlier_of, 0, sizeof(earlier_of));
	for (int i = 0; i < LINES; i++) {
		listener_init(&ln[i], &binds[i]);
		given[i] = &ln[i];
	}
	return 0;
}

static void
note_twin(const struct listener *twin, const struct listener *earlier, void *arg)
{
	assert_ptr_equal(arg, given);
	earlier_of[twin - ln] = earlier;
}

static void
link_addresses(const char *const *text, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct addr_spec spec;
		const char *why;

		assert_int_equal(addr_parse(text[i], ADDR_ALLOW_UNIX, &spec, &why), 0);
		ln[i].addr = spec.addr;
	}
	assert_int_equal(overlap_link(given, n, note_twin, given), 0);
}

static void
addresses_and_ports_apart(void **st)
{
	const char *const text[] = { "127.0.0.1:80", "127.0.0.2:80", "127.0.0.1:81", "unix@/run/s",
		"unix@/run/s", "[::1]:80" };

	(void)st;
	link_addresses(text, 6);
	for (int i = 0; i < 6; i++)
		assert_true(!ln[i].overlaps && !ln[i].overlap_root && !ln[i].overlap_next &&
			    !ln[i].twin && !earlier_of[i]);
}

static void
a_wildcard_overlaps_with_all_of_its_port(void **st)
{
	const char *const text[] = { "127.0.0.1:80", "127.0.0.1:81", "[::]:80", "*:80" };

	(void)st;
	link_addresses(text, 4);
	assert_true(ln[0].overlaps && !ln[1].overlaps && ln[2].overlaps && ln[3].overlaps);
	assert_null(ln[0].overlap_root);
	assert_ptr_equal(ln[0].overlap_next, &ln[2]);
	assert_ptr_equal(ln[2].overlap_root, &ln[0]);
	assert_ptr_equal(ln[2].overlap_next, &ln[3]);
	assert_ptr_equal(ln[3].overlap_root, &ln[0]);
	assert_null(ln[3].overlap_next);
	assert_true(!ln[0].twin && !ln[2].twin && !ln[3].twin);
}

static void
twins_are_numbered(void **st)
{
	const char *const text[] = { "10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80", "10.0.0.1:80",
		"10.0.0.1:80" };

	(void)st;
	strcpy(binds[3].interface, "eth0");
	link_addresses(text, 5);
	assert_false(ln[1].overlaps);
	assert_ptr_equal(ln[2].overlap_root, &ln[0]);
	assert_int_equal(ln[0].twin, 0);
	assert_int_equal(ln[2].twin, 1);
	assert_int_equal(ln[3].twin, 0);
	assert_int_equal(ln[4].twin, 2);
	assert_ptr_equal(earlier_of[2], &ln[0]);
	assert_null(earlier_of[3]);
	assert_ptr_equal(earlier_of[4], &ln[0]);
}

static void
a_port_that_the_kernel_chooses(void **st)
{
	const char *const text[] = { "127.0.0.1:0", "127.0.0.1:0" };

	(void)st;
	link_addresses(text, 2);
	assert_true(!ln[0].overlaps && !ln[1].overlaps);
}

/* A port of one namespace is not that of another. */
static void
namespaces_have_ports_of_their_own(void **st)
{
	const char *const text[] = { "*:80", "127.0.0.1:80", "*:80", "127.0.0.1:80", "*:80",
		":81" };

	(void)st;
	binds[1].netns = binds[4].netns = "blue";
	binds[2].netns = "green";
	link_addresses(text, 6);
	assert_true(ln[0].overlaps && ln[3].overlaps && ln[3].overlap_root == &ln[0]);
	assert_true(ln[1].overlaps && ln[4].overlaps && ln[4].overlap_root == &ln[1]);
	assert_true(!ln[2].overlaps && !ln[5].overlaps);
	for (int i = 0; i < 6; i++)
		assert_true(!ln[i].twin && !earlier_of[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(addresses_and_ports_apart, setup),
		cmocka_unit_test_setup(a_wildcard_overlaps_with_all_of_its_port, setup),
		cmocka_unit_test_setup(twins_are_numbered, setup),
		cmocka_unit_test_setup(a_port_that_the_kernel_chooses, setup),
		cmocka_unit_test_setup(namespaces_have_ports_of_their_own, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
