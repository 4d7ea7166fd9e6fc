/* Requests to OCSP responders, and their answers. First worker, or the main thread while the
 * configuration is read. */
#include "tls/ocsp_responder.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "tls/bind.h"
#include "tls/cert.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"
#include "tls/store.h"
#include "tls/tls_conf.h"

#define HTTP_PORT 80

/* --- its address --- */

/* True if it can go into a request as it is: no blanks, no control characters. */
static int
is_plain(const char *s)
{
	for (; *s; s++)
		if (!isgraph((unsigned char)*s))
			return 0;
	return 1;
}

static int
copy_plain(char *to, size_t room, const char *from)
{
	int n = from && is_plain(from) ? snprintf(to, room, "%s", from) : -1;

	return n > 0 && (size_t)n < room ? 0 : -ERR_INVAL;
}

static int
take_responder_host(const char *host, struct tls_ocsp_responder *out)
{
	size_t n = strlen(host);

	if (copy_plain(out->host, sizeof(out->host), host) < 0)
		return -ERR_INVAL;
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		memmove(out->host, host + 1, n - 2);
		out->host[n - 2] = '\0';
	}
	return 0;
}

static int
take_url(const char *url, struct tls_ocsp_responder *out)
{
	char *host = NULL, *path = NULL, *query = NULL;
	int tls = 0, port = 0, r = -ERR_INVAL;
	char whole[TLS_OCSP_PATH_MAX];

	if (!OSSL_HTTP_parse_url(url, &tls, NULL, &host, NULL, &port, &path, &query, NULL))
		goto out;
	if (tls || take_responder_host(host, out) < 0 ||
		snprintf(whole, sizeof(whole), "%s%s%s", path, query && *query ? "?" : "",
			query ? query : "") >= (int)sizeof(whole))
		goto out;
	out->port = port ? (unsigned int)port : HTTP_PORT;
	r = copy_plain(out->path, sizeof(out->path), whole);
out:
	OPENSSL_free(host);
	OPENSSL_free(path);
	OPENSSL_free(query);
	ERR_clear_error();
	return r;
}

int
tls_ocsp_responder_of(const struct tls_cert *c, struct tls_ocsp_responder *out)
{
	STACK_OF(OPENSSL_STRING) *urls = c->leaf ? X509_get1_ocsp(c->leaf) : NULL;
	int r = -ERR_MISSING;

	for (int i = 0; r && i < sk_OPENSSL_STRING_num(urls); i++)
		if (take_url(sk_OPENSSL_STRING_value(urls, i), out) == 0)
			r = 0;
	X509_email_free(urls);
	return r;
}

/* --- the request --- */

static int
request_der(const struct tls_cert *c, unsigned char **der)
{
	OCSP_REQUEST *req = OCSP_REQUEST_new();
	OCSP_CERTID *id = tls_cert_ocsp_id(c);
	int n = -1;

	if (req && id && OCSP_request_add0_id(req, id)) {
		id = NULL;
		n = i2d_OCSP_REQUEST(req, der);
	}
	OCSP_CERTID_free(id);
	OCSP_REQUEST_free(req);
	return n;
}

static void
put_authority(const struct tls_ocsp_responder *to, struct sbuf *out)
{
	int is_ip6 = strchr(to->host, ':') != NULL;

	sbuf_addf(out, is_ip6 ? "[%s]" : "%s", to->host);
	if (to->port != HTTP_PORT)
		sbuf_addf(out, ":%u", to->port);
}

int
tls_ocsp_request(const struct tls_cert *c, const struct tls_ocsp_responder *to, int is_for_proxy,
	struct sbuf *out)
{
	unsigned char *der = NULL;
	int n = request_der(c, &der);

	if (n > 0) {
		sbuf_adds(out, "POST ");
		if (is_for_proxy) {
			sbuf_adds(out, "http://");
			put_authority(to, out);
		}
		sbuf_addf(out, "%s HTTP/1.1\r\nHost: ", to->path);
		put_authority(to, out);
		sbuf_addf(out,
			"\r\nContent-Type: application/ocsp-request\r\nContent-Length: %d\r\n"
			"Accept: application/ocsp-response\r\nConnection: close\r\n\r\n",
			n);
		sbuf_add(out, (const char *)der, (size_t)n);
	}
	OPENSSL_free(der);
	ERR_clear_error();
	return n > 0 && !out->failed ? 0 : -ERR_NOMEM;
}

/* --- the answer --- */

/* True if the response is signed. The issuer is trusted, whether it is a root or not. */
static int
is_signed(const struct tls_cert *c, const OCSP_RESPONSE *resp)
{
	OCSP_BASICRESP *basic = OCSP_response_get1_basic((OCSP_RESPONSE *)(uintptr_t)resp);
	X509_STORE *store = X509_STORE_new();
	STACK_OF(X509) *certs = sk_X509_new_null();
	int ok = basic && store && certs && X509_STORE_add_cert(store, c->issuer) &&
		X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) &&
		sk_X509_push(certs, c->issuer) && OCSP_basic_verify(basic, certs, store, 0) == 1;

	sk_X509_free(certs);
	X509_STORE_free(store);
	OCSP_BASICRESP_free(basic);
	ERR_clear_error();
	return ok;
}

static int
is_about(const struct tls_cert *c, const OCSP_CERTID *about)
{
	OCSP_CERTID *id = tls_cert_ocsp_id(c);
	int same = id && OCSP_id_cmp(id, about) == 0;

	OCSP_CERTID_free(id);
	return same;
}

struct tls_ocsp *
tls_ocsp_accept(const struct tls_cert *c, const void *der, size_t len, char *why)
{
	OCSP_CERTID *about;
	struct tls_ocsp *o = tls_ocsp_read(der, len, &about, why);
	const unsigned char *at = der;
	OCSP_RESPONSE *resp = o ? d2i_OCSP_RESPONSE(NULL, &at, (long)len) : NULL;
	const char *wrong = NULL;

	if (o && !is_about(c, about))
		wrong = "OCSP single response: Certificate ID does not match certificate and "
			"issuer";
	else if (o && (!resp || !is_signed(c, resp)))
		wrong = "OCSP response: it is not signed by the issuer, nor for it";
	OCSP_RESPONSE_free(resp);
	OCSP_CERTID_free(about);
	if (!wrong)
		return o;
	(void)snprintf(why, TLS_WHY_MAX, "%s", wrong);
	tls_ocsp_put(o);
	return NULL;
}

/* --- enabling ---------------------------------------------------------------------------- */

/* Chooses the certificates that get new OCSP responses from their responders. */

/* The setting of a certificate at one place, and the word that sets it. */
struct update_word {
	enum tls_ocsp_update value;
	const char *by;
};

static struct update_word
word_for(const struct tls_conf *conf, const struct tls_entry *e, enum tls_ocsp_update line,
	const char *by)
{
	if (line)
		return (struct update_word){ line, by };
	if (e->load_ocsp)
		return (struct update_word){ e->load_ocsp, "its crt-store" };
	return (struct update_word){ conf->ocsp.mode, "ocsp-update.mode" };
}

/* Checks that other lines do not contradict this setting: a certificate has one response, whichever
 * line staples it. A place without the setting contradicts nothing. */
static int
check_same(const struct tls_entry *e, struct update_word a, struct update_word b, char *why)
{
	static const char *const text[] = { [TLS_OCSP_ON] = "on", [TLS_OCSP_OFF] = "off" };

	if (!a.value || !b.value || a.value == b.value)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX,
		"'ocsp-update' : certificate '%.200s' : '%s' of %s contradicts '%s' of %s", e->name,
		text[a.value], a.by, text[b.value], b.by);
	return -ERR_INVAL;
}

static int
check_others(const struct tls_conf *conf, const struct tls_line *l, struct update_word want,
	char *why)
{
	const struct tls_entry *e = l->entry;
	int r = e->load_ocsp ? check_same(e, want, word_for(conf, e, TLS_OCSP_UNSET, NULL), why)
			     : 0;

	list_each(it, &e->lines) {
		const struct tls_line *other = list_entry(it, const struct tls_line, same);

		if (!r && other != l)
			r = check_same(e, want,
				word_for(conf, e, other->ocsp_update, "another line"), why);
	}
	return r;
}

/* Prepares updates of the certificate. 0; or a negative reason with why, unless `is_done` is 0. */
static int
start_updating(struct tls_conf *conf, struct tls_entry *e, int is_done, char *why)
{
	char reason[TLS_WHY_MAX] = "it names no OCSP responder with a URL of http";
	struct tls_ocsp_responder to;

	if (tls_ocsp_responder_of(e->cert, &to) == 0 &&
		(e->cert->ocsp_id || tls_cert_want_ocsp(e->cert, reason) == 0)) {
		e->updates_ocsp = conf->ocsp.is_wanted = 1;
		return 0;
	}
	if (!is_done)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "'ocsp-update' : certificate '%.200s' : %.250s", e->name,
		reason);
	return -ERR_INVAL;
}

int
tls_ocsp_enable(struct tls_conf *conf, struct tls_line *l, const struct tls_settings *own,
	char *why)
{
	struct tls_entry *e = l->entry;
	struct update_word want;
	int r;

	l->ocsp_update = own && own->ocsp_update ? own->ocsp_update : l->bind->set.ocsp_update;
	want = word_for(conf, e, l->ocsp_update, "this line");
	r = check_others(conf, l, want, why);
	if (r)
		return r;
	/* A line with another setting may be gone. */
	if (want.value == TLS_OCSP_OFF)
		e->updates_ocsp = 0;
	if (want.value != TLS_OCSP_ON || !e->cert)
		return 0;
	return start_updating(conf, e, l->ocsp_update != TLS_OCSP_UNSET, why);
}

int
tls_ocsp_enable_load(struct tls_conf *conf, struct tls_entry *e, enum tls_ocsp_update mode,
	char *why)
{
	e->load_ocsp = mode;
	return mode == TLS_OCSP_ON ? start_updating(conf, e, 1, why) : 0;
}
