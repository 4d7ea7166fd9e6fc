/* What handshakes staple to a certificate: OCSP responses and signed certificate timestamps. Main
 * thread, or the first worker for a command. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/cert.h"
#include "tls/openssl.h"
#include "tls/tls_error.h"

/* Seconds that clocks may differ. */
#define OCSP_SKEW 300
#define SCTL_MAX 65535

static int
bad_extra(char *why, const char *text)
{
	(void)snprintf(why, TLS_WHY_MAX, "%s", text);
	return -ERR_INVAL;
}

static int
set_bytes(struct tls_bytes *to, const void *p, size_t len)
{
	unsigned char *copy = mem_alloc(len ? len : 1);

	if (!copy)
		return -ERR_NOMEM;
	memcpy(copy, p, len);
	mem_free(to->p);
	to->p = copy;
	to->len = len;
	return 0;
}

/* A list with its length, of entries with theirs. */
static int
is_sctl(const unsigned char *p, size_t len)
{
	if (len < 2 || (size_t)(p[0] << 8 | p[1]) != len - 2 || len == 2)
		return 0;
	for (p += 2, len -= 2; len; ) {
		size_t n = len >= 2 ? (size_t)(p[0] << 8 | p[1]) : 0;

		if (!n || n > len - 2)
			return 0;
		p += n + 2;
		len -= n + 2;
	}
	return 1;
}

int
tls_cert_add_sctl(struct tls_cert *c, const void *p, size_t len, char *why)
{
	if (len > SCTL_MAX || !is_sctl(p, len))
		return bad_extra(why, "it is not a signed certificate timestamp list");
	if (set_bytes(&c->sctl, p, len) < 0)
		return bad_extra(why, "out of memory");
	return 0;
}

/* The single response about the certificate: good, and valid now. NULL: none. */
static const OCSP_SINGLERESP *
find_single(OCSP_BASICRESP *basic, OCSP_CERTID *id, ASN1_GENERALIZEDTIME **until, char *why)
{
	ASN1_GENERALIZEDTIME *revoked, *since;
	OCSP_SINGLERESP *single;
	int status, reason;

	if (OCSP_resp_count(basic) != 1) {
		(void)bad_extra(why, "OCSP response ignored because contains multiple single "
			"responses");
		return NULL;
	}
	single = OCSP_resp_get0(basic, 0);
	if (OCSP_id_cmp(OCSP_SINGLERESP_get0_id(single), id) != 0) {
		(void)bad_extra(why, "OCSP single response: Certificate ID does not match "
			"certificate and issuer");
		return NULL;
	}
	status = OCSP_single_get0_status(single, &reason, &revoked, &since, until);
	if (status != V_OCSP_CERTSTATUS_GOOD) {
		(void)bad_extra(why, "OCSP single response: certificate status not good");
		return NULL;
	}
	if (!*until) {
		(void)bad_extra(why, "OCSP single response: missing nextupdate");
		return NULL;
	}
	if (!OCSP_check_validity(since, *until, OCSP_SKEW, -1)) {
		(void)bad_extra(why, "OCSP single response: no longer valid.");
		return NULL;
	}
	return single;
}

static int64_t
asn1_seconds(const ASN1_GENERALIZEDTIME *t)
{
	struct tm tm;

	return ASN1_TIME_to_tm(t, &tm) ? (int64_t)timegm(&tm) : 0;
}

static int
check_response(struct tls_cert *c, OCSP_RESPONSE *resp, OCSP_CERTID *id, char *why)
{
	ASN1_GENERALIZEDTIME *until = NULL;
	OCSP_BASICRESP *basic;
	int r = -ERR_INVAL;

	if (OCSP_response_status(resp) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
		return bad_extra(why, "OCSP response status not successful");
	basic = OCSP_response_get1_basic(resp);
	if (!basic)
		return bad_extra(why, "Failed to get basic response from OCSP Response");
	if (find_single(basic, id, &until, why)) {
		c->ocsp_expires = asn1_seconds(until) - OCSP_SKEW;
		r = 0;
	}
	OCSP_BASICRESP_free(basic);
	return r;
}

static int
make_ocsp_id(struct tls_cert *c, char *why)
{
	if (!c->issuer)
		return bad_extra(why, "the issuer's certificate is not in the PEM file, nor in a "
			"file .issuer");
	OCSP_CERTID_free(c->ocsp_id);
	c->ocsp_id = OCSP_cert_to_id(NULL, c->leaf, c->issuer);
	return c->ocsp_id ? 0 : bad_extra(why, "out of memory");
}

int
tls_cert_add_ocsp(struct tls_cert *c, const void *p, size_t len, char *why)
{
	const unsigned char *at = p;
	char reason[TLS_ERROR_MAX];
	OCSP_RESPONSE *resp;
	int r = make_ocsp_id(c, why);

	if (r)
		return r;
	c->wants_ocsp = 1;
	if (!len)
		return 0;
	resp = d2i_OCSP_RESPONSE(NULL, &at, (long)len);
	if (!resp) {
		(void)tls_error_take(reason, sizeof(reason));
		return bad_extra(why, "Unable to parse OCSP response");
	}
	r = check_response(c, resp, c->ocsp_id, why);
	OCSP_RESPONSE_free(resp);
	if (!r && set_bytes(&c->ocsp, p, len) < 0)
		r = bad_extra(why, "out of memory");
	return r;
}
