/* show latency: the histograms of times, as a table, CSV or JSON. On the first worker; others count
 * meanwhile. */
#include "app/admin/admin_latency.h"

#include <stdio.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_stat.h"
#include "app/admin/field.h"
#include "app/admin/stat_rows.h"
#include "base/json.h"

static const char *
item_name(const struct stat_item *item)
{
	static const char *const names[] = { [TYPE_FRONTEND] = "FRONTEND",
		[TYPE_BACKEND] = "BACKEND" };

	return item->type == TYPE_SERVER ? item->server->name : names[item->type];
}

static void
put_latency_header(struct sbuf *out)
{
	sbuf_adds(out, "# pxname,svname,time,count,sum_us,p50_us,p90_us,p99_us");
	for (unsigned int i = 0; i < LATENCY_BOUNDS; i++)
		sbuf_addf(out, ",le_%llu", (unsigned long long)latency_bound_us(i));
	sbuf_adds(out, ",le_inf\n");
}

/* The numbers of the buckets add up, as those of metrics do. */
static void
put_latency_row(struct sbuf *out, const struct stat_item *item, const char *svname,
	const struct latency *l, enum latency_kind k)
{
	static const unsigned int permille[] = { 500, 900, 990 };
	uint64_t n = 0, total = latency_total(l, k);

	sbuf_addf(out, "%s,%s,%s,%llu,%llu", item->proxy->name, svname, latency_name(k),
		(unsigned long long)total, (unsigned long long)l->sum_us[k]);
	for (unsigned int i = 0; i < ARRAY_LEN(permille); i++) {
		sbuf_addc(out, ',');
		if (total)
			sbuf_addu(out, latency_quantile_us(l, k, permille[i]));
	}
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		n += l->n[k][i];
		sbuf_addc(out, ',');
		sbuf_addu(out, n);
	}
	sbuf_addc(out, '\n');
}

static void
put_latency_item(struct sbuf *out, const struct stat_item *item)
{
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	for (enum latency_kind k = 0; k < LATENCIES; k++)
		if (stat_has_latency(item, k))
			put_latency_row(out, item, item_name(item), &l, k);
}

/* --- for people ------------------------------------------------------------------------------ */

/* Three digits and the unit. */
static void
put_duration(struct sbuf *out, uint64_t us)
{
	static const char *const units[] = { "us", "ms", "s" };
	double v = (double)us;
	char text[32];
	size_t unit = 0;

	for (; v >= 999.5 && unit < ARRAY_LEN(units) - 1; unit++)
		v /= 1000;
	(void)snprintf(text, sizeof(text), "%.*f%s",
		!unit || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, units[unit]);
	sbuf_addf(out, " %8s", text);
}

/* A character for each bucket, from ' ' for none to '@' for the highest. */
static void
put_shape(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	static const char marks[] = " .:-=+*#%@";
	const uint64_t levels = sizeof(marks) - 2;
	uint64_t most = 1;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		most = MAX(most, l->n[k][i]);
	sbuf_adds(out, "  |");
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		sbuf_addc(out, marks[(l->n[k][i] * levels + most - 1) / most]);
	sbuf_addc(out, '|');
}

/* Rows of times that were measured, with the name of the item in the first. */
static void
put_latency_table(struct sbuf *out, const struct stat_item *item)
{
	static const unsigned int permille[] = { 500, 900, 990 };
	struct latency l;
	char name[64];

	latency_sum(stat_latency_of(item), &l);
	(void)snprintf(name, sizeof(name), "%s/%s", item->proxy->name, item_name(item));
	for (enum latency_kind k = 0; k < LATENCIES; k++) {
		uint64_t total = latency_total(&l, k);

		if (!stat_has_latency(item, k) || !total)
			continue;
		sbuf_addf(out, "%-30s %-8s %12llu", name, latency_name(k),
			(unsigned long long)total);
		put_duration(out, l.sum_us[k] / total);
		for (unsigned int i = 0; i < ARRAY_LEN(permille); i++)
			put_duration(out, latency_quantile_us(&l, k, permille[i]));
		put_shape(out, &l, k);
		sbuf_addc(out, '\n');
		name[0] = '\0';
	}
}

static void
put_table_header(struct sbuf *out)
{
	sbuf_addf(out, "# %-28s %-8s %12s %8s %8s %8s %8s  |", "proxy/server", "time", "count",
		"mean", "p50", "p90", "p99");
	/* Each mark stands for the bucket up to it. */
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		sbuf_addc(out, i < LATENCY_BOUNDS && latency_bound_us(i) == 1000 ? 'm'
			: i < LATENCY_BOUNDS && latency_bound_us(i) == 1000000   ? 's'
										 : '.');
	sbuf_adds(out, "|\n");
}

enum latency_form { LATENCY_TABLE, LATENCY_CSV, LATENCY_JSON };

struct latency_walk {
	struct stat_walk items;
	enum latency_form form;
	int has_any;             /* JSON: it is not the first object */
};

/* --- JSON ------------------------------------------------------------------------------------ */

/*
 * Histograms of times as JSON. On the first worker; others count meanwhile, so the numbers of
 * one object are from one sum, and those of two are not of one moment.
 */

/* Positions of fields that HAProxy does not have, as in show info. */
#define OWN_POS 1000u

static const unsigned int permilles[] = { 500, 900, 990 };

/* --- show latency --- */

/* Without a session there are no percentiles. */
static void
put_quantiles(struct sbuf *out, const struct latency *l, enum latency_kind k, uint64_t total)
{
	for (size_t i = 0; i < ARRAY_LEN(permilles); i++) {
		sbuf_addf(out, ",\"p%u_us\":", permilles[i] / 10);
		if (total)
			sbuf_addu(out, latency_quantile_us(l, k, permilles[i]));
		else
			sbuf_adds(out, "null");
	}
}

/* The numbers add up, as in the table; the last one is of all. */
static void
put_buckets(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	uint64_t n = 0;

	sbuf_adds(out, ",\"buckets\":[");
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		n += l->n[k][i];
		sbuf_adds(out, i ? ",{\"le_us\":" : "{\"le_us\":");
		if (i < LATENCY_BOUNDS)
			sbuf_addu(out, latency_bound_us(i));
		else
			sbuf_adds(out, "null");
		sbuf_addf(out, ",\"count\":%llu}", (unsigned long long)n);
	}
	sbuf_addc(out, ']');
}

/* One object for each time of the item, with its buckets; those of show latency are the elements of
 * one array. *has_any: one was written before. */
static void
latency_json_put(struct sbuf *out, const struct stat_item *item, int *has_any)
{
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	for (enum latency_kind k = 0; k < LATENCIES; k++) {
		uint64_t total = latency_total(&l, k);

		if (!stat_has_latency(item, k))
			continue;
		sbuf_adds(out, *has_any ? ",\n{\"pxname\":" : "{\"pxname\":");
		*has_any = 1;
		json_put(out, str_of(item->proxy->name), SIZE_MAX);
		sbuf_adds(out, ",\"svname\":");
		json_put(out, str_of(item_name(item)), SIZE_MAX);
		sbuf_addf(out, ",\"time\":\"%s\",\"count\":%llu,\"sum_us\":%llu", latency_name(k),
			(unsigned long long)total, (unsigned long long)l.sum_us[k]);
		put_quantiles(out, &l, k, total);
		put_buckets(out, &l, k);
		sbuf_addc(out, '}');
	}
}

/* --- show stat --- */

static void
put_own_field(struct sbuf *out, const struct stat_item *item, const char *name, unsigned int pos,
	const char *tags, uint64_t n)
{
	const struct field f = { .name = name, .pos = OWN_POS + pos, .tags = tags,
		.type = FIELD_U64 };
	const struct field_value v = { .kind = VAL_INT, .u.n = (int64_t)n };

	sbuf_addf(out, ",{\"objType\":\"%s\",\"proxyId\":%lld,\"id\":%lld,",
		stat_type_name(item->type), (long long)item->row.v[STAT_iid].u.n,
		(long long)item->row.v[STAT_sid].u.n);
	field_put_json(out, &f, &v);
	sbuf_addc(out, '}');
}

static void
put_fields_of(struct sbuf *out, const struct stat_item *item, const struct latency *l,
	enum latency_kind k)
{
	const unsigned int pos = (unsigned int)k * (2 + ARRAY_LEN(permilles));
	char name[64];

	(void)snprintf(name, sizeof(name), "%s_time_count", latency_name(k));
	put_own_field(out, item, name, pos, "MCP", latency_total(l, k));
	(void)snprintf(name, sizeof(name), "%s_time_sum_us", latency_name(k));
	put_own_field(out, item, name, pos + 1, "MCP", l->sum_us[k]);
	for (unsigned int i = 0; i < ARRAY_LEN(permilles); i++) {
		(void)snprintf(name, sizeof(name), "%s_time_p%u_us", latency_name(k),
			permilles[i] / 10);
		put_own_field(out, item, name, pos + 2 + i, "MGP",
			latency_quantile_us(l, k, permilles[i]));
	}
}

void
latency_json_put_fields(struct sbuf *out, const struct stat_item *item)
{
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	for (enum latency_kind k = 0; k < LATENCIES; k++)
		if (stat_has_latency(item, k) && latency_total(&l, k))
			put_fields_of(out, item, &l, k);
}

/* --- the command ----------------------------------------------------------------------------- */

static int
next_latency(struct admin_conn *c, void *state)
{
	struct latency_walk *w = state;
	struct stat_item item;

	switch (stat_walk_next(&w->items, c->admin->process, &item)) {
	case STAT_ITEM:
		if (w->form == LATENCY_JSON)
			latency_json_put(&c->out, &item, &w->has_any);
		else if (w->form == LATENCY_CSV)
			put_latency_item(&c->out, &item);
		else
			put_latency_table(&c->out, &item);
		return 1;
	case STAT_NOTHING:
		return 1;
	case STAT_END:
		break;
	}
	if (w->form == LATENCY_JSON)
		sbuf_adds(&c->out, "]\n");
	return 0;
}

static enum latency_form
parse_latency_form(const char *word)
{
	return strcmp(word, "json") == 0 ? LATENCY_JSON
		: strcmp(word, "csv") == 0 ? LATENCY_CSV
					   : LATENCY_TABLE;
}

void
admin_cmd_show_latency(struct admin_conn *c, int argc, char **argv)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	struct latency_walk w = { .form = LATENCY_TABLE };

	stat_walk_init(&w.items, c->admin->process);
	/* No column is read: one that costs little. */
	w.items.args.only = STAT_scur;
	if (argc > 0) {
		w.form = parse_latency_form(argv[argc - 1]);
		argc -= w.form != LATENCY_TABLE;
	}
	if (argc > 0) {
		const struct proxy *p = proxies_find(ps, argv[0], PROXY_FE | PROXY_BE);

		if (!p) {
			admin_msg(c, ADMIN_ERR, "No such proxy.");
			return;
		}
		w.items.args.iid = p->id;
	}
	if (w.form == LATENCY_JSON)
		sbuf_addc(&c->out, '[');
	else if (w.form == LATENCY_CSV)
		put_latency_header(&c->out);
	else
		put_table_header(&c->out);
	admin_walk(c, next_latency, &w, sizeof(w));
}
