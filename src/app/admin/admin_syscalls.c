/* show syscalls and clear syscalls: the ledger of all workers, since the start or the last clear,
 * and since it was last shown. On the first worker; others count meanwhile. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/totals.h"
#include "base/json.h"

/* The arguments of `show syscalls`. */
struct syscalls_query {
	int is_all;      /* with calls of the start, and those before `clear syscalls` */
	int by_worker, by_frontend, is_json;
};

/* The answer while it is made. */
struct syscalls_view {
	const struct process *process;
	struct syscalls_query query;
	struct ledger_mark now, from;
	struct ledger since_last;
	double seconds, seconds_since_last;
};

/* A row: one call, or all. */
struct syscalls_row {
	const char *name;
	uint64_t n[SYS_OUTCOMES], sum, since_last;
	int is_clock;
};

static double
share_of(uint64_t sum, double by)
{
	return by > 0 ? (double)sum / by : 0.0;
}

static double
seconds_between(uint64_t from_ms, uint64_t to_ms)
{
	return (double)(to_ms - from_ms) / 1e3;
}

/* --- the numbers ----------------------------------------------------------------------------- */

static void
subtract_ledger(struct ledger *l, const struct ledger *less)
{
	for (int c = 0; c < SYS_CALLS; c++)
		for (int o = 0; o < SYS_OUTCOMES; o++)
			l->n[c][o] -= less->n[c][o];
}

static void
read_syscalls(struct syscalls_view *v, struct process *p)
{
	totals_mark(p, &v->now);
	v->process = p;
	v->from = p->cleared;
	if (v->query.is_all)
		v->from = (struct ledger_mark){ .at_ms = p->started_ms };
	v->seconds = seconds_between(v->from.at_ms, v->now.at_ms);
	v->seconds_since_last = seconds_between(p->shown.at_ms, v->now.at_ms);
	v->since_last = v->now.ledger;
	subtract_ledger(&v->since_last, &p->shown.ledger);
	p->shown = v->now;
	subtract_ledger(&v->now.ledger, &v->from.ledger);
	v->now.conns -= v->from.conns;
	v->now.requests -= v->from.requests;
}

static struct syscalls_row
row_of_call(const struct syscalls_view *v, enum sys_call call)
{
	struct syscalls_row r = { .name = ledger_name(call),
		.sum = ledger_sum(&v->now.ledger, call),
		.since_last = ledger_sum(&v->since_last, call),
		.is_clock = ledger_is_clock(call) };

	memcpy(r.n, v->now.ledger.n[call], sizeof(r.n));
	return r;
}

/* Clock reads are not in it. */
static struct syscalls_row
row_of_total(const struct syscalls_view *v)
{
	struct syscalls_row r = { .name = "total", .sum = ledger_total(&v->now.ledger),
		.since_last = ledger_total(&v->since_last) };

	for (int c = 0; c < SYS_CALLS; c++)
		for (int o = 0; o < SYS_OUTCOMES && !ledger_is_clock((enum sys_call)c); o++)
			r.n[o] += v->now.ledger.n[c][o];
	return r;
}

/* The calls of one worker in the row; call SYS_CALLS: all of them. */
static uint64_t
count_of_worker(const struct syscalls_view *v, unsigned int index, enum sys_call call)
{
	const struct worker *w = &v->process->workers[index];
	struct ledger l = { 0 };

	ledger_add_all(&l, w->sys);
	if (!v->query.is_all)
		subtract_ledger(&l, &w->cleared);
	return call == SYS_CALLS ? ledger_total(&l) : ledger_sum(&l, call);
}

/* --- as text --------------------------------------------------------------------------------- */

static void
put_workers(struct sbuf *out, const struct syscalls_view *v, enum sys_call call)
{
	sbuf_adds(out, " [");
	for (unsigned int i = 0; i < v->process->n_workers; i++)
		sbuf_addf(out, " %llu", (unsigned long long)count_of_worker(v, i, call));
	sbuf_adds(out, " ]");
}

static void
put_table_row(struct sbuf *out, const struct syscalls_view *v, const struct syscalls_row *r,
	enum sys_call call)
{
	sbuf_addf(out, "%-18s %12llu %12llu %12llu %12llu %12llu %12.1f %10.3f %10.3f%s", r->name,
		(unsigned long long)r->sum, (unsigned long long)r->n[SYS_OK],
		(unsigned long long)r->n[SYS_AGAIN], (unsigned long long)r->n[SYS_ERROR],
		(unsigned long long)r->since_last, share_of(r->since_last, v->seconds_since_last),
		share_of(r->sum, (double)v->now.conns), share_of(r->sum, (double)v->now.requests),
		r->is_clock ? " vdso" : "");
	if (v->query.by_worker)
		put_workers(out, v, call);
	sbuf_addc(out, '\n');
}

/* The lines behind the rows. */
static void
put_table_end(struct sbuf *out, const struct syscalls_view *v)
{
	struct totals t;
	char wakes[200];

	sbuf_addf(out, "%-18s %12llu\n%-18s %12llu\n%-18s %12.3f\n%-18s %12.3f\n%-18s %12llu\n",
		"connections", (unsigned long long)v->now.conns, "requests",
		(unsigned long long)v->now.requests, "seconds", v->seconds, "since_last",
		v->seconds_since_last, "at_start",
		(unsigned long long)ledger_total(&v->process->at_start));
	if (v->process->n_workers == 1)
		return;
	totals_read(v->process, &t);
	totals_wakes_text(&t, wakes, sizeof(wakes));
	sbuf_addf(out, "%s\n", wakes);
}

static void
put_table(struct sbuf *out, const struct syscalls_view *v)
{
	struct syscalls_row r;

	sbuf_addf(out, "# %-16s %12s %12s %12s %12s %12s %12s %10s %10s%s\n", "call", "total", "ok",
		"again", "error", "since_last", "per_sec", "per_conn", "per_req",
		v->query.by_worker ? " [ workers ]" : "");
	for (int i = 0; i < SYS_CALLS; i++) {
		r = row_of_call(v, (enum sys_call)i);
		if (r.sum)
			put_table_row(out, v, &r, (enum sys_call)i);
	}
	r = row_of_total(v);
	put_table_row(out, v, &r, SYS_CALLS);
	put_table_end(out, v);
}

/* --- as JSON --------------------------------------------------------------------------------- */

static void
put_json_row(struct sbuf *out, const struct syscalls_view *v, const struct syscalls_row *r,
	enum sys_call call)
{
	sbuf_addf(out,
		"{\"call\":\"%s\",\"total\":%llu,\"ok\":%llu,\"again\":%llu,\"error\":%llu,"
		"\"since_last\":%llu,\"per_sec\":%.3f,\"per_conn\":%.6f,\"per_req\":%.6f,"
		"\"vdso\":%s,\"workers\":[",
		r->name, (unsigned long long)r->sum, (unsigned long long)r->n[SYS_OK],
		(unsigned long long)r->n[SYS_AGAIN], (unsigned long long)r->n[SYS_ERROR],
		(unsigned long long)r->since_last, share_of(r->since_last, v->seconds_since_last),
		share_of(r->sum, (double)v->now.conns), share_of(r->sum, (double)v->now.requests),
		r->is_clock ? "true" : "false");
	for (unsigned int i = 0; i < v->process->n_workers; i++)
		sbuf_addf(out, "%s%llu", i ? "," : "",
			(unsigned long long)count_of_worker(v, i, call));
	sbuf_adds(out, "]}");
}

static void
put_json(struct sbuf *out, const struct syscalls_view *v)
{
	const char *before = "";
	struct syscalls_row r;

	sbuf_addf(out,
		"{\"connections\":%llu,\"requests\":%llu,\"seconds\":%.3f,"
		"\"seconds_since_last\":%.3f,\"at_start\":%llu,\"calls\":[",
		(unsigned long long)v->now.conns, (unsigned long long)v->now.requests, v->seconds,
		v->seconds_since_last, (unsigned long long)ledger_total(&v->process->at_start));
	for (int i = 0; i < SYS_CALLS; i++) {
		r = row_of_call(v, (enum sys_call)i);
		if (!r.sum)
			continue;
		sbuf_adds(out, before);
		put_json_row(out, v, &r, (enum sys_call)i);
		before = ",\n";
	}
	sbuf_adds(out, "],\n\"total\":");
	r = row_of_total(v);
	put_json_row(out, v, &r, SYS_CALLS);
	sbuf_adds(out, "}\n");
}

/* --- by frontend ----------------------------------------------------------------------------- */

/* The calls for a frontend, or for none (NULL): 0, or -1 if there are none. */
static int
read_account(const struct syscalls_view *v, const struct proxy *fe, struct syscalls_view *out)
{
	const struct ledger_mark *from = &v->process->cleared_accounts[fe ? fe->account : 0];

	*out = *v;
	memset(&out->since_last, 0, sizeof(out->since_last));
	totals_mark_account(v->process, fe, &out->now);
	if (!v->query.is_all) {
		subtract_ledger(&out->now.ledger, &from->ledger);
		/* `clear counters` may have been given since. */
		out->now.conns -= MIN(from->conns, out->now.conns);
		out->now.requests -= MIN(from->requests, out->now.requests);
	}
	return ledger_total(&out->now.ledger) ? 0 : -1;
}

static void
put_frontend_row(struct sbuf *out, const struct syscalls_view *v, const struct syscalls_row *r,
	const char *name)
{
	sbuf_addf(out, "%-18s %-18s %12llu %12llu %12llu %12llu %12.1f %10.3f %10.3f%s\n", name,
		r->name, (unsigned long long)r->sum, (unsigned long long)r->n[SYS_OK],
		(unsigned long long)r->n[SYS_AGAIN], (unsigned long long)r->n[SYS_ERROR],
		share_of(r->sum, v->seconds), share_of(r->sum, (double)v->now.conns),
		share_of(r->sum, (double)v->now.requests), r->is_clock ? " vdso" : "");
}

/* The rows of a frontend, or of none. */
static void
put_account(struct sbuf *out, const struct syscalls_view *all, const struct proxy *fe)
{
	const char *name = fe ? fe->name : "-";
	struct syscalls_view v;
	struct syscalls_row r;

	if (read_account(all, fe, &v) < 0)
		return;
	for (int i = 0; i < SYS_CALLS; i++) {
		r = row_of_call(&v, (enum sys_call)i);
		if (r.sum)
			put_frontend_row(out, &v, &r, name);
	}
	r = row_of_total(&v);
	put_frontend_row(out, &v, &r, name);
}

static void
put_json_frontend(struct sbuf *out, const struct syscalls_view *all, const struct proxy *fe)
{
	const char *before = "";
	struct syscalls_view v;
	struct syscalls_row r;

	if (read_account(all, fe, &v) < 0)
		return;
	if (out->len && out->p[out->len - 1] != '[')
		sbuf_adds(out, ",\n");
	sbuf_adds(out, "{\"frontend\":");
	if (fe)
		json_put(out, str_of(fe->name), SIZE_MAX);
	else
		sbuf_adds(out, "null");
	sbuf_addf(out, ",\"connections\":%llu,\"requests\":%llu,\"total\":%llu,\"calls\":[",
		(unsigned long long)v.now.conns, (unsigned long long)v.now.requests,
		(unsigned long long)ledger_total(&v.now.ledger));
	for (int i = 0; i < SYS_CALLS; i++) {
		r = row_of_call(&v, (enum sys_call)i);
		if (!r.sum)
			continue;
		sbuf_addf(out,
			"%s{\"call\":\"%s\",\"total\":%llu,\"ok\":%llu,\"again\":%llu,"
			"\"error\":%llu,\"per_conn\":%.6f,\"per_req\":%.6f}",
			before, r.name, (unsigned long long)r.sum, (unsigned long long)r.n[SYS_OK],
			(unsigned long long)r.n[SYS_AGAIN], (unsigned long long)r.n[SYS_ERROR],
			share_of(r.sum, (double)v.now.conns),
			share_of(r.sum, (double)v.now.requests));
		before = ",";
	}
	sbuf_adds(out, "]}");
}

/* Puts the calls of no frontend first: of the loop, of checks, logs and the stats socket. */
static void
put_frontends(struct sbuf *out, const struct syscalls_view *v)
{
	void (*put)(struct sbuf *, const struct syscalls_view *, const struct proxy *) =
		v->query.is_json ? put_json_frontend : put_account;

	if (v->query.is_json)
		sbuf_addc(out, '[');
	else
		sbuf_addf(out, "# %-16s %-18s %12s %12s %12s %12s %12s %10s %10s\n", "frontend",
			"call", "total", "ok", "again", "error", "per_sec", "per_conn", "per_req");
	put(out, v, NULL);
	list_each(it, &v->process->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, struct proxy, link);

		if (fe->account)
			put(out, v, fe);
	}
	if (v->query.is_json)
		sbuf_adds(out, "]\n");
}

/* --- the commands ---------------------------------------------------------------------------- */

static int
parse_syscalls_query(int argc, char **argv, struct syscalls_query *q)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "all") == 0)
			q->is_all = 1;
		else if (strcmp(argv[i], "workers") == 0)
			q->by_worker = 1;
		else if (strcmp(argv[i], "frontends") == 0)
			q->by_frontend = 1;
		else if (strcmp(argv[i], "json") == 0)
			q->is_json = 1;
		else
			return -1;
	}
	return q->by_worker && q->by_frontend ? -1 : 0;
}

void
admin_cmd_show_syscalls(struct admin_conn *c, int argc, char **argv)
{
	struct syscalls_view v = { .query.is_all = 0 };

	if (parse_syscalls_query(argc, argv, &v.query) < 0) {
		admin_msg(c, ADMIN_ERR,
			"Expects 'all', 'json', and 'workers' or 'frontends'.");
		return;
	}
	/* Counts up to now: calls for this response are not included. */
	read_syscalls(&v, c->admin->process);
	if (v.query.by_frontend)
		put_frontends(&c->out, &v);
	else if (v.query.is_json)
		put_json(&c->out, &v);
	else
		put_table(&c->out, &v);
}

void
admin_cmd_clear_syscalls(struct admin_conn *c, int argc, char **argv)
{
	(void)argv;
	if (argc > 0)
		admin_msg(c, ADMIN_ERR, "'clear syscalls' takes no argument.");
	else if (totals_clear_ledger(c->admin->process) < 0)
		admin_msg(c, ADMIN_ERR, "Out of memory.");
}
