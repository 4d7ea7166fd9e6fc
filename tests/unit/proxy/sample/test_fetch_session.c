#include "proxy/sample/fetch.h"

#include "unit/proxy/log_rig.h"

static struct log_world w;

static int
setup(void **state)
{
	(void)state;
	log_world_init(&w);
	return 0;
}

#define IS(format, text) assert_string_equal(log_world_line(&w, format), text)

static void
addresses_of_all_connections_are_found(void **state)
{
	(void)state;
	IS("%[src]:%[src_port] %[fc_src]:%[fc_src_port]", "10.0.1.2:33313 10.0.1.2:33313");
	IS("%[dst]:%[dst_port] %[fc_dst]:%[fc_dst_port]", "10.0.3.31:8012 10.0.3.31:8012");
	/* the connection is closed, or could not be opened */
	IS("%[bc_src] %[bc_src_port] %[bc_dst] %[bc_dst_port]", "- - 127.0.0.1 8000");
	w.srv.spec.has_offset = 1;
	w.srv.spec.port_offset = -10;
	IS("%[bc_dst] %[bc_dst_port]", "127.0.0.1 8002");
	/* none was tried */
	w.s.queued_ms = 0;
	IS("%[bc_src] %[bc_src_port] %[bc_dst] %[bc_dst_port]", "- - - -");
	log_world_addr(&w.s.sess->peer, "1::2", 5);
	IS("%[src] %[src_port]", "1::2 5");
	log_world_unix(&w.s.sess->peer);
	IS("%[src] %[src_port]", "- -");
	/* the address of a listener on all addresses_of_all_connections_are_found is unknown */
	log_world_addr(&w.listener.addr, "0.0.0.0", 80);
	IS("%[dst]", "-");
}

static void
names(void **state)
{
	static char so[] = "sock";

	(void)state;
	w.fe.id = 4;
	w.be.id = 5;
	w.be.caps = PROXY_BE;
	w.fe.to.client = 100;
	w.be.to.server = 200;
	w.be.to.tunnel = 300;
	IS("%[fe_name] %[be_name] %[srv_name]", "fnt bck srv1");
	IS("%[fe_id] %[be_id] %[srv_id] %[so_id]", "4 5 3 2");
	IS("%[fe_client_timeout] %[be_server_timeout] %[be_tunnel_timeout]", "100 200 300");
	IS("%[so_name] %[fe_defbe]", "- -");
	/* that of a section listen without default_backend */
	w.fe.fallback_be = &w.fe;
	IS("%[fe_defbe]", "-");
	w.bind.name = so;
	w.fe.fallback_be = &w.be;
	IS("%[so_name] %[fe_defbe]", "sock bck");
	IS("%[ssl_fc] %[ssl_bc] %[ssl_fc,iif(https,http)]", "0 0 http");
	IS("%[fc_http_major] %[bc_http_major]", "1 1");
	w.s.srv = NULL;
	w.s.be = NULL;
	IS("%[srv_name] %[srv_id]", "- -");
}

/* As in HAProxy it is the frontend. */
static void
a_session_without_a_backend_names_its_frontend(void **state)
{
	(void)state;
	w.s.be = NULL;
	w.fe.id = 4;
	w.fe.to.server = 200;
	w.fe.to.tunnel = 300;
	w.fe.caps = PROXY_FE | PROXY_BE;
	IS("%[be_name] %[be_id] %[be_server_timeout] %[be_tunnel_timeout]", "fnt 4 200 300");
	/* timeouts of a defaults section are not for a frontend */
	w.fe.caps = PROXY_FE;
	IS("%[be_name] %[be_id] %[be_server_timeout] %[be_tunnel_timeout]", "fnt 4 0 0");
}

static void
stopping_is_true_during_a_soft_stop(void **state)
{
	(void)state;
	IS("%[stopping]", "0");
	w.engine.shared->is_stopping = 1;
	IS("%[stopping]", "1");
}

static void
priorities_of_the_session_are_found(void **state)
{
	(void)state;
	IS("%[prio_class] %[prio_offset]", "0 0");
	w.s.prio_class = -2047;
	w.s.prio_offset = 524287;
	IS("%[prio_class] %[prio_offset]", "-2047 524287");
}

static void
without_a_session_nothing_is_found(void **state)
{
	struct sample_ctx cx = { .at = 0 };

	(void)state;
	/* without a session nothing is found, and nothing crashes */
	for (const struct rule_fetch *f = session_fetches; f->name; f++) {
		struct rule_args a = { .kind = f->kind };
		struct sample s = { 0 };

		assert_non_null(f->doc);
		if (f->fetch(&a, &cx, &s))
			assert_true(strncmp(f->name, "ssl", 3) == 0 || strstr(f->name, "major"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(addresses_of_all_connections_are_found, setup),
		cmocka_unit_test_setup(names, setup),
		cmocka_unit_test_setup(a_session_without_a_backend_names_its_frontend, setup),
		cmocka_unit_test_setup(stopping_is_true_during_a_soft_stop, setup),
		cmocka_unit_test_setup(priorities_of_the_session_are_found, setup),
		cmocka_unit_test(without_a_session_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
