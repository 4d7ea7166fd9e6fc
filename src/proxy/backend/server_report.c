/* Messages about servers that change, in HAProxy's words: tools that read logs look for them. On
 * the first worker, without the backend's lock: numbers of sessions are those of that moment. */
#include "proxy/backend/server_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxy.h"

#define TEXT_MAX 512

struct server_before
server_before(const struct server *s)
{
	return (struct server_before){ s->admin, s->oper, s->uweight, proxy_usable_servers(s->be),
		atomic_read(&s->queued), atomic_read(&s->be->queued),
		atomic_read(&s->be->lb.panic) };
}

/* By how many a queue has become shorter. */
static unsigned int
count_left(unsigned int before, unsigned int now)
{
	return before - MIN(before, now);
}

static unsigned int
count_requeued(const struct server *s, const struct server_before *before)
{
	return count_left(before->queued, atomic_read(&s->queued));
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

void
server_log(struct engine *e, const struct server *s, enum log_level level, const char *text)
{
	send_notice(e, 0, text);
	log_to_backend(e, s->be, level, text);
}

void
server_alert(struct engine *e, const struct server *s, const char *text)
{
	send_notice(e, 1, text);
	log_to_backend(e, s->be, LOG_LEVEL_ALERT, text);
}

static void
report_line(struct engine *e, const struct server *s, enum log_level level, const char *what)
{
	char text[2 * TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%sServer %s/%s %s", s->conf.backup ? "Backup " : "",
		s->be->name, s->name, what);
	server_log(e, s, level, text);
}

static void fmt_printf(4, 5)
log_of_server(struct engine *e, const struct server *s, enum log_level level, const char *fmt, ...)
{
	char what[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	report_line(e, s, level, what);
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

/* Reports the change of a server that takes no more sessions. */
static void
report_less(struct engine *e, const struct server *s, const struct server_before *before,
	enum log_level level, const char *what, const char *cause)
{
	unsigned int active, backup;

	count_usable(s->be, &active, &backup);
	log_of_server(e, s, level,
		"%s%s. %u active and %u backup servers left.%s %u sessions active, %u requeued, "
		"%u remaining in queue.",
		what, cause, active, backup, !active && backup ? " Running on backup." : "",
		atomic_read(&s->cur), count_requeued(s, before), atomic_read(&s->queued));
}

static void
report_online(struct engine *e, const struct server *s, unsigned int requeued, const char *what,
	const char *cause)
{
	unsigned int active, backup;

	count_usable(s->be, &active, &backup);
	log_of_server(e, s, LOG_LEVEL_NOTICE,
		"%s%s. %u active and %u backup servers online.%s %u sessions requeued, %u total in "
		"queue.",
		what, cause, active, backup, !active && backup ? " Running on backup." : "",
		requeued, atomic_read(&s->queued));
}

static const char *
up_or_down(const struct server *s)
{
	return s->oper == SERVER_STOPPED ? "DOWN" : "UP";
}

static void
report_maint(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (before->oper == SERVER_STOPPED)
		log_of_server(
			e, s, LOG_LEVEL_NOTICE, "was DOWN and now enters maintenance%s.", cause);
	else
		report_less(e, s, before, before->admin & SERVER_DRAIN ? LOG_LEVEL_NOTICE
							     : LOG_LEVEL_ALERT,
			"is going DOWN for maintenance", cause);
}

static void
report_left_maint(struct engine *e, const struct server *s, const struct server_before *before)
{
	const char *kind = before->admin & SERVER_MAINT_FORCED ? "forced maintenance"
							       : "maintenance";
	const char *mode = s->admin & SERVER_DRAIN ? "DRAIN" : "READY";

	if (before->admin & SERVER_MAINT_UNRESOLVED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "('%s') is %s/%s (resolves again).",
			s->fqdn ? s->fqdn : "", up_or_down(s), mode);
	else
		log_of_server(e, s, LOG_LEVEL_NOTICE, "is %s/%s (leaving %s).", up_or_down(s), mode,
			kind);
	if (s->admin & SERVER_DRAIN_FORCED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
	else if (s->admin & SERVER_DRAIN)
		log_of_server(e, s, LOG_LEVEL_NOTICE,
			"is leaving forced drain but remains in drain mode via %s/%s.",
			s->track->be->name, s->track->name);
}

static void
report_drain(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (s->oper == SERVER_STOPPED)
		report_less(e, s, before, LOG_LEVEL_NOTICE, "enters drain state", cause);
	else
		report_online(e, s, count_requeued(s, before), "enters drain state", cause);
}

static void
report_admin(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	int was_drained = (before->admin & SERVER_DRAIN) != 0;
	int is_drained = (s->admin & SERVER_DRAIN) != 0;

	if (s->admin & SERVER_MAINT) {
		if (!(before->admin & SERVER_MAINT))
			report_maint(e, s, before, cause);
		else if ((before->admin & ~s->admin) & SERVER_MAINT_FORCED)
			log_of_server(e, s, LOG_LEVEL_NOTICE,
				"is leaving forced maintenance but remains in maintenance.");
	} else if (before->admin & SERVER_MAINT) {
		report_left_maint(e, s, before);
	} else if (is_drained && !was_drained) {
		report_drain(e, s, before, cause);
	} else if (!is_drained && was_drained) {
		log_of_server(
			e, s, LOG_LEVEL_NOTICE, "is %s (leaving forced drain).", up_or_down(s));
	}
}

static void
report_oper(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	unsigned int served = count_left(before->waiting, atomic_read(&s->be->queued));

	switch (s->oper) {
	case SERVER_STOPPED:
		report_less(e, s, before,
			before->oper == SERVER_STOPPING || (s->admin & SERVER_DRAIN)
				? LOG_LEVEL_NOTICE : LOG_LEVEL_ALERT,
			"is DOWN", cause);
		break;
	case SERVER_STOPPING:
		report_online(e, s, count_requeued(s, before), "is stopping", cause);
		break;
	case SERVER_STARTING:
	case SERVER_RUNNING:
		report_online(e, s, served, "is UP", cause);
		break;
	}
	if (s->admin & SERVER_DRAIN_FORCED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
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

static void
report_panic(struct engine *e, const struct proxy *be)
{
	unsigned int known = atomic_read(&be->lb.n_known), active, backup;
	int began = atomic_read(&be->lb.panic);
	char text[TEXT_MAX];

	count_usable(be, &active, &backup);
	(void)snprintf(text, sizeof(text), "%s %s %s panic: %u of %u servers usable, the threshold "
		"is %u%%. Balancing over %s.",
		be->caps & PROXY_FE ? "proxy" : "backend", be->name, began ? "enters" : "leaves",
		active, known, be->panic_threshold, began ? "all of them" : "the usable ones");
	send_notice(e, began, text);
	log_to_backend(e, be, began ? LOG_LEVEL_ALERT : LOG_LEVEL_NOTICE, text);
}

void
server_report(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (s->admin != before->admin)
		report_admin(e, s, before, cause);
	else if (s->oper != before->oper)
		report_oper(e, s, before, cause);
	else if ((s->admin & SERVER_DRAIN) &&
		((s->check && !s->agent) || (!before->uweight && s->uweight)))
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
	if (before->usable && !proxy_usable_servers(s->be))
		report_backend_down(e, s->be);
	if (before->panic != atomic_read(&s->be->lb.panic))
		report_panic(e, s->be);
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
	server_log(e, s, LOG_LEVEL_NOTICE, text);
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
server_report_ready(struct engine *e, const struct server *s)
{
	log_of_server(e, s, LOG_LEVEL_NOTICE, "administratively READY thanks to valid DNS answer.");
}
