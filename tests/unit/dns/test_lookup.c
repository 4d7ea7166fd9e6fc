/* Lookups: the servers that are queried, valid responses, and what follows errors, timeouts and
 * truncated responses. */
#include "dns/resolvers.c"
#include "unit/dns/dns_rig.h"

#define NAME "app.example"

static void
respond(struct server_rig *s, enum dns_type type, unsigned int flags, const char *ip)
{
	uint16_t id = receive_query(s, type);

	write_head(&rig_msg, id, flags, NAME, type);
	if (ip && type == DNS_A)
		write_a(&rig_msg, 0, NULL, ip);
	else if (ip)
		write_aaaa(&rig_msg, 0, NULL, ip);
	send_response(s);
}

static const struct dns_record *
only_record(void)
{
	const struct dns_answer *a = &rig_watch.w.lookup->answer;

	assert_int_equal(a->n, 1);
	return &list_first(&a->items, struct dns_item, link)->record;
}

static void
expect_address(const char *ip)
{
	char text[ADDR_TEXT];

	assert_string_equal(addr_host_text(&only_record()->addr, text), ip);
}

static void
the_first_valid_answer_counts(void **st)
{
	(void)st;
	lookup_rig_open(2);
	start_lookup(NAME, DNS_A);
	respond(&rig_ns[1], DNS_A, 0x8180, "10.0.0.2");
	assert_int_equal(rig_watch.answers, 1);
	assert_ptr_equal(rig_watch.by, rig_ns[1].ns);
	expect_address("10.0.0.2");
	/* The response of the other server is late. */
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	assert_int_equal(rig_watch.answers, 1);
	expect_address("10.0.0.2");
	assert_int_equal(rig_ns[0].ns->stat.outdated, 1);
	assert_int_equal(rig_ns[0].ns->stat.sent, 1);
	assert_int_equal(rig_ns[0].ns->stat.valid, 0);
	assert_int_equal(rig_ns[1].ns->stat.valid, 1);
	lookup_rig_close();
}

static void
an_error_waits_for_the_others(void **st)
{
	(void)st;
	lookup_rig_open(2);
	start_lookup(NAME, DNS_A);
	respond(&rig_ns[0], DNS_A, 0x8183, NULL);
	no_query(&rig_ns[0]);
	respond(&rig_ns[1], DNS_A, 0x8180, "10.0.0.2");
	assert_int_equal(rig_watch.answers, 1);
	assert_int_equal(rig_ns[0].ns->stat.nx, 1);
	lookup_rig_close();
}

/* The other type, then the first one again; three attempts in total. */
static void
errors_are_retried(void **st)
{
	static const enum dns_type types[] = { DNS_AAAA, DNS_A, DNS_AAAA, DNS_A, DNS_AAAA, DNS_A };

	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_AAAA);
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		assert_int_equal(rig_watch.failures, 0);
		respond(&rig_ns[0], types[i], i % 2 ? 0x8185 : 0x8183, NULL);
	}
	assert_int_equal(rig_watch.failures, 1);
	assert_int_equal(rig_watch.w.lookup->res->failures, 1);
	assert_int_equal(rig_watch.status, DNS_REFUSED);
	no_query(&rig_ns[0]);
	assert_int_equal(rig_ns[0].ns->stat.nx, 3);
	assert_int_equal(rig_ns[0].ns->stat.refused, 3);
	lookup_rig_close();
}

static void
the_other_type_may_have_the_answer(void **st)
{
	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_AAAA);
	respond(&rig_ns[0], DNS_AAAA, 0x8180, NULL);
	assert_int_equal(rig_ns[0].ns->stat.any_err, 1);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	assert_int_equal(rig_watch.answers, 1);
	expect_address("10.0.0.1");
	lookup_rig_close();
}

/* The same type again: no server has rejected it. */
static void
no_response_is_a_timeout(void **st)
{
	(void)st;
	lookup_rig_open(1);
	rig_res->retry_ms = 20;
	start_lookup(NAME, DNS_AAAA);
	for (int i = 0; i < 3; i++) {
		(void)receive_query(&rig_ns[0], DNS_AAAA);
		pass_time(19);
		no_query(&rig_ns[0]);
		assert_int_equal(rig_watch.failures, 0);
		pass_time(1);
	}
	assert_int_equal(rig_watch.failures, 1);
	assert_int_equal(rig_watch.status, DNS_TIMEOUT);
	assert_int_equal(rig_ns[0].ns->stat.timeout, 3);
	assert_int_equal(rig_ns[0].ns->stat.sent, 3);
	lookup_rig_close();
}

static void
forged_answers_are_dropped(void **st)
{
	struct sockaddr_in other = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct server_rig *s = &rig_ns[0];
	int fd;
	uint16_t id;

	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_A);
	id = receive_query(s, DNS_A);
	/* A wrong id. */
	write_head(&rig_msg, id ^ 1, 0x8180, NAME, DNS_A);
	write_a(&rig_msg, 0, NULL, "10.6.6.6");
	send_response(s);
	assert_int_equal(s->ns->stat.outdated, 1);
	/* The response to another question. */
	write_head(&rig_msg, id, 0x8180, "bank.example", DNS_A);
	write_a(&rig_msg, 0, NULL, "10.6.6.6");
	send_response(s);
	assert_int_equal(s->ns->stat.invalid, 1);
	/* Sent from another port: the kernel does not deliver it. */
	write_head(&rig_msg, id, 0x8180, NAME, DNS_A);
	write_a(&rig_msg, 0, NULL, "10.6.6.6");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&other, sizeof(other)), 0);
	assert_true(sendto(fd, rig_msg.p, rig_msg.n, 0, (struct sockaddr *)&s->from,
			    sizeof(s->from)) > 0);
	close(fd);
	/* Only the right one counts. */
	write_head(&rig_msg, id, 0x8180, NAME, DNS_A);
	write_a(&rig_msg, 0, NULL, "10.0.0.1");
	send_response(s);
	assert_int_equal(rig_watch.answers, 1);
	assert_int_equal(rig_watch.failures, 0);
	expect_address("10.0.0.1");
	assert_int_equal(s->ns->stat.valid, 1);
	lookup_rig_close();
}

/* Each lookup has another id and another port, which the kernel chooses. */
static void
ids_and_ports_change(void **st)
{
	struct server_rig *s = &rig_ns[0];
	uint16_t id[6];
	unsigned int port[6], same_ids = 0, same_ports = 0;

	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_A);
	for (int i = 0; i < 6; i++) {
		id[i] = receive_query(s, DNS_A);
		port[i] = s->from.sin_port;
		write_head(&rig_msg, id[i], 0x8180, NAME, DNS_A);
		write_a(&rig_msg, 0, NULL, "10.0.0.1");
		send_response(s);
		dns_lookup_start(rig_watch.w.lookup);
		rig_turn(0);
		same_ids += i && id[i] == id[i - 1];
		same_ports += i && port[i] == port[i - 1];
	}
	assert_true(same_ids < 3 && same_ports < 3);
	lookup_rig_close();
}

static void
serve_stream(struct server_rig *s, const char *ip, size_t first)
{
	uint8_t q[2 + DNS_QUERY_MAX], head[2];
	long n;

	assert_int_equal(wait_for_query(s->tcp), 1);
	s->conn = accept(s->tcp, NULL, NULL);
	/* When the connection is established the query is sent. */
	while (recv(s->conn, q, 1, MSG_DONTWAIT | MSG_PEEK) < 0)
		rig_turn(PATIENCE_MS);
	n = recv(s->conn, q, sizeof(q), MSG_DONTWAIT);
	assert_int_equal(n, 2 + ((int)q[0] << 8 | q[1]));
	write_head(&rig_msg, dns_message_id(q + 2), 0x8180, NAME, DNS_A);
	write_a(&rig_msg, 0, NULL, ip);
	head[0] = (uint8_t)(rig_msg.n >> 8);
	head[1] = (uint8_t)rig_msg.n;
	assert_int_equal(send(s->conn, head, 2, MSG_MORE), 2);
	assert_int_equal(send(s->conn, rig_msg.p, first, 0), first);
	rig_turn(PATIENCE_MS);
	if (first == rig_msg.n)
		return;
	assert_int_equal(rig_watch.answers, 0);
	assert_int_equal(send(s->conn, rig_msg.p + first, rig_msg.n - first, 0), rig_msg.n - first);
	rig_turn(PATIENCE_MS);
}

static void
truncated_responses_are_repeated_over_tcp(void **st)
{
	struct server_rig *s = &rig_ns[0];

	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_A);
	respond(s, DNS_A, 0x8380, NULL);
	assert_int_equal(s->ns->stat.truncated, 1);
	serve_stream(s, "10.0.0.7", 20);
	assert_int_equal(rig_watch.answers, 1);
	expect_address("10.0.0.7");
	assert_int_equal(s->ns->stat.sent, 2);
	lookup_rig_close();
}

static void
a_stream_server_is_asked_over_tcp(void **st)
{
	struct server_rig *s = &rig_ns[0];

	(void)st;
	lookup_rig_open(1);
	s->ns->is_stream = 1;
	start_lookup(NAME, DNS_A);
	serve_stream(s, "10.0.0.8", 12 + 4);
	assert_int_equal(rig_watch.answers, 1);
	no_query(s);
	/* The server closes: the next query opens another connection. */
	close(s->conn);
	s->conn = -1;
	rig_turn(PATIENCE_MS);
	dns_lookup_start(rig_watch.w.lookup);
	rig_watch.answers = 0;
	rig_turn(0);
	serve_stream(s, "10.0.0.9", 5);
	assert_int_equal(rig_watch.answers, 1);
	lookup_rig_close();
}

static void
an_idle_stream_is_closed(void **st)
{
	struct server_rig *s = &rig_ns[0];
	struct timer *idle;
	char c;

	(void)st;
	lookup_rig_open(1);
	s->ns->is_stream = 1;
	start_lookup(NAME, DNS_A);
	serve_stream(s, "10.0.0.8", 12 + 4);
	idle = &s->ns->stream.idle;
	assert_true(idle->deadline > loop_now_ms(rig_loop) &&
		idle->deadline <= loop_now_ms(rig_loop) + DNS_STREAM_IDLE_MS);
	timer_stop(loop_timers(rig_loop), idle);
	idle->fn(idle);
	rig_turn(0);
	assert_int_equal(recv(s->conn, &c, 1, 0), 0);
	lookup_rig_close();
}

/* Larger than the announced payload size: it is ignored. */
static void
big_datagrams_are_dropped(void **st)
{
	struct server_rig *s = &rig_ns[0];
	uint16_t id;

	(void)st;
	lookup_rig_open(1);
	start_lookup(NAME, DNS_A);
	id = receive_query(s, DNS_A);
	write_head(&rig_msg, id, 0x8180, NAME, DNS_A);
	while (rig_msg.n <= 512)
		write_a(&rig_msg, 0, NULL, "10.0.0.1");
	send_response(s);
	assert_int_equal(s->ns->stat.too_big, 1);
	assert_int_equal(rig_watch.answers, 0);
	lookup_rig_close();
}

/* An error counts only if the last valid response is older than `hold`. */
static void
hold_ignores_errors(void **st)
{
	(void)st;
	lookup_rig_open(1);
	rig_res->retries = 1;
	start_lookup(NAME, DNS_A);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	dns_lookup_start(rig_watch.w.lookup);
	respond(&rig_ns[0], DNS_A, 0x8183, NULL);
	respond(&rig_ns[0], DNS_AAAA, 0x8183, NULL);
	assert_int_equal(rig_watch.failures, 0);
	rig_res->hold_ms[HOLD_NX] = 0;
	dns_lookup_start(rig_watch.w.lookup);
	respond(&rig_ns[0], DNS_A, 0x8183, NULL);
	respond(&rig_ns[0], DNS_AAAA, 0x8183, NULL);
	assert_int_equal(rig_watch.failures, 1);
	assert_int_equal(rig_watch.status, DNS_NX);
	lookup_rig_close();
}

/* One lookup serves all watches of a name; removing the last one ends it, also during a result. */
static struct watch_rig second;

static void
leave_all(struct dns_watch *w, struct dns_nameserver *by)
{
	note_answer(w, by);
	dns_lookup_unwatch(&rig_watch.w);
	dns_lookup_unwatch(&second.w);
}

static void
watches_share_a_lookup(void **st)
{
	(void)st;
	lookup_rig_open(1);
	watch_init(&second);
	start_lookup(NAME, DNS_A);
	assert_int_equal(dns_lookup_watch(rig_res, "APP.example.", DNS_A, &second.w), 0);
	assert_ptr_equal(second.w.lookup, rig_watch.w.lookup);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	no_query(&rig_ns[0]);
	assert_int_equal(rig_watch.answers, 1);
	assert_int_equal(second.answers, 1);
	rig_watch.w.on_answer = second.w.on_answer = leave_all;
	dns_lookup_start(second.w.lookup);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	assert_int_equal(rig_watch.answers + second.answers, 3);
	assert_true(list_is_empty(&rig_res->lookups));
	assert_int_equal(dns_lookup_watch(rig_res, "no..name", DNS_A, &second.w), -ERR_INVAL);
	lookup_rig_close();
}

/* --- rules ask once --- */

static void
note_and_leave(struct dns_watch *w, struct dns_nameserver *by)
{
	note_answer(w, by);
	dns_lookup_unwatch(w);
}

static void
fail_and_leave(struct dns_watch *w, enum dns_status status)
{
	note_failure(w, status);
	dns_lookup_unwatch(w);
}

static void
open_for_asking(void)
{
	lookup_rig_open(1);
	rig_res->retries = 1;
	rig_watch.w.on_answer = note_and_leave;
	rig_watch.w.on_failure = fail_and_leave;
	assert_int_equal(resolvers_start(rig_res, rig_loop), 0);
}

static int
ask_for(const char *name, const struct dns_answer **known)
{
	int r = dns_lookup_ask(rig_res, name, DNS_A, &rig_watch.w, known);

	rig_turn(0);
	return r;
}

/* The answer is used again while it is fresh, and no query is sent meanwhile. */
static void
answers_are_kept_for_rules(void **st)
{
	const struct dns_answer *known = NULL;

	(void)st;
	open_for_asking();
	rig_res->hold_ms[HOLD_VALID] = 60000;
	rig_res->resolve_ms = 1;
	assert_int_equal(ask_for(NAME, &known), 0);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	assert_int_equal(rig_watch.answers, 1);
	assert_int_equal(rig_res->n_lookups, 1);
	pass_time(10);
	no_query(&rig_ns[0]);
	assert_int_equal(ask_for("APP.example", &known), 1);
	assert_int_equal(known->n, 1);
	assert_null(rig_watch.w.lookup);
	lookup_rig_close();
}

static void
old_answers_are_forgotten(void **st)
{
	const struct dns_answer *known = NULL;

	(void)st;
	open_for_asking();
	rig_res->hold_ms[HOLD_VALID] = 20;
	assert_int_equal(ask_for(NAME, &known), 0);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	pass_time(19);
	assert_int_equal(rig_res->n_lookups, 1);
	pass_time(1);
	assert_int_equal(rig_res->n_lookups, 0);
	assert_int_equal(ask_for(NAME, &known), 0);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.2");
	assert_int_equal(rig_watch.answers, 2);
	/* A failure is not kept at all. */
	assert_int_equal(ask_for("no.example", &known), 0);
	(void)receive_query(&rig_ns[0], DNS_A);
	write_head(&rig_msg, dns_message_id(rig_ns[0].query), 0x8183, "no.example", DNS_A);
	send_response(&rig_ns[0]);
	(void)receive_query(&rig_ns[0], DNS_AAAA);
	write_head(&rig_msg, dns_message_id(rig_ns[0].query), 0x8183, "no.example", DNS_AAAA);
	send_response(&rig_ns[0]);
	assert_int_equal(rig_watch.failures, 1);
	assert_true(rig_res->n_lookups <= 1);
	lookup_rig_close();
}

/* A server keeps its last answer; a watch that asks once is notified of the failure. */
static void
hold_is_for_servers(void **st)
{
	const struct dns_answer *known = NULL;

	(void)st;
	open_for_asking();
	rig_res->hold_ms[HOLD_VALID] = 0;
	watch_init(&second);
	assert_int_equal(dns_lookup_watch(rig_res, NAME, DNS_A, &second.w), 0);
	rig_turn(0);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	assert_int_equal(second.answers, 1);
	assert_int_equal(ask_for(NAME, &known), 0);
	respond(&rig_ns[0], DNS_A, 0x8185, NULL);
	respond(&rig_ns[0], DNS_AAAA, 0x8185, NULL);
	assert_int_equal(rig_watch.failures, 1);
	assert_int_equal(second.failures, 0);
	dns_lookup_unwatch(&second.w);
	lookup_rig_close();
}

static void
names_asked_for_are_bounded(void **st)
{
	const struct dns_answer *known = NULL;

	(void)st;
	open_for_asking();
	rig_res->n_lookups = RESOLVERS_LOOKUPS_MAX;
	assert_int_equal(ask_for(NAME, &known), -ERR_FULL);
	assert_null(rig_watch.w.lookup);
	assert_int_equal(ask_for("no..name", &known), -ERR_INVAL);
	rig_res->n_lookups = 0;
	lookup_rig_close();
}

/* The names of a configuration are found again after the start, which hashes them with a secret. */
static void
names_are_found_after_the_start(void **st)
{
	static struct watch_rig early[300], late[300];
	char name[32];

	(void)st;
	lookup_rig_open(1);
	for (unsigned int i = 0; i < ARRAY_LEN(early); i++) {
		(void)snprintf(name, sizeof(name), "n%u.example", i);
		watch_init(&early[i]);
		assert_int_equal(dns_lookup_watch(rig_res, name, DNS_A, &early[i].w), 0);
	}
	assert_int_equal(resolvers_start(rig_res, rig_loop), 0);
	for (unsigned int i = 0; i < ARRAY_LEN(late); i++) {
		(void)snprintf(name, sizeof(name), "n%u.example", i);
		watch_init(&late[i]);
		assert_int_equal(dns_lookup_watch(rig_res, name, i % 2 ? DNS_A : DNS_AAAA,
					 &late[i].w), 0);
		assert_int_equal(late[i].w.lookup == early[i].w.lookup, i % 2);
	}
	assert_int_equal(rig_res->n_lookups, 450);
	for (unsigned int i = 0; i < ARRAY_LEN(late); i++) {
		dns_lookup_unwatch(&early[i].w);
		dns_lookup_unwatch(&late[i].w);
	}
	assert_int_equal(rig_res->n_lookups, 0);
	lookup_rig_close();
}

/* No server can be queried: this is a timeout, too. */
static void
servers_that_cannot_be_queried_time_out(void **st)
{
	(void)st;
	lookup_rig_open(1);
	rig_res->retry_ms = 5;
	rig_res->retries = 2;
	/* The broadcast address is not permitted without the socket option. */
	rig_ns[0].ns->addr.u.in.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	start_lookup(NAME, DNS_A);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rig_watch.failures, 0);
		pass_time(5);
	}
	assert_int_equal(rig_watch.failures, 1);
	assert_int_equal(rig_watch.status, DNS_TIMEOUT);
	assert_int_equal(rig_ns[0].ns->stat.send_error, 2);
	assert_int_equal(rig_ns[0].ns->stat.sent, 0);
	lookup_rig_close();
}

/* dns-accept-family: the other family is not asked for, and not used. */
static void
one_family_is_asked_for(void **st)
{
	static struct dns_families only;

	(void)st;
	for (int i = 0; i < 4; i++) {
		enum dns_type type = i & 1 ? DNS_AAAA : DNS_A;

		only.set = i & 1 ? DNS_IPV6 : DNS_IPV4;
		lookup_rig_open(1);
		rig_res->families = &only;
		rig_res->retries = 2;
		start_lookup(NAME, i & 2 ? DNS_AAAA : DNS_A);
		respond(&rig_ns[0], type, 0x8183, NULL);
		respond(&rig_ns[0], type, 0x8183, NULL);
		assert_int_equal(rig_watch.failures, 1);
		no_query(&rig_ns[0]);
		lookup_rig_close();
	}
}

static void
both_families_are_asked_for(void **st)
{
	static struct dns_families both = { .set = DNS_IPV4 | DNS_IPV6 };

	(void)st;
	lookup_rig_open(1);
	rig_res->families = &both;
	start_lookup(NAME, DNS_AAAA);
	respond(&rig_ns[0], DNS_AAAA, 0x8183, NULL);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	expect_address("10.0.0.1");
	lookup_rig_close();
}

static unsigned int route_checks;
static long route_result;

static long
check_route(void *ctx, int fd, const struct sockaddr *sa, socklen_t len)
{
	(void)ctx;
	(void)fd;
	assert_int_equal(sa->sa_family, AF_INET6);
	assert_int_equal(len, sizeof(struct sockaddr_in6));
	route_checks++;
	return route_result;
}

static long
no_ipv6(void *ctx, int domain, int type, int proto)
{
	(void)ctx;
	(void)type;
	(void)proto;
	return domain == AF_INET6 ? -EAFNOSUPPORT : -EINVAL;
}

/* The result of a check counts for 30 s. */
static void
ipv6_needs_a_route(void **st)
{
	struct dns_families f = { .set = DNS_IPV4, .is_auto = 1 };
	struct sys_ops ops = sys_linux;
	struct sys sys;

	(void)st;
	ops.connect = check_route;
	sys_init(&sys, &ops, NULL);
	route_result = -ENETUNREACH;
	assert_int_equal(dns_families_now(&f, &sys, 1000), DNS_IPV4);
	route_result = 0;
	assert_int_equal(dns_families_now(&f, &sys, 30999), DNS_IPV4);
	assert_int_equal(route_checks, 1);
	assert_int_equal(dns_families_now(&f, &sys, 31000), DNS_IPV4 | DNS_IPV6);
	assert_int_equal(dns_families_now(&f, &sys, 60999), DNS_IPV4 | DNS_IPV6);
	assert_int_equal(route_checks, 2);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_socket), 2);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close), 2);
	ops.socket = no_ipv6;
	assert_int_equal(dns_families_now(&f, &sys, 61000), DNS_IPV4);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close), 2);
	/* Without a need there is no check. */
	assert_int_equal(dns_families_now(&f, NULL, 99000), DNS_IPV4 | DNS_IPV6);
	f = (struct dns_families){ .set = DNS_IPV6 };
	assert_int_equal(dns_families_now(&f, &sys, 99000), DNS_IPV6);
	f.set = 0;
	assert_int_equal(dns_families_now(&f, &sys, 99000), DNS_IPV4 | DNS_IPV6);
	assert_int_equal(route_checks, 2);
}

/* The route is lost: what came before is not used any more. */
static void
addresses_of_a_lost_family_go(void **st)
{
	static struct dns_families f;

	(void)st;
	f.set = 0;
	lookup_rig_open(1);
	rig_res->families = &f;
	rig_res->resolve_ms = 5;
	start_lookup(NAME, DNS_AAAA);
	respond(&rig_ns[0], DNS_AAAA, 0x8180, "2001:db8::1");
	expect_address("2001:db8::1");
	f.set = DNS_IPV4;
	pass_time(5);
	rig_turn(0);
	respond(&rig_ns[0], DNS_A, 0x8180, "10.0.0.1");
	expect_address("10.0.0.1");
	lookup_rig_close();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_valid_answer_counts),
		cmocka_unit_test(an_error_waits_for_the_others),
		cmocka_unit_test(errors_are_retried),
		cmocka_unit_test(the_other_type_may_have_the_answer),
		cmocka_unit_test(no_response_is_a_timeout),
		cmocka_unit_test(forged_answers_are_dropped),
		cmocka_unit_test(ids_and_ports_change),
		cmocka_unit_test(truncated_responses_are_repeated_over_tcp),
		cmocka_unit_test(a_stream_server_is_asked_over_tcp),
		cmocka_unit_test(an_idle_stream_is_closed),
		cmocka_unit_test(big_datagrams_are_dropped),
		cmocka_unit_test(hold_ignores_errors),
		cmocka_unit_test(watches_share_a_lookup),
		cmocka_unit_test(answers_are_kept_for_rules),
		cmocka_unit_test(old_answers_are_forgotten),
		cmocka_unit_test(hold_is_for_servers),
		cmocka_unit_test(names_asked_for_are_bounded),
		cmocka_unit_test(names_are_found_after_the_start),
		cmocka_unit_test(servers_that_cannot_be_queried_time_out),
		cmocka_unit_test(one_family_is_asked_for),
		cmocka_unit_test(both_families_are_asked_for),
		cmocka_unit_test(ipv6_needs_a_route),
		cmocka_unit_test(addresses_of_a_lost_family_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
