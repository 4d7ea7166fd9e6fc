/* Sections `peers`: the processes that share tables, and tables of their own. Main thread, while
 * the configuration is read. */
#include "proxy/config/peers_cfg.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "net/bind_cfg.h"
#include "peers/peer_group.h"
#include "proxy/model/proxies.h"
#include "table/table.h"
#include "tls/connect.h"

/* --- the section --- */

static void
free_peer(struct peer_conf *s)
{
	list_remove(&s->link);
	tls_server_free(&s->tls);
	server_tls_fini(&s->tls_conf);
	mem_free(s->name);
	mem_free(s);
}

static void
free_section(struct peers_conf *c)
{
	list_each_safe(it, &c->peers)
		free_peer(list_entry(it, struct peer_conf, link));
	list_each_safe(it, &c->tables) {
		struct peers_table *t = list_entry(it, struct peers_table, link);

		table_free(t->table);
		mem_free(t->name);
		mem_free(t);
	}
	list_each_safe(it, &c->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		bind_conf_free(&b);
	}
	server_tls_fini(&c->default_server);
	mem_free(c->name);
	mem_free(c);
}

static int
begin_peers(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct peers_conf *p;

	if (proxies_find_peers(ps, ctx->name))
		return cfg_error(ctx, 0, "section 'peers %s' exists already.", ctx->name);
	p = mem_zalloc(sizeof(*p));
	if (p)
		p->name = mem_strdup(ctx->name);
	if (!p || !p->name) {
		mem_free(p);
		return cfg_nomem(ctx);
	}
	list_append(&ps->peers, &p->link);
	list_init(&p->peers);
	list_init(&p->tables);
	list_init(&p->binds);
	p->free = free_section;
	p->where = cfg_arg_where(ctx, -1);
	ctx->obj = p;
	return 0;
}

/* --- peers --- */

/* "shard 2": 2, or -1 after an error. */
static int
parse_shard(struct cfg_ctx *ctx, int i, struct peer_conf *s)
{
	int v;

	if (!s)
		return cfg_error(ctx, i,
			"'default-server' : 'shard' is an option of single peers.");
	if (i + 1 >= ctx->argc)
		return cfg_error(ctx, i, "'%s' : 'shard' expects an argument.", cfg_kw_name(ctx));
	if (cfg_arg_int(ctx, i + 1, 0, INT_MAX, &v) < 0)
		return -1;
	s->shard = (unsigned int)v;
	return 2;
}

/* An option of a peer at argument i: its number of words, or -1 after an error. s NULL: of
 * default-server. */
static int
parse_peer_option(struct cfg_ctx *ctx, int i, struct peer_conf *s, struct server_tls_conf *t)
{
	const char *name = cfg_arg(ctx, i);
	int args = tls_settings_args(TLS_AT_SERVER, name);
	char why[TLS_WHY_MAX];

	if (strcmp(name, "shard") == 0)
		return parse_shard(ctx, i, s);
	if (!t->where.file)
		t->where = cfg_arg_where(ctx, i);
	if (strcmp(name, "ssl") == 0) {
		t->is_on = 1;
		t->where = cfg_arg_where(ctx, i);
		return 1;
	}
	if (args < 0)
		return cfg_error(ctx, i, "'%s' : '%s' : in a section peers a server has the "
					 "options shard, ssl and those of TLS only.",
			cfg_kw_name(ctx), name);
	if (i + args >= ctx->argc)
		return cfg_error(ctx, i, "'%s' : '%s' expects an argument.", cfg_kw_name(ctx),
			name);
	if (tls_settings_set(&t->set, TLS_AT_SERVER, name, cfg_arg(ctx, i + 1), why) < 0)
		return cfg_error(ctx, i + args, "'%s' : '%s' : %s.", cfg_kw_name(ctx), name, why);
	return 1 + args;
}

static int
parse_peer_options(
	struct cfg_ctx *ctx, int first, struct peer_conf *s, struct server_tls_conf *t)
{
	int n;

	for (int i = first; i < ctx->argc; i += n) {
		n = parse_peer_option(ctx, i, s, t);
		if (n < 0)
			return -1;
	}
	return 0;
}

static const struct peer_conf *
find_peer_conf(const struct peers_conf *c, const char *name)
{
	list_each(it, &c->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);

		if (strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}

/* Appends a peer with the defaults of the section. NULL when memory is out. */
static struct peer_conf *
new_peer(struct cfg_ctx *ctx, struct peers_conf *c)
{
	struct peer_conf *s = mem_zalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->where = cfg_arg_where(ctx, -1);
	s->name = mem_strdup(cfg_arg(ctx, 0));
	if (!s->name || server_tls_copy(&s->tls_conf, &c->default_server) < 0) {
		mem_free(s->name);
		mem_free(s);
		return NULL;
	}
	list_append(&c->peers, &s->link);
	return s;
}

static int
parse_peer_address(struct cfg_ctx *ctx, struct addr *to)
{
	char buf[CFG_ADDRESS_MAX];
	const char *why = "", *text = cfg_arg_address(ctx, 1, buf);
	struct addr_spec spec;

	if (!text)
		return -1;
	if (addr_parse(text, ADDR_ALLOW_NAME | ADDR_ALLOW_UNIX | ADDR_WANT_PORT, &spec, &why) < 0)
		return cfg_error(ctx, 1, "'%s' : '%.200s' : %s.", cfg_kw_name(ctx), text, why);
	*to = spec.addr;
	return 0;
}

/* A peer without an address is the process itself, which `bind` gives one. */
static int
parse_peer(struct cfg_ctx *ctx)
{
	struct peers_conf *c = ctx->obj;
	const char *name = cfg_arg(ctx, 0);
	struct peer_conf *s;

	if (strlen(name) > PEER_NAME_MAX)
		return cfg_error(ctx, 0, "'%s' : the name is too long; the limit is %u bytes.",
			cfg_kw_name(ctx), PEER_NAME_MAX);
	if (find_peer_conf(c, name))
		return cfg_error(ctx, 0, "'%s' : '%s' is in this section already.",
			cfg_kw_name(ctx), name);
	s = new_peer(ctx, c);
	if (!s)
		return cfg_nomem(ctx);
	if (ctx->argc < 2)
		return 0;
	if (parse_peer_address(ctx, &s->addr) < 0)
		return -1;
	return parse_peer_options(ctx, 2, s, &s->tls_conf);
}

static int
parse_default_peer(struct cfg_ctx *ctx)
{
	struct peers_conf *c = ctx->obj;

	return parse_peer_options(ctx, 0, NULL, &c->default_server);
}

/* --- bind --- */

/* The settings of the section's listener, made by the first line. NULL when memory is out. */
static struct bind_conf *
own_bind(struct cfg_ctx *ctx, struct peers_conf *c)
{
	struct bind_conf *b;

	if (!list_is_empty(&c->binds))
		return list_entry(c->binds.next, struct bind_conf, link);
	b = bind_conf_new();
	if (!b)
		return NULL;
	b->where = cfg_arg_where(ctx, -1);
	list_append(&c->binds, &b->link);
	return b;
}

static int
parse_peers_bind(struct cfg_ctx *ctx)
{
	struct peers_conf *c = ctx->obj;
	struct bind_conf *b = own_bind(ctx, c);

	if (!b)
		return cfg_nomem(ctx);
	if (b->n_listeners)
		return cfg_error(ctx, -1, "'bind' : a section peers has one line 'bind'.");
	return bind_cfg_add(ctx, 0, NULL, b, c);
}

static int
parse_default_bind(struct cfg_ctx *ctx)
{
	struct bind_conf *b = own_bind(ctx, ctx->obj);

	return b ? cfg_parse_opts(ctx, CFG_OPT_BIND, 0, b) : cfg_nomem(ctx);
}

/* --- the rest --- */

static int
parse_peers_enabled(struct cfg_ctx *ctx)
{
	struct peers_conf *c = ctx->obj;

	c->is_disabled = ctx->kw->arg != 0;
	return 0;
}

static int
parse_shards(struct cfg_ctx *ctx)
{
	struct peers_conf *c = ctx->obj;
	int v;

	if (cfg_arg_int(ctx, 0, 1, INT_MAX, &v) < 0)
		return -1;
	c->shards = (unsigned int)v;
	return 0;
}

static int
take_any(struct cfg_ctx *ctx)
{
	(void)ctx;
	return 0;
}

/* --- the whole configuration --- */

/* Has the process listen on the address of its own line, if there is no other. */
static int
settle_peers_bind(struct peers_conf *c)
{
	struct bind_conf *b;

	if (!list_is_empty(&c->binds)) {
		b = list_entry(c->binds.next, struct bind_conf, link);
	} else {
		b = bind_conf_new();
		if (!b)
			return -ERR_NOMEM;
		b->where = c->local->where;
		list_append(&c->binds, &b->link);
	}
	return b->n_listeners || !c->local->addr.len ? 0 : bind_conf_add(b, &c->local->addr, c);
}

/* 0, or -1 after a report. */
static int
check_peer_conf(const struct peer_conf *s, struct cfg_diag *d)
{
	if (!s->addr.len)
		cfg_diag_add(d, CFG_ALERT, &s->where, "peer '%s' has no address.", s->name);
	if (s->tls_conf.where.file && !s->tls_conf.is_on)
		cfg_diag_add(d, CFG_WARNING, &s->tls_conf.where,
			"'server %s' : options of TLS have no effect without 'ssl'.", s->name);
	return s->addr.len ? 0 : -1;
}

/* Drops a shard that does not exist, or that is the process's own: then the peer gets all keys. */
static void
settle_shard(const struct peers_conf *c, struct peer_conf *s, struct cfg_diag *d)
{
	if (!s->shard || (s != c->local && s->shard <= c->shards))
		return;
	if (s == c->local)
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"peer '%s' : 'shard' has no effect on the process itself.", s->name);
	else
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"peer '%s' : 'shard %u' is ignored, it gets all keys: the section has "
			"'shards %u'.",
			s->name, s->shard, c->shards);
	s->shard = 0;
}

/* Finds the first shard whose keys no peer gets. A peer without a shard gets all. */
static void
check_shards(const struct peers_conf *c, struct cfg_diag *d)
{
	unsigned int n = 1, at = 0;

	while (n <= c->shards && n != at) {
		at = n;
		list_each(it, &c->peers) {
			const struct peer_conf *s = list_entry(it, const struct peer_conf, link);

			if (s != c->local && !s->shard)
				return;
			if (s != c->local && s->shard == n && n == at)
				n++;
		}
	}
	if (n <= c->shards)
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"section 'peers %s' : 'shards %u' : no peer gets the keys of shard %u.",
			c->name, c->shards, n);
}

static int
check_peers_bind(const struct bind_conf *b, struct cfg_diag *d)
{
	if (!b->accept_proxy)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &b->where,
		"'bind' : 'accept-proxy' is not supported for peers: let them connect directly.");
	return -1;
}

/* 0, or -1 after a report. */
static int
finish_section(const struct proxies *ps, struct peers_conf *c, struct cfg_diag *d)
{
	int bad = 0;

	if (c->is_disabled)
		return 0;
	c->local = find_peer_conf(c, ps->local_peer);
	if (!c->local) {
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"Removing incomplete section 'peers %s' (no peer named '%s').", c->name,
			ps->local_peer);
		return 0;
	}
	c->is_used = c->peers.next != c->peers.prev;
	if (!c->is_used) {
		if (list_is_empty(&c->tables))
			cfg_diag_add(d, CFG_NOTICE, &c->where,
				"section 'peers %s' has no effect: the process needs none to pass "
				"the entries of stick tables on at a reload.",
				c->name);
		return 0;
	}
	list_each(it, &c->peers) {
		struct peer_conf *s = list_entry(it, struct peer_conf, link);

		settle_shard(c, s, d);
		if (s != c->local)
			bad |= check_peer_conf(s, d);
	}
	check_shards(c, d);
	if (settle_peers_bind(c) == 0)
		return bad | check_peers_bind(list_entry(c->binds.next, struct bind_conf, link), d);
	cfg_diag_add(d, CFG_ALERT, &c->where, "%s", err_text(-ERR_NOMEM));
	return -1;
}

int
peers_cfg_finish(struct proxies *ps, struct cfg_diag *d)
{
	int bad = 0;

	list_each(it, &ps->peers)
		bad |= finish_section(ps, list_entry(it, struct peers_conf, link), d);
	return bad;
}

#define PEER(n, text)                                                                      \
	{ .name = n, .sections = CFG_PEERS, .min = 1, .max = CFG_ANY, .parse = parse_peer,      \
	  .syntax = "<name> [<address>:<port> [<option>...]]", .dflt = "none", .doc = text }
#define ENABLED(n, off, text)                                                              \
	{ .name = n, .sections = CFG_PEERS, .parse = parse_peers_enabled, .arg = off,           \
	  .dflt = "enabled", .doc = text }

static const struct cfg_kw kws[] = {
	PEER("peer", "A process of the group. That whose name is 'localpeer' is the process "
		     "itself: it listens on this address. Options: ssl, and those of TLS of a "
		     "server; shard <n>: it gets the keys of this shard only."),
	PEER("server", "The same as peer."),
	{ .name = "bind",
		.sections = CFG_PEERS,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_peers_bind,
		.syntax = "[<address>]:<port> [<option>...]",
		.dflt = "the address of the process's own line",
		.doc = "Address and options of the listener for peers. One line." },
	{ .name = "default-bind",
		.sections = CFG_PEERS,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_default_bind,
		.syntax = "<option>...",
		.dflt = "none",
		.doc = "Options of the listener, wherever its address is from." },
	{ .name = "default-server",
		.sections = CFG_PEERS,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_default_peer,
		.syntax = "<option>...",
		.dflt = "none",
		.doc = "Options of the peers in the lines below." },
	ENABLED("disabled", 1, "Tables are not shared."),
	ENABLED("enabled", 0, "The opposite of disabled."),
	{ .name = "log",
		.sections = CFG_PEERS,
		.max = CFG_ANY,
		.parse = take_any,
		.syntax = "<target> ...",
		.dflt = "the logs of the section global",
		.doc = "Without effect." },
	{ .name = "shards",
		.sections = CFG_PEERS,
		.min = 1,
		.max = 1,
		.parse = parse_shards,
		.syntax = "<number>",
		.dflt = "none: each peer gets all keys",
		.doc = "Distributes keys, by a hash (XXH64, the seed is that of the table's name), "
		       "to so many shards: a peer with 'shard <n>' gets the entries of one of "
		       "them, a peer without it gets all." },
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "peers",
		.bit = CFG_PEERS,
		.flags = CFG_SEC_NAMED,
		.begin = begin_peers,
		.doc = "Processes whose stick tables are the same: tables that name the section, "
		       "and its own. They connect to each other and send what they change, in the "
		       "protocol of HAProxy (2.1 and 2.0), which may be one of them. Values that a "
		       "peer sends replace those here. A peer is recognized by its name alone: "
		       "permit connections from peers only, or verify certificates. Without "
		       "another process the section has no effect." },
	{ 0 },
};

const struct cfg_module peers_cfg_module = {
	.name = "peers",
	.kws = kws,
	.sections = sections,
};
