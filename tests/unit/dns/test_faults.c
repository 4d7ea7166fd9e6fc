/* A lookup over UDP and then TCP with each of its system calls failing once: it is tried again, and
 * in the end there is an answer, and no descriptor is left open. */
#include "unit/dns/dns_rig.h"

#define NAME "app.example"
/* More calls than a lookup makes. */
#define CALLS_MAX 60
#define TURNS_MAX 400 /* of a millisecond of the test's clock */

static unsigned int calls_left; /* calls before the one that fails; 0: none fails */
static int fault;
static int has_failed;

static int
is_due(const unsigned int *left)
{
	return *left == 1;
}

/* True if this call fails. */
static int
take_fault(void)
{
	int now = is_due(&calls_left);

	if (calls_left)
		calls_left--;
	has_failed |= now;
	return now;
}

#define FAILING(name, params, args)                                                        \
	static long failing_##name(void *ctx UNPAREN params)                               \
	{                                                                                  \
		return take_fault() ? -fault : sys_linux.name(ctx UNPAREN args);           \
	}

FAILING(socket, (, int domain, int type, int proto), (, domain, type, proto))
FAILING(connect, (, int fd, const struct sockaddr *sa, socklen_t len), (, fd, sa, len))
FAILING(sendto, (, int fd, const void *buf, size_t len, int flags), (, fd, buf, len, flags))
FAILING(recvfrom, (, int fd, void *buf, size_t len, int flags), (, fd, buf, len, flags))
FAILING(getrandom, (, void *buf, size_t len, unsigned int flags), (, buf, len, flags))

static const struct sys_ops *
failing_ops(void)
{
	static struct sys_ops ops;

	ops = *rig_sys.ops;
	ops.socket = failing_socket;
	ops.connect = failing_connect;
	ops.sendto = failing_sendto;
	ops.recvfrom = failing_recvfrom;
	ops.getrandom = failing_getrandom;
	return &ops;
}

/* All responses over UDP are truncated. */
static void
serve_udp(struct server_rig *s)
{
	socklen_t len = sizeof(s->from);
	long n = recvfrom(s->udp, s->query, sizeof(s->query), MSG_DONTWAIT,
		(struct sockaddr *)&s->from, &len);

	if (n <= 0)
		return;
	write_head(&rig_msg, dns_message_id(s->query), 0x8380, NAME, s->query[n - 14]);
	(void)!sendto(s->udp, rig_msg.p, rig_msg.n, 0, (const struct sockaddr *)&s->from, len);
}

static void
serve_tcp(struct server_rig *s)
{
	uint8_t q[2 + DNS_QUERY_MAX], head[2];
	int fd = accept4(s->tcp, NULL, NULL, SOCK_NONBLOCK);
	long n;

	if (fd >= 0) {
		if (s->conn >= 0)
			close(s->conn);
		s->conn = fd;
	}
	n = s->conn < 0 ? -1 : recv(s->conn, q, sizeof(q), MSG_DONTWAIT);
	if (n < 20)
		return;
	write_head(&rig_msg, dns_message_id(q + 2), 0x8180, NAME, q[n - 14]);
	if (q[n - 14] == DNS_A)
		write_a(&rig_msg, 0, NULL, "10.0.0.1");
	head[0] = (uint8_t)(rig_msg.n >> 8);
	head[1] = (uint8_t)rig_msg.n;
	(void)!send(s->conn, head, 2, MSG_MORE | MSG_NOSIGNAL);
	(void)!send(s->conn, rig_msg.p, rig_msg.n, MSG_NOSIGNAL);
}

static void
look_up_with_fault(unsigned int nth, int err)
{
	calls_left = nth;
	fault = err;
	has_failed = 0;
	lookup_rig_open(1);
	assert_int_equal(fcntl(rig_ns[0].tcp, F_SETFL, O_NONBLOCK), 0);
	rig_sys.ops = failing_ops();
	rig_res->retry_ms = rig_res->resolve_ms = 5;
	start_lookup(NAME, DNS_A);
	for (int i = 0; i < TURNS_MAX && !rig_watch.answers; i++) {
		serve_udp(&rig_ns[0]);
		serve_tcp(&rig_ns[0]);
		rig_turn(2);
		clock_ms++;
	}
	if (!rig_watch.answers)
		fail_msg("no answer after call %u failed with errno %d", nth, err);
	lookup_rig_close();
}

static void
any_call_may_fail(void **st)
{
	static const int errors[] = { EMFILE, ECONNREFUSED, ENETUNREACH, ENOBUFS };
	unsigned int nth = 1;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		for (nth = 1, has_failed = 1; has_failed && nth < CALLS_MAX; nth++)
			look_up_with_fault(nth, errors[i]);
	/* Each call failed once. */
	assert_true(nth > 6 && nth < CALLS_MAX);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_call_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
