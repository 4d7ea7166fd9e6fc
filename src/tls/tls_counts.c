/* Counts of TLS connections. Written on their worker, read by any thread; what the workers share is
 * touched only if there is a limit, or once per handshake. */
#include "tls/tls_counts.h"

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "tls/transport.h"

/* Measured with OpenSSL 3.0: an idle connection of TLS 1.3 takes 14.6 KiB more than one without,
 * one of TLS 1.2 13.6 KiB. */
#define CONN_BYTES 15360u


void
tls_io_share(struct tls_io *io, struct tls_shared *shared)
{
	io->shared = shared;
}

const struct tls_counts *
tls_io_counts(const struct tls_io *io)
{
	return &io->counts;
}

void
tls_io_clear_maxima(struct tls_io *io)
{
	struct tls_counts *c = &io->counts;

	c->accepted.max = c->client_keys.max = c->server_keys.max = 0;
}

uint64_t
tls_io_memory(const struct tls_io *io)
{
	return (uint64_t)counter_read(&io->counts.live) * CONN_BYTES +
		counter_read(&io->counts.kept);
}

int
tls_count_begin(struct tls_io *io)
{
	struct tls_shared *sh = io->shared;

	if (sh && sh->max && atomic_add(&sh->n, 1) > sh->max) {
		(void)atomic_sub(&sh->n, 1);
		return -ERR_FULL;
	}
	counter_add(&io->counts.live, 1);
	counter_add(&io->counts.cum, 1);
	return 0;
}

void
tls_count_end(struct tls_io *io)
{
	if (io->shared && io->shared->max)
		(void)atomic_sub(&io->shared->n, 1);
	counter_sub(&io->counts.live, 1);
}

static void
count_rate_of(struct freq *f, uint64_t *second, uint64_t now_ms)
{
	freq_add(f, now_ms, 1);
	if (second)
		freq_raise(f, freq_count_second(second, now_ms));
}

void
tls_count_accept(struct tls_io *io, uint64_t now_ms)
{
	count_rate_of(&io->counts.accepted, io->shared ? &io->shared->accepted_second : NULL,
		now_ms);
}

void
tls_count_handshake(struct tls *t, uint64_t now_ms)
{
	struct tls_io *io = t->io;
	struct tls_shared *sh = io->shared;

	if (SSL_session_reused(t->ssl))
		return;
	if (SSL_is_server(t->ssl))
		count_rate_of(&io->counts.client_keys, sh ? &sh->client_keys_second : NULL, now_ms);
	else
		count_rate_of(&io->counts.server_keys, sh ? &sh->server_keys_second : NULL, now_ms);
}
