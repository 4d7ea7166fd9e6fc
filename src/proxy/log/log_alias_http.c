/* The variables of log formats that are about a transaction. */
#include <string.h>

#include "base/str.h"
#include "http/uri.h"
#include "proxy/log/log_alias_int.h"
#include "proxy/sample/http_line.h"
#include "proxy/model/persist_state.h"

/* --- the request ---------------------------------------------------------------------------- */

/* The original request line, as far as it was kept; empty: none. */
static struct str
line_of(const struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	return t ? (struct str){ t->line, t->line_len } : (struct str){ NULL, 0 };
}

static void
put_part(struct log_render *r, struct str part)
{
	if (line_of(r).len == 0)
		part = STR("<BADREQ>");
	rule_fmt_put(r->out, r->flags & RULE_FMT_LOG ? r->flags | RULE_FMT_MARK : r->flags,
		part);
}

void
put_r(struct log_render *r)
{
	put_part(r, line_of(r));
}

void
put_HM(struct log_render *r)
{
	put_part(r, http_line_method(r->s->txn));
}

void
put_HU(struct log_render *r)
{
	put_part(r, http_line_target(r->s->txn));
}

/* The target from the question mark on. */
static struct str
query_of(struct str target)
{
	const char *mark = target.len ? memchr(target.p, '?', target.len) : NULL;

	if (!mark)
		return (struct str){ target.p ? target.p + target.len : "", 0 };
	return (struct str){ mark, target.len - (size_t)(mark - target.p) };
}

void
put_HQ(struct log_render *r)
{
	put_part(r, query_of(http_line_target(r->s->txn)));
}

void
put_HP(struct log_render *r)
{
	struct str target = http_line_target(r->s->txn);

	target.len -= query_of(target).len;
	put_part(r, target);
}

void
put_HPO(struct log_render *r)
{
	struct str target = http_line_target(r->s->txn);
	struct http_uri u;

	if (!target.len) {
		put_part(r, STR(""));
		return;
	}
	http_uri_split(target, &u);
	put_part(r, u.path.p ? u.path : STR(""));
}

void
put_HV(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	put_part(r, http_version_name(t ? t->version : HTTP_1_1));
}

/* --- the response --------------------------------------------------------------------------- */

/* Writes the status. Rules of a response run before it is that of the transaction, and change
 * it. */
void
put_ST(struct log_render *r)
{
	/* As in HAProxy, for a request of HTTP/2 that is refused by a reset. */
	const char *none = !r->s->txn && r->s->is_carried ? "0" : "-1";
	const struct http_txn *t = r->s->txn;
	unsigned int status = r->res ? r->res->status : t ? t->status : 0;

	if (status)
		sbuf_addu(r->out, status);
	else
		sbuf_adds(r->out, none);
}

/* The last two characters are about the persistence cookie (manual 8.5). */
void
put_tsc(struct log_render *r)
{
	char letters[2];

	sbuf_add(r->out, r->s->term, sizeof(r->s->term));
	persist_letters(r->s, letters);
	sbuf_add(r->out, letters, sizeof(letters));
}

/* --- timers (manual 8.4) -------------------------------------------------------------------- */

/* -1 if the request was not received completely, for any reason (manual 8.4). */
static int
is_timed(const struct http_txn *t)
{
	return t && t->head_ms && !t->no_timers;
}

void
put_TR(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	log_put_timer(r, is_timed(t), t ? t->began_ms : 0, t ? t->head_ms : 0);
}

/* Returns when the response's head was complete, or 0. Rules of a response run before this time is
 * noted. */
static uint64_t
response_ms(const struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	if (!t || t->local)
		return 0;
	if (t->res_ms || !r->res)
		return t->res_ms;
	return t->held_ms ? t->held_ms : r->cx->now_ms;
}

void
put_Tr(struct log_render *r)
{
	const struct stream *s = r->s;
	uint64_t came_ms = response_ms(r);

	if (log_is_served(s))
		sbuf_adds(r->out, s->txn->is_served ? "0" : "-1");
	else
		log_put_timer(r, came_ms && s->connected_ms, s->connected_ms, came_ms);
}

void
put_Td(struct log_render *r)
{
	const struct stream *s = r->s;
	const struct http_txn *t = s->txn;

	if (t)
		log_put_timer(r, t->res_ms && !t->local, t->res_ms, r->cx->now_ms);
	else
		log_put_timer(r, s->connected_ms != 0, s->connected_ms, r->cx->now_ms);
}

void
put_Ta(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	log_put_plus(r);
	log_put_timer(r, 1, t ? t->began_ms : r->s->state_ms, r->cx->now_ms);
}

/* If the client sent nothing, all the time counts for the request. */
void
put_Ti(struct log_render *r)
{
	sbuf_addu(r->out, r->s->txn ? r->s->txn->idle_ms : 0);
}

void
put_Tq(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;
	uint64_t from = t ? t->began_ms - t->idle_ms - log_handshake_ms(r->s) : 0;

	log_put_timer(r, is_timed(t), from, t ? t->head_ms : 0);
}

/* --- dates ---------------------------------------------------------------------------------- */

static uint64_t
began_ns(const struct log_render *r)
{
	return r->s->txn ? r->s->txn->began_wall_ns : r->s->sess->accept_wall_ns;
}

void
put_tr(struct log_render *r)
{
	uint64_t ns = began_ns(r);

	wall_add_clf(r->out, wall_local(r->cx->wall, (int64_t)(ns / 1000000000u)));
	sbuf_addf(r->out, ".%03u", (unsigned int)(ns / 1000000u % 1000u));
}

void
put_trg(struct log_render *r)
{
	time_t sec = (time_t)(began_ns(r) / 1000000000u);
	struct tm tm;

	if (!gmtime_r(&sec, &tm))
		return;
	wall_add_clf(r->out, &tm);
	sbuf_adds(r->out, " +0000");
}

void
put_trl(struct log_render *r)
{
	const struct tm *tm = wall_local(r->cx->wall, (int64_t)(began_ns(r) / 1000000000u));

	wall_add_clf(r->out, tm);
	sbuf_addc(r->out, ' ');
	wall_add_zone(r->out, tm);
}
