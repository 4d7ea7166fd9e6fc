/* The fields of show info (management manual 9.3). On the first worker; counters of others are
 * read as they are. */
#include "app/admin/info.h"

#include <stdio.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/config/version.h"
#include "app/process/process.h"
#include "app/process/process_peers.h"
#include "app/process/totals.h"
#include "base/hash.h"
#include "dns/resolvers.h"
#include "tls/conn_info.h"
#include "tls/sessions.h"

static struct field info_field(const struct info *i, enum info_field f);

const struct field *
info_field_of(enum info_field f)
{
	static const struct field fields[INFO_FIELDS] = {
#define INFO_ROW(id, pos, name, tags, type, desc) { name, pos, tags, type, desc },
#include "app/admin/info.tbl.h"
#undef INFO_ROW
	};

	return &fields[f];
}

static void
info_put(struct info *i, enum info_field f, uint64_t n)
{
	i->v[f] = (struct field_value){ .kind = VAL_INT, .u.n = (int64_t)n };
}

static void
info_put_text(struct info *i, enum info_field f, const char *s)
{
	i->v[f] = (struct field_value){ .kind = VAL_TEXT, .u.s = s };
}

/* d with the argument float, else n. */
static void
info_put_either(struct info *i, enum info_field f, uint64_t n, double d)
{
	if (i->is_float)
		i->v[f] = (struct field_value){ .kind = VAL_FLOAT, .u.d = d };
	else
		info_put(i, f, n);
}

static void
info_put_rate(struct info *i, enum info_field f, uint64_t n)
{
	info_put_either(i, f, n, (double)n);
}

static void
info_put_process(const struct process *p, struct info *i)
{
	uint64_t ms = loop_now_ms(process_loop(p)) - p->started_ms, up = ms / 1000;

	info_put_text(i, INFO_name, "HAProxy");
	info_put_text(i, INFO_version, VERSION_COMPAT);
	info_put_text(i, INFO_release_date, VERSION_DATE);
	info_put(i, INFO_nbthread, p->n_workers);
	info_put(i, INFO_nbproc, 1);
	info_put(i, INFO_process_num, 1);
	info_put(i, INFO_pid, (uint64_t)process_log(p)->id.pid);
	(void)snprintf(i->uptime, sizeof(i->uptime), "%llud %lluh%02llum%02llus",
		(unsigned long long)(up / 86400), (unsigned long long)(up / 3600 % 24),
		(unsigned long long)(up / 60 % 60), (unsigned long long)(up % 60));
	info_put_text(i, INFO_uptime, i->uptime);
	info_put_either(i, INFO_uptime_sec, up, (double)ms / 1e3);
	info_put_either(i, INFO_start_time_sec, p->started_wall_ns / 1000000000u,
		(double)p->started_wall_ns / 1e9);
	info_put_text(i, INFO_node, p->node);
	if (p->cfg->global.description)
		info_put_text(i, INFO_description, p->cfg->global.description);
	info_put_text(i, INFO_build_info, VERSION_COMPAT);
}

static void
info_put_memory(const struct process *p, const struct totals *t, struct info *i)
{
	uint64_t max = p->cfg->global.memory;

	info_put(i, INFO_memmax_mb, max >> 20);
	info_put(i, INFO_poolalloc_mb, t->memory_used >> 20);
	info_put(i, INFO_poolused_mb, t->memory_live >> 20);
	info_put(i, INFO_poolfailed, t->pool_fails);
	info_put(i, INFO_memmax_bytes, max);
	info_put(i, INFO_poolalloc_bytes, t->memory_used);
	info_put(i, INFO_poolused_bytes, t->memory_live);
}

static void
info_put_load(const struct process *p, const struct totals *t, struct info *i)
{
	const struct limits *l = &p->limits;
	const struct engine_shared *sh = &p->shared;
	uint64_t now = loop_now_ms(process_loop(p));
	uint64_t asked = p->admin ? p->admin->accepted : 0;

	info_put(i, INFO_ulimit_n, l->fds);
	info_put(i, INFO_maxsock, l->fds);
	info_put(i, INFO_maxconn, sh->max_sessions);
	info_put(i, INFO_hard_maxconn, l->maxconn);
	info_put(i, INFO_currconns, t->sessions);
	/* As in HAProxy connections of this socket are included. */
	info_put(i, INFO_cumconns, t->cum_conns + asked);
	info_put(i, INFO_cumreq, t->requests + asked);
	info_put(i, INFO_maxpipes, l->pipes);
	info_put(i, INFO_pipesused, t->pipes_used);
	info_put(i, INFO_pipesfree, t->pipes_idle);
	info_put_rate(i, INFO_connrate, freq_read(&t->conn_rate, now));
	info_put(i, INFO_connratelimit, sh->conn_limit.max);
	info_put(i, INFO_maxconnrate, t->conn_rate.max);
	info_put_rate(i, INFO_sessrate, freq_read(&t->sess_rate, now));
	info_put(i, INFO_sessratelimit, sh->sess_limit.max);
	info_put(i, INFO_maxsessrate, t->sess_rate.max);
	info_put(i, INFO_tasks, t->timers);
	info_put(i, INFO_run_queue, 0);
	info_put(i, INFO_idle_pct, t->idle_pct);
	info_put(i, INFO_droppedlogs, t->logs_dropped);
	info_put(i, INFO_totalbytesout, t->bytes_sent);
	info_put(i, INFO_totalspliced, t->spliced);
	info_put_rate(i, INFO_compressbpsin, freq_read(&t->comp_in, now));
	info_put_rate(i, INFO_compressbpsout, freq_read(&t->comp_out, now));
	info_put(i, INFO_compressbpsratelim, sh->comp_rate);
	info_put(i, INFO_bytesoutrate, (uint64_t)freq_read(&t->sent_rate, now) * SENT_PIECE);
}

/* Per cent of the handshakes with clients that resumed a session, in the last second: as in HAProxy
 * of the connections that have begun in it. */
static uint32_t
reused_pct(uint32_t begun, uint32_t keys)
{
	return keys < begun ? 100 - (100 * keys + (begun - 1) / 2) / begun : 0;
}

static void
info_put_tls(const struct process *p, const struct totals *t, struct info *i)
{
	uint64_t now = loop_now_ms(process_loop(p));
	uint32_t begun = freq_read(&t->tls_accepted, now);
	uint32_t keys = freq_read(&t->tls_client_keys, now);
	uint64_t lookups, misses;

	tls_sessions_count(p->cfg->tls.sessions, &lookups, &misses);
	info_put(i, INFO_sslcachelookups, lookups);
	info_put(i, INFO_sslcachemisses, misses);
	info_put(i, INFO_maxsslconns, p->tls.max);
	info_put(i, INFO_currsslconns, t->tls_live);
	info_put(i, INFO_cumsslconns, t->tls_cum);
	info_put_rate(i, INFO_sslrate, begun);
	info_put(i, INFO_sslratelimit, p->shared.tls_limit.max);
	info_put(i, INFO_maxsslrate, t->tls_accepted.max);
	info_put_rate(i, INFO_sslfrontendkeyrate, keys);
	info_put(i, INFO_sslfrontendmaxkeyrate, t->tls_client_keys.max);
	info_put_rate(i, INFO_sslfrontendsessionreuse, reused_pct(begun, keys));
	info_put_rate(i, INFO_sslbackendkeyrate, freq_read(&t->tls_server_keys, now));
	info_put(i, INFO_sslbackendmaxkeyrate, t->tls_server_keys.max);
}

/* Peers that are connected, and those whose handshake is complete. */
static void
info_put_peers(const struct process *p, struct info *i)
{
	info_put(i, INFO_connectedpeers, p->peers ? atomic_read(&p->peers->n_connected) : 0);
	info_put(i, INFO_activepeers, p->peers ? atomic_read(&p->peers->n_active) : 0);
}

/* Without what does not exist here there is nothing to count. */
static void
info_put_absent(struct info *i)
{
	static const enum info_field zeros[] = { INFO_unstoppable_jobs,
		INFO_busypolling, INFO_debugcommands,
		INFO_cumrecvlogs, INFO_tainted };

	for (size_t f = 0; f < ARRAY_LEN(zeros); f++)
		info_put(i, zeros[f], 0);
}

/* The first worker has the resolvers. */
static uint64_t
failed_resolutions(const struct proxies *ps)
{
	uint64_t n = 0;

	list_each(it, &ps->resolvers)
		n += list_entry(it, struct resolvers, link)->failures;
	return n;
}

static void
info_put_state(const struct process *p, const struct totals *t, struct info *i)
{
	unsigned int asking = p->admin ? p->admin->n : 0;

	info_put(i, INFO_stopping, p->state >= PROCESS_GRACE);
	info_put(i, INFO_jobs, t->sessions + asking + process_listeners(p));
	info_put(i, INFO_listeners, process_listeners(p));
	info_put(i, INFO_failedresolutions, failed_resolutions(&p->cfg->proxies));
}

/* Fields of tacit only. */
static void
info_put_own(const struct process *p, const struct totals *t, struct info *i)
{
	const struct loop *l = process_loop(p);
	const struct loop_stats *ls = &t->loop;
	int64_t ends;

	info_put_text(i, INFO_poller, loop_poller_name(l));
	info_put_text(i, INFO_epoll_mode, interest_mode_name(loop_mode(l)));
	info_put(i, INFO_loop_turns, ls->turns);
	info_put(i, INFO_loop_events, ls->events);
	info_put(i, INFO_loop_speculative_turns, ls->spec_turns);
	info_put(i, INFO_loop_stale_events, ls->stale);
	info_put(i, INFO_loop_spins, ls->spins);
	info_put(i, INFO_loop_refused, ls->set_errors);
	info_put(i, INFO_fsm_bugs, t->fsm_bugs);
	info_put(i, INFO_lingers, t->lingers);
	info_put(i, INFO_memory_holds, t->memory_holds);
	info_put(i, INFO_buffer_waits, t->buf_waits);
	info_put(i, INFO_stream_waits, t->bulk_waits);
	info_put(i, INFO_splice_bytes, t->spliced);
	info_put(i, INFO_splice_fallbacks, t->splice_fallbacks);
	info_put(i, INFO_zerocopy_pinned, t->zerocopy.pinned);
	info_put(i, INFO_zerocopy_bytes, t->zerocopy.bytes);
	info_put(i, INFO_zerocopy_copied, t->zerocopy.copied);
	info_put(i, INFO_zerocopy_refused, t->zerocopy.refused);
	info_put(i, INFO_zerocopy_full, t->zerocopy.full);
	info_put(i, INFO_regex_ended, t->shortfalls[SHORTFALL_REGEX]);
	info_put(i, INFO_values_too_long, t->shortfalls[SHORTFALL_ROOM]);
	info_put(i, INFO_sentlogs, t->logs_sent);
	info_put(i, INFO_syscalls, ledger_total(&t->ledger));
	confinement_text(p->confined, i->confinement, sizeof(i->confinement));
	info_put_text(i, INFO_confinement, i->confinement);
	info_put(i, INFO_reloads, p->reloads.n);
	info_put(i, INFO_failed_reloads, p->reloads.failed);
	info_put(i, INFO_last_reload_ok, !p->reloads.last_failed);
	if (tls_first_cert_end(&p->cfg->tls.certs, &ends))
		info_put(i, INFO_first_cert_end, (uint64_t)ends);
}

/* Reads the values of this process alone. */
static void
info_read_own(struct info *i, const struct process *p, int is_float)
{
	struct totals t;

	*i = (struct info){ .is_float = is_float };
	totals_read(p, &t);
	info_put_process(p, i);
	info_put_memory(p, &t, i);
	info_put_load(p, &t, i);
	info_put_tls(p, &t, i);
	info_put_absent(i);
	info_put_peers(p, i);
	info_put_state(p, &t, i);
	info_put_own(p, &t, i);
}

/* --- over reloads ---------------------------------------------------------------------------- */

/*
 * The fields of show info that outlive a worker process: its counters and highest values. First
 * worker. They are noted in the memory file whenever they are shown, and now and then.
 */

/* HAProxy calls these something else. */
static const enum info_field counted[] = { INFO_droppedlogs, INFO_failedresolutions,
	INFO_totalbytesout, INFO_totalspliced };
static const enum info_field maxima[] = { INFO_maxconnrate, INFO_maxsessrate,
	INFO_maxsslrate, INFO_sslfrontendmaxkeyrate, INFO_sslbackendmaxkeyrate };

enum info_nature { INFO_OF_NOW, INFO_COUNTED, INFO_HIGHEST };

static enum info_nature
nature_of(enum info_field f)
{
	for (size_t i = 0; i < ARRAY_LEN(maxima); i++)
		if (maxima[i] == f)
			return INFO_HIGHEST;
	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		if (counted[i] == f)
			return INFO_COUNTED;
	return info_field_of(f)->tags[1] == 'C' ? INFO_COUNTED : INFO_OF_NOW;
}

/* Changes when a field is added or gets another meaning. */
static void
put_layout_name(char *to, size_t len)
{
	uint32_t h = 0;

	for (int f = 0; f < INFO_FIELDS; f++) {
		const char *name = info_field_of((enum info_field)f)->name;
		enum info_nature n = nature_of((enum info_field)f);

		h = hash_crc32c(h, name, strlen(name) + 1);
		h = hash_crc32c(h, &n, sizeof(n));
	}
	(void)snprintf(to, len, "info %08x", h);
}

static int
is_highest(unsigned int f)
{
	return nature_of((enum info_field)f) == INFO_HIGHEST;
}

int
info_keep(struct process *p)
{
	char name[16];

	put_layout_name(name, sizeof(name));
	return keep_numbers(p, name, INFO_FIELDS, is_highest, &p->info);
}

static void
note_values(const struct keep_numbers *kept, const struct info *i)
{
	for (int f = 0; f < INFO_FIELDS; f++)
		if (nature_of((enum info_field)f) != INFO_OF_NOW && i->v[f].kind == VAL_INT)
			kept->own[f] = (uint64_t)i->v[f].u.n;
}

void
info_note(struct process *p)
{
	struct info i;

	if (!p->info.own)
		return;
	info_read_own(&i, p, 0);
	note_values(&p->info, &i);
}

static void
info_add_past(struct info *i, const struct process *p)
{
	if (!p->info.own)
		return;
	note_values(&p->info, i);
	for (int f = 0; f < INFO_FIELDS; f++) {
		enum info_nature n = nature_of((enum info_field)f);
		int64_t past;

		if (n == INFO_OF_NOW || i->v[f].kind != VAL_INT)
			continue;
		past = (int64_t)keep_number_past(&p->info, (unsigned int)f);
		if (n == INFO_COUNTED)
			i->v[f].u.n += past;
		else
			i->v[f].u.n = MAX(i->v[f].u.n, past);
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

void
info_read(struct info *i, const struct process *p, int is_float)
{
	info_read_own(i, p, is_float);
	info_add_past(i, p);
}

/* --- commands -------------------------------------------------------------------------------- */

/*
 * show info: the process as fields in HAProxy's forms (management manual 9.3). On the first
 * worker.
 */

static void
info_print_plain(struct sbuf *o, const struct info *i, int has_desc)
{
	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		sbuf_addf(o, "%s: ", info_field_of((enum info_field)f)->name);
		field_put_value(o, &i->v[f]);
		if (has_desc)
			sbuf_addf(o, ":\"%s\"", info_field_of((enum info_field)f)->desc);
		sbuf_addc(o, '\n');
	}
}

/* HAProxy calls these gauges, except as floating-point numbers. */
static struct field
info_field(const struct info *i, enum info_field f)
{
	struct field d = *info_field_of(f);

	if (i->is_float && (f == INFO_sslfrontendkeyrate || f == INFO_sslfrontendsessionreuse))
		d.tags = "MRP";
	return d;
}

static void
info_print_typed(struct sbuf *o, const struct info *i, int has_desc)
{
	struct field d;

	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		d = info_field(i, (enum info_field)f);
		sbuf_addf(o, "%u.%s.1", d.pos, d.name);
		field_put_typed(o, &d, &i->v[f], has_desc);
	}
}

static void
info_print_json(struct sbuf *o, const struct info *i)
{
	const char *before = "[{";
	struct field d;

	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		sbuf_adds(o, before);
		d = info_field(i, (enum info_field)f);
		field_put_json(o, &d, &i->v[f]);
		before = "},{";
	}
	sbuf_adds(o, "}]\n");
}

void
admin_cmd_show_info(struct admin_conn *c, int argc, char **argv)
{
	struct info i;
	enum field_form form = FORM_PLAIN;
	int has_desc = 0, is_float = 0;

	for (int a = 0; a < argc; a++) {
		if (strcmp(argv[a], "typed") == 0) {
			form = FORM_TYPED;
		} else if (strcmp(argv[a], "json") == 0) {
			form = FORM_JSON;
		} else if (strcmp(argv[a], "desc") == 0) {
			has_desc = 1;
		} else if (strcmp(argv[a], "float") == 0) {
			is_float = 1;
		} else {
			admin_msg(c, ADMIN_ERR,
				"Invalid argument '%s': expects desc, float, json or typed.",
				argv[a]);
			return;
		}
	}
	info_read(&i, c->admin->process, is_float);
	if (form == FORM_JSON)
		info_print_json(&c->out, &i);
	else if (form == FORM_TYPED)
		info_print_typed(&c->out, &i, has_desc);
	else
		info_print_plain(&c->out, &i, has_desc);
}

void
admin_cmd_show_version(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	admin_msg(c, ADMIN_INFO, "%s", VERSION_COMPAT);
}

void
admin_cmd_show_schema_json(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	field_put_schema(&c->out);
}
