/* Rings of logs. Workers post without a lock and notify the first worker, which owns what is
 * stored; before the threads run, and after they have ended, the logging thread owns it. */
#include "app/process/rings.h"

#include <stdarg.h>

#include "app/process/process.h"
#include "app/process/wake_worker.h"
#include "base/counter.h"
#include "base/err.h"
#include "cfg/diag.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "proxy/model/ring_conf.h"
#include "tls/conn_info.h"
#include "tls/connect.h"

static struct list *
rings_of(const struct process *p)
{
	return &p->cfg->proxies.log.rings;
}

static void
on_ring_mail(void *worker, struct mail *m)
{
	const struct worker *w = worker;

	log_ring_collect(m->arg, process_log(w->process));
}
PROFILE_NAME(on_ring_mail, ring_mail)

void
rings_on_log(void *worker, struct log_ring *r)
{
	struct worker *w = worker, *first = process_first(w->process);
	struct mail m = { .fn = on_ring_mail, .arg = r };

	if (w == first || !w->has_thread)
		log_ring_collect(r, &first->log);
	else
		wake_worker_post(w, first, &m);
}

void
rings_collect(struct process *p)
{
	list_each(it, rings_of(p))
		log_ring_collect(&list_entry(it, struct ring_conf, link)->ring, process_log(p));
}

/* --- files --- */

static void
on_file_failure(void *arg, int err)
{
	const struct ring_conf *c = arg;
	const struct process *p = c->process;

	report_msg(p->report, REPORT_WARNING,
		"ring '%s': backing-file '%s' cannot be written: %s. It lacks messages from now "
		"on.",
		c->name, c->backing_file, err_text(-err));
}

/* In the form of errors of the configuration. */
static void
report_at_path(const struct ring_conf *c, enum cfg_sev sev, const char *fmt, ...) fmt_printf(3, 4);

static void
report_at_path(const struct ring_conf *c, enum cfg_sev sev, const char *fmt, ...)
{
	const struct process *p = c->process;
	struct cfg_diag d;
	va_list ap;

	cfg_diag_init(&d, p->report->pid);
	va_start(ap, fmt);
	cfg_diag_vadd(&d, sev, &c->backing_where, fmt, ap);
	va_end(ap);
	report_diag(p->report, &d, p->report->quiet);
	cfg_diag_fini(&d);
}

static int
open_ring_file(struct process *p, struct ring_conf *c)
{
	int r;

	c->process = p;
	c->file.on_failure = on_file_failure;
	c->file.arg = c;
	r = log_ring_file_open(&c->file, p->sys, &c->ring, c->backing_file);
	if (r < 0) {
		report_at_path(c, CFG_ALERT, "cannot open backing-file '%s' for ring '%s': %s.",
			c->backing_file, c->name,
			r == -ERR_UNSUPPORTED ? "it is no regular file" : err_text(r));
		return -ERR_SYS;
	}
	if (c->file.rename_err)
		report_at_path(c, CFG_WARNING,
			"backing-file '%s' of ring '%s' is overwritten: it cannot get the suffix "
			"'%s': %s.",
			c->backing_file, c->name, LOG_RING_FILE_SUFFIX,
			err_text(c->file.rename_err));
	return 0;
}

int
rings_open_files(struct process *p)
{
	int bad = 0;

	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		if (c->backing_file)
			bad |= open_ring_file(p, c);
	}
	return bad ? -ERR_SYS : 0;
}

/* --- servers --- */

static int
on_server_open(void *arg, struct conn *c)
{
	const struct ring_server *s = arg;
	const char *name = s->tls_conf.sni;
	struct tls_ask ask = { .name = name ? str_of(name) : (struct str){ NULL, 0 } };

	return tls_connect_as(c, &ask);
}

/* Reported once per server: DroppedLogs counts what is lost. */
static void
on_server_failure(void *arg, const char *why)
{
	struct ring_server *s = arg;
	const struct process *p = s->process;
	struct sbuf more;

	if (s->has_failed)
		return;
	s->has_failed = 1;
	sbuf_init(&more, 0);
	/* OpenSSL's reason. */
	if (s->client.conn.xprt &&
		tls_info_text(&s->client.conn, TLS_INFO_ERROR_TEXT, &more) < 0)
		more.len = 0;
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': server '%s' cannot be reached or has closed the connection: %s%s%s%s. "
		"tacit tries again. DroppedLogs in 'show info' counts messages that are lost.",
		s->ring->name, s->name, why, more.len ? " (" : "", more.len ? more.p : "",
		more.len ? ")" : "");
	sbuf_fini(&more);
}

int
rings_start(struct process *p)
{
	int r = 0;

	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers) {
			struct ring_server *s = list_entry(st, struct ring_server, link);

			s->process = p;
			s->client.on_open = on_server_open;
			s->client.on_failure = on_server_failure;
			s->client.arg = s;
			if (!r)
				r = log_client_start(&s->client, process_loop(p), &c->ring,
					&s->conf);
		}
	}
	return r;
}

/* --- the stop --- */

static int
servers_are_busy(const struct process *p)
{
	list_each(it, rings_of(p))
		list_each(st, &list_entry(it, struct ring_conf, link)->servers)
			if (log_client_is_busy(&list_entry(st, struct ring_server, link)->client))
				return 1;
	return 0;
}

/* Servers that are connected, or will be, get time to take what the rings have. A second SIGTERM
 * ends it. */
static void
drain_rings(struct process *p)
{
	struct loop *l = process_loop(p);
	uint64_t until = l ? loop_now_ms(l) + RINGS_DRAIN_MS : 0;

	if (!servers_are_busy(p))
		return;
	/* The workers have ended and do not answer. */
	watchdog_stop(p);
	while (servers_are_busy(p) && p->state != PROCESS_GONE && loop_now_ms(l) < until)
		if (loop_turn(l, (int)(until - loop_now_ms(l))) < 0)
			return;
}

static void
stop_server(struct process *p, struct ring_conf *c, struct ring_server *s)
{
	unsigned int lost = log_client_stop(&s->client);

	if (!lost)
		return;
	counter_add(&c->ring.dropped, lost);
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': %u messages are lost: server '%s' did not take them in time.",
		c->name, lost, s->name);
}

void
rings_stop(struct process *p)
{
	/* Time is up: other threads may run. */
	if (p->running)
		return;
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct log_sink *k = &p->workers[i].log;

		if (p->workers[i].log_open)
			log_flush(k);
		k->on_ring = NULL;
	}
	drain_rings(p);
	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers)
			stop_server(p, c, list_entry(st, struct ring_server, link));
		log_ring_file_close(&c->file, p->state < PROCESS_RUNNING);
	}
}

uint64_t
rings_dropped(const struct process *p)
{
	uint64_t n = 0;

	list_each(it, rings_of(p))
		n += counter_read(&list_entry(it, struct ring_conf, link)->ring.dropped);
	return n;
}
