/*
 * For tests of dns: messages as a name server writes them (struct dns_text), and a section
 * `resolvers` with name servers of the test, sockets on loopback, and a watch that records the
 * result (lookup_rig_*). Users: tests of dns and proxy/resolve.
 */
#ifndef TESTS_UNIT_DNS_RIG_H
#define TESTS_UNIT_DNS_RIG_H

#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "dns/message.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "unit/hand_clock.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

/* --- messages --- */

#define QUESTION_AT 12 /* offset of the question's name: names may point there */

struct dns_text {
	uint8_t p[70000];
	size_t n;
};

unused static void
put_u8(struct dns_text *m, unsigned int v)
{
	assert_true(m->n < sizeof(m->p));
	m->p[m->n++] = (uint8_t)v;
}

unused static void
put_u16(struct dns_text *m, unsigned int v)
{
	put_u8(m, v >> 8);
	put_u8(m, v & 0xff);
}

unused static void
write_bytes(struct dns_text *m, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_u8(m, ((const uint8_t *)p)[i]);
}

/* NULL: a pointer to the question's name. */
unused static void
write_name(struct dns_text *m, const char *name)
{
	if (!name) {
		put_u16(m, 0xc000 | QUESTION_AT);
		return;
	}
	/* "." is the root: it has no labels. */
	if (*name == '.')
		name++;
	while (*name) {
		size_t n = strcspn(name, ".");

		put_u8(m, (unsigned int)n);
		write_bytes(m, name, n);
		name += n + (name[n] == '.');
	}
	put_u8(m, 0);
}

/* The header and the question; flags: 0x8180 is a response without an error. */
unused static void
write_head(struct dns_text *m, uint16_t id, unsigned int flags, const char *name, unsigned int type)
{
	m->n = 0;
	put_u16(m, id);
	put_u16(m, flags);
	put_u16(m, 1);
	for (int i = 0; i < 3; i++)
		put_u16(m, 0);
	write_name(m, name);
	put_u16(m, type);
	put_u16(m, 1);
}

/* Increments the record count of a section: 0 answer, 1 authority, 2 additional. */
unused static void
count_record(struct dns_text *m, int section)
{
	uint8_t *at = m->p + 6 + 2 * section;
	unsigned int n = ((unsigned int)at[0] << 8 | at[1]) + 1;

	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/* A record up to its data, whose length is set by end_record(). */
unused static size_t
begin_record(struct dns_text *m, int section, const char *owner, unsigned int type)
{
	count_record(m, section);
	write_name(m, owner);
	put_u16(m, type);
	put_u16(m, 1);
	put_u16(m, 0);
	put_u16(m, 0); /* a time to live of zero */
	put_u16(m, 0);
	return m->n;
}

unused static void
end_record(struct dns_text *m, size_t begin)
{
	size_t n = m->n - begin;

	m->p[begin - 2] = (uint8_t)(n >> 8);
	m->p[begin - 1] = (uint8_t)n;
}

unused static void
write_a(struct dns_text *m, int section, const char *owner, const char *ip)
{
	size_t at = begin_record(m, section, owner, DNS_A);
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, ip, &a), 1);
	write_bytes(m, &a, sizeof(a));
	end_record(m, at);
}

unused static void
write_aaaa(struct dns_text *m, int section, const char *owner, const char *ip)
{
	size_t at = begin_record(m, section, owner, DNS_AAAA);
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, ip, &a), 1);
	write_bytes(m, &a, sizeof(a));
	end_record(m, at);
}

unused static void
write_cname(struct dns_text *m, const char *owner, const char *target)
{
	size_t at = begin_record(m, 0, owner, DNS_CNAME);

	write_name(m, target);
	end_record(m, at);
}

unused static void
write_srv(struct dns_text *m, const char *owner, unsigned int weight, unsigned int port,
	const char *target)
{
	size_t at = begin_record(m, 0, owner, DNS_SRV);

	put_u16(m, 10);
	put_u16(m, weight);
	put_u16(m, port);
	write_name(m, target);
	end_record(m, at);
}

/* --- name servers of the test, and a watch --- */

#define SERVERS_MAX 3

struct server_rig {
	struct dns_nameserver *ns;
	int udp, tcp, conn;
	struct sockaddr_in from; /* of the last query */
	uint8_t query[DNS_QUERY_MAX];
	long n;
};

struct watch_rig {
	struct dns_watch w;
	unsigned int answers, failures;
	enum dns_status status;
	struct dns_nameserver *by;
};

static struct resolvers *rig_res;
static struct server_rig rig_ns[SERVERS_MAX];
static struct watch_rig rig_watch;
static struct dns_text rig_msg;

static inline void
note_answer(struct dns_watch *w, struct dns_nameserver *by)
{
	struct watch_rig *r = container_of(w, struct watch_rig, w);

	r->answers++;
	r->by = by ? by : r->by;
}

static inline void
note_failure(struct dns_watch *w, enum dns_status status)
{
	struct watch_rig *r = container_of(w, struct watch_rig, w);

	r->failures++;
	r->status = status;
}

static inline void
watch_init(struct watch_rig *r)
{
	memset(r, 0, sizeof(*r));
	dns_watch_init(&r->w);
	r->w.on_answer = note_answer;
	r->w.on_failure = note_failure;
}

/* A name server: its UDP socket, and a listening one on the same port. */
static inline void
add_server(struct server_rig *s, const char *name)
{
	struct addr a;
	int r;

	s->conn = -1;
	/* Another process may have the port for TCP. */
	do {
		a = rig_any();
		s->udp = socket(AF_INET, SOCK_DGRAM, 0);
		s->tcp = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(bind(s->udp, &a.u.sa, a.len), 0);
		assert_int_equal(addr_of_socket(&rig_sys, s->udp, &a), 0);
		r = bind(s->tcp, &a.u.sa, a.len);
		if (r < 0) {
			close(s->udp);
			close(s->tcp);
		}
	} while (r < 0);
	assert_int_equal(listen(s->tcp, 4), 0);
	s->ns = dns_nameserver_new(rig_res, name);
	assert_non_null(s->ns);
	s->ns->addr = a;
	list_append(&rig_res->nameservers, &s->ns->link);
	rig_res->n_nameservers++;
}

/* Timers are stopped, so that a test can change settings; n servers: ns1, ns2, ... Time passes only
 * in pass_time(): what is waited for is not late on a busy machine. */
static inline void
lookup_rig_open(unsigned int n)
{
	static const char *const names[SERVERS_MAX] = { "ns1", "ns2", "ns3" };
	static struct sys_ops ops;

	rig_open(INTEREST_EDGE);
	clock_ms = loop_now_ms(rig_loop);
	ops = sys_linux;
	ops.clock_gettime = read_clock;
	rig_sys.ops = &ops;
	rig_res = resolvers_new("res");
	assert_non_null(rig_res);
	/* Nothing happens by itself except what a test waits for. */
	rig_res->retry_ms = rig_res->resolve_ms = 3600000;
	memset(rig_ns, 0, sizeof(rig_ns));
	for (unsigned int i = 0; i < n; i++)
		add_server(&rig_ns[i], names[i]);
	watch_init(&rig_watch);
}

static inline void
lookup_rig_close(void)
{
	dns_lookup_unwatch(&rig_watch.w);
	resolvers_stop(rig_res);
	/* Descriptors are closed at the end of a turn. */
	rig_turn(0);
	resolvers_free(&rig_res);
	for (unsigned int i = 0; i < SERVERS_MAX && rig_ns[i].ns; i++) {
		close(rig_ns[i].udp);
		close(rig_ns[i].tcp);
		if (rig_ns[i].conn >= 0)
			close(rig_ns[i].conn);
	}
	rig_close();
}

/* Timers that end by then run. */
unused static void
pass_time(unsigned int ms)
{
	clock_ms += ms;
	rig_turn(0);
}

static inline int
wait_for_query(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, PATIENCE_MS);
}

/* Receives the next query of a server, which must have arrived. Returns its id. */
unused static uint16_t
receive_query(struct server_rig *s, enum dns_type type)
{
	socklen_t len = sizeof(s->from);

	assert_int_equal(wait_for_query(s->udp), 1);
	s->n = recvfrom(s->udp, s->query, sizeof(s->query), MSG_DONTWAIT,
		(struct sockaddr *)&s->from, &len);
	assert_true(s->n > 17);
	/* Type and class are before the OPT record of 11 bytes. */
	assert_int_equal(s->query[s->n - 14], type);
	return dns_message_id(s->query);
}

unused static void
no_query(const struct server_rig *s)
{
	char c;

	assert_int_equal(recv(s->udp, &c, 1, MSG_DONTWAIT | MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Sends rig_msg to the sender of the last query, and waits until it is read. */
unused static void
send_response(const struct server_rig *s)
{
	assert_int_equal(sendto(s->udp, rig_msg.p, rig_msg.n, 0,
				 (const struct sockaddr *)&s->from, sizeof(s->from)),
		rig_msg.n);
	rig_turn(PATIENCE_MS);
}

unused static void
start_lookup(const char *name, enum dns_type type)
{
	assert_int_equal(resolvers_start(rig_res, rig_loop), 0);
	assert_int_equal(dns_lookup_watch(rig_res, name, type, &rig_watch.w), 0);
	/* Sockets are registered during a turn. */
	rig_turn(0);
}

#endif
