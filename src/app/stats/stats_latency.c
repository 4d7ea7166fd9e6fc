/* The cell of a row with percentiles of its times, and their histogram. On the first worker. */
#include "app/stats/stats_latency.h"

enum { BAR_TOP = 10 };

static void
put_ms(struct sbuf *out, uint64_t us)
{
	double ms = (double)us / 1e3;

	sbuf_addf(out, "%.*f", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

static void
put_percentiles(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	put_ms(out, latency_quantile_us(l, k, 500));
	sbuf_addc(out, '/');
	put_ms(out, latency_quantile_us(l, k, 900));
	sbuf_addc(out, '/');
	put_ms(out, latency_quantile_us(l, k, 990));
}

/* A bar for each bucket, the highest of them 10 units high, and none lower than half a unit. */
static void
put_bars(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	uint64_t most = 1;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		most = MAX(most, l->n[k][i]);
	sbuf_addf(out, "<svg class=bars viewBox=\"0 0 %d %d\" aria-hidden=true><path d=\"",
		LATENCY_BUCKETS, BAR_TOP);
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		double high = (double)l->n[k][i] / (double)most * BAR_TOP;

		if (l->n[k][i])
			sbuf_addf(out, "M%u %dv-%.1fh1V%dz", i, BAR_TOP, MAX(high, 0.5), BAR_TOP);
	}
	sbuf_adds(out, "\"/></svg>");
}

/* All times, for the mouse. */
static void
put_all(struct sbuf *out, const struct stat_item *item, const struct latency *l)
{
	const char *before = "";

	for (enum latency_kind k = 0; k < LATENCIES; k++) {
		if (!stat_has_latency(item, k))
			continue;
		sbuf_addf(out, "%s%s ", before, latency_name(k));
		put_percentiles(out, l, k);
		before = ", ";
	}
}

void
html_latency(struct sbuf *out, const struct stat_item *item)
{
	enum latency_kind k = stat_has_latency(item, LATENCY_RESPONSE) ? LATENCY_RESPONSE
								       : LATENCY_TOTAL;
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	if (!stat_has_latency(item, k) || !latency_total(&l, k)) {
		sbuf_adds(out, "<td class=n></td>");
		return;
	}
	sbuf_adds(out, "<td class=n title=\"");
	put_all(out, item, &l);
	sbuf_adds(out, "\">");
	put_percentiles(out, &l, k);
	sbuf_addc(out, ' ');
	put_bars(out, &l, k);
	sbuf_adds(out, "</td>");
}
