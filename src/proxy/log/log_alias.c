/* The variables of log formats. On the session's worker; an unknown value is written as '-'. */
#include "proxy/log/log_alias.h"

#include <string.h>

#include "base/atomic.h"
#include "base/log.h"
#include "base/sbuf.h"
#include "proxy/log/log_alias_int.h"
#include "net/conn_socket.h"
#include "proxy/model/byte_count.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/unique_id.h"
#include "tls/conn_info.h"

/* NULL: nothing is known. */
static void
put_string(struct log_render *r, const char *p)
{
	rule_fmt_put(r->out, r->flags, p ? str_of(p) : (struct str){ NULL, 0 });
}

/* A number that flag X writes in hexadecimal; it does not apply to most. */
static void
put_hexable(struct log_render *r, uint64_t v)
{
	if (r->flags & RULE_FMT_X)
		sbuf_addf(r->out, "%04llX", (unsigned long long)v);
	else
		sbuf_addu(r->out, v);
}

static void
put_hex_bytes(struct log_render *r, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sbuf_addf(r->out, "%02X", ((const unsigned char *)p)[i]);
}

static void
put_ip(struct log_render *r, const struct addr *a)
{
	char text[ADDR_TEXT];
	int family = a ? addr_family(a) : AF_UNSPEC;

	if (family == AF_UNSPEC)
		put_string(r, NULL);
	else if ((r->flags & RULE_FMT_X) && family == AF_INET)
		put_hex_bytes(r, &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
	else if ((r->flags & RULE_FMT_X) && family == AF_INET6)
		put_hex_bytes(r, &a->u.in6.sin6_addr, sizeof(a->u.in6.sin6_addr));
	else
		put_string(r, addr_host_text(a, text));
}

/* unix sockets have no port: the id of the listener or server is used. */
static void
put_port(struct log_render *r, const struct addr *a, int id)
{
	int family = a ? addr_family(a) : AF_UNSPEC;

	if (family == AF_UNSPEC)
		put_string(r, NULL);
	else
		put_hexable(r, family == AF_UNIX ? (unsigned int)id : addr_port(a));
}

/* --- addresses ----------------------------------------------------------------------------- */

/* The destination of the client's connection. */
static const struct addr *
front_address(const struct log_render *r, struct addr *space)
{
	return addr_override_destination(r->s, space) == 0 ? space : &r->s->sess->listener->addr;
}

static const struct addr *
back_address(const struct log_render *r, struct addr *space)
{
	const struct conn *c = r->s->conn[SERVER];

	return conn_local_addr(c, space) < 0 ? NULL : space;
}

/* The server's address, with the client's port plus its offset. */
static const struct addr *
server_address(const struct log_render *r, struct addr *space)
{
	const struct server *srv = r->s->srv;
	struct addr front;
	int port;

	if (!srv)
		return NULL;
	(void)addr_cell_get(&srv->addr, space);
	if (!srv->spec.has_offset)
		return space;
	port = (int)addr_port(front_address(r, &front)) + srv->spec.port_offset;
	addr_set_port(space, (unsigned int)port & 0xffffu);
	return space;
}

static void
put_ci(struct log_render *r)
{
	put_ip(r, addr_override_source(r->s));
}

static void
put_cp(struct log_render *r)
{
	put_port(r, addr_override_source(r->s), r->s->sess->listener->id);
}

static void
put_fi(struct log_render *r)
{
	struct addr a;

	put_ip(r, front_address(r, &a));
}

static void
put_fp(struct log_render *r)
{
	struct addr a;

	put_port(r, front_address(r, &a), r->s->sess->listener->id);
}

static void
put_bi(struct log_render *r)
{
	struct addr a;

	put_ip(r, back_address(r, &a));
}

static void
put_bp(struct log_render *r)
{
	struct addr a;

	put_port(r, back_address(r, &a), r->s->srv ? r->s->srv->id : 0);
}

static void
put_si(struct log_render *r)
{
	struct addr a;

	put_ip(r, server_address(r, &a));
}

static void
put_sp(struct log_render *r)
{
	struct addr a;

	put_port(r, server_address(r, &a), r->s->srv ? r->s->srv->id : 0);
}

/* --- names --------------------------------------------------------------------------------- */

static void
put_f(struct log_render *r)
{
	put_string(r, r->s->sess->fe->name);
}

static void
put_ft(struct log_render *r)
{
	put_f(r);
	if (r->s->sess->listener->xprt)
		sbuf_addc(r->out, '~');
}

static void
put_b(struct log_render *r)
{
	const struct proxy *be = stream_backend(r->s);

	put_string(r, be ? be->name : r->s->sess->fe->name);
}

static void
put_s(struct log_render *r)
{
	const struct stream *s = r->s;

	if (log_is_served(s))
		put_string(r, s->txn->served_by);
	else
		put_string(r, s->srv ? s->srv->name : "<NOSRV>");
}

static void
put_H(struct log_render *r)
{
	put_string(r, r->cx->id->node);
}

/* --- dates --------------------------------------------------------------------------------- */

static int64_t
accept_sec(const struct log_render *r)
{
	return (int64_t)(r->s->sess->accept_wall_ns / 1000000000u);
}

static unsigned int
accept_millis(const struct log_render *r)
{
	return (unsigned int)(r->s->sess->accept_wall_ns / 1000000u % 1000u);
}

static void
put_t(struct log_render *r)
{
	wall_add_clf(r->out, wall_local(r->cx->wall, accept_sec(r)));
	sbuf_addf(r->out, ".%03u", accept_millis(r));
}

static void
put_T(struct log_render *r)
{
	time_t sec = (time_t)accept_sec(r);
	struct tm tm;

	if (!gmtime_r(&sec, &tm))
		return;
	wall_add_clf(r->out, &tm);
	sbuf_adds(r->out, " +0000");
}

static void
put_Tl(struct log_render *r)
{
	const struct tm *tm = wall_local(r->cx->wall, accept_sec(r));

	wall_add_clf(r->out, tm);
	sbuf_addc(r->out, ' ');
	wall_add_zone(r->out, tm);
}

static void
put_Ts(struct log_render *r)
{
	put_hexable(r, (uint64_t)accept_sec(r));
}

static void
put_millis(struct log_render *r)
{
	sbuf_addf(r->out, r->flags & RULE_FMT_X ? "%02X" : "%03u", accept_millis(r));
}

/* --- timers (manual 8.4) ------------------------------------------------------------------- */

/* Start of the wait for a server. */
static uint64_t
wait_from(const struct stream *s)
{
	return s->txn ? s->txn->head_ms : s->sess->accept_ms;
}

/* A session that ends in the queue has waited to its end. */
static void
put_Tw(struct log_render *r)
{
	const struct stream *s = r->s;

	if (log_is_served(s))
		sbuf_addc(r->out, '0');
	else if (!s->queued_ms && s->term[1] == 'Q')
		log_put_timer(r, 1, wait_from(s), r->cx->now_ms);
	else
		log_put_timer(r, s->queued_ms != 0, wait_from(s), s->queued_ms);
}

static void
put_Tc(struct log_render *r)
{
	const struct stream *s = r->s;

	if (log_is_served(s))
		sbuf_addc(r->out, '0');
	else
		log_put_timer(r, s->connected_ms != 0, s->queued_ms, s->connected_ms);
}

static void
put_Th(struct log_render *r)
{
	log_put_timer(r, r->s->sess->begun_ms != 0, 0, log_handshake_ms(r->s));
}

/* Writes the time since a request began, with that of the PROXY header and the handshake before the
 * first one; in mode tcp the time since the accept. */
static void
put_since(struct log_render *r, uint64_t request_ms)
{
	const struct stream *s = r->s;

	log_put_plus(r);
	log_put_timer(r, 1, s->txn ? request_ms - log_handshake_ms(s) : s->sess->accept_ms,
		r->cx->now_ms);
}

/* Writes the total time: in mode http with the idle time before the request. */
static void
put_Tt(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	put_since(r, t ? t->began_ms - t->idle_ms : 0);
}

/* Writes the total time without the idle time before the request, as the user has seen it. */
static void
put_Tu(struct log_render *r)
{
	const struct http_txn *t = r->s->txn;

	put_since(r, t ? t->began_ms : 0);
}

/* --- counts -------------------------------------------------------------------------------- */

static void
put_B(struct log_render *r)
{
	log_put_plus(r);
	sbuf_addu(r->out, stream_message_bytes(r->s, SERVER));
}

static void
put_U(struct log_render *r)
{
	sbuf_addu(r->out, stream_message_bytes(r->s, CLIENT));
}

static void
put_ts(struct log_render *r)
{
	sbuf_add(r->out, r->s->term, sizeof(r->s->term));
}

static void
put_ac(struct log_render *r)
{
	sbuf_addu(r->out, gate_count(&r->s->engine->shared->gate));
}

static void
put_fc(struct log_render *r)
{
	sbuf_addu(r->out, gate_count(&r->s->sess->fe->fe_gate));
}

/* Writes the sessions of the backend. In the line at the end the session itself has left
 * already, and the number is the one from that moment (queue_leave()), as in HAProxy. */
static void
put_bc(struct log_render *r)
{
	const struct stream *s = r->s;

	sbuf_addu(r->out, s->has_left ? s->left_be_cur : s->be ? atomic_read(&s->be->be_cur) : 0);
}

static void
put_sc(struct log_render *r)
{
	const struct stream *s = r->s;

	if (!s->srv || s->srv->is_dispatch)
		sbuf_addu(r->out, 0);
	else
		sbuf_addu(r->out, s->has_left ? s->left_srv_cur : atomic_read(&s->srv->cur));
}

static void
put_rc(struct log_render *r)
{
	if (r->s->redispatched)
		sbuf_addc(r->out, '+');
	sbuf_addu(r->out, r->s->retries);
}

static void
put_sq(struct log_render *r)
{
	sbuf_addu(r->out, r->s->queue_before);
}

static void
put_bq(struct log_render *r)
{
	sbuf_addu(r->out, r->s->be_queue_before);
}

static void
put_rt(struct log_render *r)
{
	put_hexable(r, r->s->txn ? r->s->txn->id : r->s->id);
}

static void
put_lc(struct log_render *r)
{
	put_hexable(r, r->cx->count);
}

static void
put_OG(struct log_render *r)
{
	put_string(r, r->cx->step);
}

static void
put_pid(struct log_render *r)
{
	put_hexable(r, (unsigned int)r->cx->id->pid);
}

/* --- capture --------------------------------------------------------------------------------- */

/* The variables of log formats that are about captures (manual 8.7, 8.8), and the unique id. */

/* Without a valid request there are no captures, not even empty slots. */
static int
has_captures(const struct log_render *r)
{
	const struct stream *s = r->s;

	return s->captures && (!s->is_http || (s->txn && s->txn->head_ms));
}

/* --- cookies --- */

static void
put_cookie(struct log_render *r, unsigned int i)
{
	struct str text;

	if (!capture_get(r->s, CAPTURE_COOKIE, i, &text))
		text = (struct str){ NULL, 0 };
	rule_fmt_put(r->out, r->flags, text);
}

/* Aliases of captures, log_alias.c. */
static void
put_CC(struct log_render *r)
{
	put_cookie(r, 0);
}

static void
put_CS(struct log_render *r)
{
	put_cookie(r, 1);
}

/* --- fields --- */

/* "{a||c}": missing values are empty. */
static void
put_braces(struct log_render *r, enum capture_kind kind)
{
	unsigned int flags = (r->flags & ~(unsigned int)RULE_FMT_Q) | RULE_FMT_LIST;
	unsigned int n = r->s->sess->fe->captures.n[kind];
	struct str text;

	if (!n || !has_captures(r))
		return;
	sbuf_adds(r->out, r->flags & RULE_FMT_Q ? "\"{" : "{");
	for (unsigned int i = 0; i < n; i++) {
		if (i)
			sbuf_addc(r->out, '|');
		if (capture_get(r->s, kind, i, &text))
			rule_fmt_put(r->out, flags, text);
	}
	sbuf_adds(r->out, r->flags & RULE_FMT_Q ? "}\"" : "}");
}

/* "a - c", separate values. */
static void
put_list(struct log_render *r, enum capture_kind kind)
{
	unsigned int n = has_captures(r) ? r->s->sess->fe->captures.n[kind] : 0;
	struct str text;

	for (unsigned int i = 0; i < n; i++) {
		if (i)
			sbuf_addc(r->out, ' ');
		if (!capture_get(r->s, kind, i, &text))
			text = (struct str){ NULL, 0 };
		rule_fmt_put(r->out, r->flags | RULE_FMT_LIST, text);
	}
}

static void
put_hr(struct log_render *r)
{
	put_braces(r, CAPTURE_REQUEST);
}

static void
put_hs(struct log_render *r)
{
	put_braces(r, CAPTURE_RESPONSE);
}

static void
put_hrl(struct log_render *r)
{
	put_list(r, CAPTURE_REQUEST);
}

static void
put_hsl(struct log_render *r)
{
	put_list(r, CAPTURE_RESPONSE);
}

/* --- the unique id --- */

static void
put_ID(struct log_render *r)
{
	struct str id;

	if (!unique_id_get(r->s, r->arena, &id))
		id = (struct str){ NULL, 0 };
	rule_fmt_put(r->out, r->flags, id);
}

/* --- tls ------------------------------------------------------------------------------------- */

/* The variables of log formats that are about TLS with the client (manual 8.2.6). */

#define NAME_MAX_LEN 128 /* of a version or cipher */

static void
put_tls_name(struct log_render *r, enum tls_info what)
{
	char storage[NAME_MAX_LEN];
	struct sbuf b;
	struct str text = { NULL, 0 };

	sbuf_init_fixed(&b, storage, sizeof(storage));
	if (tls_info_text(r->s->conn[CLIENT], what, &b) == 0)
		text = (struct str){ b.p, b.len };
	rule_fmt_put(r->out, r->flags, text);
}

/* Aliases of TLS, log_alias.c. */
static void
put_sslc(struct log_render *r)
{
	put_tls_name(r, TLS_INFO_CIPHER);
}

static void
put_sslv(struct log_render *r)
{
	put_tls_name(r, TLS_INFO_VERSION);
}

/* --- the table ----------------------------------------------------------------------------- */

#define ALIAS_ROW(name, fn, needs, doc)                                                   \
	static void write_##fn(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out) \
	{                                                                                 \
		struct log_render r = { cx->stream, cx->log, out, cx->arena, flags, cx->res }; \
		put_##fn(&r);                                                             \
	}
#define LIST_ROW ALIAS_ROW
#include "proxy/log/log_alias.tbl.h"
#undef LIST_ROW
#undef ALIAS_ROW

const struct rule_alias log_aliases[] = {
#define ALIAS_ROW(name, fn, needs, doc) { name, SAMPLE_AT_##needs, write_##fn, doc, 0 },
#define LIST_ROW(name, fn, needs, doc) { name, SAMPLE_AT_##needs, write_##fn, doc, 1 },
#include "proxy/log/log_alias.tbl.h"
#undef LIST_ROW
#undef ALIAS_ROW
	{ 0 },
};

const struct rule_alias *
log_alias_find(const char *name)
{
	for (const struct rule_alias *a = log_aliases; a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}
