#include "proxy/sample/fetch.h"

#include "unit/proxy/log_rig.h"

#include <unistd.h>

#include "base/sys.h"
#include "http/h1_parse.h"
#include "net/proxy_header.h"
#include "proxy/sample/eval.h"

static struct log_world w;
static struct sys sys;

static int
setup(void **state)
{
	(void)state;
	log_world_init(&w);
	sys_init(&sys, &sys_linux, NULL);
	w.engine.sys = &sys;
	return 0;
}

#define IS(format, text) assert_string_equal(log_world_line(&w, format), text)

/* A loopback connection whose accepted end is the client's. */
static void
figures(void **state)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE, .max_fd = 64,
				   .max_events = 16, .lazy = 1 };
	struct loop *loop;
	struct addr a;
	int reason, lfd = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	loop = loop_new(&sys, &cfg, &reason);
	assert_non_null(loop);
	log_world_addr(&a, "127.0.0.1", 0);
	assert_int_equal(bind(lfd, &a.u.sa, a.len), 0);
	assert_int_equal(listen(lfd, 1), 0);
	assert_int_equal(getsockname(lfd, &a.u.sa, &a.len), 0);
	IS("%[fc_rtt] %[fc_unacked]", "- -");
	assert_int_equal(connect(fd, &a.u.sa, a.len), 0);
	conn_attach(w.s.conn[CLIENT], loop, accept(lfd, NULL, NULL));
	IS("%[fc_unacked] %[fc_lost] %[fc_sacked] %[fc_retrans] %[fc_fackets]", "0 0 0 0 0");
	assert_int_equal(sys.ledger.n[SYS_CALL_getsockopt][SYS_OK], 5);
	assert_true(atoi(log_world_line(&w, "%[fc_reordering]")) > 0);
	assert_true(atoi(log_world_line(&w, "%[fc_rttvar(us)]")) > 0);
	assert_int_equal(atoi(log_world_line(&w, "%[fc_rttvar]")),
		atoi(log_world_line(&w, "%[fc_rttvar(us)]")) / 1000);
	assert_int_equal(atoi(log_world_line(&w, "%[fc_rtt(ms)]")),
		atoi(log_world_line(&w, "%[fc_rtt(us)]")) / 1000);
	close(w.s.conn[CLIENT]->fd);
	close(fd);
	close(lfd);
	loop_free(&loop);
}

static void
addresses_of_this_machine_are_local(void **state)
{
	(void)state;
	log_world_addr(&w.s.sess->peer, "127.0.0.1", 33313);
	log_world_addr(&w.listener.addr, "192.0.2.1", 80);
	IS("%[src_is_local] %[dst_is_local]", "1 0");
	IS("%[fc_src_is_local] %[fc_dst_is_local]", "1 0");
	assert_int_equal(sys.ledger.n[SYS_CALL_socket][SYS_OK], 4);
	assert_int_equal(sys.ledger.n[SYS_CALL_close][SYS_OK], 4);
	log_world_unix(&w.s.sess->peer);
	IS("%[src_is_local]", "-");
	w.engine.sys = NULL;
	IS("%[dst_is_local]", "-");
}

static void
errors_of_the_connection_are_found(void **state)
{
	(void)state;
	IS("%[fc_err] %[fc_err_str] %[fc_rcvd_proxy]", "0 Success 0");
	w.s.sess->has_header = 1;
	IS("%[fc_rcvd_proxy]", "1");
	w.s.sess->conn_err = CONN_ERR_LATE;
	IS("%[fc_err] %[fc_err_str]", "13 Timeout while waiting for PROXY protocol header");
}

static void
without_a_session_nothing_is_found(void **state)
{
	struct sample_ctx cx = { .at = 0 };

	(void)state;
	/* without a session nothing is found, and nothing crashes */
	for (const struct rule_fetch *f = conn_fetches; f->name; f++) {
		struct rule_args a = { .kind = f->kind };
		struct sample s = { 0 };

		assert_non_null(f->doc);
		if (f->fetch(&a, &cx, &s))
			assert_int_equal(strncmp(f->name, "fc_err", 6), 0);
	}
}

/* The results of HAProxy 2.6 for GET /a?q=1 with Host: 127.0.0.1:18990. */
static void
with_source(void **state)
{
	static const char *const want[] = { "base32+src", "d4bdd59a7f000001", "url32+src",
		"5f043fd67f000001" };
	struct http_field fields[4];
	struct h1_parser parser = { 0 };
	struct http_head head;
	struct eval eval;
	size_t used;

	(void)state;
	http_head_init(&head, HTTP_REQUEST, fields, 4);
	assert_int_equal(
		h1_parse_request(&parser, "GET /a?q=1 HTTP/1.1\r\nHost: 127.0.0.1:18990\r\n\r\n",
			47, &head, &used),
		HTTP_COMPLETE);
	log_world_addr(&w.s.sess->peer, "127.0.0.1", 33313);
	eval_init(&eval, &w.s, SAMPLE_AT_CONN | SAMPLE_AT_REQ);
	eval.cx.req = &head;
	for (size_t i = 0; i < ARRAY_LEN(want); i += 2)
		for (const struct rule_fetch *f = conn_fetches; f->name; f++) {
			struct rule_args a = { .kind = f->kind };
			struct sample s = { 0 };
			char hex[64] = "";

			if (strcmp(f->name, want[i]) != 0)
				continue;
			assert_int_equal(f->fetch(&a, &eval.cx, &s), 1);
			for (size_t k = 0; k < s.u.str.len; k++)
				snprintf(hex + 2 * k, 3, "%02x", (unsigned char)s.u.str.p[k]);
			assert_string_equal(hex, want[i + 1]);
			log_world_unix(&w.s.sess->peer);
			assert_int_equal(f->fetch(&a, &eval.cx, &s), 0);
			log_world_addr(&w.s.sess->peer, "127.0.0.1", 33313);
		}
}

static void
only_the_first_request_is_the_first(void **state)
{
	struct eval eval;

	(void)state;
	eval_init(&eval, &w.s, SAMPLE_AT_CONN | SAMPLE_AT_REQ);
	for (unsigned int n = 1; n < 4; n++)
		for (const struct rule_fetch *f = conn_fetches; f->name; f++) {
			struct rule_args a = { .kind = f->kind };
			struct sample s = { 0 };

			w.s.sess->requests = n;
			if (strcmp(f->name, "http_first_req") != 0)
				continue;
			assert_int_equal(f->fetch(&a, &eval.cx, &s), 1);
			assert_int_equal(s.u.sint, n == 1);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(figures, setup),
		cmocka_unit_test_setup(addresses_of_this_machine_are_local, setup),
		cmocka_unit_test_setup(errors_of_the_connection_are_found, setup),
		cmocka_unit_test(without_a_session_nothing_is_found),
		cmocka_unit_test_setup(with_source, setup),
		cmocka_unit_test_setup(only_the_first_request_is_the_first, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
