/* load-server-state-from-file and server-state-file-name (manual 4). Main thread, before anything
 * is started. */
#include "proxy/config/server_state_cfg.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/model/proxy.h"

static int
parse_state_source(struct cfg_ctx *ctx)
{
	static const char *const names[] = { [STATE_FILE_NONE] = "none",
		[STATE_FILE_GLOBAL] = "global",
		[STATE_FILE_LOCAL] = "local" };
	const char *word = cfg_arg(ctx, 0);
	struct proxy *p = ctx->obj;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			p->state_file = (enum state_file)i;
			return 0;
		}
	return cfg_error(ctx, 0,
		"'load-server-state-from-file' expects 'global', 'local' or 'none'. Got '%s'",
		word);
}

/* Without a name it is that of the backend. */
static int
parse_state_name(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	mem_free(p->state_file_name);
	p->state_file_name = NULL;
	if (ctx->argc == 0 || strcmp(cfg_arg(ctx, 0), "use-backend-name") == 0)
		return 0;
	return cfg_arg_dup(ctx, 0, &p->state_file_name);
}

static const struct cfg_kw kws[] = {
	{ .name = "load-server-state-from-file",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_state_source,
		.syntax = "{ global | local | none }",
		.doc = "Whether states of servers are loaded at start, from the global file or one "
		       "of the backend." },
	{ .name = "server-state-file-name",
		.sections = CFG_BE,
		.min = 0,
		.max = 1,
		.parse = parse_state_name,
		.syntax = "[ use-backend-name | <file> ]",
		.doc = "File with the states of the backend's servers; the default is its name." },
	{ 0 },
};

const struct cfg_module server_state_cfg_module = {
	.name = "server-state",
	.kws = kws,
};
