/*
 * Answers to health checks, and reports of agents: the first byte selects the rule, the second how
 * much is known of the end, the rest is what came. Whatever it is: nothing is read beyond it, a
 * check that hears no more comes to an end, a verdict has its words, and evaluating leaves nothing
 * behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "cfg/reader.h"
#include "proxy/check/agent.h"
#include "proxy/check/check_expect.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_life.h"
#include "rule/sample/regex.h"

#define RULES_MAX 64
#define TIMES "defaults\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
#define SERVER " server s 127.0.0.1:80 check\n"

static const char text[] = TIMES
	"backend http\n option httpchk\n http-check connect\n http-check send\n"
	" http-check expect status 200-399 comment c\n"
	" http-check expect ! rstatus ^5 on-success %[res.hdr(a)]\n"
	" http-check expect string ok on-error \"%[status] %[res.hdr(a,2)]\"\n"
	" http-check expect ! rstring a.c min-recv 7\n"
	" http-check expect hdr name -m beg a value -m end b\n"
	" http-check expect fhdr name -m reg ^A value -m sub x status-code res.hdr_cnt(b)\n"
	" http-check expect hdr name-lf %[str(a)] value-lf %[status]\n" SERVER
	"backend head\n option httpchk HEAD /\n http-check expect string a\n" SERVER
	"backend tcp\n option tcp-check\n tcp-check expect string abc\n"
	" tcp-check expect ! string abc min-recv 0 comment c\n"
	" tcp-check expect rstring ^a.c$ on-error %[res.payload(1,3)]\n"
	" tcp-check expect binary 610062 error-status L7OKC\n"
	" tcp-check expect rbinary ^(6[0-9]|00)+$\n"
	" tcp-check expect string-lf %[res.len]\n"
	" tcp-check expect binary-lf %[res.payload(0,4)]\n"
	" tcp-check expect string a status-code res.payload(0,2)\n" SERVER
	"backend mysql\n option mysql-check user u\n" SERVER
	"backend pgsql\n option pgsql-check user u\n" SERVER
	"backend redis\n option redis-check\n" SERVER
	"backend smtp\n option smtpchk\n" SERVER
	"backend ldap\n option ldap-check\n" SERVER
	"backend ssl\n option ssl-hello-chk\n" SERVER;

/* Read once, and kept for the life of the program. */
static struct {
	struct config c;
	const struct check_rule *rule[RULES_MAX];
	size_t n;
	char memory[16384];
	struct arena arena;
	struct regex_work *regex;
} world;

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static void
read_rules(void)
{
	static const char *const environment[] = { NULL };
	struct cfg_reader_opts opts = { 0 };
	struct cfg_reader reader;
	struct cfg_facts facts;

	expect(config_init(&world.c, environment) == 0);
	config_facts(&world.c, &facts);
	opts.root = &world.c;
	opts.registry = &world.c.registry;
	opts.diag = &world.c.diag;
	opts.env = &world.c.env;
	opts.facts = &facts;
	cfg_reader_init(&reader, &opts);
	expect(cfg_reader_text(&reader, "fuzz", text, sizeof(text) - 1) == 0);
	expect(cfg_reader_end(&reader) == 0);
	cfg_reader_fini(&reader);
	expect(proxies_finish(&world.c.proxies, &world.c.diag) == 0);
	world.arena = (struct arena){ .p = world.memory, .cap = sizeof(world.memory) };
	world.regex = regex_work_new();
	expect(world.regex != NULL);
	list_each(it, &world.c.proxies.all) {
		list_each(at, &list_entry(it, struct proxy, link)->check.rules) {
			const struct check_rule *r = list_entry(at, const struct check_rule, link);

			if (r->kind != CHECK_RULE_EXPECT)
				continue;
			expect(world.n < RULES_MAX);
			world.rule[world.n++] = r;
		}
	}
	expect(world.n > 20);
}

static void
expect_words(const struct check_verdict *v)
{
	expect((unsigned int)v->status < CHECK_STATUSES && v->status != CHECK_UNK);
	expect(memchr(v->info, '\0', sizeof(v->info)) != NULL);
}

static enum check_step
evaluate(const struct check_rule *r, const struct check_input *in, struct check_verdict *v)
{
	struct sample_ctx cx = { .at = CHECK_SCOPE, .arena = &world.arena,
		.regex = world.regex };
	enum check_step step;

	memset(v, 0, sizeof(*v));
	step = check_expect_eval(r, in, &cx, v);
	expect(world.arena.used == 0);
	expect(cx.res == NULL && cx.res_bytes.p == NULL);
	if (step != CHECK_STEP_WAIT)
		expect_words(v);
	else
		expect(!in->ended && !in->full);
	return step;
}

/* In memory of exactly that size, so that one byte too far is seen. */
static void
try_answer(const struct check_rule *r, unsigned int flags, const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	struct check_input in = { .received = { copy, size }, .ended = flags & 1,
		.full = flags >> 1 & 1 && size > 0, .accepts_404 = flags >> 2 & 1 };
	struct check_verdict first, again;
	enum check_step step;

	expect(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	step = evaluate(r, &in, &first);
	expect(evaluate(r, &in, &again) == step);
	expect(memcmp(&first, &again, offsetof(struct check_verdict, info)) == 0);
	expect(strcmp(first.info, again.info) == 0);
	in.ended = 1;
	(void)evaluate(r, &in, &again);
	free(copy);
}

static void
try_agent(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	struct agent_report say;

	expect(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	agent_parse((struct str){ copy, size }, &say);
	free(copy);
	expect_words(&say.verdict);
	expect(say.weight >= -1 && say.maxconn >= -1);
	expect((say.health == AGENT_SAYS_NOTHING) == (say.verdict.status == CHECK_CHECKED));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (world.n == 0)
		read_rules();
	if (size < 2 || size > 8192)
		return 0;
	if (data[0] == 0xff)
		try_agent(data + 2, size - 2);
	else
		try_answer(world.rule[data[0] % world.n], data[1], data + 2, size - 2);
	return 0;
}
