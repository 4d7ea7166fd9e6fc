/*
 * The transport of TLS against a peer that is right up to a point and then is not: a handshake
 * with an in-memory client or server, up to a flight that the input chooses, then what the input
 * selects: its bytes as they are, records of any type under the connection's keys, data, changed
 * records, changes of keys, the closing message, FIN, pauses. No crash, no more memory than some
 * records, an end, and no byte that was not sent.
 *
 * The input: a byte for the role and version, one for the flights, then operations of a byte each
 * with their arguments.
 */
#include <stdint.h>
#include <string.h>

#include "unit/tls/tls_rig.h"

#include "base/counter.h"
#include "tls/tls_counts.h"

#define OPS_MAX   64
#define TURNS     12
#define FRESH     100 /* inputs of one rig */
#define KEPT_MAX  (1u << 20)
#define LETTER    'x' /* of all data */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rig g;

struct input {
	const uint8_t *p;
	size_t n;
};

static uint8_t
take(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

/* Up to a byte's value of bytes. */
static struct input
take_some(struct input *in)
{
	size_t most = take(in), n = MIN(most, in->n);
	struct input out = { in->p, n };

	in->p += n;
	in->n -= n;
	return out;
}

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* --- the daemon's side: it sends back what it reads --- */

static void
daemon_turn(void)
{
	char buf[5000];
	size_t got, put;

	while (conn_is_open(&g.c) && conn_is_ready(&g.c, DIR_R) && !g.c.eof) {
		enum io_result r = conn_recv(&g.c, buf, sizeof(buf), &got);

		if (r == IO_ERR) {
			conn_close(&g.c);
			return;
		}
		if (r != IO_OK)
			break;
		expect(got > 0 && got <= sizeof(buf));
		for (size_t i = 0; i < got; i++)
			expect(buf[i] == LETTER);
		if (conn_send(&g.c, buf, got, 0, &put) == IO_ERR) {
			conn_close(&g.c);
			return;
		}
	}
	expect(counter_read(&tls_io_counts(g.io)->kept) < KEPT_MAX);
	if (!conn_is_open(&g.c))
		return;
	if (g.c.eof) {
		conn_shut(&g.c);
		conn_close(&g.c);
		return;
	}
	conn_want(&g.c, EV_R);
	(void)!loop_turn(g.loop, 1);
}

/* --- the peer --- */

static void
peer_turn(void)
{
	char buf[5000];

	rig_peer_move(&g);
	if (!SSL_is_init_finished(g.peer))
		(void)SSL_do_handshake(g.peer);
	while (SSL_read(g.peer, buf, sizeof(buf)) > 0)
		;
	ERR_clear_error();
	rig_peer_move(&g);
}

static void
send_raw(const uint8_t *p, size_t n)
{
	if (n)
		(void)fake_peer_send(g.sock, p, n);
	(void)fake_run_due(g.k);
}

/* Sends OpenSSL's next bytes, changed at one place, cut or doubled. */
static void
send_changed(struct input *in)
{
	uint8_t buf[5000];
	uint8_t at = take(in), with = take(in), how = take(in);
	int n = BIO_read(g.from_peer, buf, sizeof(buf));

	if (n <= 0)
		return;
	buf[at % n] ^= with;
	if (how & 1)
		send_raw(buf, (size_t)n);
	send_raw(buf, how & 2 ? (size_t)n / 2 : (size_t)n);
}

static void
operate(struct input *in)
{
	static const char text[3000] = { [0 ... 2999] = LETTER };
	uint8_t head[5] = { 0, 3 };
	struct input some;

	switch (take(in) % 10) {
	case 0:
		some = take_some(in);
		send_raw(some.p, some.n);
		break;
	case 1:
		(void)SSL_write(g.peer, text, (int)take(in) * 11 + 1);
		break;
	case 2:
		(void)SSL_write(g.peer, text, (int)take(in) * 11 + 1);
		send_changed(in);
		break;
	case 3:
		(void)SSL_key_update(g.peer, take(in) & 1 ? SSL_KEY_UPDATE_REQUESTED
							  : SSL_KEY_UPDATE_NOT_REQUESTED);
		(void)SSL_do_handshake(g.peer);
		break;
	case 4:
		(void)SSL_shutdown(g.peer);
		break;
	case 5:
		rig_peer_move(&g);
		fake_peer_shut(g.sock);
		break;
	case 6:
		(void)SSL_renegotiate(g.peer);
		(void)SSL_do_handshake(g.peer);
		break;
	case 7:
		/* A record of no length, or of a type and a version of the input's. */
		head[0] = take(in);
		head[2] = take(in);
		head[4] = take(in) % 40;
		send_raw(head, sizeof(head));
		break;
	case 8:
		g.piece = take(in);
		break;
	default:
		daemon_turn();
		peer_turn();
	}
	ERR_clear_error();
}

static void
prepare(void)
{
	static unsigned int runs;

	/* The kernel of the tests keeps what sockets were until it is freed. */
	if (runs && runs % FRESH == 0)
		rig_close(&g);
	if (runs++ % FRESH == 0)
		rig_open(&g, 4096);
	g.piece = 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t how = take(&in), flights = take(&in) % 6;

	prepare();
	expect(rig_connect(&g, how & 1 ? TLS_CONNECTS : TLS_ACCEPTS, NULL) == 0);
	if (how & 2)
		SSL_set_max_proto_version(g.peer, TLS1_2_VERSION);
	for (unsigned int i = 0; i < flights; i++) {
		peer_turn();
		daemon_turn();
	}
	for (unsigned int i = 0; i < OPS_MAX && in.n; i++)
		operate(&in);
	for (unsigned int i = 0; i < TURNS; i++) {
		rig_peer_move(&g);
		daemon_turn();
	}
	/* The peer has gone: that is an end. */
	fake_peer_close(g.sock);
	g.sock = NULL;
	(void)fake_run_due(g.k);
	for (unsigned int i = 0; i < TURNS; i++)
		daemon_turn();
	expect(!conn_is_open(&g.c));
	rig_disconnect(&g);
	expect(!counter_read(&tls_io_counts(g.io)->live));
	expect(!counter_read(&tls_io_counts(g.io)->kept));
	return 0;
}
