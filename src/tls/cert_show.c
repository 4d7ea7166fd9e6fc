/* Certificates as `show ssl cert` describes them, in HAProxy's form. First worker. */
#include "tls/cert_show.h"

#include <string.h>

#include "tls/ca.h"
#include "tls/chains.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"
#include "tls_cert_info.h"

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
