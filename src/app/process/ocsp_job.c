/* One update of an OCSP response. On the first worker; nothing of it blocks. */
#include "app/process/ocsp_job.h"

#include <stdio.h>
#include <string.h>

#include "app/process/ocsp_update.h"
#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/wall.h"
#include "dns/hosts.h"
#include "dns/resolvers.h"
#include "tls/ocsp.h"
#include "tls/ocsp_store.h"

static void on_fetched(struct ocsp_fetch *f, unsigned int status, struct str body);

struct ocsp_job *
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

void
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

void
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

uint64_t
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
