/* The statistics as a local service: heads, forms, and bodies in each output. On the first worker,
 * to which the states of servers and checks belong. */
#include "app/stats/stats.h"

#include <string.h>

#include "app/config/version.h"
#include "app/process/process.h"
#include "app/process/totals.h"
#include "app/stats/page_files.h"
#include "app/stats/stats_form.h"
#include "app/stats/stats_html.h"
#include "app/stats/stats_int.h"
#include "base/mem.h"
#include "base/random.h"

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

/* --- the page -------------------------------------------------------------------------------- */

/*
 * The statistics page, part by part. On the first worker. All texts of the configuration, of
 * servers and of the request pass html_text().
 */

/* --- the head of the response --- */

/*
 * A nonce, drawn for each response, lets the page's own style and script run and no other.
 */
static int
draw_nonce(struct stats_state *st, const struct process *p)
{
	unsigned char bytes[(STATS_NONCE_MAX - 1) / 2];
	struct random_source source;

	random_init(&source, p->sys);
	if (random_bytes(&source, bytes, sizeof(bytes)) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		st->nonce[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		st->nonce[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	st->nonce[2 * sizeof(bytes)] = '\0';
	return 0;
}

/* Adds the page's fields to the response's head. 0, or -1: there are no random bytes. */
static int
stats_page_begin(struct service_job *j, const struct process *p)
{
	struct stats_state *st = j->state;

	if (draw_nonce(st, p) < 0)
		return -1;
	service_field(j, STR("Content-Security-Policy"),
		"default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; img-src data:; "
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		st->nonce, st->nonce);
	service_field(j, STR("X-Frame-Options"), "DENY");
	service_field(j, STR("X-Content-Type-Options"), "nosniff");
	service_field(j, STR("Referrer-Policy"), "same-origin");
	return 0;
}

/* --- links --- */

/* The page's own URI with the words of this request, changed by `change`. */
static void
put_link(struct sbuf *o, const struct stats_state *st, enum stats_word change, const char *text)
{
	unsigned int words = st->query.words ^ change;

	sbuf_adds(o, "<a href=\"");
	html_text(o, str_of(stats_conf_uri(st->page->stats)));
	sbuf_adds(o, words & STATS_UP ? ";up" : "");
	sbuf_adds(o, words & STATS_NOREFRESH ? ";norefresh" : "");
	if (st->query.scope.len) {
		sbuf_adds(o, ";scope=");
		html_text(o, st->query.scope);
	}
	sbuf_addf(o, "\">%s</a>\n", text);
}

static void
put_export(struct sbuf *o, const struct stats_state *st, const char *word, const char *text)
{
	sbuf_adds(o, "<a href=\"");
	html_text(o, str_of(stats_conf_uri(st->page->stats)));
	sbuf_addf(o, ";%s\">%s</a>\n", word, text);
}

static void
put_hidden(struct sbuf *o, struct str name)
{
	sbuf_adds(o, "<input type=hidden name=\"");
	html_text(o, name);
	sbuf_adds(o, "\" value=\"\">");
}

/* A browser puts the form's fields where the query was: what the URI has behind its question mark
 * has to be the first field. */
static void
put_scope_form(struct sbuf *o, const struct stats_state *st)
{
	const char *uri = stats_conf_uri(st->page->stats), *mark = strchr(uri, '?');
	size_t path = mark ? (size_t)(mark - uri) : strlen(uri);

	sbuf_adds(o, "<form method=get action=\"");
	html_text(o, (struct str){ uri, path });
	sbuf_adds(o, "\">");
	if (mark)
		put_hidden(o, (struct str){ mark + 1, strcspn(mark + 1, "=") });
	if (st->query.words & STATS_UP)
		put_hidden(o, STR("up"));
	if (st->query.words & STATS_NOREFRESH)
		put_hidden(o, STR("norefresh"));
	sbuf_adds(o, "<input name=scope size=10 maxlength=60 aria-label=\"Part of a proxy's name\" "
		     "placeholder=\"proxy\" value=\"");
	html_text(o, str_of(st->scope));
	sbuf_adds(o, "\"><button>Show</button></form>\n");
}

static void
put_nav(struct sbuf *o, const struct stats_state *st)
{
	sbuf_adds(o, "<nav>\n");
	put_link(o, st, 0, "Refresh now");
	put_link(o, st, STATS_UP,
		st->query.words & STATS_UP ? "Show all servers" : "Hide servers that are down");
	if (st->page->stats->refresh_s)
		put_link(o, st, STATS_NOREFRESH,
			st->query.words & STATS_NOREFRESH ? "Start refreshing" : "Stop refreshing");
	put_export(o, st, "csv", "CSV");
	put_export(o, st, "json", "JSON");
	put_scope_form(o, st);
	sbuf_adds(o, "<label hidden>Filter <input id=filter type=search></label>\n</nav>\n");
}

/* --- the begin of the page --- */

/* Zabbix and Datadog look for "HAProxy version X, " and for the line of the uptime. */
static void
put_title(struct sbuf *o, const struct stats_state *st, const struct process *p)
{
	const struct stats_conf *c = st->page->stats;
	const char *desc = c->desc ? c->desc : p->cfg->global.description;
	const char *node = c->node ? c->node : p->node;

	sbuf_adds(o, "<header>\n<h1>Statistics Report");
	if (c->flags & STATS_NODE) {
		sbuf_adds(o, " on ");
		html_text(o, str_of(node));
	}
	sbuf_adds(o, "</h1>\n");
	if (!(c->flags & STATS_HIDE_VERSION))
		sbuf_addf(o, "<p>%s %s; HAProxy version %s, released %s</p>\n", VERSION_NAME,
			TACIT_VERSION, VERSION_COMPAT, VERSION_DATE);
	if ((c->flags & STATS_DESC) && desc) {
		sbuf_adds(o, "<p>");
		html_text(o, str_of(desc));
		sbuf_adds(o, "</p>\n");
	}
	sbuf_adds(o, "</header>\n");
}

static void
put_process(struct sbuf *o, const struct process *p)
{
	uint64_t now = loop_now_ms(process_loop(p)), up = (now - p->started_ms) / 1000;
	const struct engine_shared *sh = &p->shared;
	struct totals t;

	totals_read(p, &t);
	sbuf_addf(o,
		"<div class=about><p><b>pid = </b> %d (process #1, nbproc = 1, nbthread = %u)<br>\n"
		"<b>uptime = </b> %llud %lluh%02llum%02llus</p>\n",
		(int)process_log(p)->id.pid, p->n_workers, (unsigned long long)(up / 86400),
		(unsigned long long)(up / 3600 % 24), (unsigned long long)(up / 60 % 60),
		(unsigned long long)(up % 60));
	sbuf_addf(o,
		"<p><b>maxconn = </b> %u; <b>ulimit-n = </b> %u<br>\n"
		"current conns = %u; conn rate = %u/sec; idle = %u %%</p></div>\n",
		sh->max_sessions, p->limits.fds, t.sessions, freq_read(&t.conn_rate, now),
		t.idle_pct);
}

static void
put_message(struct sbuf *o, const struct stats_state *st)
{
	const struct stats_message *m = stats_message_of(st->query.result);

	if (!st->query.result.len)
		return;
	sbuf_addf(o, "<p class=\"msg%s\" role=status>%s ", m->is_good ? " done" : "", m->text);
	put_link(o, st, 0, "Remove this message");
	sbuf_adds(o, "</p>\n");
}

static void
put_key(struct sbuf *o)
{
	sbuf_adds(o,
		"<ul class=key><li class=up>up</li><li class=going>going up or down</li>"
		"<li class=down>down</li><li class=drain>drained</li><li class=maint>in maintenance"
		"</li><li>not checked</li><li class=backup>backup</li></ul>\n");
}

static void
put_beginning(struct sbuf *o, const struct stats_state *st, const struct process *p)
{
	sbuf_addf(o,
		"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		"<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=robots content=noindex>\n<link rel=icon href=\"data:,\">\n"
		"<title>Statistics Report</title>\n<style nonce=\"%s\">\n",
		st->nonce);
	sbuf_adds(o, page_css);
	sbuf_adds(o, "</style>\n</head>\n<body>\n");
	put_title(o, st, p);
	put_process(o, p);
	put_message(o, st);
	put_nav(o, st);
	put_key(o);
}

/* --- proxies --- */

static void
begin_section(struct sbuf *o, struct stats_state *st, const struct proxy *p)
{
	st->open = p;
	st->has_form = st->is_admin && (p->caps & PROXY_BE) && p->n_servers;
	sbuf_adds(o, "<section>\n<header><h2 id=\"px-");
	html_text(o, str_of(p->name));
	sbuf_adds(o, "\"><a href=\"#px-");
	html_text(o, str_of(p->name));
	sbuf_adds(o, "\">");
	html_text(o, str_of(p->name));
	sbuf_adds(o, "</a></h2>");
	if (p->description) {
		sbuf_adds(o, " <small>");
		html_text(o, str_of(p->description));
		sbuf_adds(o, "</small>");
	}
	sbuf_adds(o, "</header>\n");
	if (st->has_form) {
		sbuf_adds(o, "<form method=post action=\"");
		html_text(o, str_of(stats_conf_uri(st->page->stats)));
		sbuf_addf(o, "%s%s\">\n<input type=hidden name=b value=\"#%d\">\n",
			st->query.words & STATS_UP ? ";up" : "",
			st->query.words & STATS_NOREFRESH ? ";norefresh" : "", p->id);
	}
	sbuf_adds(o, "<table>\n");
	html_row_names(o);
	sbuf_adds(o, "<tbody>\n");
}

static void
end_section(struct sbuf *o, struct stats_state *st)
{
	if (!st->open)
		return;
	st->open = NULL;
	sbuf_adds(o, "</tbody>\n</table>\n");
	if (st->has_form) {
		sbuf_adds(o, "<div class=act><label>Selected servers: <select name=action>"
			     "<option value=\"\"></option>");
		stats_actions_put(o);
		sbuf_adds(o, "</select></label> <button>Apply</button></div>\n</form>\n");
	}
	sbuf_adds(o, "</section>\n");
}

static void
put_item(struct sbuf *o, struct stats_state *st, const struct stat_item *item)
{
	if (st->open != item->proxy) {
		end_section(o, st);
		begin_section(o, st, item->proxy);
	}
	html_row(o, item, st->page->stats->flags, st->has_form);
}

static void
put_page_end(struct sbuf *o, struct stats_state *st)
{
	end_section(o, st);
	sbuf_addf(o, "<script nonce=\"%s\">\n", st->nonce);
	sbuf_adds(o, page_js);
	sbuf_adds(o, "</script>\n</body>\n</html>\n");
}

/* The next part of the page: 1. 0: that was the end. */
static int
stats_page_next(struct service_job *j, const struct process *p)
{
	struct stats_state *st = j->state;
	struct stat_item item;

	if (!st->has_begun) {
		st->has_begun = 1;
		put_beginning(&j->out, st, p);
		return 1;
	}
	switch (stat_walk_next(&st->walk, p, &item)) {
	case STAT_ITEM:
		put_item(&j->out, st, &item);
		return 1;
	case STAT_NOTHING:
		return 1;
	case STAT_END:
		break;
	}
	put_page_end(&j->out, st);
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
