/* Certificates as `show ssl cert` describes them, in HAProxy's form. First worker. */
#include "tls/cert_show.h"

#include <string.h>

#include "tls/ca.h"
#include "tls/chains.h"
#include "tls/conn_info.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"

/* --- fields ---------------------------------------------------------------------------------- */

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

void
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

void
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
	int64_t left = part->nth < 0 ? -part->nth : part->nth;

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

void
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
