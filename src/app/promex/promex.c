/* The Prometheus exporter: all samples of a metric, then the next metric. On the first worker, to
 * which the states of servers and checks belong. */
#include "app/promex/promex.h"

#include <string.h>

#include "app/process/process.h"
#include "app/promex/metric.h"
#include "base/mem.h"
#include "proxy/model/service.h"

struct promex_state {
	struct promex_query query;
	int is_bad;               /* the query has an unknown scope */
	enum metric_scope scope;
	unsigned int number;      /* of the metric */
	int has_begun;            /* the metric, and the walk over its rows */
	struct metric metric;
	int has_header;
	struct stat_walk walk;
	int has_info;
	struct info info;
	char target[];            /* copy */
};

static struct promex_state *
make_promex_state(struct service_job *j)
{
	struct promex_state *st = mem_zalloc(sizeof(*st) + j->target.len + 1);

	if (!st)
		return NULL;
	j->state = st;
	memcpy(st->target, j->target.p, j->target.len);
	st->is_bad = promex_query_parse(st->target, &st->query) < 0;
	return st;
}

static int
begin_metrics(struct service_job *j, void *owner)
{
	const struct promex_state *st = make_promex_state(j);

	(void)owner;
	if (!st)
		return 0;
	j->status = st->is_bad ? 400 : 200;
	j->has_body = 1;
	service_field(j, STR("Cache-Control"), "no-cache");
	service_field(j, STR("Content-Type"), "text/plain; version=0.0.4");
	return 0;
}

/* Advances to the first metric at or behind this place that is asked for. 0: there is none. */
static int
find_metric(struct promex_state *st)
{
	for (; st->scope < METRIC_SCOPES; st->scope++, st->number = 0)
		for (; st->number < metric_count(); st->number++)
			if (promex_wants(&st->query, st->scope, st->number))
				return 1;
	return 0;
}

static void
end_metric(struct promex_state *st)
{
	st->number++;
	st->has_begun = st->has_header = 0;
}

static void
step_global(struct promex_state *st, const struct process *p, struct sbuf *out)
{
	if (!st->has_info)
		info_read(&st->info, p, 1);
	st->has_info = 1;
	metric_put_global(out, &st->metric, &st->info);
	end_metric(st);
}

static void
begin_walk(struct promex_state *st, const struct process *p)
{
	static const int types[METRIC_SCOPES] = { [SCOPE_FRONTEND] = ROW_FRONTEND,
		[SCOPE_LISTENER] = ROW_LISTENER,
		[SCOPE_BACKEND] = ROW_BACKEND, [SCOPE_SERVER] = ROW_SERVER };

	stat_walk_init(&st->walk, p);
	/* A histogram reads no column: this one costs little. */
	st->walk.args.only = st->metric.form == METRIC_LATENCY ? STAT_scur
							       : (enum stat_col)st->metric.value;
	st->walk.args.types = types[st->scope];
	st->walk.args.hide = st->query.no_maint ? STAT_HIDE_MAINT : STAT_HIDE_NONE;
}

/* 0: there are no more. */
static int
begin_metric(struct promex_state *st, const struct process *p)
{
	if (!find_metric(st))
		return 0;
	st->metric = metric_at(st->number);
	st->has_begun = 1;
	if (st->scope != SCOPE_GLOBAL)
		begin_walk(st, p);
	return 1;
}

static void
put_metric_item(struct promex_state *st, const struct stat_item *item, struct sbuf *out)
{
	const struct metric *m = &st->metric;

	if (!metric_has_samples(m, item))
		return;
	if (!st->has_header)
		metric_put_header(out, m, st->scope);
	st->has_header = 1;
	metric_put_item(out, m, st->scope, item);
}

static void
step_rows(struct promex_state *st, const struct process *p, struct sbuf *out)
{
	struct stat_item item;

	switch (stat_walk_next(&st->walk, p, &item)) {
	case STAT_ITEM:
		put_metric_item(st, &item, out);
		break;
	case STAT_NOTHING:
		break;
	case STAT_END:
		end_metric(st);
		break;
	}
}

static int
step_metrics(struct service_job *j, void *owner)
{
	struct promex_state *st = j->state;

	if (st->is_bad) {
		sbuf_adds(&j->out,
			"A scope is global, frontend, listener, backend, server or *.\n");
		return 0;
	}
	if (!st->has_begun && !begin_metric(st, owner))
		return 0;
	if (st->scope == SCOPE_GLOBAL)
		step_global(st, owner, &j->out);
	else
		step_rows(st, owner, &j->out);
	return 1;
}

static void
end_metrics(struct service_job *j)
{
	mem_free(j->state);
}

const struct local_service promex_service = {
	.name = "<PROMEX>",
	.begin = begin_metrics,
	.step = step_metrics,
	.end = end_metrics,
};
