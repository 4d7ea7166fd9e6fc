/* The statistics as a local service: heads, forms, and bodies in each output. On the first worker,
 * to which the states of servers and checks belong. */
#include "app/stats/stats.h"

#include <string.h>

#include "app/process/process.h"
#include "app/stats/stats_form.h"
#include "app/stats/stats_int.h"
#include "app/stats/stats_page.h"
#include "base/mem.h"

/* The page's own scope, and what the request asks for. */
static int
shows_proxy(const struct proxy *p, const void *arg)
{
	const struct stats_state *st = arg;

	return stats_conf_shows(st->page->stats, st->page->name, p->name) &&
		strstr(p->name, st->scope) != NULL;
}

static struct stats_state *
make_state(struct service_job *j, const struct process *process)
{
	static const enum field_form forms[] = { [STATS_HTML] = FORM_PLAIN,
						 [STATS_CSV] = FORM_PLAIN,
						 [STATS_TYPED] = FORM_TYPED,
						 [STATS_JSON] = FORM_JSON };
	struct stats_state *st = mem_zalloc(sizeof(*st));
	struct stats_query *q;

	if (!st)
		return NULL;
	j->state = st;
	q = &st->query;
	st->page = j->conf;
	st->is_admin = (j->flags & STATS_JOB_ADMIN) != 0;
	stats_query_parse(j->target, str_of(stats_conf_uri(st->page->stats)), q);
	(void)stats_decode(q->scope, st->scope, sizeof(st->scope));
	stat_walk_init(&st->walk, process);
	st->walk.shows = shows_proxy;
	st->walk.arg = st;
	st->walk.args.form = forms[q->output];
	if (q->words & STATS_UP)
		st->walk.args.hide = STAT_HIDE_DOWN;
	return st;
}

/* --- forms --- */

/* The browser then asks for the page, with a word for the result of the form. */
static void
redirect_form(struct service_job *j, enum stats_result result)
{
	const struct stats_state *st = j->state;

	j->status = 303;
	service_field(j, STR("Content-Type"), "text/plain");
	service_field(j, STR("Location"), "%s;st=%s%s%s", stats_conf_uri(st->page->stats),
		stats_message(result)->word, st->query.words & STATS_UP ? ";up" : "",
		st->query.words & STATS_NOREFRESH ? ";norefresh" : "");
}

static int
begin_form(struct service_job *j, struct process *p)
{
	struct stats_state *st = j->state;

	if (!(j->flags & STATS_JOB_ADMIN) || (j->flags & STATS_JOB_FOREIGN)) {
		redirect_form(j, STATS_DENY);
		return 0;
	}
	if (j->flags & STATS_JOB_CUT) {
		redirect_form(j, STATS_EXCD);
		return 0;
	}
	stats_form_begin(&st->form, p, j->body);
	return 1;
}

static int
continue_form(struct service_job *j, struct process *p)
{
	struct stats_state *st = j->state;

	if (stats_form_next(&st->form, p))
		return 1;
	redirect_form(j, stats_form_result(&st->form));
	return 0;
}

/* --- the service --- */

static void
begin_body(struct service_job *j, const struct process *p)
{
	static const char *const types[] = { [STATS_HTML] = "text/html; charset=utf-8",
					     [STATS_CSV] = "text/plain",
					     [STATS_TYPED] = "text/plain",
					     [STATS_JSON] = "application/json" };
	const struct stats_state *st = j->state;
	unsigned int refresh = st->page->stats->refresh_s;

	service_field(j, STR("Content-Type"), "%s", types[st->query.output]);
	if (refresh && !(st->query.words & STATS_NOREFRESH))
		service_field(j, STR("Refresh"), "%u", refresh);
	if (st->query.output == STATS_HTML && stats_page_begin(j, p) < 0)
		return;
	j->status = 200;
	j->has_body = 1;
}

static int
begin_stats(struct service_job *j, void *owner)
{
	struct stats_state *st = j->state;

	if (st)
		return continue_form(j, owner);
	st = make_state(j, owner);
	if (!st)
		return 0;
	service_field(j, STR("Cache-Control"), "no-cache");
	if (j->flags & STATS_JOB_POST)
		return begin_form(j, owner);
	begin_body(j, owner);
	return 0;
}

static int
step_stats(struct service_job *j, void *owner)
{
	struct stats_state *st = j->state;

	if (st->query.output == STATS_HTML)
		return stats_page_next(j, owner);
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
