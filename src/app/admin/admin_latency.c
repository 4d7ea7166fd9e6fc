/* show latency: the histograms of times, as a table or as JSON. On the first worker; others count
 * meanwhile. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_stat.h"
#include "app/admin/latency_json.h"

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
