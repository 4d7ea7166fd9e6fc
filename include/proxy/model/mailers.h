/* Sections `mailers`, and the `email-alert` lines of a proxy. Main thread, while the configuration
 * is read; what a mailer does is the first worker's (proxy/check/mailer.h). */
#ifndef TACIT_PROXY_MODEL_MAILERS_H
#define TACIT_PROXY_MODEL_MAILERS_H

#include <stdint.h>

#include "base/list.h"
#include "base/log.h"
#include "cfg/diag.h"
#include "net/addr.h"

struct mailer_run;

struct mailer_conf {
	struct list link;       /* in mailers_conf.mailers */
	char *name;
	struct addr addr;
	struct mailer_run *run; /* NULL: it does not run */
};

struct mailers_conf {
	struct list link;       /* in proxies.mailers */
	char *name;
	struct cfg_where where;
	struct list mailers;    /* struct mailer_conf: each gets each alert */
	uint32_t timeout_ms;    /* of one attempt, from the connection to the reply to QUIT */
	int is_used;            /* a proxy sends alerts to it */
};

/* The texts of a proxy. */
enum email_text { EMAIL_FROM, EMAIL_TO, EMAIL_MAILERS, EMAIL_HOST, EMAIL_TEXTS };

struct email_conf {
	char *text[EMAIL_TEXTS]; /* NULL: not set */
	enum log_level level;    /* less severe alerts are not sent */
	struct cfg_where where, mailers_where; /* of the last line, and of the section's name */
	struct mailers_conf *to; /* once the configuration is complete; NULL: none are sent */
};

#endif
