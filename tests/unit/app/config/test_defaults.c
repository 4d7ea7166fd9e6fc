/* Defaults in the manual are true: a line that sets a keyword to its default changes nothing. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cfg/dump.h"
#include "dns/resolvers.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

/* --- settings around a line ------------------------------------------------------------------- */

/* The settings before the line and behind it, copied by lines `snapshot` around it. */
static struct shot {
	struct global_conf global;
	struct tls_conf tls;
	struct proxy proxy;
	struct resolvers resolvers;
} shots[2];
static unsigned int n_shots;

static int
take_snapshot(struct cfg_ctx *ctx)
{
	struct shot *s = &shots[n_shots++ & 1];

	memset(s, 0, sizeof(*s));
	memcpy(&s->global, &cfg.global, sizeof(s->global));
	memcpy(&s->tls, &cfg.tls, sizeof(s->tls));
	/* Places are of the line, not of the setting. */
	memset(&s->global.memory_where, 0, sizeof(s->global.memory_where));
	memset(&s->global.zerocopy_where, 0, sizeof(s->global.zerocopy_where));
	if (ctx->section->bit & (CFG_FRONTEND | CFG_BACKEND)) {
		memcpy(&s->proxy, ctx->obj, sizeof(s->proxy));
		s->proxy.http.given = 0;
		s->proxy.has_balance = 0;
	}
	if (ctx->section->bit & CFG_RESOLVERS)
		memcpy(&s->resolvers, ctx->obj, sizeof(s->resolvers));
	return 0;
}

static const struct cfg_kw probe_kws[] = {
	{ .name = "snapshot",
		.sections = CFG_GLOBAL | CFG_FRONTEND | CFG_BACKEND | CFG_RESOLVERS,
		.parse = take_snapshot },
	{ 0 },
};
static const struct cfg_module probe = { .name = "probe", .kws = probe_kws };

static int
probed_world(void **state)
{
	return world_open(state) || cfg_registry_add(&cfg.registry, &probe);
}

#define PROBED(fn) cmocka_unit_test_setup_teardown(fn, probed_world, world_close)

/* --- defaults that can be written ------------------------------------------------------------- */

static int
is_value_of(const char *word, const struct cfg_enum *values)
{
	for (; values && values->name; values++)
		if (strcmp(word, values->name) == 0)
			return 1;
	return 0;
}

/* The default as an argument: "10s" of "10 s", "0" of "0, which is off"; 0: it is none. */
static int
argument_of(const char *dflt, const char *syntax, const struct cfg_enum *values, char out[64])
{
	size_t n = strcspn(dflt, ",;:"), len = 0;

	if (n >= 64 || !syntax)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (dflt[i] != ' ' || i + 2 != n)
			out[len++] = dflt[i];
	out[len] = '\0';
	if (is_value_of(out, values))
		return 1;
	if (strcmp(out, "on") == 0 || strcmp(out, "off") == 0)
		return strstr(syntax, "on|off") || strstr(syntax, "on | ");
	return !strchr(out, ' ') && isdigit((unsigned char)out[*out == '-']);
}

/* Reads the line between two snapshots, in a section of its own: 0, or -1 if it is refused. */
static int
read_between(const char *section, const char *line)
{
	static unsigned int sections;
	char text[512];

	n_shots = 0;
	snprintf(text, sizeof(text), "\n%s %s%u\nsnapshot\n%s\nsnapshot", section,
		strcmp(section, "global") == 0 ? "#" : "s", sections++, line);
	return world_global(text) < 0 || n_shots != 2 ? -1 : 0;
}

/* Settings that differ from their default in memory only: "not given" is stored apart. */
static int
is_stored_apart(const char *name)
{
	static const char *const names[] = { "agent-inter", "balance", "init-addr", "inter",
		"ocsp-update.mode", "ssl-max-ver", "ssl-min-ver", "use-poller", "verify" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	/* test_h2_cfg.c compares the first; the others make the settings of a proxy. */
	return strncmp(name, "tune.h2.", strlen("tune.h2.")) == 0 ||
		strncmp(name, "compression ", strlen("compression ")) == 0 ||
		strncmp(name, "email-alert ", strlen("email-alert ")) == 0;
}

/* Counts the default in *n if it is the one that the section has without the line. */
static void
check_default(const char *section, const char *line, unsigned int *n)
{
	if (read_between(section, line) < 0)
		fail_msg("%s / %s: %s", section, line, world_diagnostic());
	if (memcmp(&shots[0], &shots[1], sizeof(shots[0])) != 0)
		fail_msg("%s / %s: this is not what counts without it", section, line);
	(*n)++;
}

static void
a_keyword_set_to_its_default_changes_nothing(void **state)
{
	unsigned int n = 0;
	char arg[64], line[256];

	(void)state;
	for (unsigned int i = 0; i < cfg.registry.nkw; i++) {
		const struct cfg_kw *kw = cfg.registry.kw[i];
		const char *section = kw->sections & CFG_GLOBAL ? "global"
			: kw->sections & CFG_BACKEND		? "backend"
			: kw->sections & CFG_FRONTEND		? "frontend"
			: kw->sections & CFG_RESOLVERS		? "resolvers"
								: NULL;

		if (!section || kw->class != CFG_IMPLEMENTED || !kw->dflt || kw->min > 1 ||
			kw->max == 0 || is_stored_apart(kw->name) ||
			!argument_of(kw->dflt, kw->syntax, kw->values, arg))
			continue;
		snprintf(line, sizeof(line), "%s %s", kw->name, arg);
		check_default(section, line, &n);
	}
	assert_true(n > 80);
}

static void
an_option_of_a_server_set_to_its_default_changes_nothing(void **state)
{
	const struct cfg_registry *reg = &cfg.registry;
	unsigned int n = 0;
	char arg[64], line[256];

	(void)state;
	for (unsigned int m = 0; m < reg->nmodule; m++)
		for (const struct cfg_opt *o = reg->module[m]->opts[CFG_OPT_SERVER]; o && o->name;
			o++) {
			if (o->class != CFG_IMPLEMENTED || !o->dflt || o->in_parens || o->min > 1 ||
				is_stored_apart(o->name) ||
				!argument_of(o->dflt, o->syntax, o->values, arg))
				continue;
			snprintf(line, sizeof(line), "default-server %s %s", o->name, arg);
			check_default("backend", line, &n);
		}
	assert_true(n > 15);
}

static void
another_value_is_seen(void **state)
{
	(void)state;
	assert_int_equal(read_between("backend", "retries 4"), 0);
	assert_true(memcmp(&shots[0], &shots[1], sizeof(shots[0])) != 0);
	assert_int_equal(read_between("global", "tune.ssl.lifetime 301"), 0);
	assert_true(memcmp(&shots[0], &shots[1], sizeof(shots[0])) != 0);
	assert_int_equal(read_between("backend", "default-server weight 2"), 0);
	assert_true(memcmp(&shots[0], &shots[1], sizeof(shots[0])) != 0);
	assert_int_equal(read_between("backend", "retries x"), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PROBED(another_value_is_seen),
		PROBED(a_keyword_set_to_its_default_changes_nothing),
		PROBED(an_option_of_a_server_set_to_its_default_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
