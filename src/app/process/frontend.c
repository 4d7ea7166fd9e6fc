/* One frontend is paused, resumed or stopped, for the operator and at the end of the process. On
 * the first worker; HAProxy's log messages. */
#include "app/process/frontend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "net/listener.h"
#include "proxy/model/proxy.h"

#define TEXT_MAX 512

/* To the terminal and the proxy's own logs. */
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
suspend_all(struct proxy *fe)
{
	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners)
			listener_suspend(list_entry(lt, struct listener, link));
	}
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

/* The first listener that cannot listen again; NULL: all do. */
static const struct listener *
restart_all(struct proxy *fe, int *reason)
{
	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener *ln = list_entry(lt, struct listener, link);

			*reason = listener_restart(ln);
			if (*reason)
				return ln;
		}
	}
	fe->listening = PROXY_LISTENS;
	return NULL;
}

int
frontend_resume(struct process *p, struct proxy *fe)
{
	const struct listener *failed;
	int reason = 0;

	rendezvous_begin(p);
	failed = restart_all(fe, &reason);
	if (failed)
		suspend_all(fe);
	rendezvous_end(p);
	if (failed)
		log_frontend(p, fe, "Port %u busy while trying to enable %s %s.",
			addr_port(&failed->addr), proxy_kind(fe), fe->name);
	log_frontend(p, fe, "%s %s %s.", failed ? "Paused" : "Resumed", proxy_kind(fe), fe->name);
	return reason;
}

void
frontend_stop(struct process *p, struct proxy *fe)
{
	struct proxy_stat front, back;

	rendezvous_begin(p);
	process_close_binds(p, &fe->binds);
	fe->listening = PROXY_STOPPED;
	rendezvous_end(p);
	proxy_stat_sum(fe, PROXY_FE, &front);
	proxy_stat_sum(fe, PROXY_BE, &back);
	log_frontend(p, fe, "Proxy %s stopped (cumulated conns: FE: %llu, BE: %llu).", fe->name,
		(unsigned long long)front.cum_conn, (unsigned long long)back.cum_conn);
}
