/* Servers that are added and removed at run time. On the first worker, while all others are
 * paused. The memory of a removed server is kept for the next one: messages may still name it. */
#include "proxy/config/server_add.h"

#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/lexer.h"
#include "proxy/backend/balance.h"
#include "proxy/config/check_finish.h"
#include "proxy/config/check_track.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/model/server_list.h"

/* --- memory --- */

static struct server *
renew_removed(struct proxies *ps, struct proxy *be, const char *name,
	const struct server_conf *conf)
{
	struct server *s = list_first(&ps->removed, struct server, link);

	if (server_renew(s, be, name, conf) < 0)
		return NULL;
	list_remove(&s->link);
	return s;
}

static struct server *
new_server(struct proxy *be, const char *name, const struct server_conf *conf)
{
	struct server *s = server_new(be, name, conf);

	if (s && server_make_shards(s, be->n_shards) < 0)
		server_free(&s);
	return s;
}

/* The settings of default-server are not used, as in HAProxy. */
static struct server *
get_server(struct proxies *ps, struct proxy *be, const char *name)
{
	struct server_conf conf = { 0 };
	struct server *s;

	server_conf_init(&conf);
	conf.disabled = 1;
	s = list_is_empty(&ps->removed) ? new_server(be, name, &conf)
					: renew_removed(ps, be, name, &conf);
	server_conf_fini(&conf);
	if (s)
		s->is_dynamic = 1;
	return s;
}

static void
drop_server(struct proxies *ps, struct server *s)
{
	server_retire(s);
	list_append(&ps->removed, &s->link);
}

/* --- its line --- */

static int
read_server_words(struct cfg_ctx *ctx, struct server *s)
{
	struct server_target t = { .conf = &s->conf, .server = s };
	int bad = server_cfg_address(ctx, 1, s);

	bad |= cfg_parse_opts(ctx, CFG_OPT_SERVER, 2, &t);
	s->uweight = s->conf.weight;
	s->admin = s->conf.disabled ? SERVER_MAINT_FORCED : SERVER_READY;
	if (s->fqdn)
		s->admin |= SERVER_MAINT_UNRESOLVED;
	return bad;
}

static int
read_server_line(const struct server_line *line, struct server *s, struct cfg_diag *d)
{
	static const struct cfg_kw kw = { .name = "server" };
	struct cfg_word word[SERVER_LINE_MAX + 1] = { { "server", 0 } };
	struct cfg_ctx ctx = { .root = line->proxies, .obj = s->be, .name = s->be->name, .kw = &kw,
		.argc = line->argc, .diag = d, .env = line->env, .registry = line->registry,
		.word = word, .nword = (unsigned int)line->argc + 1, .base = 1,
		.at_run_time = 1 };

	for (int i = 0; i < line->argc; i++)
		word[i + 1].text = line->argv[i];
	if (server_cfg_check_name(&ctx, s->name))
		return -1;
	return read_server_words(&ctx, s);
}

/* The lowest id that no server of p has, or -ERR_NOMEM. */
static int
proxy_next_server_id(const struct proxy *p)
{
	unsigned int n = p->n_servers + 1;
	char *used = mem_zalloc(n);
	unsigned int id = 1;

	if (!used)
		return -ERR_NOMEM;
	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->id <= (int)n)
			used[s->id - 1] = 1;
	}
	while (used[id - 1])
		id++;
	mem_free(used);
	return (int)id;
}

static int
complete_server(const struct server_line *line, struct server *s, struct cfg_diag *d)
{
	unsigned int before = d->count[CFG_ALERT];

	if (read_server_line(line, s, d))
		return -1;
	s->has_own_id = s->id != 0;
	if (!s->id)
		s->id = proxy_next_server_id(s->be);
	proxies_finish_server(s, line->proxies, d);
	if (check_server_finish(s, d) || check_track_resolve_one(line->proxies, s, d))
		return -1;
	return d->count[CFG_ALERT] > before ? -1 : 0;
}

/* --- its backend --- */

static void
leave_backend(struct proxy *be, struct server *s)
{
	server_list_remove(be, s);
	balance_refresh(be);
	persist_conf_forget(&be->persist, s);
}

static int
join_backend(struct proxy *be, struct server *s)
{
	int r;

	if (s->id < 0)
		return s->id;
	server_list_append(be, s);
	r = balance_init(be);
	if (r == 0)
		r = persist_conf_index(be);
	if (r < 0)
		leave_backend(be, s);
	return r;
}

struct server *
server_add(const struct server_line *line, struct cfg_diag *d)
{
	struct server *s = get_server(line->proxies, line->be, line->argv[0]);
	int r;

	if (!s) {
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
		return NULL;
	}
	if (complete_server(line, s, d)) {
		drop_server(line->proxies, s);
		return NULL;
	}
	r = join_backend(line->be, s);
	if (r < 0) {
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(r));
		drop_server(line->proxies, s);
		return NULL;
	}
	return s;
}

void
server_remove(struct proxies *ps, struct server *s)
{
	leave_backend(s->be, s);
	drop_server(ps, s);
}
