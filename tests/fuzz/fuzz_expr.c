/*
 * Expressions of rules: the first byte sets how much memory there is for texts, the rest is the
 * expression. It is rejected with a text and a place inside it, or evaluated on a request and a
 * response until it has no more values, within its memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake/random.h"
#include "http/h1_parse.h"
#include "rule/sample/expr.h"
#include "rule/sample/regex.h"
#include "rule/match/tables.h"

#define ROOM 64 /* a step of it */
#define EVERYWHERE 0x7f
#define VALUES_MAX 1000

static const char request[] =
	"POST http://h:8/p/a?x=1&y=2;z=%20&e= HTTP/1.1\r\nHost: h:8\r\nX: a,\"b,c\\\",d\r\n"
	"x: 1,2,,3\r\nCookie: a=1; b=\"2;\"; c\r\nContent-Length: 5\r\n\r\na=1&b";
static const char response[] =
	"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; p\r\nX: 5, 1.2.3.4:5\r\nContent-Length: 0\r\n\r\n";

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static struct {
	struct rule_vocab vocab;
	struct http_head req, res;
	struct http_field fields[2][16];
	struct vars vars;
	struct regex_work *regex;
	struct fake_random random;
} world;

static void
make_world(void)
{
	struct h1_parser p = { 0 }, q = { 0 };
	size_t used;

	if (world.vocab.n_fetch)
		return;
	expect(rule_tables_add(&world.vocab) == 0);
	http_head_init(&world.req, HTTP_REQUEST, world.fields[0], 16);
	http_head_init(&world.res, HTTP_RESPONSE, world.fields[1], 16);
	expect(h1_parse_request(&p, request, sizeof(request) - 1, &world.req, &used) ==
		HTTP_COMPLETE);
	expect(h1_parse_response(&q, response, sizeof(response) - 1, &world.res, &used) ==
		HTTP_COMPLETE);
	world.regex = regex_work_new();
	fake_random_init(&world.random);
}

/* Reads all bytes: the sanitizer detects those outside of a block. */
static void
read_all(const struct sample *s)
{
	volatile char sum = 0;

	expect(s->type < SAMPLE_TYPES);
	if (s->type == SAMPLE_STR || s->type == SAMPLE_BIN)
		for (size_t i = 0; i < s->u.str.len; i++)
			sum = (char)(sum ^ s->u.str.p[i]);
}

static void
evaluate(const struct rule_expr *e, size_t room)
{
	/* of exactly that size, so that accesses beyond it are detected */
	struct arena arena = { .p = malloc(room + 1), .cap = room };
	struct sample_ctx cx = {
		.at = EVERYWHERE,
		.req = &world.req,
		.res = &world.res,
		.req_body = { .content = STR("a=1&b=2") },
		.req_bytes = { request, sizeof(request) - 1 },
		.txn = &world.vars,
		.arena = &arena,
		.regex = world.regex,
		.random = &world.random.source,
		.wall_ns = UINT64_C(1700000000123456789),
	};
	struct sample s;

	expect(arena.p != NULL);
	do {
		if (rule_expr_eval(e, &cx, &s))
			read_all(&s);
		expect(arena.used <= arena.cap);
		arena_release(&arena, 0);
		expect(++cx.nth < VALUES_MAX);
	} while (s.has_more);
	free(arena.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rule_expr *e = NULL;
	struct rule_err why = { 0 };
	size_t used = 0, len = size ? size - 1 : 0;
	char *text = malloc(size + 1);

	if (!text || !size) {
		free(text);
		return 0;
	}
	make_world();
	vars_init(&world.vars);
	memcpy(text, data + 1, len);
	/* the text is not used after it was parsed */
	if (rule_expr_parse(&world.vocab, text, len, EVERYWHERE, data[0] & 1, &e, &used, &why)) {
		expect(!e && why.at <= len && why.text[0]);
		free(text);
	} else {
		expect(e && used <= len && ((data[0] & 1) || used == len));
		free(text);
		evaluate(e, (size_t)(data[0] >> 1) * ROOM);
		rule_expr_free(&e);
	}
	vars_fini(&world.vars);
	return 0;
}
