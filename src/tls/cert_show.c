/* Certificates as `show ssl cert` describes them, in HAProxy's form. First worker. */
#include "tls/cert_show.h"

#include <string.h>

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

/* What OpenSSL prints to a BIO. */
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
	for (int i = 0; i < sk_X509_num(c->chain); i++) {
		X509 *x = sk_X509_value(c->chain, i);

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

void
tls_cert_show(const struct tls_cert *c, struct sbuf *out)
{
	X509 *x = c->leaf;

	if (!x)
		return;
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
