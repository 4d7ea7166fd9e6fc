/* Writes the client's TLS into PROXY headers to servers, in HAProxy's order. On the session's
 * worker. */
#include "proxy/session/proxy_protocol_tls.h"

#include <string.h>

#include "base/sbuf.h"
#include "net/xprt.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/server.h"
#include "tls/conn_info.h"

#define TEXT_MAX 1024

static int
info_is_set(const struct conn *c, enum tls_info what)
{
	int64_t n;

	return tls_info_number(c, what, &n) == 0 && n != 0;
}

/* Appends what b holds, and empties it. A field without a value is left out. */
static void
add_sub(struct proxy_header_ssl *ssl, uint8_t type, struct arena *a, struct sbuf *b)
{
	char *copy = b->len && !b->failed ? arena_get(a, b->len) : NULL;

	if (copy) {
		memcpy(copy, b->p, b->len);
		ssl->sub[ssl->n_subs].type = type;
		ssl->sub[ssl->n_subs++].value = (struct str){ copy, b->len };
	}
	sbuf_fini(b);
	sbuf_init(b, TEXT_MAX);
}

static void
add_subs(const struct conn *c, struct arena *a, unsigned int wants, struct proxy_header_ssl *ssl)
{
	static const struct tls_dn_part common_name = { .entry = { "CN", 2 }, .nth = 1 };
	struct sbuf b;

	sbuf_init(&b, TEXT_MAX);
	(void)!tls_info_text(c, TLS_INFO_VERSION, &b);
	add_sub(ssl, PROXY_TLV_SSL_VERSION, a, &b);
	if (wants & SERVER_PROXY_SSL_CN)
		(void)!tls_info_name(c, TLS_OF_PEER, 0, &common_name, &b);
	add_sub(ssl, PROXY_TLV_SSL_CN, a, &b);
	if (wants & SERVER_PROXY_CERT_KEY)
		(void)!tls_info_cert(c, TLS_OWN, TLS_CERT_KEY_TYPE, &b);
	add_sub(ssl, PROXY_TLV_SSL_KEY_ALG, a, &b);
	if (wants & SERVER_PROXY_CERT_SIG)
		(void)!tls_info_cert(c, TLS_OWN, TLS_CERT_SIG_ALG, &b);
	add_sub(ssl, PROXY_TLV_SSL_SIG_ALG, a, &b);
	if (wants & SERVER_PROXY_SSL_CIPHER)
		(void)!tls_info_text(c, TLS_INFO_CIPHER, &b);
	add_sub(ssl, PROXY_TLV_SSL_CIPHER, a, &b);
	sbuf_fini(&b);
}

/* All zeros for a client without TLS. */
static void
describe_tls(const struct conn *c, struct arena *a, unsigned int wants,
	struct proxy_header_ssl *ssl)
{
	int64_t verify;

	memset(ssl, 0, sizeof(*ssl));
	if (!tls_is_used(c))
		return;
	ssl->client = PROXY_SSL_USED;
	if (info_is_set(c, TLS_INFO_HAS_CERT))
		ssl->client |= PROXY_SSL_CERT_CONN;
	if (info_is_set(c, TLS_INFO_CERT_USED))
		ssl->client |= PROXY_SSL_CERT_SESS;
	if (tls_info_number(c, TLS_INFO_VERIFY, &verify) == 0)
		ssl->verify = (uint32_t)verify;
	add_subs(c, a, wants, ssl);
}

void
proxy_protocol_put_tls(const struct stream *s, struct arena *a, struct proxy_header_fields *f,
	struct proxy_header_ssl *ssl)
{
	const struct conn *c = s->conn[CLIENT];
	unsigned int wants = s->srv->conf.proxy_header;

	f->has_alpn = conn_query(c, XPRT_QUERY_PROTOCOL, &f->alpn) == 0;
	if (wants & SERVER_PROXY_AUTHORITY)
		f->has_authority = addr_override_tlv(s, PROXY_TLV_AUTHORITY, &f->authority) ||
			conn_query(c, XPRT_QUERY_SERVER_NAME, &f->authority) == 0;
	if (!(wants & SERVER_PROXY_SSL))
		return;
	describe_tls(c, a, wants, ssl);
	f->ssl = ssl;
}
