#include "proxy/sample/fetch.h"

#include "unit/proxy/proxies_rig.h"

#include "proxy/model/session.h"
#include "rule/sample/expr.h"
#include "unit/proxy/backend_rig.h"

static struct world w;
static struct session sess;
static struct stream s;
static struct sample_ctx cx;
static struct arena arena; /* of no bytes */
static struct server *a, *b, *c;
static struct proxy *l, *bare;

static int
setup(void **state)
{
	(void)state;
	world_good(&w, WORLD_DEFAULTS
		"listen l\n bind 127.0.0.1:1\n server a 127.0.0.1:1 maxconn 5 maxqueue 3\n"
		" server b 127.0.0.1:2 maxconn 4 maxqueue 2 weight 7\n"
		" server c 127.0.0.1:3 maxconn 9 maxqueue 9 backup\n"
		"backend bare\n server x 127.0.0.1:4\n");
	l = world_proxy(&w, "l");
	bare = world_proxy(&w, "bare");
	assert_int_equal(proxies_shard(&w.proxies, 2), 0);
	a = list_entry(l->servers.next, struct server, link);
	b = list_entry(a->link.next, struct server, link);
	c = list_entry(b->link.next, struct server, link);
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	s.sess->fe = l;
	s.be = l;
	cx = (struct sample_ctx){
		.stream = &s, .arena = &arena, .sys = &w.sys, .now_ms = 5000
	};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	/* the counters set by the test are reset, since they are checked at the end */
	l->queued = l->be_cur = 0;
	a->cur = a->queued = b->cur = b->queued = 0;
	world_fini(&w);
	return 0;
}

#define NONE INT64_MIN

/* The result of an expression, or NONE. */
static int64_t
value(const char *text)
{
	struct rule_expr *e;
	struct rule_err why;
	struct sample x;
	size_t used;
	int64_t v;

	assert_int_equal(rule_expr_parse(&w.proxies.vocab, text, strlen(text), SAMPLE_AT_CONN, 0,
				 &e, &used, &why), 0);
	assert_int_equal(rule_expr_check(e, &w.proxies, &why), 0);
	v = rule_expr_eval(e, &cx, &x) ? x.u.sint : NONE;
	rule_expr_free(&e);
	return v;
}

static void
load_of_backends_is_found(void **state)
{
	(void)state;
	assert_int_equal(value("nbsrv"), 2);
	assert_int_equal(value("nbsrv(bare)"), 1);
	assert_int_equal(value("be_conn"), 0);
	assert_int_equal(value("be_conn_free"), 9);
	assert_int_equal(value("connslots"), 14);
	assert_int_equal(value("be_conn_free(bare)"), -1);
	assert_int_equal(value("connslots(bare)"), -1);
	a->cur = 2;
	b->cur = 6;
	b->queued = 1;
	l->be_cur = 8;
	l->queued = 4;
	assert_int_equal(value("be_conn(l)"), 8);
	assert_int_equal(value("be_conn_free"), 3);
	assert_int_equal(value("connslots"), 3 + 3 + 1);
	assert_int_equal(value("queue"), 5);
	assert_int_equal(value("avg_queue"), 3);
	/* backup servers count when no other is up */
	put_admin(a, SERVER_MAINT_FORCED, 1);
	assert_int_equal(value("nbsrv"), 1);
	put_admin(b, SERVER_MAINT_FORCED, 1);
	assert_int_equal(value("nbsrv"), 1);
	assert_int_equal(value("be_conn_free"), 9);
	put_admin(c, SERVER_MAINT_FORCED, 1);
	assert_int_equal(value("nbsrv"), 0);
	assert_int_equal(value("avg_queue"), 10);
	/* before a backend is chosen, and without a session */
	s.be = NULL;
	assert_int_equal(value("be_conn"), 8);
	cx.stream = NULL;
	assert_int_equal(value("be_conn"), NONE);
	assert_int_equal(value("be_conn(l)"), 8);
}

/* Names of proxies and servers that are resolved at run time. */
static void
names_are_resolved_at_run_time(void **state)
{
	(void)state;
	assert_int_equal(value("str(l),nbsrv"), 2);
	assert_int_equal(value("str(bare),nbsrv"), 1);
	assert_int_equal(value("str(nobody),nbsrv"), NONE);
	assert_int_equal(value("str(),nbsrv"), NONE);
	b->queued = 3;
	assert_int_equal(value("str(b),srv_queue"), 3);
	assert_int_equal(value("str(l/b),srv_queue"), 3);
	assert_int_equal(value("str(l/a),srv_queue"), 0);
	assert_int_equal(value("str(bare/b),srv_queue"), NONE);
	assert_int_equal(value("str(x/),srv_queue"), NONE);
	assert_int_equal(value("str(/b),srv_queue"), NONE);
	s.be = NULL;
	assert_int_equal(value("str(b),srv_queue"), NONE);
	assert_int_equal(value("str(l/b),srv_queue"), 3);
}

static void
rates_of_all_shards_are_added(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		freq_add(&l->be_rate, 5000, 1);
	freq_add(&a->sess_rate, 5000, 2);
	freq_add(&l->shard[0].fe.sess_rate, 5000, 3);
	freq_add(&l->shard[1].fe.sess_rate, 5000, 4);
	assert_int_equal(value("be_sess_rate"), 5);
	assert_int_equal(value("be_sess_rate(bare)"), 0);
	assert_int_equal(value("srv_sess_rate(a)"), 2);
	assert_int_equal(value("fe_sess_rate"), 7);
	assert_int_equal(value("fe_sess_rate(l)"), 7);
	freq_add(&l->shard[0].fe.req_rate, 5000, 30);
	freq_add(&l->shard[1].fe.req_rate, 5000, 12);
	assert_int_equal(value("fe_req_rate"), 42);
	assert_int_equal(value("fe_req_rate(l)"), 42);
	cx.now_ms = 9000;
	assert_int_equal(value("be_sess_rate"), 0);
	assert_int_equal(value("fe_sess_rate"), 0);
	l->fe_gate.n = 6;
	assert_int_equal(value("fe_conn"), 6);
	l->fe_gate.n = 0;
	cx.stream = NULL;
	assert_int_equal(value("fe_conn"), NONE);
	assert_int_equal(value("fe_sess_rate"), NONE);
	assert_int_equal(l->lock.taken, 0);
}

static void
load_of_servers_is_found(void **state)
{
	(void)state;
	a->cur = 2;
	a->queued = 1;
	assert_int_equal(value("srv_conn(a)"), 2);
	assert_int_equal(value("srv_conn(l/a)"), 2);
	assert_int_equal(value("srv_conn_free(l/a)"), 3);
	assert_int_equal(value("srv_conn_free(bare/x)"), -1);
	assert_int_equal(value("srv_queue(a)"), 1);
	assert_int_equal(value("srv_is_up(a)"), 1);
	assert_int_equal(value("srv_weight(b)"), 7);
	b->uweight = 3;
	assert_int_equal(value("srv_iweight(b)"), 7);
	assert_int_equal(value("srv_uweight(b)"), 3);
	put_admin(b, SERVER_MAINT_FORCED, 1);
	assert_int_equal(value("srv_is_up(b)"), 0);
	assert_int_equal(value("srv_weight(b)"), 0);
	s.be = bare;
	assert_int_equal(value("srv_conn(x)"), 0);
	assert_int_equal(value("srv_conn(a)"), NONE);
	cx.stream = NULL;
	assert_int_equal(value("srv_conn(x)"), NONE);
}

static void
unknown_names_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "be_conn(nope)", "'be_conn': there is no such backend: 'nope'" },
		{ "fe_conn(bare)", "'fe_conn': there is no such frontend: 'bare'" },
		{ "srv_conn(nope/a)", "'srv_conn': there is no such backend: 'nope/a'" },
		{ "srv_conn(l/nope)", "'srv_conn': the backend has no such server: 'l/nope'" },
		{ "srv_conn(nope)", "'srv_conn': no backend has such a server: 'nope'" },
	};
	struct rule_expr *e;
	struct rule_err why;
	size_t used;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(rule_expr_parse(&w.proxies.vocab, bad[i][0], strlen(bad[i][0]),
					 SAMPLE_AT_CONN, 0, &e, &used, &why), 0);
		assert_int_equal(rule_expr_check(e, &w.proxies, &why), -1);
		assert_string_equal(why.text, bad[i][1]);
		assert_int_equal(why.at, strchr(bad[i][0], '(') - bad[i][0] + 1);
		rule_expr_free(&e);
	}
}

/* In a section that has servers, a name alone is the name of one of them, as in HAProxy. */
static void
own_servers_of_a_section_are_found(void **state)
{
	static const char text[] = "srv_conn(a)";
	struct rule_expr *e;
	struct rule_err why;
	size_t used;

	(void)state;
	a->cur = 2;
	s.be = bare;
	w.proxies.vocab.section = "l";
	assert_int_equal(value(text), 2);
	w.proxies.vocab.section = "bare";
	assert_int_equal(rule_expr_parse(&w.proxies.vocab, text, strlen(text), SAMPLE_AT_CONN, 0,
				 &e, &used, &why), 0);
	assert_int_equal(rule_expr_check(e, &w.proxies, &why), -1);
	assert_string_equal(why.text, "'srv_conn': the backend has no such server: 'a'");
	rule_expr_free(&e);
	w.proxies.vocab.section = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(load_of_backends_is_found),
		CASE(names_are_resolved_at_run_time),
		CASE(rates_of_all_shards_are_added),
		CASE(load_of_servers_is_found),
		CASE(unknown_names_are_refused),
		CASE(own_servers_of_a_section_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
