/* The keywords profiling.* of global. Main thread, while the configuration is read. */
#include "app/config/global.h"
#include "cfg/ctx.h"
#include "event/profile.h"

static int
parse_tasks(struct cfg_ctx *ctx)
{
	static const struct cfg_enum modes[] = {
		{ "auto", PROFILE_AUTO },
		{ "on", PROFILE_ON },
		{ "off", PROFILE_OFF },
		{ NULL, 0 },
	};
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, modes, &g->profile_tasks);
}

static int
parse_memory_profiling(struct cfg_ctx *ctx)
{
	bool on;

	if (cfg_arg_bool(ctx, 0, &on))
		return -1;
	return on ? cfg_error(ctx, 0, "'profiling.memory on' is not supported: use heaptrack(1).")
		  : 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "profiling.tasks",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_tasks,
		.syntax = "{ auto | on | off }",
		.doc = "Counts calls, times and delays of the functions that the workers run, for "
		       "'show profiling'. With auto each worker turns it on while its turns take "
		       "1 ms on average, and reads the clock once more in each. The default is "
		       "off, which costs nothing." },
	{ .name = "profiling.memory",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_memory_profiling,
		.syntax = "off",
		.doc = "Accepted; there is no profile of memory." },
	{ 0 },
};

const struct cfg_module profiling_cfg_module = {
	.name = "profiling",
	.kws = kws,
};
