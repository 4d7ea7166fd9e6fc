#include "sim/world_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/memfile.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "proxy/sample/capture.h"
#include "proxy/config/capture_cfg.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/check_finish.h"
#include "proxy/config/http_error_cfg.h"
#include "proxy/config/http_cfg.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/rules_cfg.h"
#include "proxy/config/proxy_life.h"
#include "proxy/config/table_cfg.h"
#include "proxy/filter/bwlim.h"
#include "proxy/filter/cache_cfg.h"
#include "proxy/filter/cache_filter.h"
#include "proxy/filter/sequence.h"
#include "proxy/filter/trailers.h"
#include "fake/print_diag.h"

struct world_rules {
	struct proxies ps;      /* first: ctx->root */
	struct proxy *p;
	struct cfg_diag diag; /* rules report their places in its files */
};

static int
begin(struct cfg_ctx *ctx)
{
	struct world_rules *root = ctx->root;

	ctx->obj = root->p;
	return 0;
}

static const struct cfg_section sections[] = {
	{ .name = "listen", .bit = CFG_LISTEN, .flags = CFG_SEC_NAMED, .begin = begin },
	{ 0 },
};

/* Gives the caches memory, which worlds use one after the other: 0 or negative. */
static int
place_caches(struct proxies *ps)
{
	static _Alignas(MEMFILE_ALIGN) char memory[(1u << 20) + 65536];
	struct memfile f = { .map = memory, .size = sizeof(memory), .fd = -1 };
	int r = 0;

	if (list_is_empty(&ps->caches))
		return 0;
	memset(memory, 0, sizeof(memory));
	((struct memfile_head *)(void *)memory)->used = MEMFILE_HEAD;
	list_each(it, &ps->caches)
		r |= cache_file_place(list_entry(it, struct cache_section, link)->store, &f);
	return r;
}

static int
read_lines(struct world_rules *root, const char *lines, struct cfg_diag *d)
{
	const struct cfg_module rules = { .name = "rules",
		.kws = rules_cfg_module.kws,
		.sections = sections };
	const struct cfg_module proxies = { .name = "proxies", .kws = proxy_cfg_module.kws };
	const struct cfg_module persist = { .name = "persist", .kws = persist_cfg_module.kws };
	const struct cfg_module capture = { .name = "capture", .kws = capture_cfg_module.kws };
	const struct cfg_module http = { .name = "http", .kws = http_cfg_module.kws };
	const struct cfg_module errors = { .name = "errors", .kws = errors_cfg_module.kws };
	const struct cfg_module http_error = { .name = "http-error",
		.kws = http_error_cfg_module.kws };
	const struct cfg_module options = { .name = "options",
		.kws = proxy_cfg_options_module.kws };
	const struct cfg_module bwlim = { .name = "bwlim", .kws = bwlim_cfg_module.kws };
	const struct cfg_module table = { .name = "table", .kws = table_cfg_module.kws };
	const struct cfg_module check = { .name = "check", .kws = check_cfg_module.kws };
	const struct cfg_module tcp_check = { .name = "tcp-check",
		.kws = tcp_check_cfg_module.kws };
	const struct cfg_module http_check = { .name = "http-check",
		.kws = http_check_cfg_module.kws };
	const struct cfg_facts facts = { .version = "1" };
	struct cfg_registry registry;
	struct cfg_env env;
	struct cfg_reader_opts opts = { .root = root, .registry = &registry, .diag = d,
		.env = &env, .facts = &facts };
	struct cfg_reader reader;
	static char text[1 << 17];
	int r;

	(void)snprintf(text, sizeof(text), "listen px\n%s\n", lines);
	cfg_registry_init(&registry);
	cfg_env_init(&env);
	r = cfg_registry_add(&registry, &rules) | cfg_registry_add(&registry, &proxies) |
		cfg_registry_add(&registry, &http) | cfg_registry_add(&registry, &persist) |
		cfg_registry_add(&registry, &capture) | cfg_registry_add(&registry, &errors) |
		cfg_registry_add(&registry, &http_error) | cfg_registry_add(&registry, &options) |
		cfg_registry_add(&registry, &check) | cfg_registry_add(&registry, &tcp_check) |
		cfg_registry_add(&registry, &http_check) | cfg_registry_add(&registry, &table) |
		cfg_registry_add(&registry, &bwlim) |
		cfg_registry_add(&registry, &cache_cfg_module) |
		cfg_registry_add(&registry, &sequence_cfg_module) |
		cfg_registry_add(&registry, &cache_section_module);
	cfg_reader_init(&reader, &opts);
	if (r == 0)
		r = cfg_reader_text(&reader, "world", text, strlen(text)) |
			cfg_reader_end(&reader) | cache_sections_finish(&root->ps, d) |
			place_caches(&root->ps) |
			proxy_errors_resolve(&root->p->errors, &root->ps, d) |
			proxy_rules_check(root->p, &root->ps, d) |
			persist_conf_finish(root->p, &root->ps, d) |
			bwlim_finish(root->p, &root->ps, d) |
			trailers_finish(root->p) |
			filter_sequences_finish(root->p, d) |
			cache_filters_finish(root->p, &root->ps, d) |
			check_conf_finish(root->p, &root->ps, d);
	capture_conf_finish(&root->p->captures);
	if (pattern_files_finish(&root->ps.files) < 0)
		r = -1;
	cfg_reader_fini(&reader);
	cfg_env_fini(&env);
	cfg_registry_fini(&registry);
	return r;
}

struct world_rules *
world_rules_new(struct proxy *p, const char *lines, char *why, unsigned long len)
{
	struct world_rules *root = mem_zalloc(sizeof(*root));

	if (!root)
		return NULL;
	root->p = p;
	proxies_init(&root->ps);
	cfg_diag_init(&root->diag, 0);
	if (read_lines(root, lines, &root->diag)) {
		FILE *f = fmemopen(why, len, "w");

		if (f) {
			print_diag(&root->diag, f, 1);
			(void)fclose(f);
		}
		world_rules_free(&root);
	}
	return root;
}

unsigned int
world_rules_tracked(const struct world_rules *r)
{
	return r->ps.n_tracked;
}

void
world_rules_free(struct world_rules **r)
{
	if (!*r)
		return;
	proxies_fini(&(*r)->ps);
	cfg_diag_fini(&(*r)->diag);
	mem_free(*r);
	*r = NULL;
}
