/* The keyword cpu-map: which CPUs each thread may run on. */
#include <string.h>

#include "app/config/global.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/value_set.h"

/* Size of the longest valid set, "1-64" with leading zeros, and a NUL. */
#define SET_TEXT 32

/* Groups and threads in the first argument. */
struct where {
	int spread; /* auto: */
	int no_threads; /* only groups are named */
	uint64_t groups, threads;
};

static int
report_cpu_map(struct cfg_ctx *ctx, int arg, const struct cfg_value_err *err)
{
	return cfg_error(ctx, arg, "'cpu-map': %s.", err->text);
}

static int
read_where(struct cfg_ctx *ctx, struct where *w)
{
	const char *s = cfg_arg(ctx, 0), *slash;
	struct cfg_value_err err;
	char groups[SET_TEXT];
	size_t n;

	w->spread = strncmp(s, "auto:", 5) == 0;
	if (w->spread)
		s += 5;
	slash = strchrnul(s, '/');
	n = (size_t)(slash - s);
	if (n >= sizeof(groups))
		return cfg_error(ctx, 0, "'cpu-map': '%.60s' is not a set of thread groups.", s);
	memcpy(groups, s, n);
	groups[n] = '\0';
	w->threads = UINT64_MAX;
	w->no_threads = !*slash;
	if (cfg_value_set(groups, CFG_SET_MAX, &w->groups, &err) ||
		(*slash && cfg_value_set(slash + 1, CFG_SET_MAX, &w->threads, &err)))
		return report_cpu_map(ctx, 0, &err);
	return 0;
}

static int
read_cpus(struct cfg_ctx *ctx, cpu_set_t *cpus)
{
	struct cfg_value_err err;

	CPU_ZERO(cpus);
	for (int i = 1; i < ctx->argc; i++)
		if (cfg_value_cpus(cfg_arg(ctx, i), cpus, &err))
			return report_cpu_map(ctx, i, &err);
	return 0;
}

/* "auto:1-4 0-3" gave several processes a CPU each. HAProxy accepts it, and binds nothing. */
static int
is_of_processes(const struct where *w)
{
	return w->spread && w->no_threads && (w->groups & (w->groups - 1));
}

/* "auto:" assigns one CPU to each thread, or to one thread of each group. */
static int
check_sizes(struct cfg_ctx *ctx, const struct where *w, const cpu_set_t *cpus)
{
	int groups = __builtin_popcountll(w->groups);
	int threads = is_of_processes(w) ? 1 : __builtin_popcountll(w->threads);

	if (groups > 1 && threads > 1)
		return cfg_error(ctx, 0,
			"'cpu-map': 'auto:' takes one range, of groups or of threads, not both.");
	if (MAX(groups, threads) != CPU_COUNT(cpus))
		return cfg_error(ctx, 0,
			"'cpu-map': 'auto:' gives each thread one CPU: that takes %d CPUs, not %d.",
			MAX(groups, threads), CPU_COUNT(cpus));
	return 0;
}

/* In ascending order on both sides, whatever the order in the line. */
static void
assign_cpus(cpu_set_t *map, const struct where *w, const cpu_set_t *cpus)
{
	int cpu = -1;

	for (int t = 0; t < GLOBAL_THREADS_MAX; t++) {
		if (!(w->threads >> t & 1))
			continue;
		if (!w->spread) {
			map[t] = *cpus;
			continue;
		}
		do
			cpu++;
		while (!CPU_ISSET(cpu, cpus));
		CPU_ZERO(&map[t]);
		CPU_SET(cpu, &map[t]);
	}
}

static int
parse_cpu_map(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	struct where w;
	cpu_set_t cpus;

	if (read_where(ctx, &w) | read_cpus(ctx, &cpus))
		return -1;
	if (w.spread && check_sizes(ctx, &w, &cpus))
		return -1;
	if (is_of_processes(&w)) {
		cfg_note(ctx, 0,
			"'cpu-map' ignored: it binds several processes, and there is one; '1/' "
			"before the range binds threads.");
		return 0;
	}
	if (!(w.groups & 1)) {
		cfg_note(ctx, 0, "'cpu-map' ignored: group 1 is the only thread group.");
		return 0;
	}
	if (!g->cpu_map)
		g->cpu_map = mem_zalloc(GLOBAL_THREADS_MAX * sizeof(*g->cpu_map));
	if (!g->cpu_map)
		return cfg_nomem(ctx);
	assign_cpus(g->cpu_map, &w, &cpus);
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "cpu-map",
		.values = cfg_set_words,
		.example = "cpu-map auto:1/1-4 0-3",
		.dflt = "none: the kernel places threads",
		.sections = CFG_GLOBAL,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_cpu_map,
		.syntax = "[auto:]<group>[/<threads>] <cpus>...",
		.doc = "Binds threads to CPUs; later lines replace earlier ones. Threads that "
			"do not exist are ignored. <group> is 1 or all, and all threads are meant "
			"if none are given; <cpus> are numbers from 0 and ranges of them. With "
			"auto: each thread gets one of the CPUs, in order; there have to be as "
			"many. Words of <group> and <threads>:" },
	{ 0 },
};

const struct cfg_module cpu_map_module = {
	.name = "cpu-map",
	.kws = kws,
};
