/* Reads the files that bind lines name for TLS, when all of the configuration is known: its order
 * does not matter. Main thread, before privileges are dropped. */
#include "app/config/tls_finish.h"

#include "app/config/config.h"
#include "base/file.h"
#include "dns/hosts.h"
#include "dns/resolvers.h"
#include "net/listener.h"
#include "proxy/model/ring_conf.h"
#include "tls/bind.h"
#include "tls/connect.h"
#include "tls/crt_list.h"

static int
load_bind(struct config *c, struct sys *sys, const char *name, struct bind_conf *b)
{
	const struct listener *ln = list_first(&b->listeners, const struct listener, link);
	char address[ADDR_TEXT] = "";
	struct tls_bind_use use = {
		.proxy = name,
		.address = address,
	};

	if (!list_is_empty(&b->listeners))
		(void)addr_text(&ln->addr, address);
	if (b->tls->is_on)
		return tls_bind_load(b->tls, &c->tls, &use, sys, &c->diag);
	if (!list_is_empty(&b->tls->sources))
		cfg_diag_add(&c->diag, CFG_WARNING, &b->where,
			"Proxy '%s': A certificate was specified but SSL was not enabled on bind "
			"'%s' (use 'ssl').",
			name, address);
	return 0;
}

static int
report_dir(struct config *c, const struct cfg_where *where)
{
	cfg_diag_add(&c->diag, CFG_ALERT, where,
		"'default-path' : cannot change to the directory of this file.");
	return -1;
}

static int
load_binds(struct config *c, struct sys *sys, const char *name, const struct list *binds)
{
	int bad = 0;

	list_each(it, binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		if (b->tls && cfg_dir_enter(&c->dir, sys, b->where.file) == 0)
			bad |= load_bind(c, sys, name, b);
		else if (b->tls)
			bad |= report_dir(c, &b->where);
	}
	return bad;
}

static int
refuse_admin(struct config *c)
{
	int bad = 0;

	list_each(it, &c->global.admin_binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		if (!b->tls)
			continue;
		cfg_diag_add(&c->diag, CFG_ALERT, &b->where,
			"'stats socket' : TLS is not supported here.");
		bad = -1;
	}
	return bad;
}

/* sys NULL: no file is read. */
static int
load_server(struct config *c, struct sys *sys, struct server *s, struct cfg_diag *d)
{
	const struct proxy *p = s->be;
	struct tls_settings *set = &s->conf.tls.set;
	/* Its line may have no option of TLS if rules of checks do. */
	const struct cfg_where *where = s->conf.tls.where.file ? &s->conf.tls.where : &s->where;
	char why[TLS_WHY_MAX];

	if (tls_server_load(&s->tls, &c->tls, set, sys, why) == 0) {
		if (tls_server_ignores_off(s->tls))
			cfg_diag_add(d, CFG_WARNING, &s->conf.tls.where,
				"'server " CFG_DIAG_NAME "%s/%s" CFG_DIAG_NAME
				"' : no-sslv3/no-tlsv1x are ignored for this server. "
				"Use only 'ssl-min-ver' and 'ssl-max-ver' to fix.",
				p->name, s->name);
		return 0;
	}
	/* A command has named the server. */
	if (sys)
		cfg_diag_add(d, CFG_ALERT, where, "server '%s' : %s.", s->name, why);
	else
		cfg_diag_add(d, CFG_ALERT, where, "%s.", why);
	return -1;
}

static int
load_servers(struct config *c, struct sys *sys, const struct proxy *p)
{
	int bad = 0;

	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (server_uses_tls(s) && cfg_dir_enter(&c->dir, sys, s->where.file) == 0)
			bad |= load_server(c, sys, s, &c->diag);
		else if (server_uses_tls(s))
			bad |= report_dir(c, &s->where);
	}
	return bad;
}

struct ring_loading {
	struct config *cfg;
	struct sys *sys;
	int bad;
};

/* A server of a ring, or a peer. */
static int
load_client(struct config *c, struct sys *sys, const struct server_tls_conf *conf,
	const char *section, const char *name, struct tls_server **tls)
{
	char why[TLS_WHY_MAX];

	if (tls_server_load(tls, &c->tls, &conf->set, sys, why) < 0) {
		cfg_diag_add(&c->diag, CFG_ALERT, &conf->where, "server '%s' : %s.", name, why);
		return -1;
	}
	if (tls_server_ignores_off(*tls))
		cfg_diag_add(&c->diag, CFG_WARNING, &conf->where,
			"'server %s/%s' : no-sslv3/no-tlsv1x are ignored for this server. Use only "
			"'ssl-min-ver' and 'ssl-max-ver' to fix.",
			section, name);
	return 0;
}

/* All of them: each has its own report. */
static int
load_ring_server(struct ring_server *s, void *arg)
{
	struct ring_loading *l = arg;

	l->bad |= load_client(l->cfg, l->sys, &s->tls_conf, s->ring->name, s->name, &s->tls);
	return 0;
}

static int
load_rings(struct config *c, struct sys *sys)
{
	struct ring_loading l = { .cfg = c, .sys = sys };

	(void)ring_confs_each_tls(&c->proxies.log.rings, load_ring_server, &l);
	return l.bad;
}

static int
load_section(struct config *c, struct sys *sys, const struct peers_conf *p)
{
	int bad = load_binds(c, sys, p->name, &p->binds);

	list_each(it, &p->peers) {
		struct peer_conf *s = list_entry(it, struct peer_conf, link);

		if (s->tls_conf.is_on && s != p->local)
			bad |= load_client(c, sys, &s->tls_conf, p->name, s->name, &s->tls);
	}
	return bad;
}

static int
load_peers(struct config *c, struct sys *sys)
{
	int bad = 0;

	list_each(it, &c->proxies.peers) {
		const struct peers_conf *p = list_entry(it, const struct peers_conf, link);

		if (p->is_used && cfg_dir_enter(&c->dir, sys, p->where.file) == 0)
			bad |= load_section(c, sys, p);
		else if (p->is_used)
			bad |= report_dir(c, &p->where);
	}
	return bad;
}

/* Completes the settings of OCSP updates: their delays, and the section that resolves the names of
 * responders. */
static int
settle_ocsp(struct config *c, struct sys *sys)
{
	struct tls_ocsp_conf *o = &c->tls.ocsp;
	struct resolvers *res = proxies_find_resolvers(&c->proxies, RESOLVERS_DEFAULT);
	size_t len;

	if (o->min_s > o->max_s) {
		cfg_diag_add(&c->diag, CFG_ALERT, NULL,
			"'ocsp-update.mindelay' (%u) is above 'ocsp-update.maxdelay' (%u).",
			o->min_s, o->max_s);
		return -1;
	}
	if (!o->is_wanted || o->off || o->proxy.len)
		return 0;
	if (res)
		res->is_asked = 1;
	/* Later it may be out of reach. Without the file there are name servers. */
	if (!o->hosts)
		(void)!file_read(sys, HOSTS_FILE, HOSTS_MAX, &o->hosts, &len);
	return 0;
}

static int
read_chains(struct config *c, struct sys *sys)
{
	struct tls_chains *t = &c->tls.chains;

	if (!t->dir || cfg_dir_enter(&c->dir, sys, t->where.file) == 0)
		return tls_chains_read(t, sys, &c->diag);
	return report_dir(c, &t->where);
}

static int
binds_use_tls(const struct list *binds)
{
	list_each(it, binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		if (b->tls && b->tls->is_on)
			return 1;
	}
	return 0;
}

static int
servers_use_tls(const struct proxy *p)
{
	list_each(it, &p->servers)
		if (server_uses_tls(list_entry(it, const struct server, link)))
			return 1;
	return 0;
}

static int
peers_use_tls(const struct peers_conf *p)
{
	list_each(it, &p->peers)
		if (list_entry(it, const struct peer_conf, link)->tls_conf.is_on)
			return 1;
	return binds_use_tls(&p->binds);
}

int
config_uses_tls(const struct config *c)
{
	list_each(it, &c->proxies.peers) {
		const struct peers_conf *p = list_entry(it, const struct peers_conf, link);

		if (p->is_used && peers_use_tls(p))
			return 1;
	}
	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (!p->disabled && (binds_use_tls(&p->binds) || servers_use_tls(p)))
			return 1;
	}
	return ring_confs_use_tls(&c->proxies.log.rings);
}

/* Without these algorithms all that follows would fail, for reasons that name no provider. */
static int
check_algorithms(struct config *c)
{
	char why[TLS_WHY_MAX];

	if (!c->tls.algorithms.file || tls_algorithms_check(why) == 0)
		return 0;
	/* If there are errors, one of them may be that of the provider. */
	if (!cfg_diag_is_fatal(&c->diag))
		cfg_diag_add(&c->diag, CFG_ALERT, &c->tls.algorithms, "%s", why);
	return -1;
}

int
tls_finish(struct config *c, struct sys *sys)
{
	char why[TLS_WHY_MAX];
	int bad = refuse_admin(c);

	if (check_algorithms(c))
		return -1;
	if (config_uses_tls(c) && tls_conf_finish(&c->tls, sys, why) < 0) {
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "%s.", why);
		bad = -1;
	}
	bad |= read_chains(c, sys);
	c->tls.files.issuers = &c->tls.issuers;
	c->tls.files.chains = &c->tls.chains;
	c->tls.files.passphrases = &c->tls.passphrases;
	c->tls.passphrases.sys = sys;
	c->tls.passphrases.env = &c->env;
	bad |= tls_crt_stores_load(&c->tls, sys, &c->diag);
	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (!p->disabled)
			bad |= load_binds(c, sys, p->name, &p->binds) | load_servers(c, sys, p);
	}
	bad |= load_rings(c, sys);
	bad |= load_peers(c, sys);
	c->tls.files.issuers = NULL;
	c->tls.files.passphrases = NULL;
	tls_passphrases_clear(&c->tls.passphrases);
	tls_issuers_fini(&c->tls.issuers);
	bad |= settle_ocsp(c, sys);
	return bad;
}

int
tls_finish_added(struct config *c, struct server *s, struct cfg_diag *d)
{
	return server_uses_tls(s) ? load_server(c, NULL, s, d) : 0;
}
