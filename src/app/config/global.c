/* Settings of the section global: defaults, and freeing it. Main thread, before workers run. */
#include "app/config/global.h"

#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "net/bind_cfg.h"
#include "net/listener.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/session.h"

void
global_init(struct global_conf *g)
{
	memset(g, 0, sizeof(*g));
	g->strict_limits = 1;
	g->max_reloads = -1;
	g->reload_keep = KEEP_ALL;
	g->stats_timeout_ms = GLOBAL_STATS_TIMEOUT_MS;
	g->stats_maxconn = GLOBAL_STATS_MAXCONN;
	g->epoll_mode = INTEREST_EDGE;
	g->lazy = 1;
	g->http_low_water = 1;
	g->default_shards = BIND_SHARDS_BY_THREAD;
	g->wake_elision = 1;
	g->bufsize = GLOBAL_BUFSIZE_DEFAULT;
	g->comp_cpu = 100;
	g->comp_memory = COMP_MEMORY_DEFAULT;
	g->deflate = (struct deflate_conf){ .level = 1, .window_bits = 15, .mem_level = 8 };
	g->zerocopy_max = GLOBAL_PINNED_DEFAULT;
	g->ranges_fast_path = 1;
	g->maxrewrite = GLOBAL_MAXREWRITE_DEFAULT;
	g->http_maxhdr = GLOBAL_MAXHDR_DEFAULT;
	g->http_line_max = HTTP_LINE_MAX;
	g->pool_low_fds = GLOBAL_POOL_LOW_FDS;
	g->pool_high_fds = GLOBAL_POOL_HIGH_FDS;
	g->maxaccept = GLOBAL_MAXACCEPT_DEFAULT;
	g->maxpollevents = GLOBAL_POLLEVENTS_DEFAULT;
	g->splice.after = BULK_AFTER_DEFAULT;
	g->splice.bulk_bufsize = GLOBAL_BULK_BUFSIZE_DEFAULT;
	g->splice.bulk_turn = GLOBAL_BULK_TURN_DEFAULT;
	list_init(&g->admin_binds);
}

void
global_fini(struct global_conf *g)
{
	char **strings[] = { &g->user,	      &g->group,     &g->chroot, &g->pidfile, &g->node,
			     &g->description, &g->localpeer, &g->poller,
			     &g->state_file, &g->state_base };

	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		mem_free(*strings[i]);
		*strings[i] = NULL;
	}
	mem_free(g->cpu_map);
	g->cpu_map = NULL;
	list_each_safe(it, &g->admin_binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_remove(&b->link);
		bind_conf_free(&b);
	}
}

/* Linux supports at most 8192 CPUs, and rejects a set too small for the machine's. */
static unsigned int
count_cpus(struct sys *sys)
{
	cpu_set_t set[8192 / CPU_SETSIZE];

	memset(set, 0, sizeof(set));
	if (sys_sched_getaffinity(sys, sizeof(set), set) < 0)
		return 1;
	return (unsigned int)CPU_COUNT_S(sizeof(set), set);
}

unsigned int
global_threads(const struct global_conf *g, struct sys *sys)
{
	unsigned int n = g->nbthread ? (unsigned int)g->nbthread : count_cpus(sys);

	if (g->thread_hard_limit)
		n = MIN(n, (unsigned int)g->thread_hard_limit);
	return MAX(1u, MIN(n, (unsigned int)GLOBAL_THREADS_MAX));
}

const cpu_set_t *
global_cpus(const struct global_conf *g, unsigned int thread)
{
	if (!g->cpu_map || thread >= GLOBAL_THREADS_MAX || !CPU_COUNT(&g->cpu_map[thread]))
		return NULL;
	return &g->cpu_map[thread];
}

const char *
global_poller(const struct global_conf *g)
{
	if (g->poller)
		return g->poller;
	if (!g->no_epoll)
		return "epoll";
	return g->no_poll ? "ev:select" : "ev:poll";
}
