#include "sim/http_book.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/sample/capture.h"
#include "proxy/model/http_txn.h"

#define OWN "own" /* the value of the server's own cookie */

/* --- cookies and servers --- */

static void
add_line(struct http_persist *k, const char *line)
{
	size_t n = strlen(k->lines);

	(void)snprintf(k->lines + n, sizeof(k->lines) - n, "%s\n", line);
}

static void
random_cookie(struct http_persist *k, struct dice *d)
{
	static const char *const ways[] = { "", " rewrite", " insert", " prefix" };
	char line[100];

	k->cookie = 1;
	k->way = (enum persist_way)dice(d, PERSIST_PREFIX + 1);
	/* Each is invalid with some modes. */
	k->indirect = k->way != PERSIST_REWRITE && dice_is(d, 2);
	k->nocache = dice_is(d, 2);
	k->postonly = dice_is(d, 4);
	k->preserve = (k->way == PERSIST_INSERT || k->indirect) && dice_is(d, 3);
	(void)snprintf(line, sizeof(line), "cookie SRV%s%s%s%s%s", ways[k->way],
		k->indirect ? " indirect" : "", k->nocache ? " nocache" : "",
		k->postonly ? " postonly" : "", k->preserve ? " preserve" : "");
	add_line(k, line);
	k->ignores = dice_is(d, 3);
	if (k->ignores)
		add_line(k, "ignore-persist if { path_end 4 }");
}

static void
random_use_server(struct http_persist *k, struct dice *d)
{
	k->uses = 1;
	if (dice_is(d, 2)) {
		add_line(k, "use-server s%[req.hdr(x-use)] if { req.hdr(x-use) -m found }");
		return;
	}
	for (unsigned int i = 0; i < k->n_servers; i++) {
		char line[60];

		(void)snprintf(line, sizeof(line), "use-server s%u if { req.hdr(x-use) %u }", i + 1,
			i + 1);
		add_line(k, line);
	}
}

const char *
http_persist_configure(struct http_book *b, struct dice *d)
{
	struct http_persist *k = &b->bound;

	k->lines[0] = '\0';
	if (dice_is(d, 3))
		random_cookie(k, d);
	if (dice_is(d, 4))
		random_use_server(k, d);
	k->captures = dice_is(d, 3);
	if (k->captures)
		add_line(k, "capture request header X-Id len 9\n"
			    "capture response header X-Id len 9\n"
			    "capture cookie SRV= len 30");
	return k->lines;
}

void
http_persist_set_cookies(struct proxy *px)
{
	list_each(it, &px->servers) {
		struct server *s = list_entry(it, struct server, link);

		s->conf.cookie = mem_strdup(s->name);
		assert(s->conf.cookie);
	}
}

/* --- messages --- */

void
http_persist_plan(struct http_book *b, struct dice *d, struct http_request *q)
{
	const struct http_persist *k = &b->bound;

	if (k->uses && dice_is(d, 3))
		q->use = 1 + dice(d, k->n_servers);
	if (!k->cookie)
		return;
	q->sets = dice_is(d, 3);
	q->forgets = dice_is(d, 4);
	q->strays = dice_is(d, 10);
}

/* The value of the cookie that q was sent with: "" none. */
static void
brought(const struct http_book *b, const struct http_request *q, char out[40])
{
	const char *rest = b->bound.way == PERSIST_PREFIX ? "~" OWN : "";

	out[0] = '\0';
	if (q->strays)
		(void)snprintf(out, 40, "gone%s", rest);
	else if (q->brings)
		(void)snprintf(out, 40, "s%u%s", q->brings, rest);
}

void
http_persist_request_fields(
	const struct http_book *b, struct http_request *q, unsigned int jar, struct http_text *t)
{
	char value[40];

	if (q->use)
		http_text_add(t, "X-Use: %u\r\n", q->use);
	if (!b->bound.cookie)
		return;
	q->brings = q->forgets || q->strays ? 0 : jar;
	brought(b, q, value);
	if (value[0])
		http_text_add(t, "Cookie: a=1; SRV=%s; b=2\r\n", value);
	else
		http_text_add(t, "Cookie: a=1; b=2\r\n");
}

/* The cookie that the server sends itself: if tacit does not replace the value, it has to be
 * right. */
static void
servers_own(const struct http_book *b, unsigned int server, char out[40])
{
	if (b->bound.way == PERSIST_PASSIVE)
		(void)snprintf(out, 40, "s%u", server + 1);
	else
		(void)snprintf(out, 40, OWN);
}

void
http_persist_response_fields(const struct http_book *b, const struct http_request *q,
	unsigned int server, struct http_text *t)
{
	char value[40];

	if (!q->sets)
		return;
	servers_own(b, server, value);
	http_text_add(t, "Set-Cookie: other=1\r\nSet-Cookie: SRV=%s; path=/\r\n", value);
}

/* --- requirements --- */

static int
is_ignored(const struct http_book *b, const struct http_request *q)
{
	return b->bound.ignores && q->verb != HTTP_VERB_CONNECT && q->id % 10 == 4;
}

/* The index of the server that it names + 1; 0: none. */
static unsigned int
names(const struct http_book *b, const struct http_request *q)
{
	if (q->use)
		return q->use;
	return b->bound.cookie && !is_ignored(b, q) ? q->brings : 0;
}

/* Nothing in this world can have sent it to another server. */
static int
is_steady(const struct http_book *b, const struct http_request *q)
{
	const struct world *w = b->w;
	int redispatches = (w->px->options & OPT_REDISPATCH) != 0;

	/* A try that no server has read is unknown. */
	if (b->kind)
		return !redispatches ||
			(q->n_tries == 1 && !http_retries(w->px, HTTP_RETRY_EMPTY_RESPONSE));
	return !redispatches && !w->meddled && fake_failed_call(w->k) == SYS_CALLS;
}

void
http_persist_check_request(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int server)
{
	struct http_persist *k = &b->bound;
	unsigned int to = names(b, q);
	char want[40];

	if (to && to != server + 1 && is_steady(b, q))
		world_error(b->w, "request %u is for server %u and comes to %u, try %u", q->id, to,
			server + 1, q->n_tries);
	k->came += to != 0;
	if (!k->cookie)
		return;
	brought(b, q, want);
	if (k->way == PERSIST_INSERT && k->indirect)
		want[0] = '\0';
	else if (k->way == PERSIST_PREFIX && want[0])
		(void)snprintf(want, sizeof(want), OWN);
	if (strcmp(m->cookie, want) != 0 || m->crumbs != 2)
		world_error(b->w, "server %u sees cookie '%s' of request %u, not '%s'; %u others",
			server + 1, m->cookie, q->id, want, m->crumbs);
}

/* The cookie that the client has to get from that server, "" for none. 1: it is an inserted one. */
static int
to_be_set(const struct http_book *b, const struct http_request *q, unsigned int server,
	char out[40])
{
	const struct http_persist *k = &b->bound;
	int held = names(b, q) == server + 1, knows = held && q->brings == server + 1 && !q->use;
	int ours = k->way == PERSIST_INSERT;
	/* If persistence is ignored HAProxy 2.6 leaves the server's cookie unchanged. */
	int passes = k->preserve || is_ignored(b, q);

	out[0] = '\0';
	if (q->sets && (passes || !(ours || (k->indirect && knows)))) {
		if (passes || k->way == PERSIST_PASSIVE)
			servers_own(b, server, out);
		else
			(void)snprintf(out, 40, "s%u%s", server + 1,
				k->way == PERSIST_PREFIX ? "~" OWN : "");
		return 0;
	}
	if (!ours || held || is_ignored(b, q) || (k->postonly && q->verb != HTTP_VERB_POST))
		return 0;
	(void)snprintf(out, 40, "s%u", server + 1);
	return 1;
}

static void
check_set_cookie(struct http_book *b, const struct http_request *q, const struct http_parsed *m)
{
	const struct http_persist *k = &b->bound;
	unsigned int server = q->tries[m->nth % HTTP_TRIES_MAX].server;
	int inserted = 0, is_private;
	char want[40] = "";

	if (m->id)
		inserted = to_be_set(b, q, server, want);
	if (strcmp(m->cookie, want) != 0 || m->sets != (want[0] != '\0'))
		world_error(b->w, "request %u gets cookie '%s' of server %u, not '%s' (%u)", q->id,
			m->cookie, server + 1, want, m->sets);
	if (m->id && m->crumbs != (unsigned int)q->sets)
		world_error(b->w, "request %u gets %u other cookies", q->id, m->crumbs);
	is_private = inserted && k->nocache &&
		(q->verb == HTTP_VERB_GET || q->verb == HTTP_VERB_HEAD);
	if (m->is_private != is_private)
		world_error(b->w, "the answer to %u is%s private", q->id,
			m->is_private ? "" : " not");
	b->bound.told += (unsigned int)inserted;
}

unsigned int
http_persist_check_response(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int jar)
{
	unsigned int told = 0;

	if (!b->bound.cookie)
		return 0;
	/* While a server is in maintenance no client is bound to it; later it is back. */
	if (!b->w->meddled)
		check_set_cookie(b, q, m);
	if (sscanf(m->cookie, "s%u", &told) == 1 && told <= b->bound.n_servers)
		return told;
	return jar;
}

/* --- captures --- */

static uint32_t
captured_id(const struct stream *s, enum capture_kind kind)
{
	struct str text;
	uint32_t id = 0;

	if (!capture_get(s, kind, 0, &text))
		return 0;
	for (size_t i = 0; i < text.len; i++)
		id = 10 * id + (uint32_t)(text.p[i] - '0');
	return id;
}

static void
check_cookie_log(struct http_book *b, const struct stream *s, const struct http_request *q)
{
	char value[40], want[50] = "";
	struct str text = STR("");

	brought(b, q, value);
	/* As in HAProxy: not for requests that a rule answers or redirects. */
	if (value[0] && !(s->txn->local && s->txn->status < 400))
		(void)snprintf(want, sizeof(want), "SRV=%s", value);
	/* A request whose client leaves or is killed before it was parsed does not count. */
	if (!capture_get(s, CAPTURE_COOKIE, 0, &text) && !s->txn->placed &&
		!http_has_answer(s->txn))
		return;
	if (text.len != strlen(want) || (text.len && memcmp(text.p, want, text.len) != 0))
		world_error(b->w, "request %u is logged with cookie '%.*s', not '%s'", q->id,
			(int)text.len, text.p, want);
}

void
http_persist_check_log(struct http_book *b, const struct stream *s)
{
	const struct http_txn *t = s->txn;
	uint32_t id, of_answer;
	char line[HTTP_LINE_MAX + 1];
	unsigned int path;

	if (!b->bound.captures || !t || !t->head_ms)
		return;
	id = captured_id(s, CAPTURE_REQUEST);
	of_answer = captured_id(s, CAPTURE_RESPONSE);
	/* Without memory nothing is. */
	if (!id && fake_failed_call(b->w->k) != SYS_CALLS)
		return;
	(void)snprintf(line, sizeof(line), "%.*s", (int)t->line_len, t->line);
	if (!id || id > b->n || (sscanf(line, "%*s /%u", &path) == 1 && path != id))
		world_error(b->w, "%s is logged with %u for its id", line, id);
	else if (of_answer && of_answer != id)
		world_error(b->w, "request %u is logged with an answer to %u", id, of_answer);
	else if (!of_answer && http_has_answer(t) && !t->local)
		world_error(b->w, "request %u is logged without its answer", id);
	else
		check_cookie_log(b, s, &b->req[id - 1]);
	b->bound.logged++;
}
