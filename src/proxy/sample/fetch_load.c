/* Fetches of how busy frontends, backends and servers are (manual 7.3.2). */
#include <string.h>

#include "base/atomic.h"
#include "proxy/sample/fetch.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"

/* --- the proxy and server meant --- */

/* The backend of the session, which is its frontend if it has none, or of the checked server. */
static struct proxy *
own_backend(const struct sample_ctx *cx)
{
	const struct stream *s = cx->stream;
	const struct server *checked = cx->server;
	struct proxy *be = s ? stream_backend(s) : checked ? checked->be : NULL;

	return be || !s ? be : s->sess->fe;
}

static struct proxy *
backend_of(const struct rule_args *a, const struct sample_ctx *cx)
{
	return a->arg[0].ref ? a->arg[0].ref : own_backend(cx);
}

static struct proxy *
frontend_of(const struct rule_args *a, const struct sample_ctx *cx)
{
	const struct stream *s = cx->stream;

	return a->arg[0].ref ? a->arg[0].ref : s ? s->sess->fe : NULL;
}

static int
check_frontend_arg(struct rule_args *a, void *root, const char **why)
{
	if (a->arg[0].type == ARG_END)
		return 0;
	a->arg[0].ref = proxies_find(root, a->arg[0].text.p, PROXY_FE);
	*why = "there is no such frontend";
	return a->arg[0].ref ? 0 : -1;
}

static int
check_backend(struct rule_args *a, void *root, const char **why)
{
	if (a->arg[0].type == ARG_END)
		return 0;
	a->arg[0].ref = proxies_find(root, a->arg[0].text.p, PROXY_BE);
	*why = "there is no such backend";
	return a->arg[0].ref ? 0 : -1;
}

/* Its ref is the name of the section that is read, until the server is found. */
static int
init_server_arg(struct rule_args *a, const struct rule_vocab *v, const char **why unused)
{
	a->arg[0].ref = (void *)(uintptr_t)v->section;
	return 0;
}

static struct server *
server_by_name(const struct proxies *ps, struct str backend, struct str name, const char **why)
{
	struct server *srv = NULL;

	*why = "there is no such backend";
	list_each (it, &ps->all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if (!(p->caps & PROXY_BE) || (backend.p && !str_is(str_of(p->name), backend)))
			continue;
		*why = "the backend has no such server";
		srv = proxy_find_server(p, name);
		if (srv)
			break;
	}
	return srv;
}

/*
 * "backend/server", and "server" in the section of its backend, are resolved at load. Elsewhere
 * "server" refers to the backend of the session or check, and is a name that some backend has.
 */
static int
check_server(struct rule_args *a, void *root, const char **why)
{
	struct str text = a->arg[0].text, backend = { NULL, 0 };
	const char *slash = memchr(text.p, '/', text.len), *section = a->arg[0].ref;
	struct server *srv;

	a->arg[0].ref = NULL;
	if (slash) {
		backend = (struct str){ text.p, (size_t)(slash - text.p) };
		text = (struct str){ slash + 1, text.len - backend.len - 1 };
	} else if (section && proxies_find(root, section, PROXY_BE)) {
		backend = str_of(section);
	}
	srv = server_by_name(root, backend, text, why);
	if (!srv) {
		if (!backend.p)
			*why = "no backend has such a server";
		return -1;
	}
	if (backend.p) {
		srv->is_referenced = 1;
		a->arg[0].ref = srv;
	}
	return 0;
}

static struct server *
server_of(const struct rule_args *a, const struct sample_ctx *cx)
{
	const struct proxy *be;

	if (a->arg[0].ref)
		return a->arg[0].ref;
	be = own_backend(cx);
	return be ? proxy_find_server(be, a->arg[0].text) : NULL;
}

/* --- backends --- */

/* Sessions waiting for any server or for one. */
static int64_t
waiting_for(const struct proxy *be)
{
	int64_t n = atomic_read(&be->queued);

	list_each (it, &be->servers)
		n += atomic_read(&list_entry(it, struct server, link)->queued);
	return n;
}

/* Returns the free slots of the usable servers; -1 if there is no limit. queues: the slots of their
 * queues are added. */
static int64_t
free_slots(const struct proxy *be, int queues)
{
	int64_t n = 0;
	int active = 0;

	list_each (it, &be->servers) {
		const struct server *srv = list_entry(it, struct server, link);

		active |= !srv->conf.backup && server_is_usable(srv);
	}
	list_each (it, &be->servers) {
		const struct server *srv = list_entry(it, struct server, link);
		int64_t room;

		if (!server_is_usable(srv) || (active && srv->conf.backup))
			continue;
		if (atomic_read(&srv->conf.maxconn) == 0 || (queues && srv->conf.maxqueue == 0))
			return -1;
		room = (int64_t)server_limit(srv) - atomic_read(&srv->cur);
		n += MAX(room, 0);
		if (queues) {
			room = (int64_t)srv->conf.maxqueue - atomic_read(&srv->queued);
			n += MAX(room, 0);
		}
	}
	return n;
}

enum backend_value {
	AVG_QUEUE,
	BE_CONN,
	BE_CONN_FREE,
	BE_PANIC,
	CONNSLOTS,
	NBSRV,
	QUEUE,
	BE_SESS_RATE
};

/* Rounded up; without a usable server one is expected back soon, and counts half. */
static int64_t
average_queue(const struct proxy *be)
{
	int64_t waiting = waiting_for(be), n = proxy_usable_servers(be);

	return n ? (waiting + n - 1) / n : 2 * waiting;
}

static int
fetch_backend(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct proxy *be = backend_of(a, cx);
	int64_t v = 0;

	if (!be)
		return 0;
	switch ((enum backend_value)a->kind) {
	case AVG_QUEUE:
		v = average_queue(be);
		break;
	case BE_CONN:
		v = atomic_read(&be->be_cur);
		break;
	case BE_CONN_FREE:
		v = free_slots(be, 0);
		break;
	case BE_PANIC:
		v = atomic_read(&be->lb.panic);
		break;
	case CONNSLOTS:
		v = free_slots(be, 1);
		break;
	case NBSRV:
		v = proxy_usable_servers(be);
		break;
	case QUEUE:
		v = waiting_for(be);
		break;
	case BE_SESS_RATE:
		lock_take(&be->lock, cx->sys);
		v = freq_read(&be->be_rate, cx->now_ms);
		lock_drop(&be->lock);
		break;
	}
	sample_set_int(s, v);
	return 1;
}

/* --- frontends --- */

enum frontend_value { FE_CONN, FE_REQ_RATE, FE_SESS_RATE };

static int
fetch_fe_conn(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct proxy *fe = frontend_of(a, cx);

	if (!fe)
		return 0;
	sample_set_int(s, gate_count(&fe->fe_gate));
	return 1;
}

/* Each worker counts its own. */
static int
fetch_fe_rate(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct proxy *fe = frontend_of(a, cx);
	struct freq sum = { 0 };

	if (!fe)
		return 0;
	for (unsigned int i = 0; i < fe->n_shards; i++)
		freq_merge(&sum, a->kind == FE_REQ_RATE ? &fe->shard[i].fe.req_rate
							: &fe->shard[i].fe.sess_rate);
	sample_set_int(s, freq_read(&sum, cx->now_ms));
	return 1;
}

/* --- servers --- */

enum server_value {
	SRV_CONN,
	SRV_CONN_FREE,
	SRV_IWEIGHT,
	SRV_QUEUE,
	SRV_SESS_RATE,
	SRV_UWEIGHT,
	SRV_WEIGHT,
	SRV_IS_UP
};

static int64_t
server_value(struct server *srv, enum server_value what, struct sample_ctx *cx)
{
	int64_t v = 0;

	switch (what) {
	case SRV_CONN:
		return atomic_read(&srv->cur);
	case SRV_CONN_FREE:
		v = (int64_t)server_limit(srv) - atomic_read(&srv->cur);
		return server_limit(srv) == 0 ? -1 : MAX(v, 0);
	case SRV_IWEIGHT:
		return srv->conf.weight;
	case SRV_QUEUE:
		return atomic_read(&srv->queued);
	case SRV_SESS_RATE:
		lock_take(&srv->be->lock, cx->sys);
		v = freq_read(&srv->sess_rate, cx->now_ms);
		lock_drop(&srv->be->lock);
		return v;
	case SRV_WEIGHT:
		return server_is_usable(srv) ? server_shown_weight(srv) : 0;
	case SRV_UWEIGHT:
		return atomic_read(&srv->uweight);
	case SRV_IS_UP:
		break;
	}
	return server_is_running(srv);
}

static int
fetch_server(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct server *srv = server_of(a, cx);
	int64_t v;

	if (!srv)
		return 0;
	v = server_value(srv, (enum server_value)a->kind, cx);
	if (a->kind == SRV_IS_UP)
		sample_set_bool(s, v != 0);
	else
		sample_set_int(s, v);
	return 1;
}

/* --- the table --- */

#define SESSION_OR_CHECK .either = SAMPLE_AT_CONN | SAMPLE_AT_CHECK
#define BACKEND(n, k, text)                                                              \
	{ .name = n, .arg = { ARG_BACKEND }, .syntax = "[<backend>]",                     \
		SESSION_OR_CHECK, .out = SAMPLE_SINT, .fetch = fetch_backend,      \
		.check = check_backend, .kind = k, .doc = text }
#define FRONTEND(n, f, k, text)                                                            \
	{ .name = n, .arg = { ARG_FRONTEND }, .syntax = "[<frontend>]",                   \
		SESSION_OR_CHECK, .out = SAMPLE_SINT, .fetch = f,                  \
		.check = check_frontend_arg, .kind = k, .doc = text }
#define SERVER_IS(n, type, k, text)                                                      \
	{ .name = n, .arg = { ARG_SERVER }, .min = 1, .syntax = "[<backend>/]<server>",   \
		SESSION_OR_CHECK, .out = type, .fetch = fetch_server,              \
		.init = init_server_arg, .check = check_server, .kind = k, .doc = text }

const struct rule_fetch load_fetches[] = {
	BACKEND("avg_queue", AVG_QUEUE, "Number of queued sessions for each usable server."),
	BACKEND("be_conn", BE_CONN, "Number of sessions of the backend."),
	BACKEND("be_conn_free", BE_CONN_FREE,
		"Number of free connection slots of the usable servers; -1 if one of them has no "
		"maxconn."),
	BACKEND("be_sess_rate", BE_SESS_RATE, "New sessions of the backend per second."),
	BACKEND("be_panic", BE_PANIC,
		"1 while the backend is in panic (balance-panic-threshold), otherwise 0. HAProxy "
		"does not have this fetch."),
	BACKEND("connslots", CONNSLOTS,
		"Number of free connection slots and queue places of the usable servers; -1 if one "
		"of them has no maxconn or maxqueue."),
	FRONTEND("fe_conn", fetch_fe_conn, FE_CONN, "Number of sessions of the frontend."),
	FRONTEND("fe_req_rate", fetch_fe_rate, FE_REQ_RATE,
		"HTTP requests of the frontend per second."),
	FRONTEND("fe_sess_rate", fetch_fe_rate, FE_SESS_RATE,
		"New sessions of the frontend per second."),
	BACKEND("nbsrv", NBSRV, "Number of usable servers of the backend."),
	BACKEND("queue", QUEUE, "Number of sessions in the backend's queue."),
	SERVER_IS("srv_conn", SAMPLE_SINT, SRV_CONN, "Number of sessions of the server."),
	SERVER_IS("srv_conn_free", SAMPLE_SINT, SRV_CONN_FREE,
		"Number of free connection slots of the server; -1 without maxconn."),
	SERVER_IS("srv_is_up", SAMPLE_BOOL, SRV_IS_UP,
		"True if the server is up: not down, and not in maintenance."),
	SERVER_IS("srv_iweight", SAMPLE_SINT, SRV_IWEIGHT,
		"The server's weight in the configuration."),
	SERVER_IS("srv_queue", SAMPLE_SINT, SRV_QUEUE, "Number of sessions in the server's queue."),
	SERVER_IS("srv_sess_rate", SAMPLE_SINT, SRV_SESS_RATE,
		"New sessions of the server per second."),
	SERVER_IS("srv_uweight", SAMPLE_SINT, SRV_UWEIGHT,
		"The server's weight as set by the "
		"configuration or an operator."),
	SERVER_IS("srv_weight", SAMPLE_SINT, SRV_WEIGHT, "The server's effective weight."),
	{ .name = NULL },
};

/* --- a name that is evaluated for each request --- */

/* NUL-terminated, to compare it with names of proxies and servers. */
#define NAME_ROOM 256

/* Kept for the evaluation: all proxies. */
static int
check_root(struct rule_args *a, void *root, const char **why unused)
{
	a->arg[0].ref = root;
	return 0;
}

static const struct proxy *
backend_named(const struct rule_args *a, struct str name)
{
	char text[NAME_ROOM];

	if (!a->arg[0].ref || name.len >= sizeof(text))
		return NULL;
	memcpy(text, name.p, name.len);
	text[name.len] = '\0';
	return proxies_find(a->arg[0].ref, text, PROXY_BE);
}

static int
conv_nbsrv(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	const struct proxy *be = backend_named(a, s->u.str);

	if (!be)
		return 0;
	sample_set_int(s, proxy_usable_servers(be));
	return 1;
}

/* "backend/server", or a server of the backend of the session or check. */
static int
conv_srv_queue(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	struct str name = s->u.str;
	const char *slash = name.len ? memchr(name.p, '/', name.len) : NULL;
	const struct proxy *be = x ? x->be : own_backend(cx);
	const struct server *srv;

	if (slash) {
		be = backend_named(a, (struct str){ name.p, (size_t)(slash - name.p) });
		name.len -= (size_t)(slash + 1 - name.p);
		name.p = slash + 1;
	}
	srv = be ? proxy_find_server(be, name) : NULL;
	if (!srv)
		return 0;
	sample_set_int(s, atomic_read(&srv->queued));
	return 1;
}

const struct rule_conv load_convs[] = {
	{ .name = "nbsrv",
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_nbsrv,
		.check = check_root,
		.doc = "Number of usable servers of the named backend." },
	{ .name = "srv_queue",
		.in = SAMPLE_STR,
		.out = SAMPLE_SINT,
		.conv = conv_srv_queue,
		.check = check_root,
		.doc = "Number of queued sessions of the named server, or of backend/server." },
	{ .name = NULL },
};
