/* A server: settings, state, what was learned of it. Made by the main thread; state changes
 * under the backend's lock or while workers are paused. */
#include "proxy/model/server.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "cfg/diag.h"
#include "net/addr.h"
#include "net/outbound.h"
#include "proxy/model/check.h"
#include "proxy/model/forward.h"
#include "proxy/model/proxy.h"
#include "rule/sample/expr.h"
#include "rule/sample/fmt.h"
#include "tls/connect.h"

/* Connections after which a guess that mostly fails is tried again: one failed call in so many. */
#define SKIPS 64
/* Interval at which half of the surplus idle connections are closed (pool-purge-delay). */
#define POOL_PURGE_MS_DEFAULT 5000

/* --- names ----------------------------------------------------------------------------------- */

/* Settings for resolving a server's name. Set while the configuration is read. */

/* --- TLVs ------------------------------------------------------------------------------------ */

/*
 * Fields that a server's PROXY headers have besides the usual ones. While the configuration is
 * read; afterwards they are only read.
 */

int
server_tlv_add(struct server_tlv **list, uint8_t type, const char *text,
	const struct cfg_where *where)
{
	struct server_tlv *t = mem_zalloc(sizeof(*t));

	if (!t)
		return -ERR_NOMEM;
	t->text = mem_strdup(text);
	if (!t->text) {
		mem_free(t);
		return -ERR_NOMEM;
	}
	t->type = type;
	t->where = *where;
	while (*list)
		list = &(*list)->next;
	*list = t;
	return 0;
}

static void
server_tlvs_free(struct server_tlv **list)
{
	while (*list) {
		struct server_tlv *t = *list;

		*list = t->next;
		rule_fmt_free(&t->fmt);
		mem_free(t->text);
		mem_free(t);
	}
}

/* Without compiled formats. 0 or -ERR_NOMEM: *to is empty. */
static int
server_tlvs_copy(struct server_tlv **to, const struct server_tlv *from)
{
	*to = NULL;
	for (; from; from = from->next)
		if (server_tlv_add(to, from->type, from->text, &from->where) < 0) {
			server_tlvs_free(to);
			return -ERR_NOMEM;
		}
	return 0;
}

unsigned int
server_tlvs_count(const struct server_tlv *list)
{
	unsigned int n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

static void
resolve_conf_init(struct resolve_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->prefer = AF_INET6;
}

static void
resolve_conf_fini(struct resolve_conf *c)
{
	mem_free(c->section);
	c->section = NULL;
}

/* 0 or -ERR_NOMEM. */
static int
resolve_conf_copy(struct resolve_conf *to, const struct resolve_conf *from)
{
	char *section;

	if (mem_copy_string(&section, from->section) < 0)
		return -ERR_NOMEM;
	*to = *from;
	to->section = section;
	return 0;
}

void
server_conf_init(struct server_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->weight = 1;
	c->pool_max = -1;
	c->pool_purge_ms = POOL_PURGE_MS_DEFAULT;
	c->max_reuse = -1;
	resolve_conf_init(&c->resolve);
	check_server_conf_init(&c->check);
}

static void
free_texts(struct server_conf *c)
{
	mem_free(c->cookie);
	mem_free(c->redir);
	c->cookie = c->redir = NULL;
}

/* 0 or -ERR_NOMEM: nothing was copied. */
static int
copy_texts(struct server_conf *to, const struct server_conf *from)
{
	to->redir = NULL;
	if (mem_copy_string(&to->cookie, from->cookie) < 0)
		return -ERR_NOMEM;
	if (mem_copy_string(&to->redir, from->redir) == 0)
		return 0;
	free_texts(to);
	return -ERR_NOMEM;
}

void
server_conf_fini(struct server_conf *c)
{
	free_texts(c);
	server_tlvs_free(&c->tlvs);
	resolve_conf_fini(&c->resolve);
	check_server_conf_fini(&c->check);
	server_tls_fini(&c->tls);
}

int
server_conf_copy(struct server_conf *to, const struct server_conf *from)
{
	struct check_server_conf check;
	struct resolve_conf resolve;
	struct server_tls_conf tls;
	struct server_conf texts;
	struct server_tlv *tlvs;

	if (copy_texts(&texts, from) < 0)
		return -ERR_NOMEM;
	if (resolve_conf_copy(&resolve, &from->resolve) < 0) {
		free_texts(&texts);
		return -ERR_NOMEM;
	}
	if (server_tlvs_copy(&tlvs, from->tlvs) < 0) {
		resolve_conf_fini(&resolve);
		free_texts(&texts);
		return -ERR_NOMEM;
	}
	if (server_tls_copy(&tls, &from->tls) < 0) {
		server_tlvs_free(&tlvs);
		resolve_conf_fini(&resolve);
		free_texts(&texts);
		return -ERR_NOMEM;
	}
	if (check_server_conf_copy(&check, &from->check) < 0) {
		server_tls_fini(&tls);
		server_tlvs_free(&tlvs);
		resolve_conf_fini(&resolve);
		free_texts(&texts);
		return -ERR_NOMEM;
	}
	*to = *from;
	to->tlvs = tlvs;
	to->cookie = texts.cookie;
	to->redir = texts.redir;
	to->resolve = resolve;
	to->tls = tls;
	to->check = check;
	return 0;
}

static int
init_server(struct server *s, struct proxy *be, const char *name,
	const struct server_conf *defaults)
{
	s->be = be;
	s->spec.fd = -1;
	s->weight_part = SERVER_WEIGHT_SCALE;
	list_init(&s->trackers);
	list_init(&s->track_link);
	list_init(&s->start_link);
	s->name = mem_strdup(name);
	if (!s->name || server_conf_copy(&s->conf, defaults) < 0) {
		mem_free(s->name);
		s->name = NULL;
		return -ERR_NOMEM;
	}
	s->uweight = s->conf.weight;
	s->admin = s->conf.disabled ? SERVER_MAINT_FORCED : SERVER_READY;
	return 0;
}

struct server *
server_new(struct proxy *be, const char *name, const struct server_conf *defaults)
{
	struct server *s = mem_zalloc_aligned(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	list_init(&s->link);
	if (init_server(s, be, name, defaults) < 0) {
		mem_free(s);
		return NULL;
	}
	return s;
}

void
server_free(struct server **sp)
{
	struct server *s = *sp;

	if (!s)
		return;
	*sp = NULL;
	list_remove(&s->link);
	server_retire(s);
	if (!s->has_placed_shards)
		mem_free(s->shard);
	mem_free(s);
}

void
server_retire(struct server *s)
{
	assert(s->cur == 0 && s->queued == 0 && s->waiting == 0);
	list_remove(&s->track_link);
	list_remove(&s->start_link);
	list_each_safe(it, &s->trackers) {
		list_remove(it);
	}
	server_conf_fini(&s->conf);
	tls_server_free(&s->tls);
	rule_expr_free(&s->sni);
	stat_past_fini(&s->past);
	latency_set_free(&s->latency);
	mem_free(s->fqdn);
	mem_free(s->guid);
	mem_free(s->name);
	s->fqdn = s->name = s->guid = NULL;
}

int
server_renew(struct server *s, struct proxy *be, const char *name,
	const struct server_conf *defaults)
{
	struct list link = s->link;
	struct server_shard *shard = s->shard;
	int placed = s->has_placed_shards;
	struct latency_set latency;

	if (latency_set_make(&s->latency, be->n_shards) < 0)
		return -ERR_NOMEM;
	latency = s->latency;
	memset(s, 0, sizeof(*s));
	s->link = link;
	s->shard = shard;
	s->has_placed_shards = placed;
	s->latency = latency;
	server_clear_shards(s, be->n_shards);
	return init_server(s, be, name, defaults);
}

const struct outbound_source *
server_source(struct server *s, struct outbound_source *out)
{
	const struct source_conf *src = &s->conf.source;

	if (likely(!src->addr.len && !src->interface[0]))
		return NULL;
	*out = (struct outbound_source){ .addr = src->addr, .interface = src->interface,
		.port_lo = src->port_lo, .port_hi = src->port_hi, .next = &s->source_next };
	return out;
}

int
server_is_usable(const struct server *s)
{
	return !atomic_read(&s->admin) && server_oper_is_up(atomic_read(&s->oper)) &&
		atomic_read(&s->uweight) > 0;
}

int
server_may_serve(const struct server *s)
{
	enum server_oper oper = atomic_read(&s->oper);

	return !atomic_read(&s->admin) && atomic_read(&s->uweight) > 0 &&
		(oper == SERVER_STOPPED ? atomic_read(&s->changes) > 0 : server_oper_is_up(oper));
}

int
server_is_running(const struct server *s)
{
	return !(atomic_read(&s->admin) & SERVER_MAINT) && atomic_read(&s->oper) != SERVER_STOPPED;
}

int
server_weight_of(const struct server *s, int64_t percent)
{
	return (int)MIN(s->conf.weight * percent / 100, (int64_t)SERVER_WEIGHT_MAX);
}

uint64_t
server_down_ms(const struct server *s, uint64_t now_ms)
{
	return s->down_ms + (server_is_running(s) ? 0 : now_ms - s->down_since_ms);
}

/* Returns the limit between minconn and maxconn for the load of the backend (manual 4.2,
 * fullconn). */
static uint64_t
limit_at_load(const struct server *s, uint64_t max)
{
	uint64_t full = (unsigned int)MAX(s->be->fullconn, 1);
	uint64_t limit = max * atomic_read(&s->be->be_cur) / full;

	return MIN(max, MAX(limit, (unsigned int)s->conf.minconn));
}

unsigned int
server_limit(const struct server *s)
{
	uint64_t max = (unsigned int)atomic_read(&s->conf.maxconn);

	if (max && s->conf.minconn)
		max = limit_at_load(s, max);
	if (max && atomic_read(&s->oper) == SERVER_STARTING) {
		max = max * atomic_read(&s->start_age_ms) / s->conf.check.slowstart_ms;
		max = MAX(max, 1u);
	}
	return (unsigned int)max;
}

int
server_has_room(const struct server *s)
{
	unsigned int limit = server_limit(s);

	return limit == 0 || s->cur < limit;
}

void
server_get_slot(struct server *s, struct server_stat *st)
{
	atomic_write(&s->cur, s->cur + 1);
	counter_max(&st->cur_max, s->cur);
}

void
server_put_slot(struct server *s)
{
	assert(s->cur > 0);
	atomic_write(&s->cur, s->cur - 1);
}

/* Its own check, or that of the server at the end of a chain of `track`. NULL: none, or it is
 * disabled. */
static const struct check *
shown_check(const struct server *s)
{
	while (s->track)
		s = s->track;
	return s->check && s->check->enabled ? s->check : NULL;
}

static const char *
maint_text(const struct server *s, char *buf)
{
	if (s->admin & SERVER_MAINT_FORCED)
		return "MAINT";
	if (s->admin & SERVER_MAINT_UNRESOLVED)
		return "MAINT (resolution)";
	(void)snprintf(buf, SERVER_STATUS_MAX, "MAINT (via %s/%s)", s->track->be->name,
		s->track->name);
	return buf;
}

static int
has_agent(const struct server *s)
{
	return s->agent && s->agent->enabled;
}

/* The number of checks on the way to the opposite state, or only the word. */
static const char *
health_text(const struct check *c, const char *word, char *buf)
{
	if (c->health >= c->rise && c->health < check_full_health(c))
		(void)snprintf(buf, SERVER_STATUS_MAX, "%s %d/%d", word, c->health - c->rise + 1,
			c->fall);
	else if (c->health > 0 && c->health < c->rise)
		(void)snprintf(buf, SERVER_STATUS_MAX, "%s %d/%d", word, c->health, c->rise);
	else
		return word;
	return buf;
}

const char *
server_status_text(const struct server *s, char buf[SERVER_STATUS_MAX])
{
	const struct check *c = shown_check(s);
	const char *word = s->oper == SERVER_STOPPED ? "DOWN"
		: s->admin & SERVER_DRAIN            ? "DRAIN"
		: s->oper == SERVER_STOPPING         ? "NOLB"
						     : "UP";

	if (s->admin & SERVER_MAINT)
		return maint_text(s, buf);
	if (s->oper == SERVER_STOPPED && has_agent(s) && s->agent->health == 0)
		return "DOWN (agent)";
	if (s->oper != SERVER_STOPPED && (s->admin & SERVER_DRAIN) && has_agent(s))
		return "DRAIN (agent)";
	if (c)
		return health_text(c, word, buf);
	return server_oper_is_up(s->oper) && !(s->admin & SERVER_DRAIN) ? "no check" : word;
}

/*
 * Points that a correct guess adds and a wrong one subtracts, and the maximum: it limits how many
 * consecutive wrong guesses are tolerated. A failed read costs a call, a successful one saves a
 * call and the kernel's work for it: two in three have to succeed. In mode tcp it saves two calls,
 * and a busy server is late for many connections in a row.
 */
static const struct {
	int8_t gain, loss, most;
} guesses[SERVER_GUESSES] = {
	[SERVER_NEAR] = { 1, 1, 2 },
	[SERVER_QUICK] = { 1, 2, 8 },
	[SERVER_BRIEF] = { 2, 1, 32 },
	[SERVER_FOLLOWED] = { 1, 1, 16 },
};

int
server_guess(struct server_shard *s, enum server_guess g)
{
	struct guess *it = &s->guess[g];

	if (it->trust >= 0)
		return 1;
	if (it->skips < SKIPS) {
		it->skips++;
		return 0;
	}
	it->skips = 0;
	return 1;
}

void
server_learn(struct server_shard *s, enum server_guess g, int was_right)
{
	struct guess *it = &s->guess[g];

	if (was_right) {
		it->trust = it->trust < 0 ? 0 : MIN(it->trust + guesses[g].gain, guesses[g].most);
		it->skips = 0;
	} else if (it->trust >= 0) {
		it->trust = (int8_t)(it->trust - guesses[g].loss);
	}
}
