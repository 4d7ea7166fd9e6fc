/* The keyword default-path. Main thread, while the configuration is read. */
#include "app/config/config.h"
#include "app/config/global.h"
#include "base/err.h"
#include "cfg/ctx.h"

static int
parse_default_path(struct cfg_ctx *ctx)
{
	static const struct cfg_enum policies[] = { { "current", CFG_DIR_CURRENT },
		{ "config", CFG_DIR_CONFIG }, { "parent", CFG_DIR_PARENT },
		{ "origin", CFG_DIR_ORIGIN }, { 0 } };
	struct config *c = ctx->root;
	int policy, has_path, r;

	if (cfg_arg_enum(ctx, 0, policies, &policy) < 0)
		return -1;
	has_path = policy == CFG_DIR_ORIGIN;
	if (has_path && !cfg_arg(ctx, 1)[0])
		return cfg_error(ctx, 1, "'default-path origin' expects a directory.");
	if (!has_path && ctx->argc > 1)
		cfg_warn(ctx, 1, "'default-path %s' ignores the argument '%.60s'.", cfg_arg(ctx, 0),
			cfg_arg(ctx, 1));
	r = ctx->sys ? cfg_dir_set(&c->dir, ctx->sys, (enum cfg_dir_policy)policy, cfg_arg(ctx, 1))
		     : 0;
	if (r)
		return cfg_error(ctx, has_path, "'default-path' : cannot change to %s%s: %s.",
			has_path ? "directory " : "the directory", has_path ? cfg_arg(ctx, 1) : "",
			err_text(r));
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "default-path",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 2,
		.parse = parse_default_path,
		.syntax = "current|config|parent|origin <directory>",
		.doc = "Where relative names of files in the lines that follow begin: where tacit "
			"was started, which is the default, in the directory of the configuration "
			"file, in its parent, or in this directory. Each configuration file has "
			"its own directory with config and parent. Maps and certificates keep the "
			"names that are written. Sockets, the pid file and state files are not "
			"affected." },
	{ 0 },
};

const struct cfg_module path_cfg_module = {
	.name = "path",
	.kws = kws,
};
