/* One update of an OCSP response. On the first worker; nothing of it blocks. */
#include "app/process/ocsp_job.h"

#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/wall.h"
#include "dns/hosts.h"
#include "dns/resolvers.h"
#include "event/loop.h"
#include "event/timer.h"
#include "http/whole.h"
#include "net/outbound.h"
#include "tls/cert.h"
#include "tls/ocsp.h"
#include "tls/ocsp_store.h"

/* --- a fetch --------------------------------------------------------------------------------- */

static void on_fetch_timer(struct timer *t);

static void
ocsp_fetch_init(struct ocsp_fetch *f, struct loop *l, ocsp_fetched_fn *on_end)
{
	f->loop = l;
	f->on_end = on_end;
	conn_init(&f->conn);
	timer_init(&f->timer, on_fetch_timer);
	sbuf_init(&f->out, 0);
	f->in = NULL;
	f->sent = f->got = 0;
}

/* Without on_end(). May not run. */
static void
ocsp_fetch_stop(struct ocsp_fetch *f)
{
	conn_close_late(&f->conn);
	timer_stop(loop_timers(f->loop), &f->timer);
	sbuf_fini(&f->out);
	sbuf_init(&f->out, 0);
	mem_free(f->in);
	f->in = NULL;
	f->sent = f->got = 0;
}

static void
end_fetch(struct ocsp_fetch *f, unsigned int status, struct str body)
{
	char *in = f->in;

	f->in = NULL;
	ocsp_fetch_stop(f);
	f->on_end(f, status, body);
	mem_free(in);
}

static void
fail_fetch(struct ocsp_fetch *f)
{
	end_fetch(f, 0, (struct str){ NULL, 0 });
}

static void
on_fetch_timer(struct timer *t)
{
	fail_fetch(container_of(t, struct ocsp_fetch, timer));
}

/* 0, or -ERR_CLOSED. */
static int
send_fetch(struct ocsp_fetch *f)
{
	enum io_result r = conn_send_sbuf(&f->conn, &f->out, &f->sent);

	if (r == IO_ERR)
		return -ERR_CLOSED;
	conn_want(&f->conn, r == IO_AGAIN ? EV_R | EV_W : EV_R);
	return 0;
}

/* 1: it has ended. */
static int
look_at_response(struct ocsp_fetch *f, int ended)
{
	struct str body = { NULL, 0 };
	unsigned int status = 0;

	switch (http_whole_response(f->in, f->got, ended, &status, &body)) {
	case HTTP_WHOLE:
		end_fetch(f, status, body);
		return 1;
	case HTTP_WHOLE_MORE:
		if (f->got < OCSP_FETCH_MAX)
			return 0;
		break;
	case HTTP_WHOLE_BAD:
		break;
	}
	fail_fetch(f);
	return 1;
}

static void
read_response(struct ocsp_fetch *f)
{
	size_t got;

	do {
		switch (conn_recv(&f->conn, f->in + f->got, OCSP_FETCH_MAX - f->got, &got)) {
		case IO_OK:
			f->got += got;
			if (look_at_response(f, 0))
				return;
			break;
		case IO_AGAIN:
			return;
		case IO_EOF:
			(void)look_at_response(f, 1);
			return;
		case IO_ERR:
			fail_fetch(f);
			return;
		}
	} while (conn_is_ready(&f->conn, DIR_R));
}

static void
on_fetch_io(void *owner, int fd, uint32_t ev)
{
	struct ocsp_fetch *f = owner;

	(void)fd;
	if ((ev & EV_SPIN) || (f->sent < f->out.len && (ev & EV_W) && send_fetch(f) < 0))
		fail_fetch(f);
	else if (ev & (EV_R | EV_RDHUP | EV_HUP | EV_ERR))
		read_response(f);
}

/* Takes over the request, also when it fails. 0, or a negative reason: on_end() is not called. */
static int
ocsp_fetch_start(struct ocsp_fetch *f, const struct addr *to, struct sbuf *request)
{
	struct outbound o = { .to = to };
	int r = -ERR_NOMEM;

	f->out = *request;
	f->in = mem_alloc(OCSP_FETCH_MAX);
	if (f->in)
		r = timer_set(loop_timers(f->loop), &f->timer,
			loop_now_ms(f->loop) + OCSP_FETCH_MS);
	if (r >= 0)
		r = outbound_open(&f->conn, f->loop, &o, on_fetch_io, f);
	if (r < 0) {
		ocsp_fetch_stop(f);
		return r;
	}
	outbound_await(&f->conn);
	return 0;
}

static void on_fetched(struct ocsp_fetch *f, unsigned int status, struct str body);
static void ocsp_updates_on_end(struct ocsp_job *j);

/* NULL when memory is out. */
static struct ocsp_job *
ocsp_job_new(struct process *p, struct tls_entry *e)
{
	struct ocsp_job *j = mem_zalloc(sizeof(*j));

	if (!j)
		return NULL;
	list_init(&j->link);
	j->process = p;
	j->entry = e;
	j->due_ms = TIMER_NEVER;
	dns_watch_init(&j->watch);
	ocsp_fetch_init(&j->fetch, process_loop(p), on_fetched);
	return j;
}

/* Ends it if it is under way. */
static void
ocsp_job_free(struct ocsp_job *j)
{
	list_remove(&j->link);
	dns_lookup_unwatch(&j->watch);
	ocsp_fetch_stop(&j->fetch);
	tls_cert_put(j->cert);
	mem_free(j);
}

/* --- its result --- */

/* In the words of ssl_ocsp_status_str. */
static const char *
ocsp_result_text(enum ocsp_result r)
{
	static const char *const text[OCSP_RESULTS] = { "Unknown", "Update successful",
		"HTTP error", "Missing \"ocsp-response\" header", "OCSP response check failure",
		"Error during insertion" };

	return text[r];
}

static int64_t
wall_now_s(const struct ocsp_job *j)
{
	return (int64_t)(loop_wall_ns(process_loop(j->process)) / 1000000000);
}

static const struct tls_ocsp_conf *
ocsp_conf_of(const struct ocsp_job *j)
{
	return &j->process->cfg->tls.ocsp;
}

/* In the form of HAProxy's log-format for updates. */
static void
log_update(const struct ocsp_job *j, const char *why)
{
	uint64_t ns = loop_wall_ns(process_loop(j->process));
	struct wall w = { .valid = 0 };
	char text[64], by[ADDR_TEXT] = "";
	struct sbuf date;

	sbuf_init_fixed(&date, text, sizeof(text));
	wall_add_clf(&date, wall_local(&w, (int64_t)(ns / 1000000000)));
	log_msg(process_log(j->process),
		j->result == OCSP_UPDATED ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING,
		"-:- [%s.%03u] <OCSP-UPDATE> %s %d \"%s\" %u %u", text,
		(unsigned int)(ns / 1000000 % 1000), j->entry->name, (int)j->result,
		ocsp_result_text(j->result), j->failures, j->successes);
	if (!why)
		return;
	if (ocsp_conf_of(j)->proxy.len)
		(void)addr_text(&ocsp_conf_of(j)->proxy, by);
	log_msg(process_log(j->process), LOG_LEVEL_WARNING,
		"OCSP update of %s: responder %s:%u%s%s: %s", j->entry->name, j->to.host,
		j->to.port, *by ? " by the proxy " : "", by, why);
}

static void
end_update(struct ocsp_job *j, enum ocsp_result result, const char *why)
{
	j->state = OCSP_IDLE;
	j->result = result;
	j->last_s = wall_now_s(j);
	if (result == OCSP_UPDATED) {
		j->successes++;
		j->in_row = 0;
	} else {
		j->failures++;
		j->in_row++;
	}
	log_update(j, why);
	ocsp_updates_on_end(j);
}

/* All files that have the certificate get it. */
static enum ocsp_result
insert_response(struct ocsp_job *j, struct tls_ocsp *o)
{
	struct process *p = j->process;
	struct ocsp_cert_id_st *id = tls_cert_ocsp_id(j->cert);
	struct tls_ocsp_users users = { NULL, 0 };
	enum ocsp_result r = OCSP_NOT_INSERTED;

	if (id && tls_ocsp_users(&p->cfg->tls.certs, id, &users) == 0 && users.n) {
		rendezvous_begin(p);
		tls_ocsp_users_set(&users, o);
		rendezvous_end(p);
		r = OCSP_UPDATED;
	}
	tls_ocsp_users_free(&users);
	tls_ocsp_id_free(id);
	return r;
}

static void
on_fetched(struct ocsp_fetch *f, unsigned int status, struct str body)
{
	struct ocsp_job *j = container_of(f, struct ocsp_job, fetch);
	char why[TLS_WHY_MAX] = "no complete response";
	struct tls_ocsp *o;

	if (status != 200) {
		if (status)
			(void)snprintf(why, sizeof(why), "status %u", status);
		end_update(j, OCSP_HTTP_ERROR, why);
		return;
	}
	o = tls_ocsp_accept(j->cert, body.p, body.len, why);
	if (o)
		end_update(j, insert_response(j, o), NULL);
	else
		end_update(j, body.len ? OCSP_REFUSED : OCSP_NO_RESPONSE, why);
	tls_ocsp_put(o);
}

/* --- the responder --- */

/* The responder, or the proxy. */
static void
fetch_by(struct ocsp_job *j, const struct addr *a)
{
	struct sbuf request;
	int r;

	sbuf_init(&request, 0);
	j->state = OCSP_FETCHING;
	r = tls_ocsp_request(j->cert, &j->to, ocsp_conf_of(j)->proxy.len != 0, &request);
	if (r < 0)
		sbuf_fini(&request);
	else
		r = ocsp_fetch_start(&j->fetch, a, &request);
	if (r < 0)
		end_update(j, OCSP_HTTP_ERROR, err_text(r));
}

static void
fetch_from(struct ocsp_job *j, struct addr *a)
{
	addr_set_port(a, j->to.port);
	fetch_by(j, a);
}

static void
fetch_from_answer(struct ocsp_job *j, const struct dns_answer *answer)
{
	struct addr a;

	if (!answer->n) {
		end_update(j, OCSP_HTTP_ERROR, "its name has no address");
		return;
	}
	a = list_first(&answer->items, struct dns_item, link)->record.addr;
	fetch_from(j, &a);
}

static void
on_named(struct dns_watch *w, struct dns_nameserver *by)
{
	struct ocsp_job *j = container_of(w, struct ocsp_job, watch);
	const struct dns_answer *answer = &w->lookup->answer;
	struct addr a = { .len = 0 };

	(void)by;
	if (answer->n)
		a = list_first(&answer->items, struct dns_item, link)->record.addr;
	dns_lookup_unwatch(w);
	if (a.len)
		fetch_from(j, &a);
	else
		end_update(j, OCSP_HTTP_ERROR, "its name has no address");
}

static void
on_not_named(struct dns_watch *w, enum dns_status status)
{
	struct ocsp_job *j = container_of(w, struct ocsp_job, watch);

	(void)status;
	dns_lookup_unwatch(w);
	end_update(j, OCSP_HTTP_ERROR, "its name cannot be resolved");
}

static void
look_up_responder(struct ocsp_job *j)
{
	struct resolvers *res = proxies_find_resolvers(&j->process->cfg->proxies,
		RESOLVERS_DEFAULT);
	const struct dns_answer *known = NULL;
	int r = -ERR_UNKNOWN;

	j->watch.on_answer = on_named;
	j->watch.on_failure = on_not_named;
	j->state = OCSP_RESOLVING;
	if (res && res->loop)
		r = dns_lookup_ask(res, j->to.host, DNS_A, &j->watch, &known);
	if (r == 1)
		fetch_from_answer(j, known);
	else if (r < 0)
		end_update(j, OCSP_HTTP_ERROR,
			res ? err_text(r)
			    : "it is not in /etc/hosts, and there is no section 'resolvers "
			      "default' to find its name");
}

/* Begins an update of an idle job. ocsp_updates_on_end() follows, maybe before this returns. */
static void
ocsp_job_start(struct ocsp_job *j)
{
	const struct tls_ocsp_conf *conf = ocsp_conf_of(j);
	struct addr a;

	if (tls_ocsp_responder_of(j->cert, &j->to) < 0)
		end_update(j, OCSP_HTTP_ERROR, "the certificate names no responder");
	else if (conf->proxy.len)
		fetch_by(j, &conf->proxy);
	else if (addr_parse_ip(j->to.host, &a) == 0 ||
		(conf->hosts && hosts_find(conf->hosts, j->to.host, &a) == 0))
		fetch_from(j, &a);
	else
		look_up_responder(j);
}

/* --- times --- */

/* When to ask again, on the loop's clock: before the response expires, and not earlier than in so
 * many seconds. */
static uint64_t
ocsp_job_next(const struct ocsp_job *j, uint32_t least_s)
{
	const struct tls_ocsp *o = j->entry->cert ? j->entry->cert->ocsp : NULL;
	const struct tls_ocsp_conf *conf = &j->process->cfg->tls.ocsp;
	int64_t left = o ? o->expires - wall_now_s(j) : 0;

	left = MAX(left, (int64_t)least_s);
	return loop_now_ms(process_loop(j->process)) +
		(uint64_t)MAX(MIN(left, (int64_t)conf->max_s), 0) * 1000;
}

/* --- shown --- */

static void
show_time(int64_t s, struct sbuf *out)
{
	struct wall w = { .valid = 0 };
	const struct tm *tm = wall_local(&w, s);

	wall_add_clf(out, tm);
	sbuf_addc(out, ' ');
	wall_add_zone(out, tm);
}

void
ocsp_job_show(const struct ocsp_job *j, struct sbuf *out)
{
	struct ocsp_cert_id_st *id = j->cert ? tls_cert_ocsp_id(j->cert) : NULL;
	uint64_t now = loop_now_ms(process_loop(j->process));

	if (id && j->entry->updates_ocsp) {
		tls_ocsp_id_hex(id, out);
		sbuf_addf(out, " | %s | ", j->entry->name);
		if (j->due_ms == TIMER_NEVER)
			sbuf_addc(out, '-');
		else
			show_time(wall_now_s(j) +
					(int64_t)(j->due_ms > now ? (j->due_ms - now) / 1000 : 0),
				out);
		sbuf_adds(out, " | ");
		if (j->last_s)
			show_time(j->last_s, out);
		else
			sbuf_addc(out, '-');
		sbuf_addf(out, " | %u | %u | %d | %s\n", j->successes, j->failures, (int)j->result,
			ocsp_result_text(j->result));
	}
	tls_ocsp_id_free(id);
}

/* --- updates --------------------------------------------------------------------------------- */

/* Schedules the requests for OCSP responses. On the first worker. */

/* --- jobs --- */

static void
take_cert(struct ocsp_job *j, struct tls_cert *c)
{
	char why[TLS_WHY_MAX];

	j->cert = tls_cert_ref(c);
	j->in_row = 0;
	/* Handshakes do not read the members that this sets. */
	if (!c->ocsp_id && tls_cert_want_ocsp(c, why) < 0)
		log_msg(process_log(j->process), LOG_LEVEL_WARNING, "OCSP update of %s: %s",
			j->entry->name, why);
	else if (j->entry->updates_ocsp)
		j->due_ms = ocsp_job_next(j, 0);
}

/* Applies a change of the file, which may have another certificate now, or none: results so far are
 * about the previous one. */
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

/* Follows lines that turn updates on or off at run time. */
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

/* Called by a job: it is idle again, with its result. */
static void
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
