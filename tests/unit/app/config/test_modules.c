/*
 * The language as a whole: every keyword and option that takes a number is tried with hostile
 * numbers. Those that take a number are detected, not listed: they accept one of a few harmless
 * values and reject a word.
 */

#include <stdio.h>
#include <string.h>

#include "app/config/config.h"
#include "app/config/modules.h"
#include "base/sbuf.h"
#include "cfg/reader.h"
#include "unit/test.h"

static const char *const harmless[] = { "1", "2", "10", "50", "1000", "16384", "65536" };

static const char *const hostile[] = {
	"10x",
	"1e99",
	"0x10",
	"1.5",
	"--1",
	"2147483648000000",
	"4294967296000000",
	"9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"-9223372036854775809",
	"99999999999999999999999999999999999999999",
};

static const char *const minus_one = "-1";

/* Reads `text`; *bad gets a bit for each line with an error. */
static void
read_text(const char *text, uint64_t *bad)
{
	static const char *const environment[] = { NULL };
	struct cfg_reader_opts opts = { 0 };
	struct cfg_reader reader;
	struct cfg_facts facts;
	struct config c;

	assert_int_equal(config_init(&c, environment), 0);
	config_facts(&c, &facts);
	opts.root = &c;
	opts.registry = &c.registry;
	opts.diag = &c.diag;
	opts.env = &c.env;
	opts.facts = &facts;
	cfg_reader_init(&reader, &opts);
	(void)cfg_reader_text(&reader, "t", text, strlen(text));
	*bad = 0;
	for (unsigned i = 0; i < c.diag.errors.n; i++)
		if (c.diag.errors.at[i].line < 64)
			*bad |= UINT64_C(1) << c.diag.errors.at[i].line;
	assert_int_equal(c.diag.dropped, 0);
	cfg_reader_fini(&reader);
	config_fini(&c);
}

/* One line per value after the section line; every value is one argument of `before`. */
static uint64_t
try_values(const char *section, const char *before, const char *const *values, size_t n)
{
	struct sbuf text;
	uint64_t bad;

	sbuf_init(&text, 0);
	sbuf_addf(&text, "%s\n", section);
	for (size_t i = 0; i < n; i++)
		sbuf_addf(&text, " %s %s\n", before, values[i]);
	read_text(text.p, &bad);
	sbuf_fini(&text);
	return bad >> 2;
}

/* HAProxy's manual defines negative numbers here. */
static int
may_be_negative(const char *before)
{
	static const char *const names[] = { "option redispatch", "tune.maxaccept", " mss",
						" pool-max-conn", " max-reuse",
						"max-keep-alive-queue", "tune.renice." };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(before, names[i]))
			return 1;
	return 0;
}

static unsigned
try_number(const char *section, const char *before)
{
	static const char *const word[] = { "zzz" };
	const size_t nh = sizeof(harmless) / sizeof(harmless[0]);
	const size_t n = sizeof(hostile) / sizeof(hostile[0]);
	uint64_t bad;

	/* an address, of which "1" and "0x10" are spellings; hexadecimal digits */
	if (strstr(before, "source") || strstr(before, "httpproxy") ||
		strstr(before, "send-binary"))
		return 0;
	/* one at a time: a keyword may be rejected the second time */
	for (size_t i = 0; i < nh; i++)
		if (try_values(section, before, &harmless[i], 1) == 0 &&
			try_values(section, before, word, 1) != 0)
			goto numeric;
	return 0;
numeric:
	if (!may_be_negative(before))
		assert_int_not_equal(try_values(section, before, &minus_one, 1), 0);
	bad = try_values(section, before, hostile, n);
	for (size_t i = 0; i < n; i++)
		if (!(bad & UINT64_C(1) << i) && try_values(section, before, &hostile[i], 1) == 0)
			fail_msg("'%s %s' is accepted in '%s'", before, hostile[i], section);
	return 1;
}

static void
every_keyword(void **state)
{
	static const struct {
		unsigned bit;
		const char *line;
	} sections[] = {
		{ CFG_GLOBAL, "global" },
		{ CFG_DEFAULTS, "defaults" },
		{ CFG_FRONTEND, "frontend f" },
		{ CFG_BACKEND, "backend b" },
		{ CFG_LISTEN, "listen l" },
	};
	struct cfg_registry reg;
	const char *culprit;
	unsigned tried = 0;

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(modules_register(&reg, &culprit), 0);
	for (unsigned int i = 0; i < reg.nkw; i += test_every()) {
		const struct cfg_kw *kw = reg.kw[i];

		for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++)
			if (kw->class == CFG_IMPLEMENTED && kw->sections & sections[s].bit) {
				tried += try_number(sections[s].line, kw->name);
				break;
			}
	}
	assert_in_range(tried, 20 / test_every(), reg.nkw);
	cfg_registry_fini(&reg);
}

static void
every_option(void **state)
{
	static const char *const line[CFG_OPT_PLACES] = {
		[CFG_OPT_BIND] = "bind 127.0.0.1:1",
		[CFG_OPT_SERVER] = "server s 127.0.0.1:1",
	};
	struct cfg_registry reg;
	const char *culprit;
	unsigned tried = 0;
	char before[128];

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(modules_register(&reg, &culprit), 0);
	for (unsigned m = 0; m < reg.nmodule; m++)
		for (int p = 0; p < CFG_OPT_PLACES; p++)
			for (const struct cfg_opt *o = reg.module[m]->opts[p]; o && o->name; o++) {
				snprintf(before, sizeof(before), "%s %s", line[p], o->name);
				if (o->class == CFG_IMPLEMENTED && o->min == 1)
					tried += try_number("listen l", before);
			}
	assert_in_range(tried, 5, 100);
	cfg_registry_fini(&reg);
}

static void
everything_registers_once(void **state)
{
	static const struct { const char *name; unsigned int section;
	} some[] = {
		{ "maxconn", CFG_GLOBAL },
		{ "tune.epoll.mode", CFG_GLOBAL },
		{ "ca-base", CFG_GLOBAL },
		{ "setenv", CFG_GLOBAL },
		{ "bind", CFG_FRONTEND },
		{ "server", CFG_BACKEND },
		{ "timeout client", CFG_DEFAULTS },
		{ "balance", CFG_BACKEND },
		{ "log", CFG_GLOBAL },
	};
	struct cfg_registry reg;
	const char *culprit = "";

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(modules_register(&reg, &culprit), 0);
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		assert_non_null(cfg_registry_kw(&reg, some[i].name, some[i].section));
	/* registering again fails: every keyword is already there */
	assert_int_not_equal(modules_register(&reg, &culprit), 0);
	assert_string_equal(culprit, "global");
	cfg_registry_fini(&reg);
}

/* A section has room for each keyword that is recorded as seen. */
static void
seen_keywords_have_room(void **state)
{
	struct cfg_registry reg;
	const char *culprit = "";
	unsigned int different = 0;

	(void)state;
	cfg_registry_init(&reg);
	assert_int_equal(modules_register(&reg, &culprit), 0);
	for (unsigned int i = 0; i < reg.nkw; i++) {
		const char *once = reg.kw[i]->once;
		unsigned int k = 0;

		while (once && k < i && (!reg.kw[k]->once || strcmp(reg.kw[k]->once, once) != 0))
			k++;
		different += once && k == i;
	}
	assert_in_range(different, 20, CFG_ONCE_MAX);
	cfg_registry_fini(&reg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_registers_once),
		cmocka_unit_test(seen_keywords_have_room),
		cmocka_unit_test(every_keyword),
		cmocka_unit_test(every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
