/* Loads a configuration and frees it. Main thread, before workers run; nothing is bound and
 * nothing of the process changes. */
#include "app/config/config.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "app/config/bounds_cfg.h"
#include "app/config/modules.h"
#include "app/config/options.h"
#include "app/config/tls_finish.h"
#include "app/config/version.h"
#include "base/array.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/files.h"
#include "cfg/reader.h"
#include "net/listener.h"
#include "net/overlap.h"
#include "proxy/config/peers_cfg.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_life.h"
#include "proxy/config/resolvers_cfg.h"
#include "proxy/filter/spoe.h"
#include "proxy/model/ring_conf.h"
#include "tls/bind.h"
#include "tls/settings.h"

int
config_init(struct config *c, const char *const *environment)
{
	const char *culprit = "";
	int r;

	memset(c, 0, sizeof(*c));
	proxies_init(&c->proxies);
	global_init(&c->global);
	tls_conf_init(&c->tls);
	vars_init(&c->vars);
	cfg_registry_init(&c->registry);
	cfg_diag_init(&c->diag, 0);
	cfg_env_init(&c->env);
	r = cfg_env_import(&c->env, environment);
	if (r)
		return r;
	r = modules_register(&c->registry, &culprit);
	if (r)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "keywords of '%s' cannot be registered: %s",
			culprit, err_text(r));
	return r;
}

void
config_fini(struct config *c)
{
	proxies_fini(&c->proxies);
	global_fini(&c->global);
	tls_conf_fini(&c->tls);
	vars_fini(&c->vars);
	cfg_env_fini(&c->env);
	cfg_dir_fini(&c->dir);
	cfg_diag_fini(&c->diag);
	cfg_registry_fini(&c->registry);
}

static const char *
get_variable(void *arg, const char *name)
{
	return cfg_env_get(arg, name);
}

void
config_facts(struct config *c, struct cfg_facts *out)
{
	memset(out, 0, sizeof(*out));
	out->version = VERSION_LEVEL;
	out->ssl_name = tls_version_name;
	out->ssl_version = tls_version_number;
	out->features = version_features;
	out->enabled = version_enabled;
	out->getenv = get_variable;
	out->getenv_arg = &c->env;
}

int
config_cond(struct config *c, const char *expr, FILE *err)
{
	struct cfg_facts facts;
	struct cfg_cond_err why = { 0, "" };
	int r;

	config_facts(c, &facts);
	r = cfg_cond_line(&facts, expr, &why);
	if (r < 0) {
		fprintf(err,
			"[ALERT]    (%d) : config : failed to evaluate condition: %s\n"
			"  %s\n  %*s^\n",
			c->diag.pid, why.text, expr, (int)why.at, "");
		return 1;
	}
	return r ? 0 : 1;
}

/* Environment variables for the configuration besides inherited ones (management manual, 3). */
static int
set_variables(struct config *c, struct sys *sys, const struct options *o,
	const struct cfg_files *files)
{
	char *list = cfg_files_join(files);
	struct utsname host;
	int r = list ? cfg_env_set(&c->env, "HAPROXY_CFGFILES", list) : -ENOMEM;

	mem_free(list);
	if (sys_uname(sys, &host) >= 0)
		memcpy(c->hostname, host.nodename, sizeof(c->hostname));
	c->proxies.vocab.hostname = c->hostname;
	c->proxies.vocab.env = &c->env;
	c->proxies.files.sys = sys;
	c->proxies.files.diag = &c->diag;
	if (!r && o->local_peer)
		r = cfg_env_set(&c->env, "HAPROXY_LOCALPEER", o->local_peer);
	else if (!r && c->hostname[0])
		r = cfg_env_set(&c->env, "HAPROXY_LOCALPEER", c->hostname);
	if (!r && (o->flags & OPTIONS_MASTER))
		r = cfg_env_set(&c->env, "HAPROXY_MWORKER", "1");
	if (r)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "environment: %s", err_text(r));
	return r;
}

/* Before any table is made. Without a secret the process would work but be vulnerable to chosen
 * keys, so it does not start. */
static int
draw_key(struct config *c, struct sys *sys)
{
	int r = keyhash_draw(&c->proxies.files.key, sys);

	if (r)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL,
			"cannot get random bytes for the hash tables of maps and ACLs: %s",
			err_text(r));
	return r;
}

static void
apply_options(struct config *c, const struct options *o)
{
	struct global_conf *g = &c->global;

	if (o->maxconn)
		g->maxconn = o->maxconn;
	if (o->flags & OPTIONS_NO_EPOLL)
		g->no_epoll = 1;
	if (o->flags & OPTIONS_NO_POLL)
		g->no_poll = 1;
	if (o->flags & OPTIONS_NO_SPLICE)
		g->splice.off = 1;
	if (o->flags & OPTIONS_QUIET)
		g->quiet = 1;
	if (g->zero_warning)
		c->diag.werror = 1;
	list_each(it, &c->proxies.all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if ((p->caps & PROXY_FE) && !p->maxconn)
			p->maxconn = o->proxy_maxconn;
	}
}

/* A bind line may name threads that do not exist, but not only such. */
static int
check_binds(struct config *c, struct sys *sys, const char *proxy, const struct list *binds)
{
	int bad = 0;

	list_each(it, binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);
		unsigned int n;

		if (!b->threads)
			continue;
		n = global_threads(&c->global, sys);
		if (b->threads & UINT64_MAX >> (GLOBAL_THREADS_MAX - n))
			continue;
		cfg_diag_add(&c->diag, CFG_ALERT, &b->where,
			"Proxy '%s': 'thread' only names threads that do not exist; there %s %u.",
			proxy, n > 1 ? "are" : "is", n);
		bad = 1;
	}
	return bad;
}

/* Checks of threads that need the complete configuration. */
static int
check_threads(struct config *c, struct sys *sys)
{
	const struct global_conf *g = &c->global;
	int bad = check_binds(c, sys, "GLOBAL", &g->admin_binds);

	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, struct proxy, link);

		if (!p->disabled)
			bad |= check_binds(c, sys, p->name, &p->binds);
	}
	if (g->thread_hard_limit && g->nbthread > g->thread_hard_limit)
		cfg_diag_add(&c->diag, CFG_WARNING, NULL,
			"'nbthread %d' is more than 'thread-hard-limit' allows: %d will run.",
			g->nbthread, g->thread_hard_limit);
	return bad;
}

static int
read_files(struct config *c, struct sys *sys, const struct options *o)
{
	struct cfg_files files;
	struct cfg_reader reader;
	struct cfg_facts facts;
	struct cfg_reader_opts opts = {
		.root = c,
		.registry = &c->registry,
		.diag = &c->diag,
		.env = &c->env,
		.sys = sys,
		.facts = &facts,
	};
	int bad = 0;

	cfg_files_init(&files);
	for (unsigned int i = 0; i < o->n_files; i++)
		bad |= cfg_files_add(&files, sys, o->files[i], &c->diag);
	if (!set_variables(c, sys, o, &files)) {
		config_facts(c, &facts);
		cfg_reader_init(&reader, &opts);
		bad |= cfg_files_read(&files, sys, &c->dir, &reader);
		bad |= cfg_reader_end(&reader);
		cfg_reader_fini(&reader);
	} else {
		bad = 1;
	}
	cfg_files_fini(&files);
	return bad;
}

/* The lines read after the last file lie where the first one chose; tls_finish() continues from
 * there. Returns non-zero after an error. */
static int
enter_dir(struct config *c, struct sys *sys, const struct cfg_file *f)
{
	int r = cfg_dir_enter(&c->dir, sys, f);

	if (r < 0)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL,
			"'default-path' : cannot change the directory: %s", err_text(r));
	return r < 0;
}

/* --- bind lines ------------------------------------------------------------------------------ */

/* Bind lines that share a port. Main thread. */

struct bound {
	struct listener **v;
	unsigned int n, cap;
	int failed;
};

static void
add_binds(struct bound *all, const struct list *binds)
{
	list_each(it, binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener **v = array_grow(all->v, all->n, &all->cap, sizeof(*v));

			if (!v) {
				all->failed = 1;
				return;
			}
			all->v = v;
			all->v[all->n++] = list_entry(lt, struct listener, link);
		}
	}
}

static void
warn_twin(const struct listener *ln, const struct listener *earlier, void *arg)
{
	struct config *c = arg;
	uint64_t mine = ln->bind->threads, other = earlier->bind->threads;
	const struct cfg_where *at = &earlier->bind->where;
	char text[ADDR_TEXT];

	if (mine && other && !(mine & other))
		return;
	cfg_diag_add(&c->diag, CFG_WARNING, &ln->bind->where,
		"'bind' : [%s:%u] has the address %s too: each of the two gets a part of the "
		"connections.",
		at->file ? at->file->name : "-", at->line, addr_text(&ln->addr, text));
}

/* Main thread, before listeners are copied for the workers. Lines with the same address are warned
 * of, unless they are for different threads. 0 or -ERR_NOMEM, which is reported. In the order in
 * which process_bind() binds them. */
static int
binds_finish(struct config *c)
{
	struct bound all = { 0 };
	int r;

	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (!p->disabled)
			add_binds(&all, &p->binds);
	}
	list_each(it, &c->proxies.peers) {
		const struct peers_conf *p = list_entry(it, const struct peers_conf, link);

		if (p->is_used)
			add_binds(&all, &p->binds);
	}
	add_binds(&all, &c->global.admin_binds);
	r = all.failed ? -ERR_NOMEM : overlap_link(all.v, all.n, warn_twin, c);
	mem_free(all.v);
	if (r)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "bind lines: %s", err_text(r));
	return r;
}

/* --- loading --------------------------------------------------------------------------------- */

int
config_load(struct config *c, struct sys *sys, const struct options *o)
{
	int bad;

	c->diag.pid = (int)sys_getpid(sys);
	c->diag.werror = (o->flags & OPTIONS_WERROR) != 0;
	c->diag.diagmode = (o->flags & OPTIONS_DIAG) != 0;
	c->proxies.keep_unresolved = (o->flags & OPTIONS_KEEP_NAMES) != 0;
	bad = draw_key(c, sys) != 0;
	bad |= read_files(c, sys, o);
	bad |= enter_dir(c, sys, c->diag.nfile ? c->diag.file[0] : NULL);
	bad |= resolvers_add_default(&c->proxies, sys) != 0;
	apply_options(c, o);
	c->proxies.local_peer = o->local_peer ? o->local_peer
		: c->global.localpeer	  ? c->global.localpeer
					  : c->hostname;
	bad |= bounds_finish(&c->global, global_threads(&c->global, sys), o->memory_mb,
		       &c->diag) != 0;
	bad |= peers_cfg_finish(&c->proxies, &c->diag) != 0;
	bad |= proxies_finish(&c->proxies, &c->diag);
	bad |= proxies_fit_errors(&c->proxies, (size_t)(c->global.bufsize - c->global.maxrewrite),
		&c->diag);
	bad |= proxies_fit_frames(&c->proxies, (size_t)c->global.bufsize, &c->diag);
	bad |= check_threads(c, sys);
	bad |= binds_finish(c) != 0;
	bad |= tls_finish(c, sys);
	bad |= enter_dir(c, sys, NULL);
	/* All other failures have a message. */
	if (bad && !cfg_diag_is_fatal(&c->diag))
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
	return bad || cfg_diag_is_fatal(&c->diag) ? -ERR_INVAL : 0;
}

int
config_has_listener(const struct config *c)
{
	if (!list_is_empty(&c->global.admin_binds))
		return 1;
	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (!p->disabled && !list_is_empty(&p->binds))
			return 1;
	}
	return 0;
}

int
config_splices(const struct config *c)
{
	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->options & OPT_SPLICES)
			return 1;
	}
	return 0;
}

int
config_may_splice(const struct config *c)
{
	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (proxy_splice(p, p))
			return 1;
	}
	return 0;
}
