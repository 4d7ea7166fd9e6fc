/* Fetches about a client's hello and about the secrets of its connection (manual 7.3.4). On the
 * session's worker; texts are copied to the arena. */
#include <string.h>

#include "base/sbuf.h"
#include "proxy/model/session.h"
#include "proxy/sample/fetch.h"
#include "rule/sample/arena.h"
#include "tls/capture.h"

#define TEXT_MAX (1u << 20)

static const struct conn *
client_of(const struct sample_ctx *cx)
{
	const struct session *x = cx->session;

	return x ? &x->conn[CLIENT] : NULL;
}

/* Takes over what b holds; nothing is no value. */
static int
give_text(struct sample_ctx *cx, struct sbuf *b, int r, enum sample_type type, struct sample *s)
{
	char *copy = r == 0 && b->len && !b->failed ? arena_get(cx->arena, b->len) : NULL;

	if (copy) {
		memcpy(copy, b->p, b->len);
		s->type = type;
		s->u.str = (struct str){ copy, b->len };
	}
	sbuf_fini(b);
	return copy != NULL;
}

static int
is_without_grease(const struct rule_args *a)
{
	return a->n > 0 && a->arg[0].type == ARG_INT && a->arg[0].num != 0;
}

static int
fetch_hello_list(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sbuf b;
	int r;

	sbuf_init(&b, TEXT_MAX);
	r = tls_capture_list(tls_capture_of(client_of(cx)), (enum tls_hello_list)a->kind,
		is_without_grease(a), &b);
	return give_text(cx, &b, r, SAMPLE_BIN, s);
}

static int
fetch_cipher_digits(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sbuf b, digits;
	int r;

	sbuf_init(&b, TEXT_MAX);
	sbuf_init(&digits, TEXT_MAX);
	r = tls_capture_list(tls_capture_of(client_of(cx)), TLS_HELLO_CIPHERS,
		is_without_grease(a), &b);
	for (size_t i = 0; i < b.len; i++)
		sbuf_addf(&digits, "%02X", (unsigned char)b.p[i]);
	sbuf_fini(&b);
	return give_text(cx, &digits, r, SAMPLE_STR, s);
}

static int
fetch_cipher_names(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sbuf b;
	int r;

	sbuf_init(&b, TEXT_MAX);
	r = tls_capture_cipher_names(client_of(cx), is_without_grease(a), &b);
	return give_text(cx, &b, r, SAMPLE_STR, s);
}

static int
fetch_hello_number(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int64_t n;

	if (tls_capture_number(tls_capture_of(client_of(cx)), (enum tls_hello_number)a->kind, &n) <
		0)
		return 0;
	sample_set_int(s, n);
	return 1;
}

static int
fetch_secret(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sbuf b;
	int r;

	sbuf_init(&b, TEXT_MAX);
	r = tls_capture_secret_text(
		tls_capture_of(client_of(cx)), (enum tls_secret)a->kind, &b);
	return give_text(cx, &b, r, SAMPLE_STR, s);
}

#define ROW(n, type, fn, what, text)                                                       \
	{ .name = n, .needs = SAMPLE_AT_CONN, .out = type, .fetch = fn, .kind = what,       \
		.doc = text }
#define FILTERED(n, type, fn, what, text)                                                  \
	{ .name = n, .needs = SAMPLE_AT_CONN, .arg = { ARG_INT }, .out = type, .fetch = fn, \
		.kind = what, .syntax = "[0|1]",                                           \
		.doc = text " Needs tune.ssl.capture-buffer-size. 1: without GREASE (RFC 8701)." }
#define SECRET(n, what)                                                                    \
	ROW(n, SAMPLE_STR, fetch_secret, what,                                             \
		"A secret of the client's TLS 1.3 connection, as in key log files. Needs "  \
		"tune.ssl.keylog.")

const struct rule_fetch tls_hello_fetches[] = {
	FILTERED("ssl_fc_cipherlist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_CIPHERS,
		"The ciphers in the client's hello, 2 bytes each."),
	FILTERED("ssl_fc_cipherlist_hex", SAMPLE_STR, fetch_cipher_digits, 0,
		"The same in hexadecimal digits."),
	FILTERED("ssl_fc_cipherlist_str", SAMPLE_STR, fetch_cipher_names, 0,
		"The same by name, with commas."),
	ROW("ssl_fc_cipherlist_xxh", SAMPLE_SINT, fetch_hello_number, TLS_HELLO_CIPHERS_HASH,
		"The XXH64 hash of all ciphers in the client's hello. Needs "
		"tune.ssl.capture-buffer-size."),
	SECRET("ssl_fc_client_early_traffic_secret", TLS_CLIENT_EARLY_TRAFFIC_SECRET),
	SECRET("ssl_fc_client_handshake_traffic_secret", TLS_CLIENT_HANDSHAKE_TRAFFIC_SECRET),
	SECRET("ssl_fc_client_traffic_secret_0", TLS_CLIENT_TRAFFIC_SECRET_0),
	SECRET("ssl_fc_early_exporter_secret", TLS_EARLY_EXPORTER_SECRET),
	ROW("ssl_fc_ecformats_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_POINT_FORMATS,
		"The formats of curve points in the client's hello. Needs "
		"tune.ssl.capture-buffer-size."),
	FILTERED("ssl_fc_eclist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_GROUPS,
		"The groups (elliptic curves) in the client's hello, 2 bytes each."),
	SECRET("ssl_fc_exporter_secret", TLS_EXPORTER_SECRET),
	FILTERED("ssl_fc_extlist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_EXTENSIONS,
		"The types of the extensions in the client's hello, 2 bytes each."),
	ROW("ssl_fc_protocol_hello_id", SAMPLE_SINT, fetch_hello_number, TLS_HELLO_VERSION,
		"The version in the client's hello: 771 for TLS 1.2 and 1.3. Needs "
		"tune.ssl.capture-buffer-size."),
	SECRET("ssl_fc_server_handshake_traffic_secret", TLS_SERVER_HANDSHAKE_TRAFFIC_SECRET),
	SECRET("ssl_fc_server_traffic_secret_0", TLS_SERVER_TRAFFIC_SECRET_0),
	{ .name = NULL },
};
