/* Records that appear and disappear, and the name servers of resolv.conf. */
#include "dns/resolvers.c"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "unit/dns/dns_rig.h"

static struct dns_answer a;

static void
merge(uint64_t now_ms, unsigned int hold_ms, const char *first, const char *second)
{
	static struct dns_text m;
	struct dns_response r;

	write_head(&m, 1, 0x8180, "n.x", DNS_A);
	write_a(&m, 0, NULL, first);
	if (second)
		write_a(&m, 0, NULL, second);
	assert_int_equal(dns_response_parse(&r, m.p, m.n, "n.x", DNS_A), 0);
	dns_answer_merge(&a, &r, now_ms, hold_ms);
	dns_response_fini(&r);
}

/* The known addresses, in order. */
static void
expect_known(const char *list)
{
	char all[256] = "", text[ADDR_TEXT];

	list_each(it, &a.items) {
		const struct dns_item *i = list_entry(it, const struct dns_item, link);

		strcat(all, addr_host_text(&i->record.addr, text));
		strcat(all, " ");
	}
	assert_string_equal(all, list);
}

static void
records_stay_for_hold_obsolete(void **st)
{
	(void)st;
	dns_answer_init(&a);
	merge(1000, 500, "10.0.0.1", "10.0.0.2");
	expect_known("10.0.0.1 10.0.0.2 ");
	merge(1400, 500, "10.0.0.2", "10.0.0.3");
	expect_known("10.0.0.1 10.0.0.2 10.0.0.3 ");
	merge(1500, 500, "10.0.0.3", NULL);
	expect_known("10.0.0.2 10.0.0.3 ");
	merge(1501, 0, "10.0.0.1", "10.0.0.1");
	expect_known("10.0.0.1 ");
	dns_answer_fini(&a);
	assert_int_equal(a.n, 0);
}

static void
resolv_conf_is_read(void **st)
{
	char text[] = "# nameserver 10.0.0.9\nsearch example.com\n nameserver 10.0.0.1  \r\n"
		      "nameserver\t2001:db8::1\nnameserver 10.0.0.1\nnameserver name\n"
		      "nameserver\nnameservers 10.0.0.8\nnameserver 10.0.0.2 # the last";
	struct resolvers *res = resolvers_new("res");
	struct dns_nameserver *ns;
	char shown[ADDR_TEXT];

	(void)st;
	assert_non_null(res);
	assert_int_equal(resolv_conf_add(res, text), 3);
	assert_int_equal(res->n_nameservers, 3);
	ns = resolvers_find_nameserver(res, "2001:db8::1");
	assert_non_null(ns);
	assert_string_equal(addr_text(&ns->addr, shown), "[2001:db8::1]:53");
	assert_non_null(resolvers_find_nameserver(res, "10.0.0.2"));
	assert_null(resolvers_find_nameserver(res, "10.0.0.8"));
	resolvers_free(&res);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_stay_for_hold_obsolete),
		cmocka_unit_test(resolv_conf_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
