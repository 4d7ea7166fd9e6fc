/* What is said of servers that change, in HAProxy's words: tools that read logs look for them. Runs
 * on the worker of the engine, while the others stand still. */
#include "proxy/backend/server_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxy.h"

#define TEXT_MAX 512

struct server_before
server_before(const struct server *s)
{
	return (struct server_before){ s->admin, s->uweight, proxy_usable_servers(s->be),
		s->queued };
}

static void
send_notice(struct engine *e, int is_alert, const char *text)
{
	if (e->on_notice)
		e->on_notice(e, is_alert, text);
}

static void
log_to_backend(struct engine *e, const struct proxy *be, enum log_level level,
	const char *text)
{
	log_send(e->log, &be->logs, level, be->log.tag, text, strlen(text));
}

static void fmt_printf(4, 5)
say(struct engine *e, const struct server *s, enum log_level level, const char *fmt, ...)
{
	char what[TEXT_MAX], text[2 * TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	(void)snprintf(text, sizeof(text), "%sServer %s/%s %s", s->conf.backup ? "Backup " : "",
		s->be->name, s->name, what);
	send_notice(e, 0, text);
	log_to_backend(e, s->be, level, text);
}

static void
count_usable(const struct proxy *be, unsigned int *active, unsigned int *backup)
{
	*active = *backup = 0;
	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (server_is_usable(s))
			++*(s->conf.backup ? backup : active);
	}
}

/* why: "", or " (...)". */
static void
say_maint(struct engine *e, const struct server *s, const struct server_before *before,
	const char *why)
{
	unsigned int active, backup;

	count_usable(s->be, &active, &backup);
	say(e, s, before->admin == SERVER_UP ? LOG_LEVEL_ALERT : LOG_LEVEL_NOTICE,
		"is going DOWN for maintenance%s. %u active and %u backup servers left.%s "
		"%u sessions active, %u requeued, %u remaining in queue.",
		why, active, backup, !active && backup ? " Running on backup." : "", s->cur,
		before->queued - MIN(before->queued, s->queued), s->queued);
}

static void
say_drain(struct engine *e, const struct server *s, const struct server_before *before)
{
	unsigned int active, backup;

	if (before->admin == SERVER_MAINT) {
		say(e, s, LOG_LEVEL_NOTICE, "is UP/DRAIN (leaving forced maintenance).");
		say(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
		return;
	}
	count_usable(s->be, &active, &backup);
	say(e, s, LOG_LEVEL_NOTICE,
		"enters drain state. %u active and %u backup servers online.%s %u sessions "
		"requeued, %u total in queue.",
		active, backup, !active && backup ? " Running on backup." : "",
		before->queued - MIN(before->queued, s->queued), s->queued);
}

static void
say_state(struct engine *e, const struct server *s, const struct server_before *before)
{
	/* Without an address it is down whatever an operator does. */
	if (s->unresolved) {
		if (before->admin == SERVER_MAINT)
			say(e, s, LOG_LEVEL_NOTICE,
				"is leaving forced maintenance but remains in maintenance.");
		return;
	}
	switch (s->admin) {
	case SERVER_MAINT:
		say_maint(e, s, before, "");
		break;
	case SERVER_DRAIN:
		say_drain(e, s, before);
		break;
	case SERVER_UP:
		say(e, s, LOG_LEVEL_NOTICE,
			before->admin == SERVER_MAINT ? "is UP/READY (leaving forced maintenance)."
						      : "is UP (leaving forced drain).");
		break;
	}
}

static void
report_backend_down(struct engine *e, const struct proxy *be)
{
	const char *what = be->caps & PROXY_FE ? "proxy" : "backend";
	char text[TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%s '%s' has no server available!", what, be->name);
	send_notice(e, 1, text);
	(void)snprintf(text, sizeof(text), "%s %s has no server available!", what, be->name);
	log_to_backend(e, be, LOG_LEVEL_EMERG, text);
}

void
server_report(struct engine *e, const struct server *s, const struct server_before *before)
{
	if (s->admin != before->admin)
		say_state(e, s, before);
	else if (s->admin == SERVER_DRAIN && !before->uweight && s->uweight)
		say(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
	if (before->usable && !proxy_usable_servers(s->be))
		report_backend_down(e, s->be);
}

/* --- names --- */

static void
format_change(char *text, size_t size, const struct server *s, const char *fmt, va_list ap)
{
	int n = snprintf(text, size, "%s/%s ", s->be->name, s->name);

	if (n > 0 && (size_t)n < size)
		(void)vsnprintf(text + n, size - (size_t)n, fmt, ap);
}

void
server_report_change(struct engine *e, const struct server *s, const char *fmt, ...)
{
	char text[2 * TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	format_change(text, sizeof(text), s, fmt, ap);
	va_end(ap);
	send_notice(e, 0, text);
	log_to_backend(e, s->be, LOG_LEVEL_NOTICE, text);
}

void
server_log_change(struct engine *e, const struct server *s, const char *fmt, ...)
{
	char text[2 * TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	format_change(text, sizeof(text), s, fmt, ap);
	va_end(ap);
	log_to_backend(e, s->be, LOG_LEVEL_NOTICE, text);
}

void
server_report_unresolved(struct engine *e, const struct server *s,
	const struct server_before *before, const char *why)
{
	char text[TEXT_MAX];

	/* An operator has done so before. */
	if (s->admin == SERVER_MAINT)
		return;
	(void)snprintf(text, sizeof(text), " (%s)", why);
	say_maint(e, s, before, text);
	if (before->usable && !proxy_usable_servers(s->be))
		report_backend_down(e, s->be);
}

void
server_report_resolved(struct engine *e, const struct server *s)
{
	if (s->admin == SERVER_MAINT)
		return;
	say(e, s, LOG_LEVEL_NOTICE, "('%s') is UP/%s (resolves again).", s->fqdn ? s->fqdn : "",
		s->admin == SERVER_DRAIN ? "DRAIN" : "READY");
	if (s->admin == SERVER_DRAIN)
		say(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
}

void
server_report_ready(struct engine *e, const struct server *s)
{
	say(e, s, LOG_LEVEL_NOTICE, "administratively READY thanks to valid DNS answer.");
}
