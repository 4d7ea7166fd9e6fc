#include "unit/proxy/proxies_rig.h"

#include "http/h1_parse.h"
#include "proxy/model/http_txn.h"
#include "base/err.h"
#include "proxy/http1/persist.h"
#include "unit/proxy/backend_rig.h"
#include "proxy/model/persist_state.h"

#define SERVERS                                                                             \
	" server s1 127.0.0.1:1 cookie A\n server s2 127.0.0.1:1 cookie B\n"                \
	" server s3 127.0.0.1:1 cookie C disabled\n server s4 127.0.0.1:1 cookie B backup\n" \
	" server s5 127.0.0.1:1 cookie C\n server s6 127.0.0.1:1 cookie D disabled\n"

static struct world w;
static struct engine e;
static struct session sess;
static struct stream s;
static struct http_txn txn;
static struct http_field field[16];
static char text[1024];

/* A request with these fields, and a backend with these lines. */
static void
choose(const char *lines, const char *fields)
{
	struct h1_parser p = { 0 };
	char conf[2048];
	size_t used;

	snprintf(conf, sizeof(conf), WORLD_DEFAULTS "listen b\n bind :1\n mode http\n %s\n" SERVERS,
		lines);
	world_good(&w, conf);
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	memset(&txn, 0, sizeof(txn));
	e.shared = &e.alone;
	assert_int_equal(eval_scratch_init(&e.eval, 1024, NULL), 0);
	s.engine = &e;
	s.sess->fe = s.be = world_proxy(&w, "b");
	s.txn = &txn;
	snprintf(text, sizeof(text), "GET /x HTTP/1.1\r\nHost: h\r\n%s\r\n", fields);
	http_head_init(&txn.req, HTTP_REQUEST, field, ARRAY_LEN(field));
	assert_int_equal(h1_parse_request(&p, text, strlen(text), &txn.req, &used),
		HTTP_COMPLETE);
	txn.head_ms = 1;
	persist_choose(&s);
	assert_int_equal(e.eval.arena.used, 0);
}

static void
done(void)
{
	eval_scratch_fini(&e.eval);
	world_fini(&w);
}

static const char *
letters(void)
{
	static char out[3];

	persist_letters(&s, out);
	return out;
}

/* "server letters", for as long as the session is bound to that server. */
static const char *
chosen(void)
{
	static char out[40];

	s.srv = s.bound;
	snprintf(out, sizeof(out), "%s %s", s.bound ? s.bound->name : "-", letters());
	return out;
}

/* The results of HAProxy 2.6. */
static void
the_cookie_chooses_the_server(void **state)
{
	static const struct {
		const char *lines, *fields, *want;
	} t[] = {
		{ "", "Cookie: SRV=B\r\n", "- --" },
		{ "cookie SRV insert", "", "- NN" },
		{ "cookie SRV insert", "Cookie: srv=B; XSRV=B; SRV\r\n", "- NN" },
		{ "cookie SRV insert", "Cookie: SRV=B\r\n", "s2 VN" },
		{ "cookie SRV insert", "Cookie: a=1; SRV = B ; c=2\r\n", "s2 VN" },
		{ "cookie SRV insert", "Cookie: a=2\r\nCookie: SRV=B\r\n", "s2 VN" },
		{ "cookie SRV insert", "Cookie: SRV=Z; SRV=B; SRV=A\r\n", "s2 VN" },
		{ "cookie SRV insert", "Cookie: SRV=Z\r\n", "- IN" },
		{ "cookie SRV insert", "Cookie: SRV=\r\n", "- IN" },
		{ "cookie SRV insert", "Cookie: SRV=\"B\"\r\n", "- IN" },
		{ "cookie SRV insert", "Cookie: SRV=B~x\r\n", "- IN" },
		{ "cookie SRV insert", "Cookie: SRV=B|x\r\n", "s2 VN" },
		{ "cookie SRV prefix", "Cookie: SRV=B~x\r\n", "s2 VN" },
		{ "cookie SRV prefix", "Cookie: SRV=B\r\n", "s2 VN" },
		{ "cookie SRV prefix", "Cookie: SRV=B|x\r\n", "- IN" },
		{ "cookie SRV rewrite", "Cookie: SRV=B\r\n", "s2 VN" },
		{ "cookie SRV", "Cookie: SRV=B\r\n", "s2 --" },
		{ "cookie SRV indirect", "Cookie: SRV=B\r\n", "s2 VN" },
		/* down: another server with that cookie is used */
		{ "cookie SRV insert", "Cookie: SRV=C\r\n", "s5 VN" },
		{ "cookie SRV insert", "Cookie: SRV=D\r\n", "- DN" },
		{ "cookie SRV insert", "Cookie: SRV=D; SRV=Z\r\n", "- DN" },
		{ "cookie SRV insert", "Cookie: SRV=Z; SRV=D\r\n", "- DN" },
		{ "cookie SRV insert", "Cookie: SRV=D; SRV=A\r\n", "s1 VN" },
		{ "cookie SRV insert\n option persist", "Cookie: SRV=D\r\n", "s6 DN" },
		{ "cookie SRV insert\n option persist", "Cookie: SRV=C\r\n", "s5 VN" },
		{ "cookie SRV insert\n force-persist if { path /x }", "Cookie: SRV=D\r\n",
			"s6 DN" },
		{ "cookie SRV insert\n force-persist if { path /y }", "Cookie: SRV=D\r\n", "- DN" },
		{ "cookie SRV insert\n force-persist unless { path /y }", "Cookie: SRV=D\r\n",
			"s6 DN" },
		/* ages: the session's clock is at its start time */
		{ "cookie SRV insert maxidle 60", "Cookie: SRV=B|awLA2\r\n", "- EN" },
		{ "cookie SRV insert maxlife 60", "Cookie: SRV=B|awLA2|awLA2\r\n", "- ON" },
		{ "cookie SRV insert", "Cookie: SRV=B|awLA2\r\n", "s2 VN" },
		/* precedence */
		{ "cookie SRV insert\n ignore-persist if TRUE", "Cookie: SRV=B\r\n", "- UN" },
		{ "cookie SRV insert\n ignore-persist if TRUE", "", "- NN" },
		{ "cookie SRV insert\n ignore-persist if FALSE", "Cookie: SRV=B\r\n", "s2 VN" },
		{ "cookie SRV insert\n ignore-persist if TRUE\n force-persist if TRUE",
			"Cookie: SRV=D\r\n", "- UN" },
		{ "cookie SRV insert\n force-persist if TRUE\n ignore-persist if TRUE",
			"Cookie: SRV=D\r\n", "s6 DN" },
		{ "cookie SRV insert\n use-server s1 if { hdr(x) 1 }", "Cookie: SRV=B\r\nX: 1\r\n",
			"s1 UN" },
		{ "cookie SRV insert\n use-server s1 if { hdr(x) 1 }", "X: 1\r\n", "s1 NN" },
		{ "cookie SRV insert\n use-server s1 if { hdr(x) 1 }", "Cookie: SRV=B\r\n",
			"s2 VN" },
		{ "use-server s1 if { hdr(x) 1 }", "X: 1\r\n", "s1 --" },
		{ "use-server s1 unless { hdr(x) 1 }", "X: 1\r\n", "- --" },
		{ "use-server s3 if TRUE\n use-server s2 if TRUE\n use-server s1 if TRUE", "",
			"s2 --" },
		{ "use-server s3 if TRUE\n option persist", "", "s3 --" },
		{ "use-server s3 if TRUE\n force-persist if TRUE", "", "s3 --" },
		{ "use-server %[hdr(x)] if TRUE\n use-server s1 if TRUE", "X: s4\r\n", "s4 --" },
		/* no server: the rule ends the list; one that is down does not */
		{ "use-server %[hdr(x)] if TRUE\n use-server s1 if TRUE", "X: s7\r\n", "- --" },
		{ "use-server %[hdr(x)] if TRUE\n use-server s1 if TRUE", "", "- --" },
		{ "use-server %[hdr(x)] if TRUE\n use-server s1 if TRUE", "X: s3\r\n", "s1 --" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		choose(t[i].lines, t[i].fields);
		if (strcmp(chosen(), t[i].want) != 0)
			fail_msg("%s, %s: %s", t[i].lines, t[i].fields, chosen());
		done();
	}
}

/* A server in drain mode gets no new clients and keeps its own. */
static void
a_draining_server_keeps_its_clients(void **state)
{
	struct server *srv;

	(void)state;
	choose("cookie SRV insert", "Cookie: SRV=A\r\n");
	srv = world_server(s.be, 0);
	put_admin(srv, SERVER_DRAIN_FORCED, 1);
	persist_choose(&s);
	assert_ptr_equal(s.bound, srv);
	put_admin(srv, SERVER_READY, 1);
	assert_int_equal(put_weight(srv, 0), 0);
	persist_choose(&s);
	assert_ptr_equal(s.bound, srv);
	put_admin(srv, SERVER_MAINT_FORCED, 1);
	persist_choose(&s);
	assert_null(s.bound);
	done();
}

static void
letters_show_the_state_and_action_of_the_cookie(void **state)
{
	(void)state;
	choose("cookie SRV insert", "Cookie: SRV=A\r\n");
	assert_false(persist_holds(&s));
	/* no server was reached */
	assert_string_equal(letters(), "VN");
	s.srv = s.bound;
	assert_true(persist_holds(&s));
	assert_string_equal(letters(), "VN");
	s.srv = world_server(s.be, 1);
	assert_false(persist_holds(&s));
	assert_string_equal(letters(), "DN");
	txn.persist.answered = 'I';
	assert_string_equal(letters(), "DI");
	s.txn = NULL;
	assert_string_equal(letters(), "--");
	done();
}

/* The remaining Cookie fields, each followed by a bar. */
static const char *
cookies(void)
{
	static char out[200];
	const struct http_head *h = &txn.req;

	out[0] = '\0';
	for (int at = http_find_id(h, HTTP_F_COOKIE, 0); at >= 0;
		at = http_find_id(h, HTTP_F_COOKIE, (unsigned int)at + 1))
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%.*s|",
			(int)h->field[at].value.len, h->field[at].value.p);
	return out;
}

static void
the_servers_cookie_is_stripped(void **state)
{
	static const struct {
		const char *lines, *fields, *left;
	} t[] = {
		{ "cookie SRV insert indirect", "Cookie: a=1; SRV=B; c=2\r\n", "a=1; c=2|" },
		{ "cookie SRV insert indirect", "Cookie: SRV=Z\r\nCookie: b; SRV=B;SRV=A\r\n",
			"b|" },
		{ "cookie SRV insert indirect", "Cookie: x=1, SRV=B~a\r\nCookie: y\r\n", "x=1|y|" },
		{ "cookie SRV insert indirect\n use-server s1 if TRUE", "Cookie: SRV=B\r\n", "" },
		{ "cookie SRV insert indirect\n ignore-persist if TRUE", "Cookie: SRV=B\r\n", "" },
		{ "cookie SRV insert", "Cookie: SRV=B\r\n", "SRV=B|" },
		{ "cookie SRV indirect", "Cookie: SRV=B\r\n", "SRV=B|" },
		{ "cookie SRV rewrite", "Cookie: SRV=B\r\n", "SRV=B|" },
		{ "cookie SRV prefix", "Cookie: a=~1; SRV=B~x~y; c\r\n", "a=~1; SRV=x~y; c|" },
		{ "cookie SRV prefix", "Cookie: SRV=A~q; SRV=B~r; SRV=Z~\r\nCookie: SRV=s\r\n",
			"SRV=q; SRV=r; SRV=|SRV=s|" },
		{ "cookie SRV prefix", "Cookie: a=b~c\r\n", "a=b~c|" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct arena a = { .p = (char[256]){ 0 }, .cap = 256 };
		char before[sizeof(text)];

		choose(t[i].lines, t[i].fields);
		memcpy(before, text, sizeof(text));
		assert_int_equal(persist_strip(&s, &a), 0);
		if (strcmp(cookies(), t[i].left) != 0)
			fail_msg("%s, %s: %s", t[i].lines, t[i].fields, cookies());
		/* The received text must not be changed. */
		assert_memory_equal(before, text, sizeof(text));
		done();
	}
	choose("cookie SRV prefix", "Cookie: SRV=B~x\r\n");
	assert_int_equal(persist_strip(&s, &(struct arena){ .cap = 0 }), -ERR_RANGE);
	done();
}

/* In mode tcp there is no request; rules see the connection. */
static void
in_mode_tcp_rules_choose_the_server(void **state)
{
	(void)state;
	choose("use-server s2 if { be_name b }\n cookie SRV insert",
		"Cookie: SRV=A\r\n");
	s.txn = NULL;
	s.be->mode = PROXY_TCP;
	persist_choose(&s);
	assert_string_equal(s.bound->name, "s2");
	assert_int_equal(s.forced, 0);
	done();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cookie_chooses_the_server),
		cmocka_unit_test(a_draining_server_keeps_its_clients),
		cmocka_unit_test(letters_show_the_state_and_action_of_the_cookie),
		cmocka_unit_test(the_servers_cookie_is_stripped),
		cmocka_unit_test(in_mode_tcp_rules_choose_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
