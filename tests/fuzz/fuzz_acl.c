/*
 * Any lines of ACLs and a condition: they are rejected with a reason and its place, or the
 * condition is yes, no or wait for any traffic, with the same result twice, and it never waits when
 * no more data can arrive.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake/random.h"
#include "lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct lines lines;
	struct rule_cond *cond;
};

static struct str traffic;

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

static int
parse_when(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;

	rule_cond_free(&w->cond);
	return rule_cond_parse(&w->lines.acls, &w->lines.vocab, ctx, 0, ~0u, &w->cond);
}

static const struct cfg_kw kws[] = { LINES_ACL, LINES_KW("when", parse_when, 0), { 0 } };

static void
check_condition(const struct rule_cond *c)
{
	static char room[16384];
	static struct regex_work *work;
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct fake_random random_world;
	struct sample_ctx cx = { .at = ~0u, .arena = &arena, .random = &random_world.source };
	enum rule_truth t;

	if (!work)
		work = regex_work_new();
	cx.regex = work;
	fake_random_init(&random_world);
	t = rule_cond_eval(c, &cx);
	expect(t == RULE_YES || t == RULE_NO || t == RULE_WAIT);
	fake_random_init(&random_world);
	expect(rule_cond_eval(c, &cx) == t);
	cx.req_ended = 1;
	expect(rule_cond_eval(c, &cx) != RULE_WAIT);
	expect(arena.used == 0 && cx.nth == 0);
}

/* The first line is the traffic, the others belong to the section. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;
	char *seen = malloc(first + 1);
	struct world w = { 0 };

	expect(seen != NULL);
	if (first)
		memcpy(seen, data, first);
	traffic = (struct str){ seen, first };
	lines_open(&w.lines);
	expect(rule_vocab_add_fetches(&w.lines.vocab, fetches) == 0);
	(void)lines_read(&w.lines, kws, end ? end + 1 : NULL, end ? size - first - 1 : 0);
	if (w.cond)
		check_condition(w.cond);
	rule_cond_free(&w.cond);
	lines_close(&w.lines);
	free(seen);
	return 0;
}
