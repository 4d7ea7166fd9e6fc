/* Configurations: the input is one file, read with a small language that uses every helper for
 * keywords. Reading always ends, every error has a text and a place inside the file, sections that
 * were opened are closed, and the messages can be printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "fake/print_diag.h"

struct root {
	int open;
	char *name;
};

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static int
begin(struct cfg_ctx *ctx)
{
	struct root *root = ctx->root;

	if (strcmp(ctx->name, "no") == 0)
		return -1;
	root->open++;
	ctx->obj = root;
	expect(!ctx->from || ctx->from == root);
	return 0;
}

static int
end(struct cfg_ctx *ctx)
{
	struct root *root = ctx->root;

	expect(ctx->obj == root);
	root->open--;
	expect(root->open == 0);
	return 0;
}

static const struct cfg_enum modes[] = { { "tcp", 1, NULL }, { "http", 2, NULL }, { 0 } };

/* One helper per value of kw->arg. */
static int
parse(struct cfg_ctx *ctx)
{
	struct root *root = ctx->root;
	uint64_t u64;
	uint32_t u32;
	unsigned pct;
	int on;
	int i;

	for (int a = -1; a <= ctx->argc; a++)
		expect(strlen(cfg_arg(ctx, a)) <= CFG_LINE_MAX && cfg_arg_where(ctx, a).col > 0);
	switch (ctx->kw->arg) {
	case 0:
		return cfg_arg_int(ctx, 0, -5, 1000, &i) ? -1 : (expect(i >= -5 && i <= 1000), 0);
	case 1:
		return cfg_arg_timeout(ctx, 0, &u32) ? -1 : (expect(u32 <= CFG_TIME_MAX_MS), 0);
	case 2:
		return cfg_arg_size(ctx, 0, 16, 1 << 20, &u64) ? -1
							       : (expect(u64 - 16 < 1 << 20), 0);
	case 3:
		return cfg_arg_bool(ctx, 0, &on);
	case 4:
		return cfg_arg_enum(ctx, 0, modes, &i);
	case 5:
		return cfg_arg_percent(ctx, 0, 100, &pct) ? -1 : (expect(pct <= 100), 0);
	case 6:
		return cfg_arg_dup(ctx, 0, &root->name);
	default:
		return cfg_parse_opts(ctx, CFG_OPT_BIND, 1, root);
	}
}

static int
opt_int(struct cfg_ctx *ctx, void *obj)
{
	int i;

	expect(obj == ctx->root && ctx->argc == 1);
	return cfg_arg_int(ctx, 0, 0, 9, &i);
}

static int
opt_many(struct cfg_ctx *ctx, void *obj)
{
	(void)obj;
	cfg_take(ctx, ctx->argc < 3 ? ctx->argc : 3);
	return 0;
}

static const struct cfg_kw kws[] = { { .name = "retries",
					     .sections = CFG_PROXIES,
					     .min = 1,
					     .max = 1,
					     .parse = parse,
					     .arg = 0 },
	{ .name = "timeout client",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = parse,
		.arg = 1 },
	{ .name = "tune.bufsize",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse,
		.arg = 2 },
	{ .name = "insecure", .sections = CFG_GLOBAL, .max = 2, .parse = parse, .arg = 3 },
	{ .name = "mode", .sections = CFG_PROXIES, .min = 1, .max = 1, .parse = parse, .arg = 4 },
	{ .name = "spread", .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = parse, .arg = 5 },
	{ .name = "description",
		.sections = CFG_GLOBAL | CFG_PROXIES,
		.flags = CFG_KW_NO,
		.max = CFG_ANY,
		.parse = parse,
		.arg = 6 },
	{ .name = "bind",
		.sections = CFG_FRONTEND | CFG_LISTEN,
		.flags = CFG_KW_STRICT,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse,
		.arg = 7 },
	{ .name = "option contstats", .sections = CFG_FE, .flags = CFG_KW_NO, .class = CFG_HINT },
	{ .name = "option later", .sections = CFG_FE, .class = CFG_UNSUPPORTED, .doc = "later" },
	{ 0 } };

static const struct cfg_opt opts[] = {
	{ .name = "backlog", .min = 1, .max = 1, .parse = opt_int },
	{ .name = "many", .max = CFG_ANY, .parse = opt_many },
	{ .name = "nice", .min = 1, .max = 1, .class = CFG_HINT },
	{ .name = "ssl", .class = CFG_UNSUPPORTED },
	{ 0 }
};

static const struct cfg_section sections[] = {
	{ "global", CFG_GLOBAL, 0, begin, end, NULL },
	{ "defaults", CFG_DEFAULTS, CFG_SEC_OPTNAME | CFG_SEC_FROM | CFG_SEC_DEFAULTS, begin, end,
		NULL },
	{ "frontend", CFG_FRONTEND, CFG_SEC_NAMED | CFG_SEC_FROM, begin, end, NULL },
	{ "backend", CFG_BACKEND, CFG_SEC_NAMED | CFG_SEC_FROM, begin, end, NULL },
	{ "listen", CFG_LISTEN, CFG_SEC_NAMED | CFG_SEC_FROM, begin, end, NULL },
	{ 0 }
};

static const struct cfg_module module = {
	.name = "fuzz", .kws = kws, .sections = sections, .opts = { [CFG_OPT_BIND] = opts },
};

static void
check_diag(const struct cfg_diag *d)
{
	char *out = NULL;
	size_t len = 0;
	FILE *f;

	for (unsigned i = 0; i < d->nentry; i++) {
		const struct cfg_where *w = &d->entry[i].where;
		size_t n;

		expect(d->entry[i].text[0] != '\0');
		expect(w->file && w->line > 0);
		cfg_file_line(w->file, w->line, &n);
		/* one past the end, or past a CR that was dropped, or past the maximum length of a
		 * line */
		expect(w->col <= n + 2);
	}
	f = open_memstream(&out, &len);
	expect(f != NULL);
	print_diag(d, f, 0);
	fclose(f);
	for (size_t i = 0; i < len; i++)
		expect(out[i] == '\n' || out[i] == '\t' || (unsigned char)out[i] >= ' ');
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const features[] = { "THREAD", NULL };
	static const struct cfg_facts facts = { .version = "3.4.0", .features = features };
	struct cfg_registry registry;
	struct cfg_reader reader;
	struct cfg_diag diag;
	struct cfg_env env;
	struct root root = { 0, NULL };
	struct cfg_reader_opts o = {
		.root = &root, .registry = &registry, .diag = &diag, .env = &env, .facts = &facts,
	};
	int rc;

	cfg_registry_init(&registry);
	expect(cfg_registry_add(&registry, &module) == 0);
	expect(cfg_registry_add(&registry, &env_cfg_module) == 0);
	cfg_diag_init(&diag, 1);
	diag.diagmode = size & 1;
	cfg_env_init(&env);
	expect(cfg_env_set(&env, "X", "a b  c") == 0);
	cfg_reader_init(&reader, &o);
	rc = cfg_reader_text(&reader, "fuzz", (const char *)data, size);
	expect(root.open == 0);
	expect((rc != 0) == (diag.count[CFG_ALERT] > 0));
	expect((cfg_reader_end(&reader) != 0) == (rc != 0));
	check_diag(&diag);
	cfg_reader_fini(&reader);
	cfg_env_fini(&env);
	cfg_diag_fini(&diag);
	cfg_registry_fini(&registry);
	mem_free(root.name);
	return 0;
}
