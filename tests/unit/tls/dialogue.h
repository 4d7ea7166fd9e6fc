/* A dialogue over TLS: the peer sends a request and ends, the daemon's side answers and ends. */
#ifndef TACIT_UNIT_TLS_DIALOGUE_H
#define TACIT_UNIT_TLS_DIALOGUE_H

#include "unit/tls/transport_rig.h"

struct dialogue {
	enum tls_role role;     /* of the daemon's side */
	const char *name;       /* of the server, asked for; NULL: none */
	size_t request, answer; /* lengths */
	size_t read_len;        /* of each conn_recv() */
	size_t write_len;       /* of each conn_send() */
	void (*on_daemon)(int); /* 1: the daemon's side runs from now on; 0: not */
	int uses_more;          /* the last conn_send() announces the FIN */
	/* The result. */
	size_t heard, told;     /* bytes of the request, and of the answer that the peer has read */
	size_t written;         /* bytes of the answer that conn_send() has accepted */
	int is_up, eof, failed, shut;
	int peer_ended;         /* it has read the closing message */
	size_t peer_sent;
	int peer_said_end;
};

static inline char
dialogue_byte(size_t at)
{
	return (char)(at * 31 + at / 251);
}

static inline void
dialogue_check(const char *p, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], dialogue_byte(at + i));
}

static inline void
dialogue_fill(char *p, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = dialogue_byte(at + i);
}

static inline void
dialogue_peer(struct rig *g, struct dialogue *d)
{
	char buf[3000];
	int n;

	rig_peer_move(g);
	if (!SSL_is_init_finished(g->peer))
		(void)SSL_do_handshake(g->peer);
	if (SSL_is_init_finished(g->peer) && d->peer_sent < d->request) {
		n = (int)MIN(sizeof(buf), d->request - d->peer_sent);
		dialogue_fill(buf, d->peer_sent, (size_t)n);
		if (BIO_pending(g->from_peer) < 40000 && SSL_write(g->peer, buf, n) == n)
			d->peer_sent += (size_t)n;
	} else if (SSL_is_init_finished(g->peer) && !d->peer_said_end) {
		d->peer_said_end = 1;
		(void)SSL_shutdown(g->peer);
	}
	while ((n = SSL_read(g->peer, buf, sizeof(buf))) > 0) {
		assert_true(d->told + (size_t)n <= d->answer);
		dialogue_check(buf, d->told, (size_t)n);
		d->told += (size_t)n;
	}
	if (SSL_get_error(g->peer, n) == SSL_ERROR_ZERO_RETURN)
		d->peer_ended = 1;
	ERR_clear_error();
	rig_peer_move(g);
}

static inline void
dialogue_read(struct rig *g, struct dialogue *d)
{
	char buf[20000];
	size_t got;

	while (!d->eof && !d->failed && conn_is_ready(&g->c, DIR_R)) {
		enum io_result r = conn_recv(&g->c, buf, MIN(d->read_len, sizeof(buf)), &got);

		d->is_up |= r == IO_OK || r == IO_EOF;
		d->eof = g->c.eof;
		d->failed = r == IO_ERR;
		if (r != IO_OK)
			return;
		assert_true(got > 0 && d->heard + got <= d->request);
		dialogue_check(buf, d->heard, got);
		d->heard += got;
	}
}

/* The answer begins when the request is whole. */
static inline void
dialogue_write(struct rig *g, struct dialogue *d)
{
	char buf[70000];

	while (d->heard == d->request && d->written < d->answer && !d->failed &&
		conn_is_ready(&g->c, DIR_W)) {
		size_t n = MIN(MIN(d->write_len, sizeof(buf)), d->answer - d->written), put;
		enum io_result r;

		dialogue_fill(buf, d->written, n);
		r = conn_send(&g->c, buf, n, d->uses_more && d->written + n == d->answer, &put);
		d->failed = r == IO_ERR;
		if (r != IO_OK)
			return;
		assert_true(put > 0 && put <= n);
		d->written += put;
	}
	if (d->written == d->answer && !d->shut && !d->failed) {
		d->shut = 1;
		conn_shut(&g->c);
	}
}

static inline void
dialogue_daemon(struct rig *g, struct dialogue *d)
{
	if (d->on_daemon)
		d->on_daemon(1);
	if (!d->failed) {
		dialogue_read(g, d);
		dialogue_write(g, d);
	}
	if (!d->failed) {
		int writes = d->heard == d->request && d->written < d->answer;

		conn_want(&g->c, (d->eof ? 0 : EV_R) | (writes ? EV_W : 0));
		(void)!loop_turn(g->loop, 1);
	}
	if (d->failed)
		conn_close(&g->c);
	if (d->on_daemon)
		d->on_daemon(0);
}

/* Runs it for at most so many turns. */
static inline void
dialogue_run(struct rig *g, struct dialogue *d, unsigned int turns)
{
	if (rig_connect(g, d->role, d->on_daemon) < 0) {
		d->failed = 1;
		return;
	}
	if (d->name)
		assert_int_equal(conn_set_name(&g->c, d->name), 0);
	for (unsigned int i = 0; i < turns && !(d->failed || (d->eof && d->peer_ended)); i++) {
		dialogue_peer(g, d);
		dialogue_daemon(g, d);
	}
	for (int i = 0; i < 3; i++)
		dialogue_peer(g, d);
}

static inline void
dialogue_must_be_whole(const struct dialogue *d)
{
	assert_int_equal(d->heard, d->request);
	assert_int_equal(d->told, d->answer);
	assert_true(d->eof);
	assert_true(d->peer_ended);
	assert_false(d->failed);
}

#endif
