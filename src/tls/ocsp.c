/* OCSP responses: whether one may be stapled, and how commands show it. Main thread, or the first
 * worker for a command. */
#include "tls/ocsp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "tls/cert.h"
#include "tls/openssl.h"

/* Bytes of a response: many times what responders send. */
#define OCSP_MAX (1 << 20)

static void
ocsp_why(char *why, const char *text)
{
	(void)snprintf(why, TLS_WHY_MAX, "%s", text);
}

static int64_t
asn1_seconds(const ASN1_GENERALIZEDTIME *t)
{
	struct tm tm;

	return ASN1_TIME_to_tm(t, &tm) ? (int64_t)timegm(&tm) : 0;
}

/* Accepts a revoked status, too: clients want to know it, and HAProxy staples it. */
static int
check_single(OCSP_SINGLERESP *single, int64_t *expires, char *why)
{
	ASN1_GENERALIZEDTIME *revoked, *since = NULL, *until = NULL;
	int reason;
	int status = OCSP_single_get0_status(single, &reason, &revoked, &since, &until);

	if (status != V_OCSP_CERTSTATUS_GOOD && status != V_OCSP_CERTSTATUS_REVOKED)
		ocsp_why(why, "OCSP single response: certificate status is unknown");
	else if (!until)
		ocsp_why(why, "OCSP single response: missing nextupdate");
	else if (!OCSP_check_validity(since, until, TLS_OCSP_SKEW_S, -1))
		ocsp_why(why, "OCSP single response: no longer valid.");
	else {
		*expires = asn1_seconds(until) - TLS_OCSP_SKEW_S;
		return 1;
	}
	return 0;
}

/* The id of the certificate that it is about, to be freed, or NULL. */
static OCSP_CERTID *
check_basic(OCSP_BASICRESP *basic, int64_t *expires, char *why)
{
	OCSP_SINGLERESP *single;
	OCSP_CERTID *id;

	if (OCSP_resp_count(basic) != 1) {
		(void)snprintf(why, TLS_WHY_MAX,
			"OCSP response ignored because contains multiple single responses (%d)",
			OCSP_resp_count(basic));
		return NULL;
	}
	single = OCSP_resp_get0(basic, 0);
	if (!check_single(single, expires, why))
		return NULL;
	id = OCSP_CERTID_dup(OCSP_SINGLERESP_get0_id(single));
	if (!id)
		ocsp_why(why, "out of memory");
	return id;
}

static OCSP_CERTID *
check_ocsp_response(OCSP_RESPONSE *resp, int64_t *expires, char *why)
{
	OCSP_BASICRESP *basic;
	OCSP_CERTID *id;

	if (OCSP_response_status(resp) != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
		ocsp_why(why, "OCSP response status not successful");
		return NULL;
	}
	basic = OCSP_response_get1_basic(resp);
	if (!basic) {
		ocsp_why(why, "Failed to get basic response from OCSP Response");
		return NULL;
	}
	id = check_basic(basic, expires, why);
	OCSP_BASICRESP_free(basic);
	return id;
}

static struct tls_ocsp *
make_ocsp(const void *der, size_t len, int64_t expires)
{
	struct tls_ocsp *o = mem_alloc(sizeof(*o) + len);

	if (!o)
		return NULL;
	o->refs = 1;
	o->expires = expires;
	o->len = len;
	memcpy(o->p, der, len);
	return o;
}

/* The bytes that it takes: *len. */
static OCSP_RESPONSE *
parse_ocsp(const void *der, size_t *len)
{
	const unsigned char *at = der;
	OCSP_RESPONSE *resp = *len && *len <= OCSP_MAX ? d2i_OCSP_RESPONSE(NULL, &at, (long)*len)
						       : NULL;

	if (resp)
		*len = (size_t)(at - (const unsigned char *)der);
	ERR_clear_error();
	return resp;
}

int
tls_is_ocsp(const void *der, size_t len)
{
	OCSP_RESPONSE *resp = parse_ocsp(der, &len);

	OCSP_RESPONSE_free(resp);
	return resp != NULL;
}

struct tls_ocsp *
tls_ocsp_read(const void *der, size_t len, struct ocsp_cert_id_st **about, char *why)
{
	OCSP_RESPONSE *resp = parse_ocsp(der, &len);
	struct tls_ocsp *o = NULL;
	int64_t expires = 0;

	*about = NULL;
	if (!resp) {
		ocsp_why(why, "Unable to parse OCSP response");
		return NULL;
	}
	*about = check_ocsp_response(resp, &expires, why);
	OCSP_RESPONSE_free(resp);
	ERR_clear_error();
	if (!*about)
		return NULL;
	o = make_ocsp(der, len, expires);
	if (!o) {
		ocsp_why(why, "out of memory");
		tls_ocsp_id_free(*about);
		*about = NULL;
	}
	return o;
}

struct tls_ocsp *
tls_ocsp_ref(struct tls_ocsp *o)
{
	o->refs++;
	return o;
}

void
tls_ocsp_put(struct tls_ocsp *o)
{
	if (o && --o->refs == 0)
		mem_free(o);
}

void
tls_ocsp_id_free(struct ocsp_cert_id_st *id)
{
	OCSP_CERTID_free(id);
}

void
tls_ocsp_id_hex(const struct ocsp_cert_id_st *id, struct sbuf *out)
{
	unsigned char *der = NULL;
	int n = i2d_OCSP_CERTID(id, &der);

	for (int i = 0; i < n; i++)
		sbuf_addf(out, "%02x", der[i]);
	OPENSSL_free(der);
}

/* An empty line would end the command's answer: it gets a blank, as in HAProxy. */
static void
add_lines(const char *p, size_t n, struct sbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' && (i == 0 || p[i - 1] == '\n'))
			sbuf_addc(out, ' ');
		sbuf_addc(out, p[i]);
	}
}

void
tls_ocsp_show(const void *der, size_t len, struct sbuf *out)
{
	OCSP_RESPONSE *resp = parse_ocsp(der, &len);
	BIO *bio = resp ? BIO_new(BIO_s_mem()) : NULL;
	char *p;

	if (bio && OCSP_RESPONSE_print(bio, resp, 0) == 1) {
		long n = BIO_get_mem_data(bio, &p);

		add_lines(p, (size_t)n, out);
	}
	BIO_free(bio);
	OCSP_RESPONSE_free(resp);
	ERR_clear_error();
}

void
tls_ocsp_show_base64(const void *der, size_t len, struct sbuf *out)
{
	char *text = len <= OCSP_MAX ? mem_alloc(len / 3 * 4 + 5) : NULL;

	if (text) {
		int n = EVP_EncodeBlock((unsigned char *)text, der, (int)len);

		sbuf_add(out, text, (size_t)n);
		sbuf_addc(out, '\n');
	}
	mem_free(text);
}
