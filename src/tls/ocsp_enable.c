/* Chooses the certificates that get new OCSP responses from their responders. */
#include "tls/ocsp_enable.h"

#include <stdio.h>

#include "base/err.h"
#include "tls/ocsp_responder.h"

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

/* A certificate has one response, whichever line staples it. A place without the setting fits with
 * everything. */
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

/* 0; or a negative reason with why, unless `is_said` is 0. */
static int
start_updating(struct tls_conf *conf, struct tls_entry *e, int is_said, char *why)
{
	char reason[TLS_WHY_MAX] = "it names no OCSP responder with a URL of http";
	struct tls_ocsp_responder to;

	if (tls_ocsp_responder_of(e->cert, &to) == 0 &&
		(e->cert->ocsp_id || tls_cert_want_ocsp(e->cert, reason) == 0)) {
		e->updates_ocsp = conf->ocsp.is_wanted = 1;
		return 0;
	}
	if (!is_said)
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
tls_ocsp_enable_load(struct tls_conf *conf, struct tls_entry *e, enum tls_ocsp_update said,
	char *why)
{
	e->load_ocsp = said;
	return said == TLS_OCSP_ON ? start_updating(conf, e, 1, why) : 0;
}
