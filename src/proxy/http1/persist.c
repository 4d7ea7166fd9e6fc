/* Binds a session to a server by rules and cookies. On the session's worker, before anything
 * is balanced. */
#include "proxy/http1/persist.h"

#include <string.h>

#include "base/err.h"
#include "http/cookie.h"
#include "proxy/model/http_txn.h"
#include "proxy/http1/stick.h"
#include "proxy/model/persist_state.h"
#include "proxy/sample/eval.h"
#include "rule/sample/rdp.h"

/* --- values of cookies: slices of the field, or the caller's storage --- */

#define DATE_LETTERS 5
#define PERIOD_BITS 2 /* a period is four seconds */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The text up to the bar; rest is what follows. */
static struct str
take_part(struct str *rest)
{
	const char *bar = rest->len ? memchr(rest->p, '|', rest->len) : NULL;
	size_t n = bar ? (size_t)(bar - rest->p) : rest->len;
	struct str part = { rest->p, n };

	rest->p += bar ? n + 1 : n;
	rest->len -= bar ? n + 1 : n;
	return part;
}

/* 0: not a date. */
static int64_t
read_date(struct str text)
{
	int64_t n = 0;

	if (text.len < DATE_LETTERS)
		return 0;
	for (int i = 0; i < DATE_LETTERS; i++) {
		const char *at = text.p[i] ? strchr(letters, text.p[i]) : NULL;

		if (!at)
			return 0;
		n = n << 6 | (at - letters);
	}
	return n << PERIOD_BITS;
}

static void
write_date(struct sbuf *out, int64_t s)
{
	int64_t n = s >> PERIOD_BITS;

	sbuf_addc(out, '|');
	for (int i = DATE_LETTERS - 1; i >= 0; i--)
		sbuf_addc(out, letters[n >> (6 * i) & 63]);
}

static void
persist_cookie_read(const struct persist_conf *c, struct str value, struct persist_cookie *out)
{
	const char *end;

	out->last = out->first = 0;
	if (c->way == PERSIST_PREFIX) {
		end = value.len ? memchr(value.p, PERSIST_DELIMITER, value.len) : NULL;
		out->who = (struct str){ value.p, end ? (size_t)(end - value.p) : value.len };
		return;
	}
	out->who = take_part(&value);
	out->last = read_date(take_part(&value));
	out->first = read_date(take_part(&value));
}

/* Without a date it counts as new. */
static int
is_outside(int64_t date, unsigned int bound, int64_t now)
{
	return bound && date && (date > now + PERSIST_AHEAD_MAX_S || date + bound < now);
}

/* The state for the log: 'E' idle for too long, 'O' too old, 0 neither. now: s since 1970. */
static char
persist_cookie_age(const struct persist_conf *c, const struct persist_cookie *k, int64_t now)
{
	if (is_outside(k->first, c->max_life, now))
		return 'O';
	return is_outside(k->last, c->max_idle, now) ? 'E' : 0;
}

/* A last visit before the first one, an unexpected date, or a missing date. */
static int
persist_cookie_is_due(const struct persist_conf *c, const struct persist_cookie *k, int64_t now)
{
	int late = k->last ? k->last >> PERIOD_BITS < now >> PERIOD_BITS : c->max_idle > 0;

	return late || (k->first != 0) != (c->max_life > 0);
}

void
persist_cookie_write(const struct persist_conf *c, const char *who, int64_t now, int64_t first,
	struct sbuf *out)
{
	sbuf_addf(out, "%s=%s", c->name, who ? who : "; Expires=Thu, 01-Jan-1970 00:00:01 GMT");
	if (who && (c->max_idle || c->max_life))
		write_date(out, now);
	if (who && c->max_life)
		write_date(out, first ? first : now);
	sbuf_adds(out, "; path=/");
	if (c->attrs)
		sbuf_adds(out, c->attrs);
}

/* --- persistence --- */

/* Maximum length of a formatted server name. */
#define NAME_MAX_BYTES 255

/* --- the server --- */

/* A server that is down is only used if that does not matter. */
static int
may_bind(const struct stream *s, const struct server *srv)
{
	return server_is_running(srv) || s->forced || (s->be->options & OPT_PERSIST);
}

static void
ask_rules(struct stream *s, struct sample_ctx *cx)
{
	list_each(it, &s->be->persist.rules) {
		const struct persist_rule *r = list_entry(it, const struct persist_rule, link);

		cx->where = &r->where;
		if (rule_cond_eval(r->cond, cx) != RULE_YES)
			continue;
		s->forced = r->what == PERSIST_FORCE;
		if (s->txn)
			s->txn->persist.ignored = r->what == PERSIST_IGNORE;
		return;
	}
}

static struct server *
made_server(const struct stream *s, const struct rule_fmt *fmt, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	char name[NAME_MAX_BYTES + 1];
	struct sbuf b;

	sbuf_init_fixed(&b, name, sizeof(name));
	rule_fmt_write(fmt, cx, &b);
	arena_release(cx->arena, mark);
	return b.failed ? NULL : proxy_find_server(s->be, (struct str){ name, b.len });
}

/* Binds to the server of the first rule that applies and whose server is up. As in HAProxy, a name
 * that no server has ends the list. */
static void
ask_uses(struct stream *s, struct sample_ctx *cx)
{
	list_each(it, &s->be->persist.uses) {
		const struct persist_rule *r = list_entry(it, const struct persist_rule, link);
		struct server *srv;

		cx->where = &r->where;
		if (rule_cond_eval(r->cond, cx) != RULE_YES)
			continue;
		srv = r->fmt ? made_server(s, r->fmt, cx) : r->srv;
		if (!srv)
			return;
		if (may_bind(s, srv)) {
			s->bound = srv;
			return;
		}
	}
}

static int
bind_running(struct stream *s, struct server *srv)
{
	if (!server_is_running(srv))
		return 0;
	s->bound = srv;
	return 1;
}

/* The first server with this cookie that is up, or the first one if that does not matter. */
static char
find_server(struct stream *s, struct str who)
{
	const struct persist_conf *c = &s->be->persist;
	unsigned int n, at = persist_conf_find(c, who, &n), made_at = 0;
	uint64_t made = dynamic_cookie_parse(who);
	struct server *srv, *first = n ? c->entry[at].srv : NULL;

	for (unsigned int i = at; i < at + n; i++)
		if (bind_running(s, c->entry[i].srv))
			return 'V';
	while ((srv = dynamic_cookie_next(&c->dynamic, made, &made_at))) {
		if (bind_running(s, srv))
			return 'V';
		if (!first)
			first = srv;
	}
	if (first && may_bind(s, first))
		s->bound = first;
	return first ? 'D' : 'I';
}

static char
check_cookie(struct stream *s, struct str value, int64_t now)
{
	const struct persist_conf *c = &s->be->persist;
	struct persist_state *p = &s->txn->persist;
	struct persist_cookie k;
	char letter;

	if (s->bound || p->ignored)
		return 'U';
	persist_cookie_read(c, value, &k);
	letter = persist_cookie_age(c, &k, now);
	if (letter)
		return letter;
	letter = find_server(s, k.who);
	if (s->bound) {
		p->is_due = (uint8_t)persist_cookie_is_due(c, &k, now);
		p->first = k.first;
	}
	return letter;
}

/* Uses the first cookie that names a server. Without one, a cookie that named a server once is
 * preferred for the log to one that never did. */
static void
ask_cookies(struct stream *s, int64_t now)
{
	struct persist_state *p = &s->txn->persist;
	struct str name = str_of(s->be->persist.name);
	struct http_cookie_walk w = { 0 };
	struct http_cookie one;

	while (http_cookie_next(&s->txn->req, &w, &one)) {
		char letter;

		if (!str_is(one.name, name))
			continue;
		letter = check_cookie(s, one.value, now);
		if (p->asked == 'N' || letter != 'I')
			p->asked = letter;
		if (s->bound || p->ignored)
			return;
	}
}

/* Mode tcp: binds the stream to the first server at the address in the client's token. */
static void
ask_rdp_cookie(struct stream *s)
{
	struct str value;
	uint32_t ip;
	uint16_t port;

	if (!rdp_find_named(tcp_received(s), s->be->persist.rdp_cookie, &value) ||
		rdp_parse_token(value, &ip, &port) < 0)
		return;
	list_each(it, &s->be->servers) {
		struct server *srv = list_entry(it, struct server, link);
		struct addr a;

		(void)addr_cell_get(&srv->addr, &a);
		if (addr_family(&a) == AF_INET && a.u.in.sin_addr.s_addr == htonl(ip) &&
			addr_port(&a) == port && may_bind(s, srv)) {
			s->bound = srv;
			return;
		}
	}
}

/* Stick rules of mode tcp use the bytes of the client. */
static void
run_sticks(struct stream *s, struct eval *eval)
{
	struct eval bytes;

	if (s->txn) {
		stick_choose(s, &eval->cx);
		return;
	}
	tcp_content_eval_init(&bytes, s, persist_scope(s->be) | SAMPLE_AT_REQ);
	stick_choose(s, &bytes.cx);
	tcp_content_eval_done(&bytes, s);
}

/* In mode tcp there are the bytes that content rules have waited for. */
static void
begin_asking(struct eval *eval, struct stream *s)
{
	if (s->be->persist.looks && !s->txn) {
		tcp_content_eval_init(eval, s, persist_scope(s->be));
		return;
	}
	eval_init(eval, s, persist_scope(s->be));
	eval->cx.req_ended = 1;
	if (!eval->cx.req)
		eval->cx.at &= ~(unsigned int)SAMPLE_AT_REQ;
}

void
persist_apply(struct stream *s)
{
	const struct persist_conf *c = &s->be->persist;
	struct eval eval;

	begin_asking(&eval, s);
	ask_rules(s, &eval.cx);
	ask_uses(s, &eval.cx);
	tcp_content_eval_done(&eval, s);
	if (!s->txn && c->rdp_cookie && !s->bound)
		ask_rdp_cookie(s);
	if (s->txn && c->name) {
		s->txn->persist.asked = s->txn->persist.answered = 'N';
		ask_cookies(s, (int64_t)(eval.cx.wall_ns / 1000000000u));
	}
	if (c->stick_what)
		run_sticks(s, &eval);
}

/* --- on the way to the server --- */

static int
copy_fields(struct http_head *req, struct arena *a)
{
	for (int at = http_find_id(req, HTTP_F_COOKIE, 0); at >= 0;
		at = http_find_id(req, HTTP_F_COOKIE, (unsigned int)at + 1)) {
		struct str copy = arena_copy(a, req->field[at].value);

		if (!copy.p)
			return -ERR_RANGE;
		req->field[at].value = copy;
	}
	return 0;
}

int
persist_strip(struct stream *s, struct arena *a)
{
	const struct persist_conf *c = &s->be->persist;
	struct http_head *req = &s->txn->req;
	struct http_cookie_walk w = { 0 };
	struct http_cookie one;
	int prefixed = c->way == PERSIST_PREFIX;
	char asked = s->txn->persist.asked;

	if (!asked || asked == 'N' || !(prefixed || (c->way == PERSIST_INSERT && c->indirect)))
		return 0;
	if (copy_fields(req, a) < 0)
		return -ERR_RANGE;
	while (http_cookie_next(req, &w, &one)) {
		const char *end;

		if (!str_is(one.name, str_of(c->name)))
			continue;
		end = one.value.len ? memchr(one.value.p, PERSIST_DELIMITER, one.value.len) : NULL;
		if (!prefixed)
			http_cookie_erase(req, &w, &one);
		else if (end)
			http_cookie_cut(req, &w, &one, (size_t)(end + 1 - one.value.p));
	}
	return 0;
}
