/*
 * Any lines of ACLs and a condition: they are refused with a reason and its place, or what they say
 * of any traffic is yes, no or wait, the same twice, and never wait once nothing more can come.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "rule/cond.h"
#include "rule/pattern_file.h"
#include "rule/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct rule_vocab vocab;
	struct pattern_files files;
	struct rule_acls acls;
	struct rule_cond *cond;
};

static struct str traffic;

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static int
fetch_text(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	sample_set_str(s, traffic);
	s->may_change = !cx->req_ended;
	return 1;
}

/* The bytes of the traffic, one by one. */
static int
fetch_bytes(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	if (cx->nth >= traffic.len)
		return 0;
	s->type = SAMPLE_BIN;
	s->u.str = (struct str){ traffic.p + cx->nth, 1 };
	s->has_more = cx->nth + 1 < traffic.len;
	return 1;
}

static int
fetch_src(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	memset(s, 0, sizeof(*s));
	s->type = traffic.len > 16 ? SAMPLE_IPV6 : SAMPLE_IPV4;
	if (traffic.len)
		memcpy(&s->u.ipv6, traffic.p, MIN(traffic.len, sizeof(s->u.ipv6)));
	return 1;
}

static const struct rule_fetch fetches[] = {
	{ .name = "text", .out = SAMPLE_STR, .fetch = fetch_text, .derives = 1 },
	{ .name = "bytes", .out = SAMPLE_BIN, .fetch = fetch_bytes },
	{ .name = "from", .out = SAMPLE_ADDR, .fetch = fetch_src },
	{ 0 },
};

/* Nobody is asked for names; and there are no files. */
int __wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len);

int
__wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	(void)host;
	(void)family;
	(void)out;
	(void)len;
	return -ERR_RESOLVE;
}

static int
begin(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static int
parse_acl(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;

	return rule_acl_parse(&w->acls, &w->vocab, ctx);
}

static int
parse_when(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;

	rule_cond_free(&w->cond);
	return rule_cond_parse(&w->acls, &w->vocab, ctx, 0, ~0u, &w->cond);
}

static const struct cfg_kw kws[] = {
	{ .name = "acl", .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = parse_acl },
	{ .name = "when", .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = parse_when },
	{ 0 },
};
static const struct cfg_section sections[] = {
	{ .name = "frontend", .bit = CFG_FRONTEND, .flags = CFG_SEC_NAMED, .begin = begin },
	{ 0 },
};
static const struct cfg_module module = { .name = "fuzz", .kws = kws, .sections = sections };

static void
judge(const struct rule_cond *c)
{
	static char room[16384];
	static struct regex_work *work;
	struct arena arena = { room, 0, sizeof(room), 0 };
	uint64_t seed = 1;
	struct sample_ctx cx = { .at = ~0u, .arena = &arena, .seed = &seed };
	enum rule_truth t;

	if (!work)
		work = regex_work_new();
	cx.regex = work;
	t = rule_cond_eval(c, &cx);
	expect(t == RULE_YES || t == RULE_NO || t == RULE_WAIT);
	seed = 1;
	expect(rule_cond_eval(c, &cx) == t);
	cx.req_ended = 1;
	expect(rule_cond_eval(c, &cx) != RULE_WAIT);
	expect(arena.used == 0 && cx.nth == 0);
}

static void
read_lines(struct world *w, char *text, size_t len)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
	struct cfg_reader_opts opts = {
		.root = w, .registry = &registry, .diag = &diag, .env = &env, .facts = &facts,
	};
	int bad;

	cfg_registry_init(&registry);
	cfg_diag_init(&diag, 0);
	cfg_env_init(&env);
	expect(cfg_registry_add(&registry, &module) == 0);
	cfg_reader_init(&reader, &opts);
	bad = cfg_reader_text(&reader, "fuzz", text, len);
	cfg_reader_fini(&reader);
	expect(!bad == !diag.count[CFG_ALERT]);
	cfg_env_fini(&env);
	cfg_diag_fini(&diag);
	cfg_registry_fini(&registry);
}

/* The first line is the traffic, the others are the section's. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "frontend f\n";
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size, rest = end ? size - first - 1 : 0;
	char *text = malloc(sizeof(head) + rest), *seen = malloc(first + 1);
	struct world w = { 0 };

	expect(text && seen);
	memcpy(seen, data, first);
	traffic = (struct str){ seen, first };
	memcpy(text, head, sizeof(head) - 1);
	if (rest)
		memcpy(text + sizeof(head) - 1, end + 1, rest);
	expect(rule_tables_add(&w.vocab) == 0);
	expect(rule_vocab_add_fetches(&w.vocab, fetches) == 0);
	pattern_files_init(&w.files, NULL);
	w.vocab.files = &w.files;
	rule_acls_init(&w.acls);
	read_lines(&w, text, sizeof(head) - 1 + rest);
	if (w.cond)
		judge(w.cond);
	rule_cond_free(&w.cond);
	rule_acls_fini(&w.acls);
	pattern_files_fini(&w.files);
	free(text);
	free(seen);
	return 0;
}
