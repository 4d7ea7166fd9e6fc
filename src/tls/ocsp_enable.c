/* Which certificates get new OCSP responses from their responders. */
#include "tls/ocsp_enable.h"

#include <stdio.h>

#include "base/err.h"
#include "tls/ocsp_responder.h"

int
tls_ocsp_enable(struct tls_conf *conf, const struct tls_bind *b, const struct tls_settings *own,
	struct tls_entry *e, char *why)
{
	enum tls_ocsp_update said =
		own && own->ocsp_update ? own->ocsp_update : b->set.ocsp_update;
	enum tls_ocsp_update want = said ? said : conf->ocsp.mode;
	struct tls_ocsp_responder to;
	char reason[TLS_WHY_MAX] = "it names no OCSP responder with a URL of http";

	if (want != TLS_OCSP_ON || !e->cert)
		return 0;
	if (tls_ocsp_responder_of(e->cert, &to) == 0 &&
		(e->cert->ocsp_id || tls_cert_want_ocsp(e->cert, reason) == 0)) {
		e->updates_ocsp = conf->ocsp.is_wanted = 1;
		return 0;
	}
	if (!said)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "'ocsp-update' : certificate '%.200s' : %.250s", e->name,
		reason);
	return -ERR_INVAL;
}
