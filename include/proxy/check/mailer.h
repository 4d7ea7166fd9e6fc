/*
 * Alerts by email about servers whose state changes. On the first worker, which alone changes
 * states, so each alert is sent once, with any number of workers. Each mailer has a queue of its
 * own; one that is dead, slow or wrong delays nothing else.
 */
#ifndef TACIT_PROXY_CHECK_MAILER_H
#define TACIT_PROXY_CHECK_MAILER_H

#include <stdint.h>

#include "base/compiler.h"
#include "proxy/model/engine.h"

#define MAILER_QUEUE_MAX 1000          /* alerts that wait for one mailer */
#define MAILER_EXPIRES_MS (600 * 1000) /* from the event on */
#define MAILER_RETRY_MS 1000           /* the pause after a failure; each further one is twice as */
#define MAILER_RETRY_MAX_MS 60000      /* long, up to this */

struct proxies;

/* Makes the mailers of sections that proxies use. node: the name of this host, which outlives them;
 * one that SMTP does not permit is not used. 0 or -ERR_NOMEM. */
int mailers_start(struct engine *e, struct proxies *ps, const char *node) must_check;
/* Sets engine.hooks.on_alert, if there are mailers. Restored states, of which a previous process
 * has sent alerts, come before. */
void mailers_begin(struct engine *e, const struct proxies *ps);
/* True while a mailer sends: not during the pause after a failure. */
int mailers_are_busy(const struct proxies *ps);
/* Bytes of replies since the start, of all mailers. */
uint64_t mailers_received(const struct proxies *ps);
/* Closes their connections. Reports alerts that were not sent. */
void mailers_stop(struct engine *e, struct proxies *ps);
/* Descriptors that they need. */
unsigned int mailers_descriptors(const struct proxies *ps);

#endif
