/* Saves for fetches what OpenSSL reports of a handshake. On the worker of the connection; no
 * callback is set where the configuration needs none. */
#include "base/err.h"
#include "tls/capture.h"
#include "tls/conn_info.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"
#include "tls/transport.h"

static struct tls *
tls_of_ssl(const SSL *ssl)
{
	const struct tls_io *io = BIO_get_data(SSL_get_rbio(ssl));

	return io ? io->cur : NULL;
}

/* Without memory the fetches have no value. */
static void
on_message(int is_written, int version unused, int type, const void *bytes, size_t len, SSL *ssl,
	void *arg)
{
	const struct tls_conf *conf = arg;
	struct tls *t = !is_written && type == SSL3_RT_HANDSHAKE ? tls_of_ssl(ssl) : NULL;

	if (t)
		(void)!tls_capture_hello(&t->capture, (size_t)conf->capture_size, bytes, len);
}

static void
on_key(const SSL *ssl, const char *line)
{
	struct tls *t = tls_of_ssl(ssl);

	if (t)
		(void)!tls_capture_secret(&t->capture, line);
}

void
tls_capture_enable(SSL_CTX *ctx, const struct tls_conf *conf)
{
	if (conf->capture_size) {
		SSL_CTX_set_msg_callback(ctx, on_message);
		(void)SSL_CTX_set_msg_callback_arg(ctx, (void *)(uintptr_t)conf);
	}
	if (conf->keylog)
		SSL_CTX_set_keylog_callback(ctx, on_key);
}

/* --- questions --- */

const struct tls_capture *
tls_capture_of(const struct conn *c)
{
	return tls_is_used(c) ? tls_of(c)->capture : NULL;
}

int
tls_capture_cipher_names(const struct conn *conn, int without_grease, struct sbuf *out)
{
	struct sbuf list;
	int r;

	sbuf_init(&list, UINT16_MAX);
	r = tls_capture_list(
		tls_capture_of(conn), TLS_HELLO_CIPHERS, without_grease, &list);
	for (size_t i = 0; r == 0 && i + 1 < list.len; i += 2) {
		const uint8_t *p = (const uint8_t *)list.p;
		const SSL_CIPHER *cipher = SSL_CIPHER_find(tls_of(conn)->ssl, p + i);

		sbuf_adds(out, i ? "," : "");
		if (cipher)
			sbuf_adds(out, SSL_CIPHER_get_name(cipher));
		else
			sbuf_addf(out, "UNKNOWN(%04x)", (unsigned int)(p[i] << 8 | p[i + 1]));
	}
	sbuf_fini(&list);
	return r;
}
