/* The negotiated parameters of a TLS connection. On its worker; changes nothing of it. */
#include "tls/conn_info.h"

#include <string.h>
#include <time.h>

#include "base/err.h"
#include "net/conn_socket.h"
#include "net/xprt.h"
#include "tls/ca.h"
#include "tls/cert.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"
#include "tls/store.h"
#include "tls/transport.h"

/* --- certificates as `show ssl cert` describes them: fields --- */

/*
 * Parts of certificates as HAProxy's fetches show them. Any thread; certificates do not change.
 */

static void
add_der(X509 *x, struct sbuf *out)
{
	unsigned char *der = NULL;
	int n = i2d_X509(x, &der);

	if (n > 0)
		sbuf_add(out, (const char *)der, (size_t)n);
	OPENSSL_free(der);
}

static void
tls_chain_add(const STACK_OF(X509) *chain, struct sbuf *out)
{
	for (int i = 0; i < sk_X509_num(chain); i++)
		add_der(sk_X509_value(chain, i), out);
}

static void
add_asn1_bytes(const ASN1_STRING *s, struct sbuf *out)
{
	sbuf_add(out, (const char *)ASN1_STRING_get0_data(s), (size_t)ASN1_STRING_length(s));
}

/* YYMMDDhhmmssZ: a GeneralizedTime without its century. */
static void
add_asn1_time(const ASN1_TIME *t, struct sbuf *out)
{
	const char *p = (const char *)ASN1_STRING_get0_data(t);
	size_t n = (size_t)ASN1_STRING_length(t);

	if (ASN1_STRING_type(t) == V_ASN1_UTCTIME)
		sbuf_add(out, p, n);
	else if (n >= 12 && memcmp(p, "20", 2) == 0)
		sbuf_add(out, p + 2, n - 2);
}

static void
add_fingerprint(X509 *x, struct sbuf *out)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (X509_digest(x, EVP_sha1(), digest, &n))
		sbuf_add(out, (const char *)digest, n);
}

static void
add_nid(int nid, struct sbuf *out)
{
	const char *name = nid == NID_undef ? NULL : OBJ_nid2sn(nid);

	if (name)
		sbuf_adds(out, name);
}

static void
add_key_algorithm(const X509 *x, struct sbuf *out)
{
	ASN1_OBJECT *algorithm = NULL;

	if (X509_PUBKEY_get0_param(&algorithm, NULL, NULL, NULL, X509_get_X509_PUBKEY(x)))
		add_nid(OBJ_obj2nid(algorithm), out);
}

static void
add_key_type(X509 *x, struct sbuf *out)
{
	const EVP_PKEY *key = X509_get0_pubkey(x);
	int kind = key ? EVP_PKEY_base_id(key) : EVP_PKEY_NONE;
	const char *name = kind == EVP_PKEY_RSA ? "RSA" : kind == EVP_PKEY_EC ? "EC" :
		kind == EVP_PKEY_DSA ? "DSA" : NULL;

	if (name)
		sbuf_addf(out, "%s%d", name, EVP_PKEY_bits(key));
}

/* Each appends nothing if the certificate has none of it. */
static void
tls_cert_add_info(X509 *x, enum tls_cert_info what, struct sbuf *out)
{
	switch (what) {
	case TLS_CERT_DER:
		add_der(x, out);
		break;
	case TLS_CERT_SERIAL:
		add_asn1_bytes(X509_get0_serialNumber(x), out);
		break;
	case TLS_CERT_SHA1:
		add_fingerprint(x, out);
		break;
	case TLS_CERT_SIG_ALG:
		add_nid(X509_get_signature_nid(x), out);
		break;
	case TLS_CERT_KEY_ALG:
		add_key_algorithm(x, out);
		break;
	case TLS_CERT_KEY_TYPE:
		add_key_type(x, out);
		break;
	case TLS_CERT_NOT_BEFORE:
		add_asn1_time(X509_get0_notBefore(x), out);
		break;
	case TLS_CERT_NOT_AFTER:
		add_asn1_time(X509_get0_notAfter(x), out);
		break;
	case TLS_CERT_VERSION:
		sbuf_addu(out, (unsigned long long)X509_get_version(x) + 1);
		break;
	case TLS_CERT_CHAIN_DER:
		break;
	}
}

/* True if the entry has this name, whatever its case: "CN", or an object identifier in digits. */
static int
entry_is(const X509_NAME_ENTRY *e, struct str want)
{
	const ASN1_OBJECT *o = X509_NAME_ENTRY_get_object(e);
	int nid = OBJ_obj2nid(o);
	char digits[64];

	if (nid != NID_undef)
		return str_is_nocase(str_of(OBJ_nid2sn(nid)), want);
	return OBJ_obj2txt(digits, sizeof(digits), o, 1) > 0 && str_is(str_of(digits), want);
}

static void
add_nth(const X509_NAME *name, const struct tls_dn_part *part, struct sbuf *out)
{
	int n = X509_NAME_entry_count(name);
	uint64_t nth = (uint64_t)part->nth, left = part->nth < 0 ? -nth : nth;

	for (int i = 0; i < n; i++) {
		const X509_NAME_ENTRY *e =
			X509_NAME_get_entry(name, part->nth < 0 ? n - 1 - i : i);

		if (entry_is(e, part->entry) && --left == 0) {
			add_asn1_bytes(X509_NAME_ENTRY_get_data(e), out);
			return;
		}
	}
}

/* "/C=FR/CN=name" */
static void
add_name_line(const X509_NAME *name, struct sbuf *out)
{
	for (int i = 0; i < X509_NAME_entry_count(name); i++) {
		const X509_NAME_ENTRY *e = X509_NAME_get_entry(name, i);
		const ASN1_OBJECT *o = X509_NAME_ENTRY_get_object(e);
		int nid = OBJ_obj2nid(o);
		char digits[64] = "";

		if (nid == NID_undef)
			(void)OBJ_obj2txt(digits, sizeof(digits), o, 1);
		sbuf_addf(out, "/%s=", nid == NID_undef ? digits : OBJ_nid2sn(nid));
		add_asn1_bytes(X509_NAME_ENTRY_get_data(e), out);
	}
}

static void
add_rfc2253(const X509_NAME *name, struct sbuf *out)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;
	long n;

	if (!bio)
		return;
	if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) > 0) {
		n = BIO_get_mem_data(bio, &p);
		sbuf_add(out, p, (size_t)n);
	}
	BIO_free(bio);
}

static void
tls_name_add_info(const X509_NAME *name, const struct tls_dn_part *part, struct sbuf *out)
{
	if (part->entry.len)
		add_nth(name, part, out);
	else if (part->is_rfc2253)
		add_rfc2253(name, out);
	else
		add_name_line(name, out);
}

/* --- the command ----------------------------------------------------------------------------- */

static void
show_hex(const char *p, size_t n, struct sbuf *out)
{
	for (size_t i = 0; i < n; i++)
		sbuf_addf(out, "%02X", (unsigned char)p[i]);
}

/* One of tls_cert_info in hexadecimal digits. */
static void
show_hex_info(X509 *x, enum tls_cert_info what, struct sbuf *out)
{
	struct sbuf b;

	sbuf_init(&b, 0);
	tls_cert_add_info(x, what, &b);
	show_hex(b.p, b.len, out);
	sbuf_fini(&b);
}

/* Appends what OpenSSL has printed to a BIO. */
static void
put_bio(BIO *bio, struct sbuf *out)
{
	char *p;
	long n = BIO_get_mem_data(bio, &p);

	sbuf_add(out, p, (size_t)n);
}

static void
put_date(const char *label, const ASN1_TIME *t, struct sbuf *out)
{
	BIO *bio = BIO_new(BIO_s_mem());

	sbuf_adds(out, label);
	if (bio && ASN1_TIME_print(bio, t) == 1)
		put_bio(bio, out);
	BIO_free(bio);
	sbuf_addc(out, '\n');
}

/* When a leaf ends, in seconds since 1970; INT64_MAX if that is unknown. */
static int64_t
end_of_leaf(const X509 *leaf)
{
	struct tm tm;

	if (!leaf || !ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &tm))
		return INT64_MAX;
	return (int64_t)timegm(&tm);
}

/* The same of a certificate, whose leaf does not change any more: it is read once, since there may
 * be thousands. */
static int64_t
end_of_cert(struct tls_cert *c)
{
	if (!c)
		return INT64_MAX;
	if (!c->ends)
		c->ends = end_of_leaf(c->leaf);
	return c->ends;
}

const struct tls_entry *
tls_first_cert_end(const struct tls_store *s, int64_t *ends)
{
	const struct tls_entry *first = NULL;

	*ends = INT64_MAX;
	list_each(it, &s->entries) {
		const struct tls_entry *e = list_entry(it, const struct tls_entry, link);
		int64_t t = e->is_there && e->uses ? end_of_cert(e->cert) : INT64_MAX;

		if (t < *ends) {
			*ends = t;
			first = e;
		}
	}
	return first;
}

static void
put_alt_names(X509 *x, struct sbuf *out)
{
	int at = X509_get_ext_by_NID(x, NID_subject_alt_name, -1);
	BIO *bio = at >= 0 ? BIO_new(BIO_s_mem()) : NULL;

	sbuf_adds(out, "Subject Alternative Name: ");
	if (bio && X509V3_EXT_print(bio, X509_get_ext(x, at), 0, 0))
		put_bio(bio, out);
	BIO_free(bio);
	sbuf_addc(out, '\n');
}

static void
show_name(const char *label, const X509_NAME *name, struct sbuf *out)
{
	static const struct tls_dn_part all = { .nth = 1 };

	sbuf_adds(out, label);
	tls_name_add_info(name, &all, out);
	sbuf_addc(out, '\n');
}

static void
put_chain(const struct tls_cert *c, struct sbuf *out)
{
	STACK_OF(X509) *chain = tls_cert_chain(c);

	for (int i = 0; i < sk_X509_num(chain); i++) {
		X509 *x = sk_X509_value(chain, i);

		show_name("Chain Subject: ", X509_get_subject_name(x), out);
		show_name("Chain Issuer: ", X509_get_issuer_name(x), out);
	}
}

static void
put_algorithm(const EVP_PKEY *key, struct sbuf *out)
{
	int id = EVP_PKEY_get_base_id(key);

	sbuf_addf(out, "Algorithm: %s%d\n",
		id == EVP_PKEY_RSA        ? "RSA"
			: id == EVP_PKEY_EC ? "EC"
					    : "",
		EVP_PKEY_get_bits(key));
}

static void
show_x509(X509 *x, struct sbuf *out)
{
	sbuf_adds(out, "Serial: ");
	show_hex_info(x, TLS_CERT_SERIAL, out);
	put_date("\nnotBefore: ", X509_get0_notBefore(x), out);
	put_date("notAfter: ", X509_get0_notAfter(x), out);
	put_alt_names(x, out);
	put_algorithm(X509_get0_pubkey(x), out);
	sbuf_adds(out, "SHA1 FingerPrint: ");
	show_hex_info(x, TLS_CERT_SHA1, out);
	show_name("\nSubject: ", X509_get_subject_name(x), out);
	show_name("Issuer: ", X509_get_issuer_name(x), out);
}

void
tls_cert_show(const struct tls_cert *c, struct sbuf *out)
{
	if (!c->leaf)
		return;
	if (c->found)
		sbuf_addf(out, "Chain Filename: %s\n", c->found->path);
	show_x509(c->leaf, out);
	put_chain(c, out);
	ERR_clear_error();
}

void
tls_cert_show_ocsp_key(const struct tls_cert *c, struct sbuf *out)
{
	OCSP_CERTID *id = c->ocsp || tls_is_ocsp(c->ocsp_new.p, c->ocsp_new.len)
		? tls_cert_ocsp_id(c)
		: NULL;

	if (id)
		tls_ocsp_id_hex(id, out);
	OCSP_CERTID_free(id);
}

/* --- files of CAs and of revocation lists --- */

static void
show_crl_head(X509_CRL *x, struct sbuf *out)
{
	sbuf_addf(out, "Version %ld\nSignature Algorithm: %s\n", X509_CRL_get_version(x) + 1,
		OBJ_nid2ln(X509_CRL_get_signature_nid(x)));
	show_name("Issuer: ", X509_CRL_get_issuer(x), out);
	put_date("Last Update: ", X509_CRL_get0_lastUpdate(x), out);
	if (X509_CRL_get0_nextUpdate(x))
		put_date("Next Update: ", X509_CRL_get0_nextUpdate(x), out);
	sbuf_adds(out, sk_X509_REVOKED_num(X509_CRL_get_REVOKED(x)) > 0
			? "Revoked Certificates:\n"
			: "No Revoked Certificates.\n");
}

int
tls_ca_show(const struct tls_ca *ca, int i, struct sbuf *out)
{
	if (i >= tls_ca_count(ca))
		return 0;
	sbuf_addf(out, " \n%s #%d:\n",
		ca->kind == TLS_CA_FILE ? "Certificate" : "Certificate Revocation List", i + 1);
	if (ca->kind == TLS_CA_FILE)
		show_x509(sk_X509_value(ca->certs, i), out);
	else
		show_crl_head(sk_X509_CRL_value(ca->crls, i), out);
	ERR_clear_error();
	return 1;
}

int
tls_crl_show_revoked(const struct tls_ca *ca, int i, int from, int max, struct sbuf *out)
{
	STACK_OF(X509_REVOKED) *all = X509_CRL_get_REVOKED(sk_X509_CRL_value(ca->crls, i));
	int n = MIN(max, sk_X509_REVOKED_num(all) - from);

	for (int at = from; at < from + n; at++) {
		const X509_REVOKED *r = sk_X509_REVOKED_value(all, at);
		const ASN1_INTEGER *serial = X509_REVOKED_get0_serialNumber(r);

		sbuf_adds(out, "    Serial Number: ");
		show_hex((const char *)ASN1_STRING_get0_data(serial),
			(size_t)ASN1_STRING_length(serial), out);
		put_date("\n        Revocation Date: ", X509_REVOKED_get0_revocationDate(r), out);
	}
	return MAX(n, 0);
}

#define FINISHED_MAX 64
#define SECRET_MAX 64
#define ERROR_TEXT_MAX 256

static SSL *
ssl_of(const struct conn *c)
{
	const struct tls *t = tls_below(c);

	return t ? t->ssl : NULL;
}

int
tls_is_used(const struct conn *c)
{
	return tls_below(c) != NULL;
}

static void
add_session_id(const SSL *ssl, struct sbuf *out)
{
	const SSL_SESSION *s = SSL_get0_session(ssl);
	unsigned int n = 0;
	const unsigned char *p = s ? SSL_SESSION_get_id(s, &n) : NULL;

	sbuf_add(out, (const char *)p, n);
}

static void
add_session_key(const SSL *ssl, struct sbuf *out)
{
	const SSL_SESSION *s = SSL_get0_session(ssl);
	unsigned char key[SECRET_MAX];
	size_t n = s ? SSL_SESSION_get_master_key(s, key, sizeof(key)) : 0;

	sbuf_add(out, (const char *)key, n);
	OPENSSL_cleanse(key, sizeof(key));
}

static void
add_random(const SSL *ssl, size_t (*get)(const SSL *, unsigned char *, size_t), struct sbuf *out)
{
	unsigned char bytes[SSL3_RANDOM_SIZE];

	sbuf_add(out, (const char *)bytes, get(ssl, bytes, sizeof(bytes)));
}

/* tls-unique (RFC 5929): the client's message, or the server's if the session was resumed. */
static void
add_finished(const SSL *ssl, struct sbuf *out)
{
	unsigned char bytes[FINISHED_MAX];
	int is_clients = !SSL_session_reused(ssl);
	int is_peers = is_clients == SSL_is_server(ssl);
	size_t n = is_peers ? SSL_get_peer_finished(ssl, bytes, sizeof(bytes))
			    : SSL_get_finished(ssl, bytes, sizeof(bytes));

	sbuf_add(out, (const char *)bytes, MIN(n, sizeof(bytes)));
}

static void
add_query(const struct conn *c, enum xprt_query what, struct sbuf *out)
{
	struct str text;

	if (conn_query(c, what, &text) == 0)
		sbuf_add(out, text.p, text.len);
}

static void
add_error(const struct tls *t, struct sbuf *out)
{
	unsigned long code = t->failure;
	char text[ERROR_TEXT_MAX];

	if (!code)
		return;
	ERR_error_string_n(code, text, sizeof(text));
	sbuf_adds(out, text);
}

static void
add_info(const struct conn *c, const struct tls *t, enum tls_info what, struct sbuf *out)
{
	const SSL *ssl = t->ssl;
	static const enum xprt_query queries[] = {
		[TLS_INFO_VERSION] = XPRT_QUERY_VERSION,
		[TLS_INFO_CIPHER] = XPRT_QUERY_CIPHER,
		[TLS_INFO_SERVER_NAME] = XPRT_QUERY_SERVER_NAME,
		[TLS_INFO_ALPN] = XPRT_QUERY_PROTOCOL,
	};

	if (what < ARRAY_LEN(queries))
		add_query(c, queries[what], out);
	else if (what == TLS_INFO_SESSION_ID)
		add_session_id(ssl, out);
	else if (what == TLS_INFO_SESSION_KEY)
		add_session_key(ssl, out);
	else if (what == TLS_INFO_CLIENT_RANDOM)
		add_random(ssl, SSL_get_client_random, out);
	else if (what == TLS_INFO_SERVER_RANDOM)
		add_random(ssl, SSL_get_server_random, out);
	else if (what == TLS_INFO_UNIQUE_ID)
		add_finished(ssl, out);
	else if (what == TLS_INFO_ERROR_TEXT)
		add_error(t, out);
}

int
tls_info_text(const struct conn *c, enum tls_info what, struct sbuf *out)
{
	const struct tls *t = tls_below(c);
	size_t before = out->len;

	if (t)
		add_info(c, t, what, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

static int
cipher_bits(const SSL *ssl, int of_algorithm)
{
	int all = 0, secret = SSL_get_cipher_bits(ssl, &all);

	return of_algorithm ? all : secret;
}

int
tls_info_number(const struct conn *c, enum tls_info what, int64_t *out)
{
	const struct tls *t = tls_below(c);
	const SSL *ssl = t ? t->ssl : NULL;
	int has_cert = ssl && SSL_get0_peer_certificate(ssl);

	if (!ssl)
		return -ERR_UNKNOWN;
	if (what == TLS_INFO_USE_KEYSIZE || what == TLS_INFO_ALG_KEYSIZE)
		*out = cipher_bits(ssl, what == TLS_INFO_ALG_KEYSIZE);
	else if (what == TLS_INFO_IS_RESUMED)
		*out = SSL_session_reused(ssl);
	else if (what == TLS_INFO_HAS_CERT)
		*out = has_cert && !SSL_session_reused(ssl);
	else if (what == TLS_INFO_CERT_USED)
		*out = has_cert;
	else if (what == TLS_INFO_VERIFY)
		*out = SSL_get_verify_result(ssl);
	else if (what == TLS_INFO_CRT_ERR)
		*out = t->crt_err;
	else if (what == TLS_INFO_CA_ERR)
		*out = t->ca_err;
	else if (what == TLS_INFO_CA_ERR_DEPTH)
		*out = t->ca_err_depth;
	else
		*out = (int64_t)t->failure;
	return 0;
}

static X509 *
cert_of(const SSL *ssl, enum tls_owner owner)
{
	return owner == TLS_OWN ? SSL_get_certificate(ssl) : SSL_get0_peer_certificate(ssl);
}

int
tls_info_cert(const struct conn *c, enum tls_owner owner, enum tls_cert_info what,
	struct sbuf *out)
{
	const SSL *ssl = ssl_of(c);
	X509 *x = ssl ? cert_of(ssl, owner) : NULL;
	size_t before = out->len;

	if (x && what == TLS_CERT_CHAIN_DER)
		tls_chain_add(SSL_get_peer_cert_chain(ssl), out);
	else if (x)
		tls_cert_add_info(x, what, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

int
tls_info_name(const struct conn *c, enum tls_owner owner, int is_issuer,
	const struct tls_dn_part *part, struct sbuf *out)
{
	const SSL *ssl = ssl_of(c);
	X509 *x = ssl ? cert_of(ssl, owner) : NULL;
	size_t before = out->len;

	if (x)
		tls_name_add_info(
			is_issuer ? X509_get_issuer_name(x) : X509_get_subject_name(x), part, out);
	return out->len > before ? 0 : -ERR_UNKNOWN;
}

/* --- queries of the transport ---------------------------------------------------------------- */

/*
 * Answers to queries about a TLS connection, on its worker. They are OpenSSL's texts and live
 * as long as the connection.
 */

static struct str
str_or_empty(const char *s)
{
	return s ? str_of(s) : STR("");
}

int
tls_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	const SSL *ssl = tls_of(c)->ssl;
	const unsigned char *alpn = NULL;
	unsigned int n = 0;

	switch (what) {
	case XPRT_QUERY_NAME:
		*out = STR("TLS");
		break;
	case XPRT_QUERY_VERSION:
		*out = str_or_empty(SSL_get_version(ssl));
		break;
	case XPRT_QUERY_CIPHER:
		*out = str_or_empty(SSL_get_cipher_name(ssl));
		break;
	case XPRT_QUERY_SERVER_NAME:
		*out = str_or_empty(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
		break;
	case XPRT_QUERY_PROTOCOL:
		SSL_get0_alpn_selected(ssl, &alpn, &n);
		*out = (struct str){ (const char *)alpn, n };
		break;
	case XPRT_QUERIES:
		return -ERR_UNKNOWN;
	}
	return out->len ? 0 : -ERR_UNKNOWN;
}
