/* show latency: the histograms of times, as a table or as JSON. On the first worker; others count
 * meanwhile. */
#include "app/admin/admin_latency.h"

#include <stdio.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_stat.h"
#include "app/admin/field.h"
#include "base/json.h"

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
	static const char *const names[] = { [TYPE_FRONTEND] = "FRONTEND",
		[TYPE_BACKEND] = "BACKEND" };
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	for (enum latency_kind k = 0; k < LATENCIES; k++)
		if (stat_has_latency(item, k))
			put_latency_row(out, item,
				item->type == TYPE_SERVER ? item->server->name : names[item->type],
				&l, k);
}

struct latency_walk {
	struct stat_walk items;
	int is_json, has_any;
};

/* --- JSON ------------------------------------------------------------------------------------ */

/*
 * Histograms of times as JSON. On the first worker; others count meanwhile, so the numbers of
 * one object are from one sum, and those of two are not of one moment.
 */

/* Positions of fields that HAProxy does not have, as in show info. */
#define OWN_POS 1000u

static const unsigned int permilles[] = { 500, 900, 990 };

static const char *
item_name(const struct stat_item *item)
{
	static const char *const names[] = { [TYPE_FRONTEND] = "FRONTEND",
		[TYPE_BACKEND] = "BACKEND" };

	return item->type == TYPE_SERVER ? item->server->name : names[item->type];
}

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
		if (w->is_json)
			latency_json_put(&c->out, &item, &w->has_any);
		else
			put_latency_item(&c->out, &item);
		return 1;
	case STAT_NOTHING:
		return 1;
	case STAT_END:
		break;
	}
	if (w->is_json)
		sbuf_adds(&c->out, "]\n");
	return 0;
}

void
admin_cmd_show_latency(struct admin_conn *c, int argc, char **argv)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	struct latency_walk w = { .is_json = 0 };

	stat_walk_init(&w.items, c->admin->process);
	/* No column is read: one that costs little. */
	w.items.args.only = STAT_scur;
	if (argc > 0 && strcmp(argv[argc - 1], "json") == 0) {
		w.is_json = 1;
		argc--;
	}
	if (argc > 0) {
		const struct proxy *p = proxies_find(ps, argv[0], PROXY_FE | PROXY_BE);

		if (!p) {
			admin_msg(c, ADMIN_ERR, "No such proxy.");
			return;
		}
		w.items.args.iid = p->id;
	}
	if (w.is_json)
		sbuf_addc(&c->out, '[');
	else
		put_latency_header(&c->out);
	admin_walk(c, next_latency, &w, sizeof(w));
}
