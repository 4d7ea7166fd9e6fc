/* Proxies as configuration makes them: new, inheriting from defaults, freed. Runs before the
 * workers start and after they have ended. */
#include "proxy/config/proxy_life.h"

#include "base/err.h"
#include "base/mem.h"
#include "dns/resolvers.h"
#include "net/bind_conf.h"
#include "proxy/backend/balance.h"
#include "proxy/check/mailers_cfg.h"
#include "proxy/config/vocab.h"
#include "proxy/filter/cache_cfg.h"
#include "proxy/filter/compress.h"
#include "proxy/log/log_conf.h"
#include "proxy/model/filter.h"
#include "proxy/model/stats_conf.h"
#include "proxy/sample/act_track.h"
#include "proxy/sample/route.h"
#include "table/table.h"
#include <string.h>

/* Default of `retries`. */
#define RETRIES_DEFAULT 3

struct proxy *
proxy_new(const char *name, unsigned int caps)
{
	struct proxy *p = mem_zalloc_aligned(CACHE_LINE, sizeof(*p));

	if (!p)
		return NULL;
	p->name = mem_strdup(name);
	if (!p->name) {
		mem_free(p);
		return NULL;
	}
	p->caps = caps;
	p->retries = RETRIES_DEFAULT;
	p->balance_draws = BALANCE_DRAWS_DEFAULT;
	server_conf_init(&p->default_server);
	http_conf_init(&p->http);
	proxy_errors_init(&p->errors);
	list_init(&p->link);
	list_init(&p->logs);
	list_init(&p->binds);
	list_init(&p->servers);
	list_init(&p->use_backends);
	list_init(&p->be_switches);
	rule_acls_init(&p->acls);
	proxy_rules_init(&p->rules);
	persist_conf_init(&p->persist);
	check_conf_init(&p->check);
	return p;
}

static void
unique_id_conf_fini(struct unique_id_conf *c)
{
	mem_free(c->text);
	mem_free(c->header);
	rule_fmt_free(&c->fmt);
	memset(c, 0, sizeof(*c));
}

static void
free_filter_confs(struct proxy *p)
{
	while (p->filters) {
		struct filter_conf *conf = p->filters;

		p->filters = conf->next;
		filter_conf_free(conf);
	}
	for (int side = 0; side < SIDES; side++)
		filter_sequence_free(p->sequence[side]);
}

static void
free_routes(struct proxy *p)
{
	list_each_safe(it, &p->use_backends) {
		struct use_backend *u = list_entry(it, struct use_backend, link);

		list_remove(&u->link);
		use_backend_free(&u);
	}
	list_each_safe(it, &p->be_switches) {
		struct be_switch *b = list_entry(it, struct be_switch, link);

		list_remove(&b->link);
		be_switch_free(&b);
	}
}

void
proxy_free(struct proxy **pp)
{
	struct proxy *p = *pp;

	if (!p)
		return;
	*pp = NULL;
	assert(p->queued == 0 && p->waiting == 0);
	list_remove(&p->link);
	balance_fini(p);
	list_each_safe(it, &p->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		bind_conf_free(&b);
	}
	list_each_safe(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		server_free(&s);
	}
	name_index_fini(&p->server_names);
	server_free(&p->dispatch);
	free_filter_confs(p);
	proxy_log_fini(p);
	email_conf_free(&p->email);
	capture_conf_fini(&p->captures);
	unique_id_conf_fini(&p->unique_id);
	http_conf_fini(&p->http);
	stats_conf_free(&p->stats);
	proxy_errors_fini(&p->errors);
	forward_conf_fini(&p->forward);
	mem_free(p->default_be_name);
	balance_by_fini(&p->balance_by);
	free_routes(p);
	proxy_rules_fini(&p->rules);
	table_free(p->table);
	mem_free(p->table_peers);
	persist_conf_fini(&p->persist);
	check_conf_fini(&p->check);
	server_conf_fini(&p->default_server);
	rule_acls_fini(&p->acls);
	if (!p->has_placed_shards)
		mem_free(p->shard);
	stat_past_fini(&p->past[0]);
	stat_past_fini(&p->past[1]);
	latency_set_free(&p->latency[0]);
	latency_set_free(&p->latency[1]);
	for (unsigned int i = 0; i < ARRAY_LEN(p->invalid); i++)
		invalid_msgs_fini(&p->invalid[i]);
	mem_free(p->description);
	mem_free(p->guid);
	mem_free(p->state_file_name);
	mem_free(p->name);
	mem_free(p);
}

/* Copies the defaults section's settings. 0 or -ERR_NOMEM. */
static int
unique_id_conf_inherit(struct unique_id_conf *c, const struct unique_id_conf *defaults)
{
	c->where = defaults->where;
	c->header_where = defaults->header_where;
	if (mem_copy_string(&c->text, defaults->text) < 0)
		return -ERR_NOMEM;
	return mem_copy_string(&c->header, defaults->header);
}

int
proxy_inherit(struct proxy *p, const struct proxy *defaults)
{
	if (defaults->default_be_name && (p->caps & (PROXY_FE | PROXY_DEFAULTS))) {
		p->default_be_name = mem_strdup(defaults->default_be_name);
		if (!p->default_be_name)
			return -ERR_NOMEM;
		p->default_be_where = defaults->default_be_where;
	}
	p->errors_read = defaults->errors_read;
	p->mode = defaults->mode;
	p->disabled = defaults->disabled;
	p->options = defaults->options;
	p->no_options = defaults->no_options;
	p->to = defaults->to;
	p->maxconn = defaults->maxconn;
	p->backlog = defaults->backlog;
	p->client_keepalive = defaults->client_keepalive;
	p->server_keepalive = defaults->server_keepalive;
	p->sess_limit.max = defaults->sess_limit.max;
	p->balance = defaults->balance;
	p->has_balance = defaults->has_balance;
	p->balance_draws = defaults->balance_draws;
	p->hash_type = defaults->hash_type;
	p->hash_balance_factor = defaults->hash_balance_factor;
	p->hash_affinity = defaults->hash_affinity;
	p->panic_threshold = defaults->panic_threshold;
	p->fullconn = defaults->fullconn;
	p->retries = defaults->retries;
	p->redispatch_every = defaults->redispatch_every;
	p->source = defaults->source;
	p->state_file = defaults->state_file;
	if (defaults->state_file_name) {
		p->state_file_name = mem_strdup(defaults->state_file_name);
		if (!p->state_file_name)
			return -ERR_NOMEM;
	}
	proxy_rules_inherit(&p->rules, &defaults->rules);
	if (compress_inherit(p, defaults) < 0)
		return -ERR_NOMEM;
	if (defaults->stats) {
		p->stats = stats_conf_copy(defaults->stats);
		if (!p->stats)
			return -ERR_NOMEM;
	}
	if (email_conf_inherit(&p->email, defaults->email) < 0 ||
		balance_by_inherit(&p->balance_by, &defaults->balance_by) < 0 ||
		http_conf_inherit(&p->http, &defaults->http, p->caps) < 0 ||
		proxy_errors_inherit(&p->errors, &defaults->errors) < 0 ||
		forward_conf_inherit(&p->forward, &defaults->forward) < 0 ||
		server_conf_copy(&p->default_server, &defaults->default_server) < 0 ||
		persist_conf_inherit(&p->persist, &defaults->persist) < 0 ||
		check_conf_inherit(&p->check, &defaults->check) < 0 ||
		((p->caps & (PROXY_FE | PROXY_DEFAULTS)) &&
			unique_id_conf_inherit(&p->unique_id, &defaults->unique_id) < 0) ||
		((p->caps & PROXY_FE) && capture_inherit(&p->captures, &defaults->captures) < 0))
		return -ERR_NOMEM;
	return proxy_log_inherit(p, defaults);
}

void
proxies_init(struct proxies *ps)
{
	list_init(&ps->all);
	list_init(&ps->defaults);
	list_init(&ps->error_groups);
	ps->n = 0;
	memset(&ps->guids, 0, sizeof(ps->guids));
	memset(&ps->frontends, 0, sizeof(ps->frontends));
	memset(&ps->backends, 0, sizeof(ps->backends));
	memset(&ps->error_group_names, 0, sizeof(ps->error_group_names));
	memset(&ps->tables, 0, sizeof(ps->tables));
	ps->last_addr = NULL;
	ps->last_arg = NULL;
	ps->cookie_max = CAPTURE_COOKIE_MAX;
	ps->stick_counters = TRACK_SLOTS_DEFAULT;
	ps->n_tracked = 0;
	status_set_client_errors(&ps->err_codes);
	status_set_server_failures(&ps->fail_codes);
	ps->spread_checks = 0;
	ps->never_local = 0;
	ps->max_spread_checks_ms = 0;
	ps->capture_size = 0;
	log_global_init(&ps->log);
	proxy_vocab_init(&ps->vocab);
	pattern_files_init(&ps->files, NULL);
	ps->vocab.files = &ps->files;
	userlists_init(&ps->userlists);
	name_case_init(&ps->name_case);
	list_init(&ps->resolvers);
	list_init(&ps->mailers);
	list_init(&ps->peers);
	list_init(&ps->caches);
	ps->every_table = NULL;
	ps->n_tables = 0;
	ps->local_peer = "";
	ps->peers_news = 0;
	ps->keep_unresolved = 0;
	list_init(&ps->removed);
	bind_unix_init(&ps->unix_bind);
}

static void
free_peers(struct list *all)
{
	list_each_safe(it, all) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		list_remove(&c->link);
		c->free(c);
	}
}

static void
free_all(struct list *l)
{
	list_each_safe(it, l) {
		struct proxy *p = list_entry(it, struct proxy, link);

		proxy_free(&p);
	}
}

void
proxies_fini(struct proxies *ps)
{
	free_all(&ps->all);
	free_all(&ps->defaults);
	list_each_safe(it, &ps->removed) {
		struct server *s = list_entry(it, struct server, link);

		server_free(&s);
	}
	list_each_safe(it, &ps->resolvers) {
		struct resolvers *res = list_entry(it, struct resolvers, link);

		resolvers_free(&res);
	}
	pattern_files_fini(&ps->files);
	userlists_fini(&ps->userlists);
	name_case_fini(&ps->name_case);
	name_index_fini(&ps->guids);
	name_index_fini(&ps->frontends);
	name_index_fini(&ps->backends);
	name_index_fini(&ps->error_group_names);
	name_index_fini(&ps->tables);
	mem_free(ps->every_table);
	ps->every_table = NULL;
	free_peers(&ps->peers);
	mailers_confs_free(&ps->mailers);
	cache_sections_free(&ps->caches);
	list_each_safe(it, &ps->error_groups) {
		struct error_group *g = list_entry(it, struct error_group, link);

		error_group_free(&g);
	}
	ps->n = 0;
	log_global_fini(&ps->log);
	bind_unix_fini(&ps->unix_bind);
}
