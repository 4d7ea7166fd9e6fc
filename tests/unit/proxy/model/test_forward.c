#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/bind_conf.h"
#include "net/xprt.h"
#include "proxy/model/proxy.h"
#include "proxy/config/proxy_life.h"
#include "http/h1_write.h"
#include "proxy/model/session.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

/* A frontend and a backend, and a request with or without its own X-Forwarded-For. */
struct world {
	struct proxy *fe, *be;
	struct http_field places[8];
	struct http_head req;
	char text[512];
	struct arena arena;
	struct addr peer, own;
	int over_tls;
	struct listener ln;
	struct bind_conf bind;
	struct session sess;
	struct stream s;
};

static void
begin(struct world *w, int has_field)
{
	http_head_init(&w->req, HTTP_REQUEST, w->places, ARRAY_LEN(w->places));
	assert_int_equal(http_add(&w->req, STR("Host"), STR("h.x:8080")), 0);
	if (has_field)
		assert_int_equal(http_add(&w->req, STR("x-forwarded-for"), STR("9.9.9.9")), 0);
	w->arena = (struct arena){ .p = w->text, .cap = sizeof(w->text) };
}

static void
init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->fe = proxy_new("f", PROXY_FE);
	w->be = proxy_new("b", PROXY_BE);
	assert_true(w->fe && w->be);
	w->peer = addr_of("127.0.0.1:4000");
	w->own = addr_of("127.0.0.2:80");
}

static int
query_tls(const struct conn *c unused, enum xprt_query what, struct str *out)
{
	*out = STR("TLS");
	return what == XPRT_QUERY_NAME ? 0 : -ERR_UNKNOWN;
}

/* Has a client speak TLS, as far as its session asks. */
static void
put_tls(struct conn *c)
{
	static const struct xprt_ops ops = { .query = query_tls };
	static struct xprt tls = { .ops = &ops };

	c->fd = 0;
	c->xprt = &tls;
}

/* For a session from peer to own. */
static int
add_fields(struct world *w)
{
	memset(&w->s, 0, sizeof(w->s));
	memset(&w->sess, 0, sizeof(w->sess));
	stream_join(&w->s, &w->sess, &w->sess.conn);
	w->s.sess->fe = w->fe;
	w->s.be = w->be;
	w->s.sess->peer = w->peer;
	w->s.sess->listener = &w->ln;
	conn_init(w->s.conn[CLIENT]);
	if (w->over_tls)
		put_tls(w->s.conn[CLIENT]);
	w->ln = (struct listener){ .bind = &w->bind, .addr = w->own };
	return http_add_forwarding(&w->s, &w->req, &w->arena);
}

static void
fini(struct world *w)
{
	proxy_free(&w->fe);
	proxy_free(&w->be);
}

/* True if a client's address is not added since it is in the network of `except`. */
static int
is_excepted(const struct forward_net *net, const struct addr *client)
{
	struct world w;
	int added;

	init(&w);
	begin(&w, 0);
	w.be->forward.to[FORWARD_FOR] = (struct forward_option){ .on = 1, .except = *net };
	w.peer = *client;
	assert_int_equal(add_fields(&w), 0);
	added = w.req.n > 1;
	fini(&w);
	return !added;
}

static void
except_excludes_a_net(void **state)
{
	static const struct {
		const char *net, *in, *out;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1:80", "127.0.0.2:80" },
		{ "10.0.0.0/8", "10.255.255.255:1", "11.0.0.0:1" },
		{ "10.128.0.0/9", "10.128.0.1:1", "10.127.255.255:1" },
		{ "10.0.0.0/255.255.0.0", "10.0.255.1:1", "10.1.0.0:1" },
		{ "10.1.2.3/8", "10.9.9.9:1", "11.1.2.3:1" },
		{ "0.0.0.0/0", "255.255.255.255:1", "[::1]:1" },
		/* As in HAProxy an address that is mapped is one of IPv6. */
		{ "10.0.0.0/8", "10.1.2.3:1", "[::ffff:10.1.2.3]:1" },
		{ "::ffff:10.0.0.0/104", "[::ffff:10.1.2.3]:1", "10.1.2.3:1" },
		{ "::1", "[::1]:1", "[::2]:1" },
		{ "2001:db8::/33", "[2001:db8:7fff::1]:1", "[2001:db8:8000::1]:1" },
		{ "::/0", "[ffff::]:1", "127.0.0.1:1" },
	};
	static const char *const bad[] = { "", "/8", "foo", "1.2.3", "1.2.3.4/", "1.2.3.4/33",
		"1.2.3.4/-1", "1.2.3.4/8x", "1.2.3.4/255.0.255.0", "1.2.3.4/255.0.0", "::1/129",
		"::1/255.0.0.0", "[::1]", "1.2.3.4/99999999999",
		"11111111111111111111111111111111111111111111111111111111" };
	struct forward_net n;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct addr in = addr_of(rows[i].in), out = addr_of(rows[i].out);

		assert_int_equal(forward_net_parse(rows[i].net, &n), 0);
		assert_true(is_excepted(&n, &in));
		assert_false(is_excepted(&n, &out));
	}
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(forward_net_parse(bad[i], &n), -ERR_SYNTAX);
	n = (struct forward_net){ .family = 0 };
	{
		struct addr any = addr_of("0.0.0.0:0");

		assert_false(is_excepted(&n, &any));
	}
}

/* The fields after Host, as they are sent. */
static void
assert_adds(struct world *w, int has_field, const char *expected)
{
	char out[1024];
	const char *p;
	size_t n;

	begin(w, has_field);
	assert_int_equal(add_fields(w), 0);
	n = h1_write(&w->req, out);
	out[n - 2] = '\0';
	p = strstr(out, "8080\r\n");
	assert_non_null(p);
	p += strlen("8080\r\n");
	if (has_field) {
		assert_memory_equal(p, "x-forwarded-for: 9.9.9.9\r\n", 26);
		p += 26;
	}
	assert_string_equal(p, expected);
}

static void
say(struct forward_option *o, const char *header, int if_none, const char *except)
{
	mem_free(o->header);
	*o = (struct forward_option){ .on = 1, .if_none = (uint8_t)if_none };
	if (header)
		o->header = mem_strdup(header);
	if (except)
		assert_int_equal(forward_net_parse(except, &o->except), 0);
}

/* The results of HAProxy 2.6. */
static void
forwardfor_adds_its_field(void **state)
{
	struct world w;
	struct forward_option *f, *b;

	(void)state;
	init(&w);
	f = &w.fe->forward.to[FORWARD_FOR];
	b = &w.be->forward.to[FORWARD_FOR];
	assert_adds(&w, 1, "");
	say(f, NULL, 0, NULL);
	assert_adds(&w, 1, "X-Forwarded-For: 127.0.0.1\r\n");
	say(f, "X-C", 0, NULL);
	assert_adds(&w, 0, "X-C: 127.0.0.1\r\n");
	say(b, NULL, 0, NULL);
	assert_adds(&w, 0, "X-Forwarded-For: 127.0.0.1\r\n");
	say(b, "X-B", 0, NULL);
	assert_adds(&w, 0, "X-B: 127.0.0.1\r\n");
	say(f, NULL, 1, NULL);
	b->on = 0;
	assert_adds(&w, 1, "");
	assert_adds(&w, 0, "X-Forwarded-For: 127.0.0.1\r\n");
	say(b, NULL, 0, NULL);
	assert_adds(&w, 1, "X-Forwarded-For: 127.0.0.1\r\n");
	say(b, NULL, 1, NULL);
	assert_adds(&w, 1, "");
	say(f, NULL, 0, "127.0.0.0/8");
	say(b, "X-B", 0, NULL);
	assert_adds(&w, 0, "");
	say(f, NULL, 0, NULL);
	say(b, NULL, 0, "127.0.0.1");
	assert_adds(&w, 1, "");
	w.peer = addr_of("[2001:db8::1]:5");
	assert_adds(&w, 0, "X-Forwarded-For: 2001:db8::1\r\n");
	w.peer = addr_of("unix@/run/x");
	assert_adds(&w, 0, "");
	fini(&w);
}

static void
originalto_adds_its_field(void **state)
{
	struct world w;

	(void)state;
	init(&w);
	say(&w.fe->forward.to[FORWARD_ORIGINAL_TO], "Q", 0, NULL);
	assert_adds(&w, 0, "Q: 127.0.0.2\r\n");
	say(&w.be->forward.to[FORWARD_ORIGINAL_TO], NULL, 0, NULL);
	say(&w.be->forward.to[FORWARD_FOR], NULL, 0, NULL);
	assert_adds(&w, 0, "X-Forwarded-For: 127.0.0.1\r\nX-Original-To: 127.0.0.2\r\n");
	say(&w.fe->forward.to[FORWARD_ORIGINAL_TO], NULL, 0, "127.0.0.2");
	w.be->forward.to[FORWARD_FOR].on = 0;
	assert_adds(&w, 0, "");
	w.own.len = 0;
	say(&w.fe->forward.to[FORWARD_ORIGINAL_TO], NULL, 0, NULL);
	assert_adds(&w, 0, "");
	fini(&w);
}

static void
forwarded_has_the_requested_parts(void **state)
{
	struct world w;
	unsigned int *parts;

	(void)state;
	init(&w);
	parts = &w.be->forward.forwarded;
	*parts = FORWARDED_PROTO | FORWARDED_FOR;
	assert_adds(&w, 0, "Forwarded: proto=http;for=127.0.0.1\r\n");
	w.over_tls = 1;
	assert_adds(&w, 0, "Forwarded: proto=https;for=127.0.0.1\r\n");
	*parts = FORWARDED_HOST | FORWARDED_FOR | FORWARDED_FOR_PORT;
	assert_adds(&w, 0, "Forwarded: host=\"h.x:8080\";for=\"127.0.0.1:4000\"\r\n");
	*parts = FORWARDED_BY | FORWARDED_BY_PORT | FORWARDED_FOR;
	w.peer = addr_of("[2001:db8::1]:5");
	assert_adds(&w, 0, "Forwarded: by=\"127.0.0.2:80\";for=\"[2001:db8::1]\"\r\n");
	w.peer = addr_of("unix@/run/x");
	*parts = FORWARDED_FOR | FORWARDED_FOR_PORT;
	assert_adds(&w, 0, "Forwarded: for=unknown\r\n");
	begin(&w, 0);
	assert_int_equal(http_set_value(&w.req, 0, STR("a\"b\\c")), 0);
	*parts = FORWARDED_HOST;
	assert_int_equal(add_fields(&w), 0);
	assert_int_equal(w.req.field[1].value.len, strlen("host=\"a\\\"b\\\\c\""));
	assert_memory_equal(w.req.field[1].value.p, "host=\"a\\\"b\\\\c\"", 14);
	fini(&w);
}

static void
a_head_without_room_fails(void **state)
{
	struct world w;

	(void)state;
	init(&w);
	say(&w.be->forward.to[FORWARD_FOR], NULL, 0, NULL);
	begin(&w, 0);
	w.arena.cap = strlen("127.0.0.1") - 1;
	assert_int_equal(add_fields(&w), -ERR_RANGE);
	assert_int_equal(w.req.n, 1);
	begin(&w, 0);
	w.req.max = 1;
	assert_int_equal(add_fields(&w), -ERR_RANGE);
	fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(except_excludes_a_net),
		cmocka_unit_test(forwardfor_adds_its_field),
		cmocka_unit_test(originalto_adds_its_field),
		cmocka_unit_test(forwarded_has_the_requested_parts),
		cmocka_unit_test(a_head_without_room_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
