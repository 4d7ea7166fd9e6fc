/*
 * Lines of a section, for targets that read rules: their vocabulary, files that exist already, and
 * a resolver that sends no query (--wrap=names_host). It is the first member of a target's own
 * structure, which its parsers find in ctx->root.
 */
#ifndef TACIT_TEST_FUZZ_LINES_H
#define TACIT_TEST_FUZZ_LINES_H

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_file.h"
#include "rule/match/tables.h"

#define LINES_HEAD "frontend f\n"

struct lines {
	struct rule_vocab vocab;
	struct pattern_files files;
	struct rule_acls acls;
	struct cfg_diag diag;
	struct cfg_env env;
	char *text;              /* the text that was read: places of rules refer to it */
};

static inline void
expect(int ok)
{
	if (!ok)
		abort();
}

int __wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len);

int
__wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	(void)host, (void)family, (void)out, (void)len;
	return -ERR_RESOLVE;
}

/* A file of that name, which is not opened. */
static inline void
lines_add_file(struct lines *l, const char *name, int two_columns)
{
	struct pattern_ref *ref = pattern_ref_new(name, &keyhash_known);
	struct str value = two_columns ? STR("1") : (struct str){ NULL, 0 };
	struct rule_err why;

	expect(ref != NULL);
	ref->two_columns = two_columns != 0;
	expect(pattern_ref_add(ref, 0, STR("1"), value, &why) == 0);
	expect(pattern_ref_add(ref, 0, STR("7"), value, &why) == 0);
	list_append(&l->files.refs, &ref->link);
}

static inline void
lines_open(struct lines *l)
{
	cfg_diag_init(&l->diag, 0);
	cfg_env_init(&l->env);
	expect(rule_tables_add(&l->vocab) == 0);
	l->vocab.env = &l->env;
	pattern_files_init(&l->files, NULL);
	l->vocab.files = &l->files;
	lines_add_file(l, "m", 1);
	lines_add_file(l, "l", 0);
	rule_acls_init(&l->acls);
}

static inline void
lines_close(struct lines *l)
{
	rule_acls_fini(&l->acls);
	pattern_files_fini(&l->files);
	cfg_env_fini(&l->env);
	cfg_diag_fini(&l->diag);
	free(l->text);
}

/* --- reading --- */

static inline int
lines_begin(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static inline int
lines_acl(struct cfg_ctx *ctx)
{
	struct lines *l = ctx->root;

	return rule_acl_parse(&l->acls, &l->vocab, ctx);
}

/* Keywords of the section; the line "acl" is common to all. */
#define LINES_KW(n, fn, a)                                                                 \
	{                                                                                  \
		.name = n, .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = fn, .arg = a \
	}
#define LINES_ACL LINES_KW("acl", lines_acl, 0)

/* 0, or nonzero after errors, each of which has a text. */
static inline int
lines_read(struct lines *l, const struct cfg_kw *kws, const uint8_t *data, size_t size)
{
	static const struct cfg_section sections[] = {
		{ .name = "frontend",
			.bit = CFG_FRONTEND,
			.flags = CFG_SEC_NAMED,
			.begin = lines_begin },
		{ 0 },
	};
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_module module = { .name = "fuzz", .kws = kws, .sections = sections };
	struct cfg_registry registry;
	struct cfg_reader reader;
	struct cfg_reader_opts opts = { .root = l,
		.registry = &registry,
		.diag = &l->diag,
		.env = &l->env,
		.facts = &facts };
	int bad;

	l->text = malloc(sizeof(LINES_HEAD) + size);
	expect(l->text != NULL);
	memcpy(l->text, LINES_HEAD, sizeof(LINES_HEAD) - 1);
	if (size)
		memcpy(l->text + sizeof(LINES_HEAD) - 1, data, size);
	cfg_registry_init(&registry);
	expect(cfg_registry_add(&registry, &module) == 0);
	cfg_reader_init(&reader, &opts);
	bad = cfg_reader_text(&reader, "fuzz", l->text, sizeof(LINES_HEAD) - 1 + size);
	cfg_reader_fini(&reader);
	cfg_registry_fini(&registry);
	expect(!bad == !l->diag.count[CFG_ALERT]);
	return bad;
}

#endif
