/* Schedules the requests for OCSP responses. On the first worker. */
#include "app/process/ocsp_update.h"

#include <stdio.h>

#include "app/process/ocsp_job.h"
#include "app/process/process.h"
#include "base/err.h"
#include "tls/cert.h"

/* --- jobs --- */

static void
take_cert(struct ocsp_job *j, struct tls_cert *c)
{
	char why[TLS_WHY_MAX];

	j->cert = tls_cert_ref(c);
	j->in_row = 0;
	/* Handshakes do not read what this sets. */
	if (!c->ocsp_id && tls_cert_want_ocsp(c, why) < 0)
		log_msg(process_log(j->process), LOG_LEVEL_WARNING, "OCSP update of %s: %s",
			j->entry->name, why);
	else if (j->entry->updates_ocsp)
		j->due_ms = ocsp_job_next(j, 0);
}

/* The file may have another certificate now, or none: what is known is about the one before. */
static void
renew_cert(struct ocsp_job *j)
{
	if (j->state != OCSP_IDLE || j->entry->cert == j->cert)
		return;
	tls_cert_put(j->cert);
	j->cert = NULL;
	j->due_ms = TIMER_NEVER;
	if (j->entry->cert)
		take_cert(j, j->entry->cert);
}

/* Lines that say on or off come and go at run time. */
static void
follow_lines(struct ocsp_job *j)
{
	if (j->state != OCSP_IDLE)
		return;
	if (!j->entry->updates_ocsp)
		j->due_ms = TIMER_NEVER;
	else if (j->due_ms == TIMER_NEVER && j->cert && j->cert->ocsp_id)
		j->due_ms = ocsp_job_next(j, 0);
}

/* NULL when memory is out. */
static struct ocsp_job *
job_for(struct process *p, struct tls_entry *e)
{
	struct ocsp_job *j = e->job;

	if (!j) {
		j = ocsp_job_new(p, e);
		if (!j)
			return NULL;
		e->job = j;
		list_append(&p->ocsp.jobs, &j->link);
	}
	renew_cert(j);
	return j;
}

/* --- the schedule --- */

static int
may_start(const struct ocsp_job *j)
{
	return j->state == OCSP_IDLE && j->entry->binds && j->entry->cert &&
		j->due_ms != TIMER_NEVER;
}

/* Starts what is due, as far as there is room, and comes back for the next one. */
static void
run_due(struct process *p)
{
	uint64_t now = loop_now_ms(process_loop(p)), next = TIMER_NEVER;

	if (p->state >= PROCESS_STOPPING)
		return;
	list_each(it, &p->ocsp.jobs) {
		struct ocsp_job *j = list_entry(it, struct ocsp_job, link);

		renew_cert(j);
		if (!may_start(j))
			continue;
		if (j->due_ms > now) {
			next = MIN(next, j->due_ms);
			continue;
		}
		if (p->ocsp.n_running == OCSP_UPDATES_AT_ONCE)
			continue;
		p->ocsp.n_running++;
		ocsp_job_start(j);
		/* The job may have failed at once. */
		if (may_start(j))
			next = MIN(next, j->due_ms);
	}
	/* A job that found no room starts when another one ends. */
	(void)!timer_set(loop_timers(process_loop(p)), &p->ocsp.timer, next);
}

static void
on_ocsp_timer(struct timer *t)
{
	run_due(container_of(t, struct process, ocsp.timer));
}

static uint64_t
back_off(const struct ocsp_job *j)
{
	const struct tls_ocsp_conf *conf = &j->process->cfg->tls.ocsp;
	uint64_t s = conf->min_s;

	for (unsigned int i = 1; i < j->in_row && s < conf->max_s; i++)
		s *= 2;
	return MIN(s, conf->max_s) * 1000;
}

void
ocsp_updates_on_end(struct ocsp_job *j)
{
	struct process *p = j->process;
	struct loop *l = process_loop(p);
	const struct tls_ocsp_conf *conf = &p->cfg->tls.ocsp;

	p->ocsp.n_running--;
	if (!j->entry->updates_ocsp)
		j->due_ms = TIMER_NEVER;
	else if (j->result == OCSP_UPDATED)
		j->due_ms = ocsp_job_next(j, conf->min_s);
	else
		j->due_ms = loop_now_ms(l) + back_off(j);
	/* Soon, but not from within run_due(), which sets the timer itself. */
	(void)!timer_set(loop_timers(l), &p->ocsp.timer, loop_now_ms(l));
}

static void
look_at_entry(struct process *p, struct tls_entry *e)
{
	struct ocsp_job *j = NULL;

	if (e->binds && e->cert && (e->updates_ocsp || e->job))
		j = job_for(p, e);
	if (j)
		follow_lines(j);
}

void
ocsp_updates_look(struct process *p, struct tls_entry *e)
{
	if (!p->ocsp.is_on)
		return;
	look_at_entry(p, e);
	run_due(p);
}

/* --- life --- */

void
ocsp_updates_start(struct process *p)
{
	list_init(&p->ocsp.jobs);
	timer_init(&p->ocsp.timer, on_ocsp_timer);
	p->ocsp.is_on = !p->cfg->tls.ocsp.off;
	if (!p->ocsp.is_on)
		return;
	list_each(it, &p->cfg->tls.certs.entries)
		look_at_entry(p, list_entry(it, struct tls_entry, link));
	run_due(p);
}

void
ocsp_updates_stop(struct process *p)
{
	if (!p->ocsp.is_on)
		return;
	p->ocsp.is_on = 0;
	while (!list_is_empty(&p->ocsp.jobs)) {
		struct ocsp_job *j = list_first(&p->ocsp.jobs, struct ocsp_job, link);

		j->entry->job = NULL;
		ocsp_job_free(j);
	}
	timer_stop(loop_timers(process_loop(p)), &p->ocsp.timer);
}

int
ocsp_update_now(struct process *p, struct tls_entry *e, char *why)
{
	struct tls_ocsp_responder to;
	struct ocsp_job *j;

	if (!p->ocsp.is_on) {
		(void)snprintf(why, TLS_WHY_MAX, "ocsp-update.disable is set");
		return -ERR_INVAL;
	}
	if (!e->binds || !e->cert || tls_ocsp_responder_of(e->cert, &to) < 0) {
		(void)snprintf(why, TLS_WHY_MAX,
			"no bind line uses it, or it names no responder that is asked over http");
		return -ERR_INVAL;
	}
	if (!e->cert->ocsp_id && tls_cert_want_ocsp(e->cert, why) < 0)
		return -ERR_INVAL;
	j = job_for(p, e);
	if (!j) {
		(void)snprintf(why, TLS_WHY_MAX, "Out of memory");
		return -ERR_NOMEM;
	}
	j->due_ms = loop_now_ms(process_loop(p));
	run_due(p);
	return 0;
}
