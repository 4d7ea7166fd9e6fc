/* Fetches that use no traffic (manual 7.3.2). */
#include <stdio.h>

#include "base/mem.h"
#include "base/random.h"
#include "cfg/env.h"
#include "rule/sample/tables.h"

enum { NS_PER_SEC = 1000000000, NS_PER_MS = 1000000, NS_PER_US = 1000 };

/* --- constants --- */

static int
fetch_const_bool(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_bool(s, (int)a->kind);
	return 1;
}

static int
fetch_one(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_int(s, 1);
	return 1;
}

static int
init_bool(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct str t = a->arg[0].text;

	a->kind = str_is_nocase(t, STR("true")) || str_is(t, STR("1"));
	if (a->kind || str_is_nocase(t, STR("false")) || str_is(t, STR("0")))
		return 0;
	*why = "it takes 'true', 'false', '1' or '0'";
	return -1;
}

static int
fetch_int(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_int(s, a->arg[0].num);
	return 1;
}

static int
fetch_str(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_str(s, a->arg[0].text.p ? a->arg[0].text : STR(""));
	return 1;
}

static int
fetch_ipv4(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	s->type = SAMPLE_IPV4;
	s->u.ipv4 = a->arg[0].u.ipv4;
	return 1;
}

static int
fetch_ipv6(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	s->type = SAMPLE_IPV6;
	s->u.ipv6 = a->arg[0].u.ipv6;
	return 1;
}

/* The bytes are in ref, num of them. */
static int
init_bin(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct rule_arg *x = &a->arg[0];
	char *out = mem_alloc(x->text.len / 2 + 1);

	x->ref = out;
	*why = "out of memory";
	if (!out)
		return -1;
	*why = "it takes an even number of hexadecimal digits";
	if (x->text.len % 2)
		return -1;
	for (size_t i = 0; i < x->text.len; i++) {
		char c = x->text.p[i];
		unsigned int d = c >= '0' && c <= '9' ? (unsigned int)(c - '0')
			: c >= 'a' && c <= 'f'        ? (unsigned int)(c - 'a' + 10)
			: c >= 'A' && c <= 'F'        ? (unsigned int)(c - 'A' + 10)
						      : 16;

		if (d == 16)
			return -1;
		out[i / 2] = (char)(i % 2 ? (unsigned char)out[i / 2] | d : d << 4);
	}
	x->num = (int64_t)(x->text.len / 2);
	return 0;
}

static void
free_ref(struct rule_args *a)
{
	mem_free(a->arg[0].ref);
	a->arg[0].ref = NULL;
}

static int
fetch_bin(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_str(s, (struct str){ a->arg[0].ref, (size_t)a->arg[0].num });
	s->type = SAMPLE_BIN;
	return 1;
}

/* --- the process --- */

static int
init_env(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	const char *value = NULL;

	if (v->env && a->arg[0].type != ARG_END)
		value = cfg_env_get(v->env, a->arg[0].text.p);

	a->arg[0].ref = value ? mem_strdup(value) : NULL;
	*why = "out of memory";
	return value && !a->arg[0].ref ? -1 : 0;
}

static int
init_hostname(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	a->arg[0].ref = v->hostname ? mem_strdup(v->hostname) : NULL;
	*why = "out of memory";
	return v->hostname && !a->arg[0].ref ? -1 : 0;
}

static int
fetch_ref(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	if (!a->arg[0].ref)
		return 0;
	sample_set_str(s, str_of(a->arg[0].ref));
	return 1;
}

static int
fetch_thread(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	sample_set_int(s, cx->worker);
	return 1;
}

/* --- time --- */

static int
init_date(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct str unit = a->arg[1].text;

	a->kind = NS_PER_SEC;
	if (unit.len == 0 || str_is(unit, STR("s")))
		return 0;
	a->kind = str_is(unit, STR("ms")) ? NS_PER_MS : NS_PER_US;
	if (a->kind == NS_PER_MS || str_is(unit, STR("us")))
		return 0;
	a->bad = 1;
	*why = "the unit is 's', 'ms' or 'us'";
	return -1;
}

static int
fetch_date(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	int64_t v = (int64_t)(cx->wall_ns / (uint64_t)a->kind);

	if (__builtin_add_overflow(v, a->arg[0].num, &v))
		return 0;
	sample_set_int(s, v);
	return 1;
}

static int
fetch_date_us(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	sample_set_int(s, (int64_t)(cx->wall_ns % NS_PER_SEC / NS_PER_US));
	return 1;
}

/* --- random numbers, which cannot be predicted --- */

static int
init_rand(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct rule_arg *x = &a->arg[0];

	if (x->type == ARG_END)
		x->num = INT64_C(1) << 32;
	if (x->num >= 1 && x->num <= INT64_C(1) << 32)
		return 0;
	*why = "the range is 1 to 4294967296";
	return -1;
}

static int
fetch_rand(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	uint32_t r;

	if (random_bytes(cx->random, &r, sizeof(r)) < 0)
		return 0;
	sample_set_int(s, (int64_t)(((uint64_t)r * (uint64_t)a->arg[0].num) >> 32));
	return 1;
}

static int
init_uuid(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	if (a->arg[0].type == ARG_END || a->arg[0].num == 4)
		return 0;
	*why = "only version 4 is supported";
	return -1;
}

static int
fetch_uuid(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	char text[RANDOM_UUID_SIZE];
	struct str t = { text, sizeof(text) - 1 };

	if (random_uuid(cx->random, text) < 0)
		return 0;
	t = arena_copy(cx->arena, t);
	sample_set_str(s, t);
	return t.p != NULL;
}

/* --- variables --- */

static int
fetch_var(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	if (var_find(cx, a->arg[0].u.var, s))
		return 1;
	if (a->n < 2)
		return 0;
	sample_set_str(s, a->arg[1].text);
	return 1;
}

const struct rule_fetch rule_misc_fetches[] = {
	{ .name = "always_false",
		.out = SAMPLE_BOOL,
		.fetch = fetch_const_bool,
		.kind = 0,
		.doc = "False." },
	{ .name = "always_true",
		.out = SAMPLE_BOOL,
		.fetch = fetch_const_bool,
		.kind = 1,
		.doc = "True." },
	{ .name = "bin",
		.arg = { ARG_ENUM },
		.min = 1,
		.out = SAMPLE_BIN,
		.fetch = fetch_bin,
		.init = init_bin,
		.free = free_ref,
		.syntax = "<hex>",
		.doc = "These bytes." },
	{ .name = "bool",
		.arg = { ARG_ENUM },
		.min = 1,
		.out = SAMPLE_BOOL,
		.fetch = fetch_const_bool,
		.init = init_bool,
		.syntax = "true|false|1|0",
		.doc = "This boolean." },
	{ .name = "date",
		.arg = { ARG_INT, ARG_ENUM },
		.out = SAMPLE_SINT,
		.fetch = fetch_date,
		.init = init_date,
		.syntax = "[<offset>],[s|ms|us]",
		.doc = "The time since 1970 in this unit (seconds), plus the offset." },
	{ .name = "date_us",
		.out = SAMPLE_SINT,
		.fetch = fetch_date_us,
		.doc = "The microseconds of the current second." },
	{ .name = "env",
		.arg = { ARG_ENUM },
		.out = SAMPLE_STR,
		.fetch = fetch_ref,
		.init = init_env,
		.free = free_ref,
		.syntax = "[<name>]",
		.doc = "An environment variable, as it was when the configuration was read; none "
			"without a name." },
	{ .name = "hostname",
		.out = SAMPLE_STR,
		.fetch = fetch_ref,
		.init = init_hostname,
		.free = free_ref,
		.doc = "The name of this host." },
	{ .name = "int",
		.arg = { ARG_INT },
		.min = 1,
		.out = SAMPLE_SINT,
		.fetch = fetch_int,
		.syntax = "<integer>",
		.doc = "This integer." },
	{ .name = "ipv4",
		.arg = { ARG_IPV4 },
		.min = 1,
		.out = SAMPLE_IPV4,
		.fetch = fetch_ipv4,
		.syntax = "<address>",
		.doc = "This address." },
	{ .name = "ipv6",
		.arg = { ARG_IPV6 },
		.min = 1,
		.out = SAMPLE_IPV6,
		.fetch = fetch_ipv6,
		.syntax = "<address>",
		.doc = "This address." },
	{ .name = "meth",
		.arg = { ARG_ENUM },
		.out = SAMPLE_STR,
		.fetch = fetch_str,
		.syntax = "[<method>]",
		.doc = "This method; empty without one." },
	{ .name = "nbproc",
		.out = SAMPLE_SINT,
		.fetch = fetch_one,
		.doc = "1: there is one process." },
	{ .name = "proc", .out = SAMPLE_SINT, .fetch = fetch_one, .doc = "1, as nbproc." },
	{ .name = "rand",
		.arg = { ARG_INT },
		.out = SAMPLE_SINT,
		.fetch = fetch_rand,
		.init = init_rand,
		.syntax = "[<range>]",
		.doc = "A random number from 0 up to, not including, the range (2^32)." },
	{ .name = "str",
		.arg = { ARG_STR },
		.out = SAMPLE_STR,
		.fetch = fetch_str,
		.syntax = "[<string>]",
		.doc = "This text; empty without one." },
	{ .name = "thread",
		.out = SAMPLE_SINT,
		.fetch = fetch_thread,
		.doc = "The number of the worker, from 0." },
	{ .name = "uuid",
		.arg = { ARG_INT },
		.out = SAMPLE_STR,
		.fetch = fetch_uuid,
		.init = init_uuid,
		.syntax = "[4]",
		.doc = "A random UUID of version 4." },
	{ .name = "var",
		.arg = { ARG_VAR, ARG_STR },
		.min = 1,
		.out = SAMPLE_ANY,
		.fetch = fetch_var,
		.syntax = "<scope.name>[,<default>]",
		.doc = "A variable, with the type it was set to; the default is text." },
	{ .name = NULL },
};
