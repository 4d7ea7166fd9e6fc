/* Fetches about TLS connections (manual 7.3.4). On the session's worker; OpenSSL's texts are
 * copied to the arena. */
#include <string.h>

#include "base/sbuf.h"
#include "proxy/model/session.h"
#include "proxy/sample/fetch.h"
#include "rule/sample/arena.h"
#include "tls/capture.h"
#include "tls/conn_info.h"

/* A fetch's kind: what it asks for, and of which connection and certificate. */
enum {
	OF_SERVER = 0x100, /* the server's connection instead of the client's */
	OWN_CERT = 0x200,  /* our certificate instead of the peer's */
	OF_ISSUER = 0x400
};
#define WHAT(kind) ((kind) & 0xff)

#define BYTES_MAX (256u << 10) /* a chain of certificates */

static const struct conn *
tls_conn_of_kind(const struct sample_ctx *cx, intptr_t kind)
{
	const struct stream *x = cx->stream;

	return x ? x->conn[kind & OF_SERVER ? SERVER : CLIENT] : NULL;
}

/* Takes over what b holds. */
static int
give_bytes(struct sample_ctx *cx, struct sbuf *b, int found, enum sample_type type,
	struct sample *s)
{
	char *copy = found && !b->failed ? arena_get(cx->arena, b->len) : NULL;

	if (copy) {
		memcpy(copy, b->p, b->len);
		s->type = type;
		s->u.str = (struct str){ copy, b->len };
	}
	sbuf_fini(b);
	return copy != NULL;
}

static int
fetch_tls_use(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	sample_set_bool(s, tls_is_used(tls_conn_of_kind(cx, a->kind)));
	return 1;
}

static int
fetch_tls_text(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	enum tls_info what = (enum tls_info)WHAT(a->kind);
	enum sample_type type = what <= TLS_INFO_ALPN || what == TLS_INFO_ERROR_TEXT ? SAMPLE_STR
										     : SAMPLE_BIN;
	struct sbuf b;
	int r;

	sbuf_init(&b, BYTES_MAX);
	r = tls_info_text(tls_conn_of_kind(cx, a->kind), what, &b);
	return give_bytes(cx, &b, r == 0, type, s);
}

static int
fetch_tls_number(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int64_t n;

	if (tls_info_number(tls_conn_of_kind(cx, a->kind), (enum tls_info)WHAT(a->kind), &n) < 0)
		return 0;
	sample_set_int(s, n);
	return 1;
}

static int
fetch_tls_yes_no(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int found = fetch_tls_number(a, cx, s);

	if (found)
		sample_set_bool(s, s->u.sint != 0);
	return found;
}

/* Fetches a boolean about TLS. Without TLS it is false, not unknown. */
static int
fetch_tls_bool(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int64_t n = 0;

	(void)!tls_info_number(
		tls_conn_of_kind(cx, a->kind), (enum tls_info)WHAT(a->kind), &n);
	sample_set_bool(s, n != 0);
	return 1;
}

static int
fetch_sni_presence(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sbuf b;

	sbuf_init(&b, BYTES_MAX);
	sample_set_bool(s,
		tls_info_text(tls_conn_of_kind(cx, a->kind), TLS_INFO_SERVER_NAME, &b) == 0);
	sbuf_fini(&b);
	return 1;
}

static int
fetch_cert_part(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	enum tls_cert_info what = (enum tls_cert_info)WHAT(a->kind);
	enum sample_type type = what <= TLS_CERT_SHA1 ? SAMPLE_BIN : SAMPLE_STR;
	struct sbuf b;
	int r;

	sbuf_init(&b, BYTES_MAX);
	r = tls_info_cert(tls_conn_of_kind(cx, a->kind),
		a->kind & OWN_CERT ? TLS_OWN : TLS_OF_PEER, what, &b);
	if (what != TLS_CERT_VERSION)
		return give_bytes(cx, &b, r == 0, type, s);
	if (r == 0)
		sample_set_int(s, b.p[0] - '0');
	sbuf_fini(&b);
	return r == 0;
}

static int
fetch_cert_name(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct tls_dn_part part = {
		.entry = a->n > 0 ? a->arg[0].text : (struct str){ NULL, 0 },
		.nth = a->n > 1 && a->arg[1].type == ARG_INT ? a->arg[1].num : 1,
		.is_rfc2253 = a->arg[2].text.len > 0,
	};
	struct sbuf b;
	int r;

	sbuf_init(&b, BYTES_MAX);
	r = tls_info_name(tls_conn_of_kind(cx, a->kind),
		a->kind & OWN_CERT ? TLS_OWN : TLS_OF_PEER, (a->kind & OF_ISSUER) != 0, &part, &b);
	return give_bytes(cx, &b, r == 0, SAMPLE_STR, s);
}

static int
init_cert_name(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	if (a->arg[2].text.len == 0 || str_is(a->arg[2].text, STR("rfc2253")))
		return 0;
	a->bad = 2;
	*why = "the only format is rfc2253";
	return -1;
}

#define CONN .needs = SAMPLE_AT_CONN
#define SRV .needs = SAMPLE_AT_SERVER
#define ROW(n, scope, type, fn, what, text) \
	{ .name = n, scope, .out = type, .fetch = fn, .kind = what, .doc = text }
#define FLAG(n, scope, fn, what, text) ROW(n, scope, SAMPLE_BOOL, fn, what, text)
#define NUMBER(n, scope, what, text) ROW(n, scope, SAMPLE_SINT, fetch_tls_number, what, text)
#define TEXT(n, scope, what, text) ROW(n, scope, SAMPLE_STR, fetch_tls_text, what, text)
#define BYTES(n, scope, what, text) ROW(n, scope, SAMPLE_BIN, fetch_tls_text, what, text)
#define NAME(n, scope, what, text)                                                        \
	{ .name = n, scope, .arg = { ARG_STR, ARG_INT, ARG_STR }, .out = SAMPLE_STR,       \
		.fetch = fetch_cert_name, .init = init_cert_name,                          \
		.syntax = "[<entry>[,<number>[,rfc2253]]]", .kind = what, .doc = text }

/* The fetches of both sides. */
#define SIDE(prefix, scope, of, whom)                                                            \
	FLAG(prefix, scope, fetch_tls_use, of,                                                   \
		"True if the connection of the " whom " uses TLS."),                             \
		NUMBER(prefix "_alg_keysize", scope, TLS_INFO_ALG_KEYSIZE | of,                  \
			"The size of the cipher's key on the connection of the " whom            \
			", in bits."),                                                           \
		TEXT(prefix "_alpn", scope, TLS_INFO_ALPN | of,                                  \
			"The protocol that ALPN has chosen with the " whom "."),                 \
		TEXT(prefix "_cipher", scope, TLS_INFO_CIPHER | of,                              \
			"The cipher used with the " whom "."),                                   \
		BYTES(prefix "_client_random", scope, TLS_INFO_CLIENT_RANDOM | of,               \
			"The client's random number of the handshake with the " whom "."),       \
		NUMBER(prefix "_err", scope, TLS_INFO_ERROR | of,                                \
			"OpenSSL's code of the failure of TLS with the " whom "; 0: none."),     \
		TEXT(prefix "_err_str", scope, TLS_INFO_ERROR_TEXT | of,                         \
			"The text of " prefix "_err."),                                          \
		FLAG(prefix "_is_resumed", scope, fetch_tls_bool, TLS_INFO_IS_RESUMED | of,      \
			"True if a session was resumed with the " whom "."),                 \
		TEXT(prefix "_protocol", scope, TLS_INFO_VERSION | of,                           \
			"The version of TLS used with the " whom ": TLSv1.3."),                  \
		BYTES(prefix "_server_random", scope, TLS_INFO_SERVER_RANDOM | of,               \
			"The server's random number of the handshake with the " whom "."),       \
		BYTES(prefix "_session_id", scope, TLS_INFO_SESSION_ID | of,                     \
			"The id of the session with the " whom "."),                             \
		BYTES(prefix "_session_key", scope, TLS_INFO_SESSION_KEY | of,                   \
			"The master secret of the session with the " whom ", a secret."),        \
		BYTES(prefix "_unique_id", scope, TLS_INFO_UNIQUE_ID | of,                       \
			"The TLS unique id (RFC 5929) of the connection of the " whom "."),      \
		NUMBER(prefix "_use_keysize", scope, TLS_INFO_USE_KEYSIZE | of,                  \
			"The size of the key's secret part with the " whom ", in bits.")

#define CERT(prefix, scope, of, whose)                                                           \
	ROW(prefix "_der", scope, SAMPLE_BIN, fetch_cert_part, TLS_CERT_DER | of,             \
		"The certificate of the " whose " in DER."),                                     \
	NAME(prefix "_i_dn", scope, OF_ISSUER | of,                                           \
		"The name of the issuer of the certificate of the " whose ", or an entry "    \
		"of it: cn or CN."),                                                             \
	ROW(prefix "_key_alg", scope, SAMPLE_STR, fetch_cert_part, TLS_CERT_KEY_ALG | of,     \
		"The algorithm of the key in the certificate of the " whose "."),                \
	ROW(prefix "_notafter", scope, SAMPLE_STR, fetch_cert_part, TLS_CERT_NOT_AFTER | of,  \
		"The end of the validity of the certificate of the " whose ", YYMMDDhhmmssZ."),  \
	ROW(prefix "_notbefore", scope, SAMPLE_STR, fetch_cert_part, TLS_CERT_NOT_BEFORE | of, \
		"The begin of the validity of the certificate of the " whose "."),               \
	NAME(prefix "_s_dn", scope, of,                                                       \
		"The name of the subject of the certificate of the " whose ", or an entry of "   \
		"it: cn or CN."),                                                                \
	ROW(prefix "_serial", scope, SAMPLE_BIN, fetch_cert_part, TLS_CERT_SERIAL | of,       \
		"The serial number of the certificate of the " whose "."),                       \
	ROW(prefix "_sha1", scope, SAMPLE_BIN, fetch_cert_part, TLS_CERT_SHA1 | of,           \
		"The SHA-1 fingerprint of the certificate of the " whose "."),                   \
	ROW(prefix "_sig_alg", scope, SAMPLE_STR, fetch_cert_part, TLS_CERT_SIG_ALG | of,     \
		"The algorithm that has signed the certificate of the " whose "."),              \
	ROW(prefix "_version", scope, SAMPLE_SINT, fetch_cert_part, TLS_CERT_VERSION | of,    \
		"The version of the certificate of the " whose ".")

const struct rule_fetch tls_fetches[] = {
	SIDE("ssl_bc", SRV, OF_SERVER, "server"),
	SIDE("ssl_fc", CONN, 0, "client"),
	FLAG("ssl_fc_has_crt", CONN, fetch_tls_yes_no, TLS_INFO_HAS_CERT,
		"True if the client has sent a certificate in this handshake."),
	FLAG("ssl_fc_has_sni", CONN, fetch_sni_presence, 0, "True if the client asks for a name."),
	{ .name = "ssl_fc_sni",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_tls_text,
		.kind = TLS_INFO_SERVER_NAME,
		.match = "str",
		.derives = 1,
		.doc = "The name that the client asks for." },
	NUMBER("ssl_c_ca_err", CONN, TLS_INFO_CA_ERR,
		"The first error of the certificates above the client's; 0: none."),
	NUMBER("ssl_c_ca_err_depth", CONN, TLS_INFO_CA_ERR_DEPTH, "The depth in the chain of the "
		"error of ssl_c_ca_err."),
	ROW("ssl_c_chain_der", CONN, SAMPLE_BIN, fetch_cert_part, TLS_CERT_CHAIN_DER,
		"The client's certificates in DER."),
	NUMBER("ssl_c_err", CONN, TLS_INFO_CRT_ERR,
		"The first error of the client's certificate; 0: none."),
	FLAG("ssl_c_used", CONN, fetch_tls_yes_no, TLS_INFO_CERT_USED,
		"True if the client has sent a certificate, in this handshake or that of its "
		"session."),
	NUMBER("ssl_c_verify", CONN, TLS_INFO_VERIFY,
		"The result of the verification of the client's certificate; 0: no error."),
	CERT("ssl_c", CONN, 0, "client"),
	CERT("ssl_f", CONN, OWN_CERT, "frontend"),
	CERT("ssl_s", SRV, OF_SERVER, "server"),
	ROW("ssl_s_chain_der", SRV, SAMPLE_BIN, fetch_cert_part, TLS_CERT_CHAIN_DER | OF_SERVER,
		"The server's certificates in DER; unknown where a session of another worker was "
		"resumed, which has the first one only."),
	{ .name = NULL },
};

/* --- ClientHello ----------------------------------------------------------------------------- */

/*
 * Fetches about a client's hello and about the secrets of its connection (manual 7.3.4). On the
 * session's worker; texts are copied to the arena.
 */

#define TEXT_MAX (1u << 20)

static const struct conn *
client_of(const struct sample_ctx *cx)
{
	const struct stream *x = cx->stream;

	return x ? x->conn[CLIENT] : NULL;
}

/* Takes over what b holds; nothing is no value. */
static int
give_text(struct sample_ctx *cx, struct sbuf *b, int r, enum sample_type type, struct sample *s)
{
	return give_bytes(cx, b, r == 0 && b->len, type, s);
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

#define HELLO_ROW(n, type, fn, what, text)                                                 \
	{ .name = n, .needs = SAMPLE_AT_CONN, .out = type, .fetch = fn, .kind = what,       \
		.doc = text }
#define FILTERED(n, type, fn, what, text)                                                  \
	{ .name = n, .needs = SAMPLE_AT_CONN, .arg = { ARG_INT }, .out = type, .fetch = fn, \
		.kind = what, .syntax = "[0|1]",                                           \
		.doc = text " Needs tune.ssl.capture-buffer-size. 1: without GREASE (RFC 8701)." }
#define SECRET(n, what)                                                                    \
	HELLO_ROW(n, SAMPLE_STR, fetch_secret, what,                                             \
		"A secret of the client's TLS 1.3 connection, as in key log files. Needs "  \
		"tune.ssl.keylog.")

const struct rule_fetch tls_hello_fetches[] = {
	FILTERED("ssl_fc_cipherlist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_CIPHERS,
		"The ciphers in the client's hello, 2 bytes each."),
	FILTERED("ssl_fc_cipherlist_hex", SAMPLE_STR, fetch_cipher_digits, 0,
		"The ciphers in the client's hello in hexadecimal digits."),
	FILTERED("ssl_fc_cipherlist_str", SAMPLE_STR, fetch_cipher_names, 0,
		"The names of the ciphers in the client's hello, with commas."),
	HELLO_ROW("ssl_fc_cipherlist_xxh", SAMPLE_SINT, fetch_hello_number, TLS_HELLO_CIPHERS_HASH,
		"The XXH64 hash of all ciphers in the client's hello. Needs "
		"tune.ssl.capture-buffer-size."),
	SECRET("ssl_fc_client_early_traffic_secret", TLS_CLIENT_EARLY_TRAFFIC_SECRET),
	SECRET("ssl_fc_client_handshake_traffic_secret", TLS_CLIENT_HANDSHAKE_TRAFFIC_SECRET),
	SECRET("ssl_fc_client_traffic_secret_0", TLS_CLIENT_TRAFFIC_SECRET_0),
	SECRET("ssl_fc_early_exporter_secret", TLS_EARLY_EXPORTER_SECRET),
	HELLO_ROW("ssl_fc_ecformats_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_POINT_FORMATS,
		"The formats of curve points in the client's hello. Needs "
		"tune.ssl.capture-buffer-size."),
	FILTERED("ssl_fc_eclist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_GROUPS,
		"The groups (elliptic curves) in the client's hello, 2 bytes each."),
	SECRET("ssl_fc_exporter_secret", TLS_EXPORTER_SECRET),
	FILTERED("ssl_fc_extlist_bin", SAMPLE_BIN, fetch_hello_list, TLS_HELLO_EXTENSIONS,
		"The types of the extensions in the client's hello, 2 bytes each."),
	HELLO_ROW("ssl_fc_protocol_hello_id", SAMPLE_SINT, fetch_hello_number, TLS_HELLO_VERSION,
		"The version in the client's hello: 771 for TLS 1.2 and 1.3. Needs "
		"tune.ssl.capture-buffer-size."),
	SECRET("ssl_fc_server_handshake_traffic_secret", TLS_SERVER_HANDSHAKE_TRAFFIC_SECRET),
	SECRET("ssl_fc_server_traffic_secret_0", TLS_SERVER_TRAFFIC_SECRET_0),
	{ .name = NULL },
};
