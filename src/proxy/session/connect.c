/* The connection to a server: its source, TLS, PROXY header; a new one or an idle one. On the
 * session's worker; it never blocks. */
#include "proxy/session/connect.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/conn_socket.h"
#include "net/outbound.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_place.h"
#include "proxy/http2/h2_server.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/sample/eval.h"
#include "proxy/session/stream_post.h"
#include "rule/sample/expr.h"
#include "rule/sample/sample.h"
#include "tls/connect.h"
#include "base/sbuf.h"
#include "net/proxy_header.h"
#include "net/xprt.h"
#include "proxy/model/server.h"
#include "proxy/model/session.h"
#include "proxy/sample/unique_id.h"
#include "rule/sample/arena.h"
#include "tls/conn_info.h"

/* --- PROXY header: leaves with the first bytes of the client, or alone --- */

#define TEXT_MAX 1024

static int
info_is_set(const struct conn *c, enum tls_info what)
{
	int64_t n;

	return tls_info_number(c, what, &n) == 0 && n != 0;
}

/* Appends what b holds, and empties it. A field without a value is left out. */
static void
add_sub(struct proxy_header_ssl *ssl, uint8_t type, struct arena *a, struct sbuf *b)
{
	char *copy = b->len && !b->failed ? arena_get(a, b->len) : NULL;

	if (copy) {
		memcpy(copy, b->p, b->len);
		ssl->sub[ssl->n_subs].type = type;
		ssl->sub[ssl->n_subs++].value = (struct str){ copy, b->len };
	}
	sbuf_fini(b);
	sbuf_init(b, TEXT_MAX);
}

static void
add_subs(const struct conn *c, struct arena *a, unsigned int wants, struct proxy_header_ssl *ssl)
{
	static const struct tls_dn_part common_name = { .entry = { "CN", 2 }, .nth = 1 };
	struct sbuf b;

	sbuf_init(&b, TEXT_MAX);
	(void)!tls_info_text(c, TLS_INFO_VERSION, &b);
	add_sub(ssl, PROXY_TLV_SSL_VERSION, a, &b);
	if (wants & SERVER_PROXY_SSL_CN)
		(void)!tls_info_name(c, TLS_OF_PEER, 0, &common_name, &b);
	add_sub(ssl, PROXY_TLV_SSL_CN, a, &b);
	if (wants & SERVER_PROXY_CERT_KEY)
		(void)!tls_info_cert(c, TLS_OWN, TLS_CERT_KEY_TYPE, &b);
	add_sub(ssl, PROXY_TLV_SSL_KEY_ALG, a, &b);
	if (wants & SERVER_PROXY_CERT_SIG)
		(void)!tls_info_cert(c, TLS_OWN, TLS_CERT_SIG_ALG, &b);
	add_sub(ssl, PROXY_TLV_SSL_SIG_ALG, a, &b);
	if (wants & SERVER_PROXY_SSL_CIPHER)
		(void)!tls_info_text(c, TLS_INFO_CIPHER, &b);
	add_sub(ssl, PROXY_TLV_SSL_CIPHER, a, &b);
	sbuf_fini(&b);
}

/* All zeros for a client without TLS. */
static void
describe_tls(const struct conn *c, struct arena *a, unsigned int wants,
	struct proxy_header_ssl *ssl)
{
	int64_t verify;

	memset(ssl, 0, sizeof(*ssl));
	if (!tls_is_used(c))
		return;
	ssl->client = PROXY_SSL_USED;
	if (info_is_set(c, TLS_INFO_HAS_CERT))
		ssl->client |= PROXY_SSL_CERT_CONN;
	if (info_is_set(c, TLS_INFO_CERT_USED))
		ssl->client |= PROXY_SSL_CERT_SESS;
	if (tls_info_number(c, TLS_INFO_VERIFY, &verify) == 0)
		ssl->verify = (uint32_t)verify;
	add_subs(c, a, wants, ssl);
}

/*
 * Sets alpn, authority and ssl of *f as the session's server wants them. Texts are in the arena or
 * live as long as the client's connection; *ssl is the caller's room for f->ssl.
 */
static void
proxy_protocol_put_tls(const struct stream *s, struct arena *a, struct proxy_header_fields *f,
	struct proxy_header_ssl *ssl)
{
	const struct conn *c = s->conn[CLIENT];
	unsigned int wants = s->srv->conf.proxy_header;

	f->has_alpn = conn_query(c, XPRT_QUERY_PROTOCOL, &f->alpn) == 0;
	if (wants & SERVER_PROXY_AUTHORITY)
		f->has_authority = addr_override_tlv(s, PROXY_TLV_AUTHORITY, &f->authority) ||
			conn_query(c, XPRT_QUERY_SERVER_NAME, &f->authority) == 0;
	if (!(wants & SERVER_PROXY_SSL))
		return;
	describe_tls(c, a, wants, ssl);
	f->ssl = ssl;
}

/* Fields of formats; one whose text does not fit is left out. */
static unsigned int
make_tlvs(const struct stream *s, struct arena *a, struct proxy_header_tlv *out)
{
	unsigned int n = 0;
	struct eval l;

	eval_init(&l, (struct stream *)(uintptr_t)s, SAMPLE_AT_CONN);
	l.cx.arena = a;
	for (const struct server_tlv *t = s->srv->conf.tlvs; t; t = t->next) {
		out[n].type = t->type;
		l.cx.where = &t->where;
		n += rule_fmt_text(t->fmt, &l.cx, &out[n].value) == 0;
	}
	return n;
}

/* The addresses are those that rules see: src and dst. */
static size_t
write_proxy_header(const struct stream *s, char out[PROXY_HEADER_OUT_MAX])
{
	unsigned int wants = s->srv->conf.proxy_header;
	struct arena *a = &s->engine->eval.arena;
	struct proxy_header_fields f = { .version = wants & SERVER_PROXY_V2 ? 2 : 1,
		.has_crc32c = (wants & SERVER_PROXY_CRC32C) != 0,
		.has_unique_id = (wants & SERVER_PROXY_UNIQUE_ID) != 0 };
	struct proxy_header_tlv tlv[SERVER_TLVS_MAX];
	struct proxy_header_ssl ssl;
	struct addr src, dst;
	size_t mark = arena_mark(a), n;

	addr_override_copy_source(s, &src);
	f.src = &src;
	if (addr_override_destination(s, &dst) == 0)
		f.dst = &dst;
	if (f.version == 2)
		proxy_protocol_put_tls(s, a, &f, &ssl);
	if (f.has_unique_id && f.version == 2)
		(void)unique_id_get(s, a, &f.unique_id);
	if (s->srv->conf.tlvs && f.version == 2) {
		f.tlv = tlv;
		f.n_tlvs = make_tlvs(s, a, tlv);
	}
	n = proxy_header_write(&f, out);
	arena_release(a, mark);
	return n;
}

/* Has the new connection to s->srv begin with a header, as the server wants: 0 or
 * -ERR_NOMEM. */
static int
proxy_protocol_begin(struct stream *s)
{
	char text[PROXY_HEADER_OUT_MAX];

	return conn_set_preface(s->conn[SERVER], text, write_proxy_header(s, text));
}

/* True if the idle connection c began with the header that s would send. */
static int
proxy_protocol_matches(const struct stream *s, const struct conn *c)
{
	char text[PROXY_HEADER_OUT_MAX];

	return !s->srv->conf.proxy_header ||
		conn_has_preface(c, text, write_proxy_header(s, text));
}

/* --- connect --- */

/* --- the address that a server sees; such a connection is never used for another client --- */

static int
noted_address(const struct http_txn *t, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	if (!t || !t->source_family)
		return 0;
	out->u.sa.sa_family = t->source_family;
	if (t->source_family == AF_INET) {
		out->len = sizeof(out->u.in);
		memcpy(&out->u.in.sin_addr, t->source_ip, sizeof(out->u.in.sin_addr));
	} else {
		out->len = sizeof(out->u.in6);
		memcpy(&out->u.in6.sin6_addr, t->source_ip, sizeof(out->u.in6.sin6_addr));
	}
	return 1;
}

/* The address for the connection to s->srv, without a port if the kernel may choose it: 1. 0: this
 * host's own is used. */
static int
connect_source_get(const struct stream *s, struct addr *out)
{
	const struct source_conf *src = &s->srv->conf.source;

	switch (src->as) {
	case SOURCE_AS_SELF:
		return 0;
	case SOURCE_AS_ADDR:
		*out = src->as_addr;
		return 1;
	case SOURCE_AS_HEADER:
		return noted_address(s->txn, out);
	case SOURCE_AS_CLIENT:
	case SOURCE_AS_CLIENT_IP:
		break;
	}
	addr_override_copy_source(s, out);
	if (src->as == SOURCE_AS_CLIENT_IP)
		addr_set_port(out, 0);
	return addr_family(out) == AF_INET || addr_family(out) == AF_INET6;
}

/* True if the idle connection to s->srv has the right one. */
static int
connect_source_is(const struct stream *s, const struct conn *c)
{
	struct addr want, has;

	if (!source_is_of_client(&s->srv->conf.source))
		return 1;
	return connect_source_get(s, &want) &&
		conn_local_addr(c, &has) == 0 &&
		addr_is_same_host(&want, &has) &&
		(!addr_port(&want) || addr_port(&want) == addr_port(&has));
}

/* --- TLS, with the connector of the worker --- */

/* A name, and behind it its expression. */
struct noted_name {
	size_t len;
	char text[];
};

/* The noted name, for this server or for one with the same expression; p NULL: none. */
static struct str
noted_for(const struct stream *s)
{
	const struct noted_name *n = s->txn ? s->txn->sni : NULL;

	if (!n || strcmp(n->text + n->len, s->srv->conf.tls.sni) != 0)
		return (struct str){ NULL, 0 };
	return (struct str){ n->text, n->len };
}

/* In the arena, which the caller releases; len 0: none. */
static struct str
eval_name(const struct stream *s, unsigned int at, struct arena *a)
{
	struct sample value;
	struct eval l;

	eval_init(&l, (struct stream *)(uintptr_t)s, at);
	l.cx.arena = a;
	l.cx.where = &s->srv->where;
	if (!rule_expr_eval_as(s->srv->sni, &l.cx, SAMPLE_STR, &value))
		return (struct str){ NULL, 0 };
	return value.u.str;
}

/* len 0: none. -ERR_NOMEM: it could not be noted, and without its name a server must not be
 * trusted. */
static int
name_to_ask(const struct stream *s, struct arena *a, struct str *out)
{
	*out = (struct str){ NULL, 0 };
	if (!s->srv->sni)
		return 0;
	*out = s->srv->sni_needs_request ? noted_for(s) : eval_name(s, SAMPLE_AT_CONN, a);
	return s->srv->sni_needs_request && !out->p ? -ERR_NOMEM : 0;
}

static struct noted_name *
make_noted(struct str name, const char *expression)
{
	struct noted_name *n = mem_alloc(sizeof(*n) + name.len + strlen(expression) + 1);

	if (!n)
		return NULL;
	n->len = name.len;
	if (name.len)
		memcpy(n->text, name.p, name.len);
	memcpy(n->text + name.len, expression, strlen(expression) + 1);
	return n;
}

void
connect_tls_note(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	struct http_txn *t = s->txn;
	size_t mark = arena_mark(a);
	struct str name;

	if (!s->srv->sni_needs_request || t->placed)
		return;
	mem_free(t->sni);
	name = eval_name(s, SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN, a);
	t->sni = make_noted(name, s->srv->conf.tls.sni);
	arena_release(a, mark);
}

/* Before the first byte: the name that is asked for. 0 or a negative reason, -ERR_RANGE if it is
 * none that can be asked for (tls_connect_as()); nothing to do without TLS of the configuration. */
static int
connect_tls_begin(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct tls_ask ask = { .name = { NULL, 0 } };
	int r;

	if (!s->srv->tls)
		return 0;
	r = name_to_ask(s, a, &ask.name);
	if (!r)
		r = tls_connect_as(s->conn[SERVER], &ask);
	arena_release(a, mark);
	return r;
}

/* True if the connection, one to the session's server, was made for the same name. */
static int
connect_tls_is(const struct stream *s, const struct conn *c)
{
	struct arena *a = &s->engine->eval.arena;
	struct str made = { NULL, 0 }, name;
	size_t mark;
	int same;

	if (!s->srv->sni_varies)
		return 1;
	mark = arena_mark(a);
	(void)!conn_query(c, XPRT_QUERY_SERVER_NAME, &made);
	same = name_to_ask(s, a, &name) == 0 && str_is(made, name);
	arena_release(a, mark);
	return same;
}

/* Where the name varies: uses an idle connection that was made for the same. 1, or 0: there is
 * none. */
static int
connect_tls_reuse(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct str name;
	int r = 0;

	if (name_to_ask(s, a, &name) == 0)
		r = conn_pool_get_named(s->engine, s->srv, name, session_is_first_request(s),
			s->engine->hooks.on_server_io, s, s->conn[SERVER], &s->uses);
	arena_release(a, mark);
	return r;
}

/* --- connections --- */

/* The client's request is there or about to arrive: its segment can carry the handshake's ACK. */
static int
expects_data(const struct stream *s)
{
	return s->sess->listener->bind->defer_accept || direction_pending(&s->dir[CLIENT]);
}

const struct xprt_maker *
server_xprt(const struct stream *s)
{
	return likely(!s->srv->xprt) ? NULL : s->srv->xprt[s->engine->index];
}

/* --- places of a server with strict-maxconn: sessions wait for them in order --- */

/* Closes an idle connection of this worker: 1, and its place is free now, or with HTTP/2 at the end
 * of the turn; 0: there is none. */
static int
make_place(struct engine *e, struct server *srv)
{
	return conn_pool_drop_one(e, srv) || h2_server_drop_idle(e, srv);
}

/* Other workers may have idle connections; in mode tcp there are none. */
static void
ask_others(struct engine *e, struct server *srv)
{
	for (unsigned int i = 0; srv->be->mode == PROXY_HTTP && i < srv->be->n_shards; i++)
		if (i != e->index)
			e->hooks.wake_pool(e, i, srv);
}

static void
unlink_waiter(struct server_shard *shard, struct stream *s)
{
	list_remove(&s->queue_link);
	shard->n_place_waiters--;
}

/* Has those that have waited longest try again, as many as there are places. If others still wait
 * the other workers are notified, which may have idle connections: when a session has begun to
 * wait, and after a place was given back. A message of theirs is no reason: two workers would send
 * each other messages without an end. */
static void
serve_waiters(struct engine *e, struct server *srv, int has_begun)
{
	struct server_shard *shard = &srv->shard[e->index];
	unsigned int n = shard->n_place_waiters;
	int is_new;

	if (!n)
		return;
	for (n = server_place_want(e, srv, n, &is_new); n > 0; n--) {
		struct stream *s = list_first(&shard->place_waiters, struct stream, queue_link);

		unlink_waiter(shard, s);
		stream_post(s, STREAM_EV_ASSIGNED);
	}
	if (shard->n_place_waiters && (has_begun || is_new))
		ask_others(e, srv);
}

void
connect_places_serve(struct engine *e, struct server *srv)
{
	serve_waiters(e, srv, 0);
}

/* True if the slot of s was given before that of this waiter. */
static int
is_before_waiter(const struct stream *s, const struct list *waiter)
{
	return (int32_t)(s->slot - list_entry(waiter, const struct stream, queue_link)->slot) < 0;
}

/* Puts s behind those that have waited longer: a new one at the end; one whose place another worker
 * has taken in its position, near the beginning, again. */
static void
add_waiter(struct server_shard *shard, struct stream *s)
{
	struct list *head = &shard->place_waiters, *at = head;

	if (!head->next)
		list_init(head);
	if (head->prev != head && is_before_waiter(s, head->prev))
		for (at = head->next; !is_before_waiter(s, at);)
			at = at->next;
	list_append(at, &s->queue_link);
	shard->n_place_waiters++;
}

/* Takes a place for a connection of s, for which an idle connection of this worker is closed: 1. 0:
 * s waits, and others close theirs. */
static int
take_server_place(struct stream *s)
{
	struct engine *e = s->engine;
	struct server *srv = s->srv;

	if (server_place_take(e, srv) || (make_place(e, srv) && server_place_take(e, srv)))
		return 1;
	add_waiter(srv_shard(s, srv), s);
	s->joins = s->awaits_place = 1;
	serve_waiters(e, srv, 1);
	return 0;
}

/* s does not wait any more. */
static void
leave_place_waiters(struct stream *s)
{
	s->joins = s->awaits_place = 0;
	s->posted = STREAM_EV_NONE;
	if (!list_is_empty(&s->queue_link))
		unlink_waiter(srv_shard(s, s->srv), s);
	/* A place that it was to take is for the next one. Without one this worker waits for none:
	 * it may end before others give places back. */
	if (srv_shard(s, s->srv)->n_place_waiters)
		connect_places_serve(s->engine, s->srv);
	else
		(void)server_place_want(s->engine, s->srv, 0, NULL);
}

void
connect_places_collect(struct engine *e, struct server *srv)
{
	if (!srv->conf.strict_maxconn)
		return;
	connect_places_serve(e, srv);
	/* One may have become idle before this worker's wish was known again. */
	if (srv->shard[e->index].n_place_waiters || server_place_is_wanted_elsewhere(e, srv))
		(void)make_place(e, srv);
}

/* --- a connection of HTTP/2 that streams wait for --- */

/*
 * With http-reuse always streams share a connection from its beginning on, as in HAProxy: those
 * that come while one is being established wait, as many as it is taken to carry. True if s waits;
 * otherwise it establishes one itself.
 */
static int
join_opener(struct stream *s)
{
	struct server_shard *shard = srv_shard(s, s->srv);

	if (s->opens || s->srv->conf.proto != MUX_H2 || s->be->http.reuse != HTTP_REUSE_ALWAYS ||
		!h2_server_may_share(s))
		return 0;
	if (!shard->joiners.next)
		list_init(&shard->joiners);
	s->joins = shard->n_openers + shard->n_joiners <
		shard->n_openers * h2_server_streams(s);
	s->opens = !s->joins;
	shard->n_openers += s->opens;
	shard->n_joiners += s->joins;
	if (s->joins)
		list_append(&shard->joiners, &s->queue_link);
	return s->joins;
}

/* Takes s out of the list of streams that wait for a connection, and drops an event that was to
 * follow. */
static void
leave_joiners(struct stream *s)
{
	if (!list_is_empty(&s->queue_link))
		srv_shard(s, s->srv)->n_joiners--;
	list_remove(&s->queue_link);
	s->joins = 0;
	s->posted = STREAM_EV_NONE;
}

/* Ends the wait of all streams for a connection. Without an opener all have failed; otherwise they
 * look for a connection again. */
static void
release_joiners(struct stream *opener, enum stream_event ev)
{
	struct server_shard *shard = srv_shard(opener, opener->srv);

	if (ev == STREAM_EV_REFUSED && shard->n_openers)
		return;
	while (!list_is_empty(&shard->joiners)) {
		struct stream *s = list_first(&shard->joiners, struct stream, queue_link);

		list_remove(&s->queue_link);
		shard->n_joiners--;
		s->connect_err = opener->connect_err;
		stream_post(s, ev);
	}
}

void
connect_end_sharing(struct stream *s, enum stream_event ev)
{
	if (s->awaits_place)
		leave_place_waiters(s);
	else if (s->joins)
		leave_joiners(s);
	if (!s->opens)
		return;
	s->opens = 0;
	srv_shard(s, s->srv)->n_openers--;
	release_joiners(s, ev);
}

static int
take_open(struct stream *s)
{
	struct engine *e = s->engine;
	struct conn *c = s->conn[SERVER];

	if (session_held(s->sess) && conn_pool_server(s->sess->held) == s->srv &&
		proxy_protocol_matches(s, &s->sess->held->conn) &&
		connect_source_is(s, &s->sess->held->conn) &&
		connect_tls_is(s, &s->sess->held->conn)) {
		s->is_private = s->sess->held_private;
		return conn_pool_take_held(
			e, &s->sess->held, e->hooks.on_server_io, s, c, &s->uses);
	}
	if (unlikely(s->srv->may_speak_h2) && h2_server_join(s))
		return 1;
	if (unlikely(s->srv->sni_varies))
		return connect_tls_reuse(s);
	return conn_pool_get(
		e, s->srv, session_is_first_request(s), e->hooks.on_server_io, s, c, &s->uses);
}

enum connect_reuse
connect_reuse(struct stream *s)
{
	if (s->joins)
		leave_joiners(s);
	if (take_open(s))
		return CONNECT_TAKEN;
	return unlikely(s->srv->may_speak_h2) && join_opener(s) ? CONNECT_JOINS : CONNECT_NEW;
}

int
connect_begin_server(struct stream *s)
{
	int r = s->conn[SERVER]->xprt ? connect_tls_begin(s) : 0;

	if (r == 0 && unlikely(s->srv->conf.proxy_header))
		r = proxy_protocol_begin(s);
	/* Other reasons are memory that is lacking. */
	return r == 0 || r == -ERR_RANGE ? r : -ENOMEM;
}

/* True if bytes leave as soon as there is a socket. With TCP Fast Open the kernel may send no SYN
 * before the first ones: a server that speaks first would wait for them. */
static int
sends_at_once(const struct stream *s)
{
	return s->txn || direction_pending(&s->dir[CLIENT]) || s->srv->xprt ||
		s->srv->conf.proxy_header || s->srv->conf.socks4.len;
}

static unsigned int
options_of(const struct stream *s)
{
	const struct server *srv = s->srv;
	unsigned int options = 0;

	if (unlikely(srv->spec.is_mptcp))
		options |= OUTBOUND_MPTCP;
	if (unlikely(srv->conf.tfo) && sends_at_once(s))
		options |= OUTBOUND_FASTOPEN;
	if ((s->be->options & OPT_SMART_CONNECT) && expects_data(s))
		options |= OUTBOUND_LATE_ACK;
	return options;
}

/* The server's source, or with `usesrc` the address that it sees; NULL: none. */
static const struct outbound_source *
source_of(struct stream *s, struct outbound_source *out)
{
	if (likely(s->srv->conf.source.as == SOURCE_AS_SELF))
		return server_source(s->srv, out);
	*out = (struct outbound_source){ .interface = s->srv->conf.source.interface,
		.is_foreign = 1 };
	if (!connect_source_get(s, &out->addr))
		out->addr.len = 0;
	return out;
}

static int
open_to_server(struct stream *s)
{
	struct engine *e = s->engine;
	struct conn *c = s->conn[SERVER];
	struct outbound_source source;
	struct addr to;
	struct outbound o = {
		.to = &to,
		.via = likely(!s->srv->conf.socks4.len) ? NULL : &s->srv->conf.socks4,
		.options = options_of(s),
		.user_timeout_ms = s->srv->conf.user_timeout_ms,
		.buffers = e->server_buf,
		.keepalive = s->be->options & OPT_SRVTCPKA ? &s->be->server_keepalive : NULL,
		.source = source_of(s, &source),
		.packets = stream_packets(s),
		.xprt = server_xprt(s),
	};
	uint32_t gen;
	int r, begun;

	addr_override_target(s, &gen, &to);
	conn_pool_make_room(e);
	s->server_err = CONN_ERR_NONE;
	r = outbound_open(c, e->loop, &o, e->hooks.on_server_io, s);
	if (r < 0) {
		s->server_err = (uint8_t)outbound_error(&o, -r);
		return r;
	}
	/* Most servers have neither TLS nor a PROXY header. */
	begun = !o.via && unlikely(c->xprt || s->srv->conf.proxy_header) ? connect_begin_server(s)
									 : 0;
	if (begun < 0) {
		conn_close(c);
		return begun;
	}
	c->addr_gen = gen;
	conn_want(c, EV_W);
	speculation_connecting(s);
	stream_post(s, STREAM_EV_NONE);
	return r;
}

/* The same with a place, or s waits for one. */
static int
open_in_place(struct stream *s)
{
	int r;

	if (!take_server_place(s))
		return 0;
	r = open_to_server(s);
	if (r < 0)
		server_place_put(s->engine, s->srv);
	else
		s->conn[SERVER]->has_place = 1;
	return r;
}

int
connect_server(struct stream *s)
{
	struct profile *p = loop_timers(s->engine->loop)->profile;
	uint64_t began = profile_begin(p);
	int r = likely(!s->srv->conf.strict_maxconn) ? open_to_server(s) : open_in_place(s);

	profile_end(p, (profile_fn *)connect_server, began, began);
	return r;
}
PROFILE_NAME(connect_server, connect)
