#include "proxy/model/server.h"

#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxy.h"

/* How sure we may become that a server is near: so many failed guesses in a row are forgiven. */
#define NEAR_MAX 2
/* Connections after which a server that was far, or slow, is tried again: one failed call in so
 * many. */
#define SKIPS 64
/* The same of servers that answer quickly. A failed look costs a call, one that works saves one and
 * what the kernel does for it: two in three have to work. */
#define QUICK_MAX 8
#define QUICK_MISS 2
/* Half of the idle connections that were not needed are closed so often (pool-purge-delay). */
#define POOL_PURGE_MS_DEFAULT 5000

void
server_conf_init(struct server_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->weight = 1;
	c->pool_max = -1;
	c->pool_purge_ms = POOL_PURGE_MS_DEFAULT;
	c->max_reuse = -1;
}

void
server_conf_fini(struct server_conf *c)
{
	mem_free(c->cookie);
	c->cookie = NULL;
}

int
server_conf_copy(struct server_conf *to, const struct server_conf *from)
{
	char *cookie = from->cookie ? mem_strdup(from->cookie) : NULL;

	if (from->cookie && !cookie)
		return -ERR_NOMEM;
	*to = *from;
	to->cookie = cookie;
	return 0;
}

struct server *
server_new(struct proxy *be, const char *name, const struct server_conf *defaults)
{
	struct server *s = mem_zalloc_aligned(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	s->name = mem_strdup(name);
	if (!s->name || server_conf_copy(&s->conf, defaults) < 0) {
		mem_free(s->name);
		mem_free(s);
		return NULL;
	}
	list_init(&s->link);
	s->be = be;
	s->spec.fd = -1;
	s->uweight = s->conf.weight;
	s->admin = s->conf.disabled ? SERVER_MAINT : SERVER_UP;
	return s;
}

void
server_free(struct server **sp)
{
	struct server *s = *sp;

	if (!s)
		return;
	*sp = NULL;
	assert(s->cur == 0 && s->queued == 0 && s->waiting == 0);
	list_remove(&s->link);
	server_conf_fini(&s->conf);
	mem_free(s->shard);
	mem_free(s->name);
	mem_free(s);
}


int
server_source_addr(struct server *s, struct addr *out)
{
	const struct source_conf *src = &s->conf.source;

	if (!src->addr.len)
		return 0;
	*out = src->addr;
	if (src->port_lo) {
		unsigned int n = src->port_hi - src->port_lo + 1;

		addr_set_port(out, src->port_lo + (atomic_add(&s->source_next, 1u) - 1) % n);
	}
	return 1;
}

int
server_is_usable(const struct server *s)
{
	return s->admin == SERVER_UP && s->uweight > 0;
}

int
server_has_room(const struct server *s)
{
	return s->conf.maxconn == 0 || s->cur < (unsigned int)s->conf.maxconn;
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

const char *
server_status_text(const struct server *s)
{
	switch (s->admin) {
	case SERVER_MAINT:
		return "MAINT";
	case SERVER_DRAIN:
		return "DRAIN";
	case SERVER_UP:
		break;
	}
	return "no check";
}

static int
guesses(int sure, uint8_t *skips)
{
	if (sure >= 0)
		return 1;
	if (*skips < SKIPS) {
		(*skips)++;
		return 0;
	}
	*skips = 0;
	return 1;
}

int
server_is_near(struct server_shard *s)
{
	return guesses(s->near, &s->far_skips);
}

void
server_note_near(struct server_shard *s, int was_near)
{
	if (was_near) {
		s->near = s->near < 0 ? 0 : (int8_t)MIN(s->near + 1, NEAR_MAX);
		s->far_skips = 0;
	} else if (s->near >= 0) {
		s->near--;
	}
}

int
server_is_quick(struct server_shard *s)
{
	return guesses(s->quick, &s->slow_skips);
}

void
server_note_quick(struct server_shard *s, int was_quick)
{
	if (was_quick) {
		s->quick = s->quick < 0 ? 0 : (int8_t)MIN(s->quick + 1, QUICK_MAX);
		s->slow_skips = 0;
	} else if (s->quick >= 0) {
		s->quick = (int8_t)(s->quick - QUICK_MISS);
	}
}
