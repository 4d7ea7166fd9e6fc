/* DNS responses become addresses and servers. The name server is a socket of the test. */
#include "dns/resolvers.c"
#include "unit/dns/dns_rig.h"
#include "unit/net/net_rig.h"
#include "unit/proxy/proxies_rig.h"

#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_addr.h"
#include "proxy/model/session.h"
#include "proxy/resolve/resolve.h"

#define SERVICE "_http._tcp.x"

static struct world w;
static struct engine e;
static struct log_sink sink;
static struct resolve r;
static struct proxy *be;
static struct dns_text m;
static int udp = -1;
static char noticed[20000];

/* Counts the reads of addresses of servers. */
static unsigned int reads;
uint32_t __real_addr_cell_get(const struct addr_cell *c, struct addr *out);
uint32_t __wrap_addr_cell_get(const struct addr_cell *c, struct addr *out);

uint32_t
__wrap_addr_cell_get(const struct addr_cell *c, struct addr *out)
{
	reads++;
	return __real_addr_cell_get(c, out);
}

/* Counts the calculations of groups of servers. */
static unsigned int refreshed;
void __real_balance_refresh(struct proxy *be);
void __wrap_balance_refresh(struct proxy *be);

void
__wrap_balance_refresh(struct proxy *px)
{
	refreshed += !px->lb.is_held;
	__real_balance_refresh(px);
}

static void
on_notice(struct engine *by, int is_alert, const char *text)
{
	size_t n = strlen(noticed);

	assert_ptr_equal(by, &e);
	snprintf(noticed + n, sizeof(noticed) - n, "%s%s\n", is_alert ? "! " : "", text);
}

/* The messages since the last call. */
static void
expect_said(const char *text)
{
	assert_string_equal(noticed, text);
	noticed[0] = '\0';
}

static void
start(const char *servers)
{
	static const struct log_ident id = { "tacit", NULL, 1, NULL };
	struct addr a = rig_any();
	char text[4096];

	rig_open(INTEREST_EDGE);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(udp, &a.u.sa, a.len), 0);
	assert_int_equal(addr_of_socket(&rig_sys, udp, &a), 0);
	snprintf(text, sizeof(text),
		WORLD_DEFAULTS
		"resolvers res\n nameserver ns1 127.0.0.1:%u\n hold nx 0\n hold other 0\n"
		" timeout resolve 1h\n timeout retry 1h\n resolve_retries 1\n"
		" accepted_payload_size 65535\n"
		"backend b\n default-server init-addr none resolvers res\n%s\n",
		addr_port(&a), servers);
	world_good(&w, text);
	be = world_proxy(&w, "b");
	assert_int_equal(proxies_shard(&w.proxies, 1), 0);
	memset(&e, 0, sizeof(e));
	assert_int_equal(engine_init(&e, &rig_sys, rig_loop, 16384, 16), 0);
	log_sink_init(&sink, &rig_sys, &id);
	e.log = &sink;
	e.hooks.on_notice = on_notice;
	noticed[0] = '\0';
	assert_int_equal(resolve_start(&r, &e, &w.proxies), 0);
	rig_turn(0);
}

static int
stop(void **st)
{
	(void)st;
	resolve_stop(&r);
	rig_turn(0);
	engine_fini(&e);
	log_sink_fini(&sink);
	world_fini(&w);
	close(udp);
	rig_close();
	return 0;
}

/* The next query must be this one. Begins the response. */
static struct sockaddr_in asker;

static void
expect_query(const char *name, enum dns_type type)
{
	struct pollfd p = { .fd = udp, .events = POLLIN };
	uint8_t q[DNS_QUERY_MAX];
	struct dns_text asked;
	socklen_t len = sizeof(asker);
	long n;

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	n = recvfrom(udp, q, sizeof(q), 0, (struct sockaddr *)&asker, &len);
	write_head(&asked, dns_message_id(q), 0x0100, name, type);
	/* Without the counts of the header and the OPT record. */
	assert_int_equal(n, asked.n + 11);
	assert_memory_equal(q + 12, asked.p + 12, asked.n - 12);
	write_head(&m, dns_message_id(q), 0x8180, name, type);
}

static void
answer(void)
{
	assert_int_equal(sendto(udp, m.p, m.n, 0, (struct sockaddr *)&asker, sizeof(asker)), m.n);
	rig_turn(PATIENCE_MS);
}

static void
fail_with(unsigned int code)
{
	m.p[3] = (uint8_t)(0x80 | code);
	answer();
}

/* Queries again, as the timer would. */
static void
query_again(struct dns_watch *watch)
{
	dns_lookup_start(watch->lookup);
	rig_turn(0);
}

/* "10.0.0.1:80", or "-": no address. */
static void
expect_addrs(const char *list)
{
	char all[1024] = "", text[ADDR_TEXT];
	struct addr a;

	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		(void)addr_cell_get(&s->addr, &a);
		strcat(all, server_is_unresolved(s) ? "-" : addr_text(&a, text));
		strcat(all, " ");
		assert_int_equal(server_is_usable(s), !server_is_unresolved(s));
	}
	assert_string_equal(all, list);
}

static struct dns_watch *
watch_of(int n)
{
	return &world_server(be, n)->dns->watch;
}

static void
one_name_has_addresses_for_several_servers(void **st)
{
	(void)st;
	start(" server s1 app.x:80\n server s2 app.x:81\n"
	      " server s3 app.x:82 resolve-opts allow-dup-ip\n");
	expect_addrs("- - - ");
	expect_query("app.x", DNS_AAAA);
	answer();
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	/* Each server gets an address of its own, unless its line permits duplicates. */
	expect_addrs("10.0.0.1:80 - 10.0.0.1:82 ");
	expect_said("b/s1 changed its IP from (none) to 10.0.0.1 by res/ns1.\n"
		"Server b/s1 ('app.x') is UP/READY (resolves again).\n"
		"Server b/s1 administratively READY thanks to valid DNS answer.\n"
		"b/s3 changed its IP from (none) to 10.0.0.1 by DNS cache.\n"
		"Server b/s3 ('app.x') is UP/READY (resolves again).\n"
		"Server b/s3 administratively READY thanks to valid DNS answer.\n");
	query_again(watch_of(0));
	expect_query("app.x", DNS_AAAA);
	answer();
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.2");
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	/* A server with an address keeps it. */
	expect_addrs("10.0.0.1:80 10.0.0.2:81 10.0.0.1:82 ");
	noticed[0] = '\0';
	query_again(watch_of(0));
	expect_query("app.x", DNS_AAAA);
	answer();
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.2");
	answer();
	/* s2 has the address, and there is no other one for s1. */
	expect_addrs("- 10.0.0.2:81 10.0.0.2:82 ");
	assert_non_null(strstr(noticed,
		"Server b/s1 is going DOWN for maintenance (No IP for server ). "
		"2 active and 0 backup servers left. "
		"0 sessions active, 0 requeued, 0 remaining in queue.\n"));
	assert_non_null(strstr(noticed, "b/s3 changed its IP from 10.0.0.1 to 10.0.0.2 by "));
}

static void
failures_put_it_into_maintenance(void **st)
{
	(void)st;
	start(" server s1 app.x:80 resolve-prefer ipv4\n");
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	expect_addrs("10.0.0.1:80 ");
	noticed[0] = '\0';
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	fail_with(3);
	expect_query("app.x", DNS_AAAA);
	fail_with(3);
	expect_addrs("- ");
	expect_said("Server b/s1 is going DOWN for maintenance (DNS NX status). "
		"0 active and 0 backup servers left. "
		"0 sessions active, 0 requeued, 0 remaining in queue.\n"
		"! backend 'b' has no server available!\n");
	/* The same response causes no message. */
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	fail_with(2);
	expect_query("app.x", DNS_AAAA);
	fail_with(2);
	expect_said("");
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	expect_addrs("10.0.0.1:80 ");
}

static void
networks_and_families_are_preferred(void **st)
{
	(void)st;
	start(" server s1 app.x:80 resolve-prefer ipv4 resolve-net 10.2.0.0/16\n");
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.1.0.1");
	write_a(&m, 0, NULL, "10.2.0.1");
	answer();
	expect_addrs("10.2.0.1:80 ");
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.1.0.1");
	answer();
	expect_addrs("10.1.0.1:80 ");
	/* The preferred address replaces the current one. */
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.1.0.1");
	write_a(&m, 0, NULL, "10.2.0.9");
	answer();
	expect_addrs("10.2.0.9:80 ");
}

static struct dns_watch *
service_watch(void)
{
	return &world_server(be, 0)->dns->service->watch;
}

static void
records_become_servers(void **st)
{
	(void)st;
	start(" server-template s 4 " SERVICE "\n");
	expect_addrs("- - - - ");
	expect_query(SERVICE, DNS_SRV);
	write_srv(&m, NULL, 1, 8001, "n1.x");
	write_srv(&m, NULL, 1000, 8002, "n2.x");
	write_a(&m, 2, "n1.x", "10.0.0.1");
	answer();
	expect_addrs("10.0.0.1:8001 - - - ");
	assert_int_equal(world_server(be, 1)->uweight, 4);
	/* Its address is queried. */
	expect_query("n2.x", DNS_AAAA);
	answer();
	expect_query("n2.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.2");
	answer();
	expect_addrs("10.0.0.1:8001 10.0.0.2:8002 - - ");
	expect_said("b/s1 changed its IP from (none) to 10.0.0.1 by DNS additional record.\n"
		"Server b/s1 ('n1.x') is UP/READY (resolves again).\n"
		"b/s2 changed its IP from (none) to 10.0.0.2 by res/ns1.\n"
		"Server b/s2 ('n2.x') is UP/READY (resolves again).\n"
		"Server b/s2 administratively READY thanks to valid DNS answer.\n");
	/* All records change: new servers are added before old ones are removed. */
	query_again(service_watch());
	expect_query(SERVICE, DNS_SRV);
	write_srv(&m, NULL, 1, 8011, "n1.x");
	write_srv(&m, NULL, 1, 8012, "n1.x");
	write_srv(&m, NULL, 1, 8013, "n1.x");
	write_a(&m, 2, "n1.x", "10.0.0.9");
	answer();
	expect_addrs("10.0.0.9:8013 - 10.0.0.9:8011 10.0.0.9:8012 ");
	assert_non_null(strstr(noticed,
		"Server b/s1 is going DOWN for maintenance (entry removed from "
		"SRV record). 3 active and 0 backup servers left."));
	assert_null(strstr(noticed, "no server available"));
	assert_null(world_server(be, 1)->fqdn);
	/* A failure removes all of them. */
	noticed[0] = '\0';
	query_again(service_watch());
	expect_query(SERVICE, DNS_SRV);
	fail_with(3);
	expect_addrs("- - - - ");
	assert_non_null(strstr(noticed, "! backend 'b' has no server available!"));
}

static void
weights_follow_the_records(void **st)
{
	static const struct {
		unsigned int record;
		int weight;
	} t[] = { { 1, 1 }, { 255, 1 }, { 256, 1 }, { 257, 2 }, { 500, 2 }, { 65535, 256 } };

	(void)st;
	start(" server-template s 1 " SERVICE "\n");
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		expect_query(SERVICE, DNS_SRV);
		write_srv(&m, NULL, t[i].record, 80, "n.x");
		write_a(&m, 2, "n.x", "10.0.0.1");
		answer();
		assert_int_equal(world_server(be, 0)->uweight, t[i].weight);
		query_again(service_watch());
	}
	(void)stop(NULL);
	start(" server-template s 1 " SERVICE " resolve-opts ignore-weight weight 7\n");
	expect_query(SERVICE, DNS_SRV);
	write_srv(&m, NULL, 1000, 80, "n.x");
	write_a(&m, 2, "n.x", "10.0.0.1");
	answer();
	assert_int_equal(world_server(be, 0)->uweight, 7);
}

static void
five_hundred_records_are_five_hundred_servers(void **st)
{
	char name[32], ip[32];

	(void)st;
	start(" server-template s 500 " SERVICE "\n");
	expect_query(SERVICE, DNS_SRV);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "n%d.x", i);
		write_srv(&m, NULL, 1, 80, name);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "n%d.x", i);
		snprintf(ip, sizeof(ip), "10.0.%d.%d", i / 250, i % 250);
		write_a(&m, 2, name, ip);
	}
	answer();
	for (int i = 0; i < 500; i++) {
		const struct server *s = world_server(be, i);
		struct addr a;
		char text[ADDR_TEXT];

		snprintf(ip, sizeof(ip), "10.0.%d.%d:80", i / 250, i % 250);
		(void)addr_cell_get(&s->addr, &a);
		assert_string_equal(addr_text(&a, text), ip);
		assert_true(server_is_usable(s));
	}
	assert_int_equal(proxy_usable_servers(be), 500);
}

/* Servers beyond the addresses have none, and are examined with each answer, too. */
static void
many_servers_of_a_name_are_read_a_few_times_each(void **st)
{
	enum { SERVERS = 300, ADDRESSES = 200 };
	char ip[32];

	(void)st;
	start(" server-template s 300 app.x:80 resolve-prefer ipv4\n");
	for (int round = 0; round < 2; round++) {
		expect_query("app.x", DNS_A);
		for (int i = 0; i < ADDRESSES; i++) {
			snprintf(ip, sizeof(ip), "10.0.%d.%d", round * (i % 2), i);
			write_a(&m, 0, NULL, ip);
		}
		reads = 0;
		noticed[0] = '\0';
		answer();
		assert_true(reads < 20 * SERVERS);
		assert_int_equal(proxy_usable_servers(be), ADDRESSES);
		query_again(watch_of(0));
	}
}

/* The messages are those of servers that change one after the other. */
static void
servers_of_a_name_change_together(void **st)
{
	(void)st;
	start(" server-template s 3 app.x:80 resolve-prefer ipv4 resolve-opts allow-dup-ip\n"
	      " server k other.x:80 resolve-prefer ipv4 backup\n");
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	refreshed = 0;
	answer();
	assert_int_equal(refreshed, 1);
	expect_addrs("10.0.0.1:80 10.0.0.1:80 10.0.0.1:80 - ");
	assert_int_equal(proxy_usable_servers(be), 3);
	expect_query("other.x", DNS_A);
	noticed[0] = '\0';
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	fail_with(3);
	refreshed = 0;
	expect_query("app.x", DNS_AAAA);
	fail_with(3);
	assert_int_equal(refreshed, 1);
	expect_addrs("- - - - ");
	assert_int_equal(be->downs, 1);
	expect_said("Server b/s1 is going DOWN for maintenance (DNS NX status). "
		"2 active and 0 backup servers left. "
		"0 sessions active, 0 requeued, 0 remaining in queue.\n"
		"Server b/s2 is going DOWN for maintenance (DNS NX status). "
		"1 active and 0 backup servers left. "
		"0 sessions active, 0 requeued, 0 remaining in queue.\n"
		"Server b/s3 is going DOWN for maintenance (DNS NX status). "
		"0 active and 0 backup servers left. "
		"0 sessions active, 0 requeued, 0 remaining in queue.\n"
		"! backend 'b' has no server available!\n");
}

static void
servers_of_a_service_change_together(void **st)
{
	(void)st;
	start(" server-template s 3 " SERVICE "\n");
	expect_query(SERVICE, DNS_SRV);
	write_srv(&m, NULL, 1, 8001, "n1.x");
	write_srv(&m, NULL, 1000, 8002, "n1.x");
	write_srv(&m, NULL, 1, 8003, "n1.x");
	write_a(&m, 2, "n1.x", "10.0.0.1");
	refreshed = 0;
	answer();
	assert_int_equal(refreshed, 1);
	expect_addrs("10.0.0.1:8001 10.0.0.1:8002 10.0.0.1:8003 ");
	query_again(service_watch());
	expect_query(SERVICE, DNS_SRV);
	refreshed = 0;
	fail_with(3);
	assert_int_equal(refreshed, 1);
	expect_addrs("- - - ");
	assert_int_equal(be->downs, 1);
}

/* Answers app.x with these addresses. */
static void
answer_again(const char *const *ip, size_t n)
{
	query_again(watch_of(0));
	expect_query("app.x", DNS_A);
	for (size_t i = 0; i < n; i++)
		write_a(&m, 0, NULL, ip[i]);
	answer();
}

/* As in HAProxy. */
static void
an_address_of_the_operator_stays_while_the_record_does(void **st)
{
	static const char *const two[] = { "10.0.0.2", "10.0.0.1" },
		*const others[] = { "10.0.0.2", "10.0.0.3" };
	struct addr a;

	(void)st;
	start(" server-template s 2 app.x:80 resolve-prefer ipv4\n");
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	assert_int_equal(addr_parse_ip("10.9.9.9", &a), 0);
	addr_set_port(&a, 81);
	server_set_addr(&e, world_server(be, 0), &a);
	answer_again(&two[1], 1);
	expect_addrs("10.9.9.9:81 - ");
	answer_again(two, 2);
	expect_addrs("10.9.9.9:81 10.0.0.2:80 ");
	/* Its record is not in the answer any more. */
	answer_again(others, 2);
	expect_addrs("10.0.0.3:81 10.0.0.2:80 ");
	server_set_addr(&e, world_server(be, 0), &a);
	answer_again(others, 1);
	expect_addrs("- 10.0.0.2:80 ");
	answer_again(two, 2);
	expect_addrs("10.0.0.1:81 10.0.0.2:80 ");
}

static void
a_server_gets_another_name(void **st)
{
	(void)st;
	start(" server s1 app.x:80 resolve-prefer ipv4\n server-template t 1 " SERVICE "\n");
	expect_query("app.x", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	answer();
	expect_query(SERVICE, DNS_SRV);
	assert_int_equal(resolve_server_rename(world_server(be, 0), "no..name"), -ERR_INVAL);
	assert_int_equal(resolve_server_rename(world_server(be, 1), "new.x"), -ERR_INVAL);
	assert_int_equal(resolve_server_rename(world_server(be, 0), "new.x"), 0);
	rig_turn(0);
	expect_query("new.x", DNS_A);
	expect_addrs("10.0.0.1:80 - ");
	write_a(&m, 0, NULL, "10.0.0.2");
	answer();
	expect_addrs("10.0.0.2:80 - ");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_name_has_addresses_for_several_servers, stop),
		cmocka_unit_test_teardown(failures_put_it_into_maintenance, stop),
		cmocka_unit_test_teardown(networks_and_families_are_preferred, stop),
		cmocka_unit_test_teardown(records_become_servers, stop),
		cmocka_unit_test_teardown(weights_follow_the_records, stop),
		cmocka_unit_test_teardown(five_hundred_records_are_five_hundred_servers, stop),
		cmocka_unit_test_teardown(many_servers_of_a_name_are_read_a_few_times_each, stop),
		cmocka_unit_test_teardown(servers_of_a_name_change_together, stop),
		cmocka_unit_test_teardown(servers_of_a_service_change_together, stop),
		cmocka_unit_test_teardown(
			an_address_of_the_operator_stays_while_the_record_does, stop),
		cmocka_unit_test_teardown(a_server_gets_another_name, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
