/*
 * rules: the cost of a look-up among patterns, in ns, by their number: exact texts, prefixes and
 * networks; the cost of a change by a rule, of an entry's value and of adding and removing an
 * entry; and a thousand conditions with a pattern each, compared with one ACL of a thousand lines.
 * Half of the look-ups find an entry. Each figure is the best of several rounds.
 *
 *     rules [look-ups per round]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cfg/env.h"
#include "cfg/reader.h"
#include "rule/match/acl.h"
#include "rule/match/pattern.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_live.h"
#include "rule/match/tables.h"
#include "rule/sample/tables.h"
#include "stats.h"

enum {
	ROUNDS = 7,
	LOOKUPS = 200000,
	SUBJECTS = 1024, /* different ones, so that branches are not predicted */
	RULES = 1000,
	TEXT = 48,
};

static char subject[SUBJECTS][TEXT];
static struct str at_hand;
static char room[16384];
static struct arena arena = { .p = room, .cap = sizeof(room) };
static struct sample_ctx cx = { .at = ~0u, .arena = &arena };

/* Key number i of n; for prefixes with additional text. */
static void
make_key(enum pattern_method m, uint32_t i, int rest, char *to)
{
	if (m == PATTERN_IP)
		snprintf(to, TEXT, rest ? "%u.%u.%u.7" : "%u.%u.%u.0/24", 1 + (i >> 16),
			i >> 8 & 255, i & 255);
	else if (m == PATTERN_BEG)
		snprintf(to, TEXT, "/site%u/%s", i, rest ? "images/a.png" : "");
	else
		snprintf(to, TEXT, "host%u.example.org", i);
}

static void
fill(struct pattern_set *p, enum pattern_method m, uint32_t n)
{
	struct rule_err why;
	char key[TEXT];

	pattern_set_init(p, m, SAMPLE_ANY, &keyhash_known);
	for (uint32_t i = 0; i < n; i++) {
		make_key(m, i, 0, key);
		if (pattern_set_add(p, str_of(key), PATTERN_EQ, PATTERN_NO_DNS,
			    (struct str){ NULL, 0 }, &why) < 0)
			exit(1);
	}
}

static double
time_lookups(enum pattern_method m, uint32_t n, uint32_t lookups)
{
	static struct sample s[SUBJECTS];
	struct pattern_set p;
	double best = 1e9, ns;
	uint32_t hits = 0;
	uint64_t start;

	fill(&p, m, n);
	for (int i = 0; i < SUBJECTS; i++) {
		make_key(m, i % 2 ? random_number() % n : n + random_number() % n, 1, subject[i]);
		s[i] = (struct sample){ .type = SAMPLE_STR, .u.str = str_of(subject[i]) };
		if (m == PATTERN_IP && sample_cast(&s[i], SAMPLE_ADDR, &arena))
			exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		start = now_ns();
		for (uint32_t i = 0; i < lookups; i++)
			hits += pattern_match(&p, &s[i % SUBJECTS], &cx, NULL) != NULL;
		ns = (double)(now_ns() - start) / lookups;
		best = ns < best ? ns : best;
	}
	/* Half are found, in every round. */
	if (hits / ROUNDS < lookups / 2 - SUBJECTS || hits / ROUNDS > lookups / 2 + SUBJECTS)
		exit(1);
	pattern_set_fini(&p);
	return best;
}

/* --- changes --- */

/* In a map of n entries: another value, or adding and removing a key in turn. */
static double
time_changes(uint32_t n, int come_and_go, uint32_t changes)
{
	struct pattern_ref *ref = pattern_ref_new("bench.map", &keyhash_known);
	struct pattern_set p;
	struct rule_err why;
	double best = 1e9, ns;
	char key[TEXT], value[TEXT];
	uint64_t start;

	pattern_set_init(&p, PATTERN_STR, SAMPLE_STR, &keyhash_known);
	if (!ref || pattern_ref_feed(ref, &p, 0, &why) < 0)
		exit(1);
	pattern_ref_guard(ref);
	for (uint32_t i = 0; i < n; i++) {
		make_key(PATTERN_STR, i, 0, key);
		if (pattern_ref_add(ref, 0, str_of(key), STR("value"), &why) < 0)
			exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		start = now_ns();
		for (uint32_t i = 0; i < changes; i++) {
			make_key(PATTERN_STR, come_and_go ? n : random_number() % n, 0, key);
			snprintf(value, sizeof(value), "%u", i);
			if (come_and_go && i % 2)
				(void)pattern_live_del(ref, NULL, str_of(key));
			else if (pattern_live_put(ref, NULL, str_of(key), str_of(value), &why) < 0)
				exit(1);
		}
		ns = (double)(now_ns() - start) / changes;
		best = ns < best ? ns : best;
	}
	if (ref->n < n || ref->n > n + 1)
		exit(1);
	pattern_set_forget(&p);
	pattern_ref_free(&ref);
	return best;
}

/* --- conditions --- */

struct world {
	struct rule_vocab vocab;
	struct pattern_files files;
	struct rule_acls acls;
	struct rule_cond *cond[RULES + 1];
	int n;
};

static int
fetch_path(const struct rule_args *a, struct sample_ctx *c, struct sample *s)
{
	(void)a;
	(void)c;
	sample_set_str(s, at_hand);
	return 1;
}

static const struct rule_fetch fetches[] = {
	{ .name = "bench.path", .out = SAMPLE_STR, .fetch = fetch_path },
	{ 0 },
};

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

	return rule_cond_parse(&w->acls, &w->vocab, ctx, 0, ~0u, &w->cond[w->n++]);
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
static const struct cfg_module module = { .name = "bench", .kws = kws, .sections = sections };

/* RULES conditions of one pattern each, then one of an ACL with as many. */
static void
read_rules(struct world *w)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	static char text[RULES * 128];
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
	struct cfg_reader_opts opts = {
		.root = w, .registry = &registry, .diag = &diag, .env = &env, .facts = &facts,
	};
	size_t len = (size_t)snprintf(text, sizeof(text), "frontend f\n");

	for (int i = 0; i < RULES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"when if { bench.path -m beg /site%d/ }\n"
			"acl all bench.path -m beg /site%d/\n", i, i);
	len += (size_t)snprintf(text + len, sizeof(text) - len, "when if all\n");
	cfg_registry_init(&registry);
	cfg_diag_init(&diag, 0);
	cfg_env_init(&env);
	pattern_files_init(&w->files, NULL);
	w->vocab.files = &w->files;
	rule_acls_init(&w->acls);
	if (rule_tables_add(&w->vocab) || rule_vocab_add_fetches(&w->vocab, fetches) ||
		cfg_registry_add(&registry, &module))
		exit(1);
	cfg_reader_init(&reader, &opts);
	if (cfg_reader_text(&reader, "bench", text, len) || w->n != RULES + 1)
		exit(1);
	cfg_reader_fini(&reader);
	cfg_env_fini(&env);
	cfg_diag_fini(&diag);
	cfg_registry_fini(&registry);
}

/* Evaluates conditions from..to one after the other, for a request that matches none: ns for
 * all. */
static double
time_conditions(const struct world *w, int from, int to, uint32_t times)
{
	double best = 1e12, ns;
	uint64_t start;

	at_hand = str_of("/elsewhere/images/a.png");
	for (int round = 0; round < ROUNDS; round++) {
		start = now_ns();
		for (uint32_t i = 0; i < times; i++)
			for (int k = from; k < to; k++)
				if (rule_cond_eval(w->cond[k], &cx) != RULE_NO)
					exit(1);
		ns = (double)(now_ns() - start) / times;
		best = ns < best ? ns : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum pattern_method method;
	} row[] = { { "exact", PATTERN_STR }, { "prefix", PATTERN_BEG }, { "ip", PATTERN_IP } };
	static struct world w;
	unsigned long want = argc > 1 ? strtoul(argv[1], NULL, 10) : LOOKUPS;
	uint32_t n = (uint32_t)(want < 10000 ? 10000 : want > 1u << 26 ? 1u << 26 : want);

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		printf("%s n10=%.1f n1000=%.1f n100000=%.1f\n", row[i].name,
			time_lookups(row[i].method, 10, n), time_lookups(row[i].method, 1000, n),
			time_lookups(row[i].method, 100000, n));
	for (int i = 0; i < 2; i++)
		printf("%s n10=%.1f n1000=%.1f n10000=%.1f n100000=%.1f\n",
			i ? "come_and_go" : "set_value", time_changes(10, i, n),
			time_changes(1000, i, n), time_changes(10000, i, n),
			time_changes(100000, i, n));
	read_rules(&w);
	printf("conditions apart=%.1f", time_conditions(&w, 0, RULES, n / 1000) / RULES);
	printf(" together=%.1f\n", time_conditions(&w, RULES, RULES + 1, n));
	for (int i = 0; i < w.n; i++)
		rule_cond_free(&w.cond[i]);
	rule_acls_fini(&w.acls);
	return 0;
}
