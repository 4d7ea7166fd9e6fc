/* The persistence cookie in responses. */
#include <string.h>

#include "base/err.h"
#include "base/sbuf.h"
#include "http/cookie.h"
#include "proxy/model/http_txn.h"
#include "proxy/http1/persist.h"
#include "proxy/model/persist_state.h"

static int
is_named(const struct http_cookie *one, const struct persist_conf *c)
{
	return str_is(one->name, str_of(c->name));
}

/* The server's cookie names the server, alone or as a prefix of its own value. */
static int
rewrite_cookie(struct stream *s, const struct http_cookie *one, const char *who, struct arena *a)
{
	const struct persist_conf *c = &s->be->persist;
	struct str value = s->txn->res.field[one->place].value;
	const char *from = one->value.p, *end = value.p + value.len;
	const char *rest = c->way == PERSIST_PREFIX ? from : from + one->value.len;
	size_t room = value.len + strlen(who) + 2;
	char *p = arena_get(a, room);
	struct sbuf b;

	if (!p)
		return -ERR_RANGE;
	sbuf_init_fixed(&b, p, room);
	sbuf_add(&b, value.p, (size_t)(from - value.p));
	sbuf_adds(&b, who);
	if (c->way == PERSIST_PREFIX)
		sbuf_addc(&b, PERSIST_DELIMITER);
	sbuf_add(&b, rest, (size_t)(end - rest));
	return http_set_value(&s->txn->res, (unsigned int)one->place, (struct str){ p, b.len });
}

/* The handling of cookies set by the server, as logged. */
static char
cookie_treatment(const struct stream *s, const char *who)
{
	const struct persist_conf *c = &s->be->persist;

	if (c->preserve)
		return 'P';
	if (c->way == PERSIST_INSERT)
		return 'D';
	/* The client has an equivalent one. */
	if (c->indirect && s->txn->persist.asked == 'V' && persist_holds(s))
		return 'D';
	return c->way != PERSIST_PASSIVE && who ? 'R' : 'P';
}

static int
treat_cookies(struct stream *s, const char *who, struct arena *a)
{
	const struct persist_conf *c = &s->be->persist;
	struct http_head *res = &s->txn->res;
	struct http_cookie_walk w = { 0 };
	struct http_cookie one;
	char how = cookie_treatment(s, who);
	int r = 0;

	while (r == 0 && http_set_cookie_next(res, &w, &one)) {
		if (!is_named(&one, c))
			continue;
		s->txn->persist.answered = how;
		if (how == 'D')
			http_drop(res, (unsigned int)one.place);
		else if (how == 'R')
			r = rewrite_cookie(s, &one, who, a);
	}
	return r;
}

/* True if a response with a cookie of ours must not be cached. */
static int
is_hidden_from_caches(const struct stream *s)
{
	enum http_method m = s->txn->method;

	return s->be->persist.nocache &&
		(m == HTTP_GET || m == HTTP_HEAD ||
			http_lists(&s->txn->res, HTTP_F_CACHE_CONTROL, STR("public")));
}

/* Otherwise all clients of a cache would get that server. */
static int
hide_from_caches(const struct stream *s, struct http_head *res)
{
	if (!is_hidden_from_caches(s) ||
		http_lists(res, HTTP_F_CACHE_CONTROL, STR("private")) ||
		http_lists(res, HTTP_F_CACHE_CONTROL, STR("no-store")) ||
		http_lists(res, HTTP_F_CACHE_CONTROL, STR("no-cache")))
		return 0;
	return http_add_id(res, HTTP_F_CACHE_CONTROL, STR("private"));
}

static int
insert_cookie(struct stream *s, const char *who, struct arena *a)
{
	const struct persist_conf *c = &s->be->persist;
	struct persist_state *p = &s->txn->persist;
	size_t room = strlen(c->name) + (who ? strlen(who) : 0) +
		(c->attrs ? strlen(c->attrs) : 0) + PERSIST_COOKIE_EXTRA;
	int renewed = persist_holds(s);
	char *text = arena_get(a, room);
	struct sbuf b;
	int r;

	if (!text)
		return -ERR_RANGE;
	sbuf_init_fixed(&b, text, room);
	persist_cookie_write(c, who, (int64_t)(loop_wall_ns(s->engine->loop) / 1000000000u),
		renewed ? p->first : 0, &b);
	assert(!b.failed);
	r = http_add_id(&s->txn->res, HTTP_F_SET_COOKIE, (struct str){ text, b.len });
	if (r < 0)
		return r;
	p->answered = renewed ? 'U' : 'I';
	return hide_from_caches(s, &s->txn->res);
}

/* If persistence is ignored, cookies set by the server are not changed either. */
static int
minds_cookies(const struct stream *s)
{
	const struct persist_state *p = &s->txn->persist;

	return p->asked && !p->ignored && s->srv && !s->srv->is_dispatch &&
		persist_conf_shows(&s->be->persist);
}

/* Unless the server's own cookie is preserved. */
static int
inserts_cookie(const struct stream *s)
{
	const struct persist_conf *c = &s->be->persist;

	return c->way == PERSIST_INSERT && !(c->postonly && s->txn->method != HTTP_POST) &&
		!(persist_holds(s) && !s->txn->persist.is_due);
}

int
persist_answer(struct stream *s, struct arena *a)
{
	char text[DYNAMIC_COOKIE_TEXT];
	const char *who;
	int r;

	if (!minds_cookies(s))
		return 0;
	who = server_cookie(s->srv, text);
	r = treat_cookies(s, who, a);
	if (r < 0 || s->txn->persist.answered == 'P' || !inserts_cookie(s))
		return r;
	return insert_cookie(s, who, a);
}

static int
preserves_cookie(const struct stream *s)
{
	const struct persist_conf *c = &s->be->persist;
	struct http_cookie_walk w = { 0 };
	struct http_cookie one;

	while (c->preserve && http_set_cookie_next(&s->txn->res, &w, &one))
		if (is_named(&one, c))
			return 1;
	return 0;
}

int
persist_hides_answer(const struct stream *s)
{
	return minds_cookies(s) && inserts_cookie(s) && is_hidden_from_caches(s) &&
		!preserves_cookie(s);
}
