/* Parts of certificates as HAProxy's fetches show them. Any thread; certificates do not change. */
#include "tls_cert_info.h"

#include <string.h>

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
