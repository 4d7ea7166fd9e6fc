/* One frontend is paused, resumed or stopped, for the operator and at the end of the process. On
 * the first worker; HAProxy's log messages. */
#include "app/process/frontend.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "base/atomic.h"
#include "base/err.h"
#include "net/listener.h"
#include "proxy/model/proxy.h"

#define TEXT_MAX 512

/* Writes to the terminal and the proxy's own logs. */
static void fmt_printf(3, 4)
log_frontend(struct process *p, const struct proxy *fe, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_msg(p->report, REPORT_WARNING, "%s", text);
	log_send(process_log(p), &fe->logs, LOG_LEVEL_WARNING, fe->log.tag, text, strlen(text));
}

static void
suspend_one(struct listener *ln, void *arg)
{
	(void)arg;
	listener_suspend(ln);
}

static void
suspend_all(struct proxy *fe)
{
	process_each_of_binds(&fe->binds, suspend_one, NULL);
	fe->listening = PROXY_PAUSED;
}

void
frontend_pause(struct process *p, struct proxy *fe)
{
	rendezvous_begin(p);
	suspend_all(fe);
	rendezvous_end(p);
	log_frontend(p, fe, "Paused %s %s.", proxy_kind(fe), fe->name);
}

/* The first listener that cannot listen again, and why. */
struct restart {
	const struct listener *failed;
	int reason;
};

static void
restart_one(struct listener *ln, void *arg)
{
	struct restart *all = arg;

	if (all->failed)
		return;
	all->reason = listener_restart(ln);
	if (all->reason)
		all->failed = ln;
}

static void
log_failed(struct process *p, const struct proxy *fe, const struct restart *all)
{
	char text[ADDR_TEXT];

	if (all->reason == -EADDRINUSE)
		log_frontend(p, fe, "Port %u busy while trying to enable %s %s.",
			addr_port(&all->failed->addr), proxy_kind(fe), fe->name);
	else
		log_frontend(p, fe, "Cannot listen on %s while trying to enable %s %s: %s.",
			addr_text(&all->failed->addr, text), proxy_kind(fe), fe->name,
			err_text(all->reason));
}

int
frontend_resume(struct process *p, struct proxy *fe)
{
	struct restart all = { 0 };

	rendezvous_begin(p);
	process_each_of_binds(&fe->binds, restart_one, &all);
	if (all.failed)
		suspend_all(fe);
	else
		fe->listening = PROXY_LISTENS;
	rendezvous_end(p);
	if (all.failed)
		log_failed(p, fe, &all);
	log_frontend(p, fe, "%s %s %s.", all.failed ? "Paused" : "Resumed", proxy_kind(fe),
		fe->name);
	return all.reason;
}

void
frontend_stop(struct process *p, struct proxy *fe, struct sbuf *lines)
{
	struct proxy_stat front, back;
	char text[TEXT_MAX];

	rendezvous_begin(p);
	process_close_binds(p, &fe->binds);
	fe->listening = PROXY_STOPPED;
	rendezvous_end(p);
	proxy_stat_sum(fe, PROXY_FE, &front);
	proxy_stat_sum(fe, PROXY_BE, &back);
	(void)snprintf(text, sizeof(text),
		"Proxy %s stopped (cumulated conns: FE: %llu, BE: %llu).", fe->name,
		(unsigned long long)front.cum_conn, (unsigned long long)back.cum_conn);
	if (lines)
		report_add(p->report, lines, REPORT_WARNING, "%s", text);
	else
		report_msg(p->report, REPORT_WARNING, "%s", text);
	log_send(process_log(p), &fe->logs, LOG_LEVEL_WARNING, fe->log.tag, text, strlen(text));
}

void
frontend_note_hard_stop(struct process *p, struct proxy *fe)
{
	unsigned int n = atomic_read(&fe->fe_gate.n);

	if (n)
		log_frontend(p, fe, "Proxy %s hard-stopped (%u remaining conns will be closed).",
			fe->name, n);
}
