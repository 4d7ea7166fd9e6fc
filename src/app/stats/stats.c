/* The statistics as a local service: heads, forms, and bodies in each output. On the first worker,
 * to which the states of servers and checks belong. */
#include "app/stats/stats.h"

#include <stdio.h>
#include <string.h>

#include "app/config/version.h"
#include "app/process/process.h"
#include "app/process/totals.h"
#include "app/stats/page_files.h"
#include "app/stats/stats_form.h"
#include "app/stats/stats_html.h"
#include "app/stats/stats_int.h"
#include "app/stats/stats_row.h"
#include "base/mem.h"
#include "base/random.h"
#include "http/bad.h"
#include "proxy/model/invalid_msg.h"
#include "table/table.h"
#include "tls/conn_info.h"
#include "tls/store.h"

/* A certificate that ends sooner is shown as a fault: 14 days. */
#define CERT_SOON_S (14 * 86400)

/* The page's own scope, and what the request asks for. */
static int
shows_proxy(const struct proxy *p, const void *arg)
{
	const struct stats_state *st = arg;

	return stats_conf_shows(st->page->stats, st->page->name, p->name) &&
		strstr(p->name, st->scope) != NULL;
}

/* The words of the request that links and forms repeat: these, and its scope. */
static void
write_words(char to[STATS_WORDS_MAX], const struct stats_state *st, unsigned int words)
{
	struct str scope = st->scope[0] ? st->query.scope : STR("");

	(void)snprintf(to, STATS_WORDS_MAX, "%s%s%s%.*s", words & STATS_UP ? ";up" : "",
		words & STATS_NOREFRESH ? ";norefresh" : "", scope.len ? ";scope=" : "",
		(int)scope.len, scope.p);
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
	st->sum_walk = st->walk;
	st->sum_walk.args.hide = STAT_HIDE_NONE;
	write_words(st->words, st, q->words);
	st->view = (struct stats_view){ str_of(stats_conf_uri(st->page->stats)), st->words,
		.flags = st->page->stats->flags };
	if (q->output == STATS_HTML && q->row.proxy >= 0) {
		st->walk.args.hide = STAT_HIDE_NONE;
		st->walk.args.iid = q->row.proxy;
		st->walk.args.types = 1 << MIN(q->row.type, TYPE_LISTENER);
		st->walk.args.sid = q->row.server;
	}
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
	service_field(j, STR("Location"), "%s;st=%s%s", stats_conf_uri(st->page->stats),
		stats_message(result)->word, st->words);
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

/* All texts of the configuration, of servers and of the request pass html_text(). */

/* A nonce, drawn for each response, lets the page's own style and script run and no other. */
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
		"connect-src 'self'; "
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
put_own_uri(struct sbuf *o, const struct stats_state *st, unsigned int change)
{
	char words[STATS_WORDS_MAX];

	write_words(words, st, st->query.words ^ change);
	html_text(o, st->view.uri);
	html_text(o, str_of(words));
}

static void
put_link(struct sbuf *o, const struct stats_state *st, enum stats_word change, const char *text)
{
	/* The script refreshes by itself. */
	sbuf_adds(o, change == STATS_UP ? "<a href=\"" : "<a class=reload href=\"");
	put_own_uri(o, st, change);
	sbuf_addf(o, "\">%s</a>\n", text);
}

static void
put_export(struct sbuf *o, const struct stats_state *st, const char *word, const char *text)
{
	sbuf_adds(o, "<a href=\"");
	html_text(o, st->view.uri);
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
 * has to be the first field. With the script the box filters rows while the user types. */
static void
put_search(struct sbuf *o, const struct stats_state *st)
{
	const char *uri = stats_conf_uri(st->page->stats), *mark = strchr(uri, '?');
	size_t path = mark ? (size_t)(mark - uri) : strlen(uri);

	sbuf_adds(o, "<form id=search role=search method=get action=\"");
	html_text(o, (struct str){ uri, path });
	sbuf_adds(o, "\">");
	if (mark)
		put_hidden(o, (struct str){ mark + 1, strcspn(mark + 1, "=") });
	if (st->query.words & STATS_UP)
		put_hidden(o, STR("up"));
	if (st->query.words & STATS_NOREFRESH)
		put_hidden(o, STR("norefresh"));
	sbuf_adds(o, "<input id=find type=search name=scope maxlength=60 "
		     "aria-label=\"Part of a proxy's name\" placeholder=\"Proxy\" value=\"");
	html_text(o, str_of(st->scope));
	sbuf_adds(o, "\"><button>Show</button></form>\n");
}

static void
put_nav(struct sbuf *o, const struct stats_state *st)
{
	unsigned int words = st->query.words;

	sbuf_adds(o, "<nav>\n");
	put_search(o, st);
	sbuf_adds(o, "<label id=live hidden><input type=checkbox> "
		     "<span role=status>Live</span></label>\n");
	put_link(o, st, 0, "Refresh now");
	put_link(o, st, STATS_UP,
		words & STATS_UP ? "Show all servers" : "Hide servers that are down");
	if (st->page->stats->refresh_s)
		put_link(o, st, STATS_NOREFRESH,
			words & STATS_NOREFRESH ? "Start refreshing" : "Stop refreshing");
	put_export(o, st, "csv", "CSV");
	put_export(o, st, "json", "JSON");
	sbuf_adds(o, "</nav>\n");
}

/* --- the overview ---------------------------------------------------------------------------- */

/* Each part is a line with an id, by which the script finds what has changed. */

static void
begin_card(struct sbuf *o, const char *id, const char *text)
{
	sbuf_addf(o, "<div id=%s class=card><small>%s</small> <b>", id, text);
}

static void
end_card(struct sbuf *o)
{
	sbuf_adds(o, "</b></div>\n");
}

/* The certificate that ends first; nothing without certificates. */
static void
put_certificates(struct sbuf *o, const struct process *p)
{
	int64_t ends, now = (int64_t)(loop_wall_ns(process_loop(p)) / 1000000000);
	const struct tls_entry *first = tls_first_cert_end(&p->cfg->tls.certs, &ends);

	if (!first)
		return;
	sbuf_addf(o, "<div id=cert class=\"card %s\"><small>First certificate to end</small> <b>",
		ends - now < CERT_SOON_S ? "bad" : "good");
	if (ends > now)
		sbuf_addf(o, "in %lld&nbsp;days", (long long)((ends - now) / 86400));
	else
		sbuf_adds(o, "has ended");
	sbuf_adds(o, "</b> <small class=file>");
	html_text(o, str_of(first->name));
	sbuf_adds(o, "</small></div>\n");
}

/* Writes the counters from which the script derives rates and their lines. */
static void
put_counters(struct sbuf *o, const struct stats_state *st, const struct process *p,
	const struct totals *t)
{
	sbuf_addf(o, "<div id=counters hidden data-v=\"%llu,%llu,%llu,%u,%llu,%llu,%llu\"></div>\n",
		(unsigned long long)loop_now_ms(process_loop(p)),
		(unsigned long long)st->sums.requests, (unsigned long long)st->sums.failed,
		t->sessions, (unsigned long long)t->bytes_sent,
		(unsigned long long)(ledger_total(&t->ledger) - ledger_total(&p->at_start)),
		(unsigned long long)t->requests);
}

static void
put_cards(struct sbuf *o, const struct stats_state *st, const struct process *p,
	const struct totals *t)
{
	uint64_t calls = ledger_total(&t->ledger) - ledger_total(&p->at_start);

	begin_card(o, "rate", "Requests/s");
	html_count(o, st->sums.rate);
	end_card(o);
	begin_card(o, "failed", "5xx so far");
	html_count(o, st->sums.failed);
	end_card(o);
	begin_card(o, "sessions", "Sessions");
	html_count(o, t->sessions);
	sbuf_adds(o, "</b><small> of ");
	html_count(o, p->shared.max_sessions);
	sbuf_adds(o, "</small></div>\n");
	begin_card(o, "sent", "Sent so far");
	html_bytes(o, t->bytes_sent);
	end_card(o);
	begin_card(o, "calls", "Calls per request");
	if (t->requests)
		sbuf_addf(o, "%.2f", (double)calls / (double)t->requests);
	else
		sbuf_addc(o, '-');
	end_card(o);
	put_certificates(o, p);
}

/* --- the begin of the page --- */

/* The name that show-node shows; "": none. */
static const char *
shown_node(const struct stats_state *st, const struct process *p)
{
	const struct stats_conf *c = st->page->stats;

	return !(c->flags & STATS_NODE) ? "" : c->node ? c->node : p->node;
}

/* Zabbix and Datadog look for "HAProxy version X, " and for the line of the uptime. */
static void
put_title(struct sbuf *o, const struct stats_state *st, const struct process *p)
{
	const struct stats_conf *c = st->page->stats;
	const char *desc = c->desc ? c->desc : p->cfg->global.description;

	sbuf_adds(o, "<header>\n<h1>Statistics Report");
	if (*shown_node(st, p)) {
		sbuf_adds(o, " on ");
		html_text(o, str_of(shown_node(st, p)));
	}
	sbuf_adds(o, "</h1>\n");
	if ((c->flags & STATS_DESC) && desc) {
		sbuf_adds(o, "<p>");
		html_text(o, str_of(desc));
		sbuf_adds(o, "</p>\n");
	}
	if (!(c->flags & STATS_HIDE_VERSION))
		sbuf_addf(o, "<p>%s %s; HAProxy version %s, released %s</p>\n", VERSION_NAME,
			TACIT_VERSION, VERSION_COMPAT, VERSION_DATE);
	sbuf_adds(o, "</header>\n");
}

static void
put_process(struct sbuf *o, const struct process *p, const struct totals *t)
{
	uint64_t now = loop_now_ms(process_loop(p)), up = (now - p->started_ms) / 1000;

	sbuf_addf(o,
		"<p id=about><span><b>pid = </b> %d (process #1, nbproc = 1, nbthread = %u)</span> "
		"<span><b>uptime = </b> %llud %lluh%02llum%02llus</span> "
		"<span><b>maxconn = </b> %u; <b>ulimit-n = </b> %u</span> "
		"<span>current conns = %u; conn rate = %u/sec; idle = %u %%</span></p>\n",
		(int)process_log(p)->id.pid, p->n_workers, (unsigned long long)(up / 86400),
		(unsigned long long)(up / 3600 % 24), (unsigned long long)(up / 60 % 60),
		(unsigned long long)(up % 60), p->shared.max_sessions, p->limits.fds, t->sessions,
		freq_read(&t->conn_rate, now), t->idle_pct);
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

/* A browser without the script loads the page again; the script fetches it. */
static void
put_html_head(struct sbuf *o, const struct stats_state *st, const struct process *p)
{
	unsigned int refresh = st->page->stats->refresh_s;

	sbuf_adds(o,
		"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		"<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=robots content=noindex>\n<link rel=icon href=\"data:,\">\n");
	if (refresh && !(st->query.words & STATS_NOREFRESH))
		sbuf_addf(o, "<noscript><meta http-equiv=refresh content=%u></noscript>\n",
			refresh);
	sbuf_adds(o, "<title>");
	html_text(o, str_of(shown_node(st, p)));
	sbuf_addf(o, "%sStatistics Report</title>\n<style nonce=\"%s\">\n",
		*shown_node(st, p) ? ": " : "", st->nonce);
	sbuf_adds(o, page_css);
	sbuf_addf(o, "</style>\n</head>\n<body data-refresh=%u data-from=\"",
		st->query.words & STATS_NOREFRESH ? 0 : refresh);
	put_own_uri(o, st, 0);
	sbuf_adds(o, "\">\n");
}

static void
put_beginning(struct sbuf *o, const struct stats_state *st, const struct process *p)
{
	struct totals t;

	totals_read(p, &t);
	put_html_head(o, st, p);
	put_title(o, st, p);
	put_message(o, st);
	sbuf_adds(o, "<main>\n");
	row_states(o, &st->sums);
	sbuf_adds(o, "<div class=cards>\n");
	put_cards(o, st, p, &t);
	sbuf_adds(o, "</div>\n");
	put_counters(o, st, p, &t);
	put_nav(o, st);
}

/* --- proxies --- */

/* The last invalid message that came from this side. */
static void
put_invalid(struct sbuf *o, const struct process *p, struct proxy *px, int side)
{
	struct invalid_msg *m = invalid_msg_take(&px->invalid[side], p->sys);
	uint64_t now = loop_wall_ns(process_loop(p)) / 1000000;

	if (m) {
		sbuf_addf(o, " <small class=invalid>last invalid %s ",
			side == CLIENT ? "request" : "response");
		html_age(o, now > m->wall_ms ? (int64_t)(now - m->wall_ms) / 1000 : 0);
		sbuf_adds(o, " ago: ");
		html_text(o, str_of(http_bad_text(m->why)));
		if (m->server[0]) {
			sbuf_adds(o, ", server ");
			html_text(o, str_of(m->server));
		}
		sbuf_adds(o, "</small>");
	}
	invalid_msg_give_back(&px->invalid[side], m, p->sys);
}

static void
put_table_use(struct sbuf *o, const struct table *t)
{
	const struct table_conf *conf = table_conf_of(t);

	sbuf_addf(o, " <small>stick table of type %s: ", table_type_name(conf->type));
	html_count(o, table_used(t));
	sbuf_adds(o, " of ");
	html_count(o, conf->size);
	sbuf_adds(o, " entries</small>");
}

/* 0 if the row has no such number. */
static uint64_t
number_or_0(const struct stat_row *r, enum stat_col c)
{
	return r->v[c].kind == VAL_INT ? (uint64_t)r->v[c].u.n : 0;
}

/* Puts what clients of a frontend use: HTTP/2, compression, caches. */
static void
put_uses(struct sbuf *o, const struct stat_row *r)
{
	uint64_t lookups = number_or_0(r, STAT_cache_lookups);

	if (number_or_0(r, STAT_h2_total_connections)) {
		sbuf_adds(o, " <small>HTTP/2: ");
		html_count(o, number_or_0(r, STAT_h2_open_connections));
		sbuf_adds(o, " connections, ");
		html_count(o, number_or_0(r, STAT_h2_backend_open_streams));
		sbuf_adds(o, " streams</small>");
	}
	if (number_or_0(r, STAT_comp_in)) {
		sbuf_adds(o, " <small>compressed ");
		html_bytes(o, number_or_0(r, STAT_comp_in));
		sbuf_adds(o, " to ");
		html_bytes(o, number_or_0(r, STAT_comp_out));
		sbuf_adds(o, "</small>");
	}
	if (lookups) {
		sbuf_adds(o, " <small>cache: ");
		html_count(o, number_or_0(r, STAT_cache_hits));
		sbuf_adds(o, " of ");
		html_count(o, lookups);
		sbuf_addf(o, " requests, %u&nbsp;%%</small>",
			(unsigned int)(number_or_0(r, STAT_cache_hits) * 100 / lookups));
	}
}

static void
put_heading(struct sbuf *o, const struct process *p, struct proxy *px,
	const struct stat_item *first)
{
	sbuf_addf(o, "<header id=h%d><h2 id=\"px-", px->id);
	html_text(o, str_of(px->name));
	sbuf_adds(o, "\"><a href=\"#px-");
	html_text(o, str_of(px->name));
	sbuf_adds(o, "\">");
	html_text(o, str_of(px->name));
	sbuf_adds(o, "</a></h2>");
	if (px->description) {
		sbuf_adds(o, " <small>");
		html_text(o, str_of(px->description));
		sbuf_adds(o, "</small>");
	}
	if (px->table)
		put_table_use(o, px->table);
	if (first->type == TYPE_FRONTEND)
		put_uses(o, &first->row);
	put_invalid(o, p, px, CLIENT);
	put_invalid(o, p, px, SERVER);
	sbuf_adds(o, "</header>\n");
}

static void
put_column_names(struct sbuf *o)
{
	static const char *const names[][2] = {
		{ "Name", "a click shows all that is known" },
		{ "Status", "and for how long" },
		{ "Check", "the last result" },
		{ "Weight", "in use" },
		{ "Queue", "requests that wait" },
		{ "Sessions", "now/limit" },
		{ "Rate", "requests of frontends, else sessions, in the last second" },
		{ "Total", "the same so far" },
		{ "In", "bytes from clients" },
		{ "Out", "bytes to clients" },
		{ "4xx", "responses" },
		{ "5xx", "responses" },
		{ "Denied", "connections, requests and responses" },
		{ "Errors", "of requests, connections and responses" },
		{ "Retries", "also on another server" },
		{ "Median", "half of the responses, in mode tcp of the sessions, took at most so "
			    "many milliseconds" },
		{ "99 %", "and 99 percent of them" },
	};

	sbuf_adds(o, "<thead><tr>");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		sbuf_addf(o, "<th scope=col title=\"%s\">%s</th>", names[i][1], names[i][0]);
	sbuf_adds(o, "</tr></thead>\n");
}

static void
begin_section(struct sbuf *o, struct stats_state *st, const struct process *p,
	const struct stat_item *first)
{
	struct proxy *px = (struct proxy *)(uintptr_t)first->proxy;

	st->open = px;
	st->view.has_form = st->is_admin && (px->caps & PROXY_BE) && px->n_servers;
	sbuf_adds(o, "<section>\n");
	put_heading(o, p, px, first);
	if (st->view.has_form) {
		sbuf_adds(o, "<form method=post action=\"");
		html_text(o, st->view.uri);
		html_text(o, str_of(st->words));
		sbuf_addf(o, "\">\n<input type=hidden name=b value=\"#%d\">\n", px->id);
	}
	sbuf_adds(o, "<table aria-labelledby=\"px-");
	html_text(o, str_of(px->name));
	sbuf_adds(o, "\">\n");
	put_column_names(o);
	sbuf_addf(o, "<tbody id=b%d>\n", px->id);
}

static void
end_section(struct sbuf *o, struct stats_state *st)
{
	if (!st->open)
		return;
	st->open = NULL;
	sbuf_adds(o, "</tbody>\n</table>\n");
	if (st->view.has_form) {
		sbuf_adds(o, "<div class=act><label>Selected servers: <select name=action>"
			     "<option value=\"\"></option>");
		stats_actions_put(o);
		sbuf_adds(o, "</select></label> <button>Apply</button></div>\n</form>\n");
	}
	sbuf_adds(o, "</section>\n");
}

static void
put_item(struct sbuf *o, struct stats_state *st, const struct process *p,
	const struct stat_item *item)
{
	if (st->query.row.proxy >= 0)
		row_details(o, item, &st->view);
	if (st->open != item->proxy) {
		end_section(o, st);
		begin_section(o, st, p, item);
	}
	row_put(o, item, &st->view);
}

/* A frontend's calls, or those of none (NULL). */
static void
put_frontend_calls(struct sbuf *o, const struct process *p, const struct proxy *fe)
{
	struct ledger_mark now;
	uint64_t n;

	totals_mark_account(p, fe, &now);
	n = ledger_total(&now.ledger) - (fe ? 0 : ledger_total(&p->at_start));
	if (!n)
		return;
	sbuf_adds(o, "<tr><td>");
	html_text(o, str_of(fe ? fe->name : "none: waits, logs, checks"));
	sbuf_adds(o, "</td><td>");
	html_count(o, n);
	sbuf_adds(o, "</td><td>");
	if (now.requests)
		sbuf_addf(o, "%.3f", (double)n / (double)now.requests);
	sbuf_adds(o, "</td></tr>\n");
}

/* The ledger by frontend. */
static void
put_calls_by_frontend(struct sbuf *o, const struct process *p)
{
	sbuf_adds(o, "<table>\n<tr><th>Frontend</th><th>Calls</th><th>Per request</th></tr>\n");
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, struct proxy, link);

		if (fe->account)
			put_frontend_calls(o, p, fe);
	}
	put_frontend_calls(o, p, NULL);
	sbuf_adds(o, "</table>\n");
}

/* The calls that were made most, of the ledger. */
static void
put_calls(struct sbuf *o, const struct process *p, const struct totals *t)
{
	sbuf_adds(o, "<details id=ledger><summary>System calls</summary>\n<table>\n"
		     "<tr><th>Call</th><th>So far</th><th>Per request</th></tr>\n");
	for (int i = 0; i < SYS_CALLS; i++) {
		enum sys_call call = (enum sys_call)i;
		uint64_t n = ledger_sum(&t->ledger, call) - ledger_sum(&p->at_start, call);

		if (!n || ledger_is_clock(call))
			continue;
		sbuf_addf(o, "<tr><td>%s</td><td>", ledger_name(call));
		html_count(o, n);
		sbuf_addf(o, "</td><td>%.3f</td></tr>\n",
			t->requests ? (double)n / (double)t->requests : 0.0);
	}
	sbuf_adds(o, "</table>\n");
	put_calls_by_frontend(o, p);
	sbuf_adds(o, "</details>\n");
}

static void
put_page_end(struct sbuf *o, struct stats_state *st, const struct process *p)
{
	struct totals t;

	totals_read(p, &t);
	end_section(o, st);
	put_calls(o, p, &t);
	sbuf_adds(o, "</main>\n<footer>\n");
	put_process(o, p, &t);
	sbuf_addf(o, "</footer>\n<script nonce=\"%s\">\n", st->nonce);
	sbuf_adds(o, page_js);
	sbuf_adds(o, "</script>\n</body>\n</html>\n");
}

/* One row of the walk for the overview. */
static int
sum_next(struct stats_state *st, const struct process *p)
{
	struct stat_item item;
	enum stat_step step = stat_walk_next(&st->sum_walk, p, &item);

	if (step == STAT_ITEM)
		row_sum(&st->sums, &item);
	st->has_sums = step == STAT_END;
	return 1;
}

/* The next part of the page: 1. 0: that was the end. */
static int
stats_page_next(struct service_job *j, const struct process *p)
{
	struct stats_state *st = j->state;
	struct stat_item item;

	if (!st->has_sums)
		return sum_next(st, p);
	if (!st->has_begun) {
		st->has_begun = 1;
		put_beginning(&j->out, st, p);
		return 1;
	}
	switch (stat_walk_next(&st->walk, p, &item)) {
	case STAT_ITEM:
		put_item(&j->out, st, p, &item);
		return 1;
	case STAT_NOTHING:
		return 1;
	case STAT_END:
		break;
	}
	put_page_end(&j->out, st, p);
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
	if (st->query.output != STATS_HTML && refresh && !(st->query.words & STATS_NOREFRESH))
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
