/* TLS as a transport, on the fake kernel, with OpenSSL over memory as its peer. */
#include "unit/tls/transport_rig.h"

static struct rig g;

static int
setup(void **st)
{
	(void)st;
	rig_open(&g, 0);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close(&g);
	return 0;
}

/* Both sides shake hands and read: what the daemon's side has read goes to text. The result is the
 * last one of conn_recv(). */
static enum io_result
converse(char *text, size_t size, size_t step, unsigned int turns)
{
	enum io_result r = IO_AGAIN;
	size_t n = 0, got;

	for (unsigned int i = 0; i < turns && (r == IO_AGAIN || r == IO_OK); i++) {
		if (!SSL_is_init_finished(g.peer))
			(void)SSL_do_handshake(g.peer);
		rig_peer_move(&g);
		if (conn_is_ready(&g.c, DIR_R)) {
			r = conn_recv(&g.c, text + n, MIN(step, size - 1 - n), &got);
			n += got;
		}
		if (r == IO_AGAIN || r == IO_OK) {
			conn_want(&g.c, EV_R);
			rig_turn(&g);
		}
		rig_peer_move(&g);
	}
	text[n] = '\0';
	ERR_clear_error();
	return r;
}

static void
peer_reads(const char *want)
{
	char buf[256] = "";
	int n;

	rig_peer_move(&g);
	n = SSL_read(g.peer, buf, sizeof(buf) - 1);
	assert_string_equal(n > 0 ? buf : "", want);
	ERR_clear_error();
}

static void
a_client_is_served(void **st)
{
	char text[64];
	size_t put;

	(void)st;
	assert_int_equal(rig_connect(&g, TLS_ACCEPTS), 0);
	assert_int_equal(converse(text, sizeof(text), 64, 10), IO_AGAIN);
	assert_int_equal(SSL_write(g.peer, "hello", 5), 5);
	assert_int_equal(converse(text, sizeof(text), 64, 3), IO_OK);
	assert_string_equal(text, "hello");
	assert_int_equal(conn_send(&g.c, "answer", 6, 0, &put), IO_OK);
	assert_int_equal(put, 6);
	peer_reads("answer");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(a_client_is_served, setup, teardown),
};

int
main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
