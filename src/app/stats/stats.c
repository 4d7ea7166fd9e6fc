/* The statistics as a local service: heads, and the rows as CSV. On the first worker, to which the
 * states of servers and checks belong. */
#include "app/stats/stats.h"

#include <string.h>

#include "app/process/process.h"
#include "app/stats/stats_int.h"
#include "base/mem.h"

/* The page's own scope, and what the request asks for. */
static int
shows_proxy(const struct proxy *p, const void *arg)
{
	const struct stats_state *st = arg;
	struct str scope = st->query.scope;

	return stats_conf_shows(st->page->stats, st->page->name, p->name) &&
		(!scope.len || memmem(p->name, strlen(p->name), scope.p, scope.len));
}

static struct stats_state *
make_state(struct service_job *j, const struct process *process)
{
	struct stats_state *st = mem_zalloc(sizeof(*st));

	if (!st)
		return NULL;
	j->state = st;
	st->page = j->conf;
	stats_query_parse(j->target, str_of(stats_conf_uri(st->page->stats)), &st->query);
	stat_walk_init(&st->walk, process);
	st->walk.shows = shows_proxy;
	st->walk.arg = st;
	return st;
}

/* The answer to a form says what has come of it, and the browser asks for the page again. */
static void
redirect_form(struct service_job *j)
{
	const struct stats_state *st = j->state;

	j->status = 303;
	service_field(j, STR("Content-Type"), "text/plain");
	service_field(j, STR("Location"), "%s;st=DENY", stats_conf_uri(st->page->stats));
}

static void
begin_stats(struct service_job *j, void *owner)
{
	static const char *const types[] = { [STATS_HTML] = "text/plain",
					     [STATS_CSV] = "text/plain" };
	const struct stats_state *st = make_state(j, owner);

	if (!st)
		return;
	service_field(j, STR("Cache-Control"), "no-cache");
	if (j->flags & STATS_JOB_POST) {
		redirect_form(j);
		return;
	}
	j->status = 200;
	j->has_body = 1;
	service_field(j, STR("Content-Type"), "%s", types[st->query.output]);
}

static int
step_stats(struct service_job *j, void *owner)
{
	struct stats_state *st = j->state;

	if (st->has_begun)
		return stat_print_next(&st->walk, owner, &j->out);
	st->has_begun = 1;
	stat_print_begin(&st->walk, &j->out);
	return 1;
}

static void
end_stats(struct service_job *j)
{
	mem_free(j->state);
}

const struct local_service stats_service = {
	.name = "<STATS>",
	.begin = begin_stats,
	.step = step_stats,
	.end = end_stats,
};
