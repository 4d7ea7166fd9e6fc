#include "proxy/model/addr_override.h"
#include "unit/test.h"

#include <string.h>

#include "base/pool.h"
#include "net/listener.h"
#include "proxy/model/http_txn.h"
#include "unit/net/net_rig.h"

static struct engine e;
static struct listener ln;
static struct bind_conf bind_conf;
static struct session sess;
static struct stream s;
static struct http_txn txn;

static int
setup(void **state)
{
	(void)state;
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	memset(&txn, 0, sizeof(txn));
	engine_addr_override_init(&e);
	bind_conf = (struct bind_conf){ .transparent = 0 };
	ln = (struct listener){ .bind = &bind_conf, .addr = addr_of("10.0.0.9:80") };
	s.engine = &e;
	s.sess->listener = &ln;
	s.sess->peer = addr_of("10.0.0.1:1000");
	/* A short address: the bytes after it belong to another object. */
	memset((char *)&s.sess->peer.u + s.sess->peer.len, 0xee,
		sizeof(s.sess->peer.u) - s.sess->peer.len);
	conn_init(s.conn[CLIENT]);
	return 0;
}

/* Releases the overrides. */
static int
teardown(void **state)
{
	(void)state;
	addr_override_free(&s);
	assert_null(s.sess->endpoints);
	assert_int_equal(e.pools.addr_override.live, 0);
	pool_fini(&e.pools.addr_override);
	return 0;
}

static void
set_override(enum rule_place place, enum endpoint which, const char *text)
{
	struct addr a = addr_of(text);

	assert_int_equal(addr_override_set(&s, place, which, &a), 0);
}

/* The port of a server at 1.2.3.4 with this offset. */
static unsigned int
target_port(int offset)
{
	static struct server srv;
	struct addr to = addr_of("1.2.3.4:0");
	uint32_t gen;

	srv.spec = (struct addr_spec){ .has_offset = 1, .port_offset = offset };
	addr_cell_set(&srv.addr, &to);
	s.srv = &srv;
	addr_override_target(&s, &gen, &to);
	s.srv = NULL;
	return addr_port(&to);
}

static void
is(const struct addr *a, const char *want)
{
	char text[ADDR_TEXT];

	assert_string_equal(addr_text(a, text), want);
}

/* After the copied address nothing of the old one is left, and nothing beyond it was copied. */
static void
copies(void (*copy)(const struct stream *, struct addr *), const char *want)
{
	struct addr a, whole = { 0 }, expected = addr_of(want);

	memset(&a, 0xee, sizeof(a));
	copy(&s, &a);
	is(&a, want);
	whole.len = expected.len;
	memcpy(&whole.u, &expected.u, expected.len);
	assert_memory_equal(&a, &whole, sizeof(a));
}

static void
is_source(const char *of_session, const char *of_connection)
{
	is(addr_override_source(&s), of_session);
	copies(addr_override_copy_source, of_session);
	copies(addr_override_copy_connection_source, of_connection);
}

static void
is_destination(const char *of_session, const char *of_connection)
{
	struct addr a;

	assert_int_equal(addr_override_destination(&s, &a), 0);
	is(&a, of_session);
	assert_int_equal(addr_override_connection_destination(&s, &a), 0);
	is(&a, of_connection);
}

static void
test_without_an_override(void **state)
{
	(void)state;
	is_source("10.0.0.1:1000", "10.0.0.1:1000");
	is_destination("10.0.0.9:80", "10.0.0.9:80");
	assert_int_equal(target_port(0), 80);
	assert_int_equal(target_port(7), 87);
	assert_int_equal(target_port(-81), 65535);
	assert_null(s.sess->endpoints);
}

/* An override for the request takes precedence over one for the session, and ends with it. */
static void
test_levels(void **state)
{
	(void)state;
	set_override(RULE_TCP_CONNECTION, ENDPOINT_SRC, "1.1.1.1:1");
	is_source("1.1.1.1:1", "1.1.1.1:1");
	set_override(RULE_TCP_SESSION, ENDPOINT_SRC, "2.2.2.2:2");
	is_source("2.2.2.2:2", "1.1.1.1:1");
	set_override(RULE_TCP_REQ_CONTENT, ENDPOINT_SRC, "3.3.3.3:3");
	is_source("3.3.3.3:3", "1.1.1.1:1");
	s.txn = &txn;
	is_source("3.3.3.3:3", "1.1.1.1:1");
	set_override(RULE_HTTP_REQUEST, ENDPOINT_SRC, "[4::4]:4");
	is_source("[4::4]:4", "1.1.1.1:1");
	s.txn = NULL;
	is_source("3.3.3.3:3", "1.1.1.1:1");
	is_destination("10.0.0.9:80", "10.0.0.9:80");
}

static void
test_destination(void **state)
{
	(void)state;
	s.txn = &txn;
	set_override(RULE_HTTP_REQUEST, ENDPOINT_DST, "9.9.9.9:99");
	assert_null(s.sess->endpoints);
	is_destination("9.9.9.9:99", "10.0.0.9:80");
	assert_int_equal(target_port(0), 99);
	s.txn = NULL;
	set_override(RULE_TCP_CONNECTION, ENDPOINT_DST, "8.8.8.8:88");
	is_destination("8.8.8.8:88", "8.8.8.8:88");
	is_source("10.0.0.1:1000", "10.0.0.1:1000");
}

/* Addresses that only the kernel knows are unknown after the connection was closed. */
static void
test_unknown_after_the_close(void **state)
{
	struct addr a;

	(void)state;
	ln.addr = addr_of("0.0.0.0:80");
	assert_int_equal(addr_override_destination(&s, &a), -1);
	assert_int_equal(addr_override_connection_destination(&s, &a), -1);
	set_override(RULE_TCP_SESSION, ENDPOINT_DST, "9.9.9.9:99");
	assert_int_equal(addr_override_destination(&s, &a), 0);
	assert_int_equal(addr_override_connection_destination(&s, &a), -1);
	ln.addr = addr_of("10.0.0.9:80");
	bind_conf.transparent = 1;
	assert_int_equal(addr_override_connection_destination(&s, &a), -1);
}

/* The addresses of a PROXY header belong to the session: the connection keeps its own, and rules of
 * the session may override them. */
static void
addresses_of_a_proxy_header(void **state)
{
	struct addr src = addr_of("192.0.2.1:5"), dst = addr_of("192.0.2.2:6"),
		    other = addr_of("9.9.9.9:9");
	struct addr out;

	(void)state;
	assert_int_equal(addr_override_reserve(&s), 0);
	assert_ptr_equal(addr_override_source(&s), &s.sess->peer);
	addr_override_proxy_protocol(&s, &src, &dst);
	assert_true(same_addr(addr_override_source(&s), &src));
	addr_override_copy_connection_source(&s, &out);
	assert_true(same_addr(&out, &s.sess->peer));
	assert_int_equal(addr_override_destination(&s, &out), 0);
	assert_true(same_addr(&out, &dst));
	assert_int_equal(target_port(0), 6);
	assert_int_equal(addr_override_connection_destination(&s, &out), 0);
	assert_true(same_addr(&out, &ln.addr));
	assert_int_equal(addr_override_set(&s, RULE_TCP_SESSION, ENDPOINT_SRC, &other), 0);
	assert_true(same_addr(addr_override_source(&s), &other));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_without_an_override),
		CASE(test_levels),
		CASE(test_destination),
		CASE(test_unknown_after_the_close),
		CASE(addresses_of_a_proxy_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
