/* A copy of the environment, sorted by name. Main thread, while the configuration is read; the
 * process's own environment is never changed. */
#include "cfg/env.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "cfg/ctx.h"

/* Index of `name`, or the place to insert it; *found says which. */
static unsigned int
env_find(const struct cfg_env *env, const char *name, int *found)
{
	unsigned int lo = 0, hi = env->nvar;

	*found = 0;
	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;
		int d = strcmp(env->var[mid].name, name);

		if (d == 0) {
			*found = 1;
			return mid;
		}
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int
is_env_name(const char *s)
{
	if (!(isalpha((unsigned char)*s) || *s == '_'))
		return 0;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

static int
env_grow(struct cfg_env *env)
{
	struct cfg_env_var *var;

	if (env->nvar >= CFG_ENV_MAX)
		return -E2BIG;
	var = array_grow(env->var, env->nvar, &env->cap, sizeof(*var));
	if (!var)
		return -ENOMEM;
	env->var = var;
	return 0;
}

static int
env_store(struct cfg_env *env, char *name, const char *value)
{
	int found;
	unsigned int i = env_find(env, name, &found);
	char *copy;
	int rc = 0;

	if (strlen(value) > CFG_ENV_VALUE_MAX)
		rc = -E2BIG;
	else if (!found)
		rc = env_grow(env);
	copy = rc ? NULL : mem_strdup(value);
	if (!copy) {
		mem_free(name);
		return rc ? rc : -ENOMEM;
	}
	if (found) {
		mem_free(name);
		mem_free(env->var[i].value);
		env->var[i].value = copy;
		return 0;
	}
	memmove(env->var + i + 1, env->var + i, (env->nvar - i) * sizeof(*env->var));
	env->var[i].name = name;
	env->var[i].value = copy;
	env->nvar++;
	return 0;
}

int
cfg_env_set(struct cfg_env *env, const char *name, const char *value)
{
	char *copy;

	if (!is_env_name(name))
		return -EINVAL;
	copy = mem_strdup(name);
	return copy ? env_store(env, copy, value) : -ENOMEM;
}

static int
cfg_env_preset(struct cfg_env *env, const char *name, const char *value)
{
	return cfg_env_get(env, name) ? 0 : cfg_env_set(env, name, value);
}

const char *
cfg_env_get(const struct cfg_env *env, const char *name)
{
	int found;
	unsigned int i = env_find(env, name, &found);

	return found ? env->var[i].value : NULL;
}

static void
env_remove(struct cfg_env *env, unsigned int i)
{
	mem_free(env->var[i].name);
	mem_free(env->var[i].value);
	env->nvar--;
	memmove(env->var + i, env->var + i + 1, (env->nvar - i) * sizeof(*env->var));
}

static void
cfg_env_unset(struct cfg_env *env, const char *name)
{
	int found;
	unsigned int i = env_find(env, name, &found);

	if (found)
		env_remove(env, i);
}

/* Deletes all variables except `keep` (resetenv). */
static void
cfg_env_reset(struct cfg_env *env, const char *const *keep, unsigned int nkeep)
{
	for (unsigned int i = env->nvar; i-- > 0;) {
		int wanted = 0;

		for (unsigned int k = 0; k < nkeep && !wanted; k++)
			wanted = strcmp(env->var[i].name, keep[k]) == 0;
		if (!wanted)
			env_remove(env, i);
	}
}

int
cfg_env_import(struct cfg_env *env, const char *const *environ_)
{
	int rc = 0;

	for (; !rc && environ_ && *environ_; environ_++) {
		const char *eq = strchr(*environ_, '=');
		char *name;

		if (!eq || eq == *environ_)
			continue;
		name = mem_strndup(*environ_, (size_t)(eq - *environ_));
		rc = name ? env_store(env, name, eq + 1) : -ENOMEM;
	}
	return rc;
}

void
cfg_env_init(struct cfg_env *env)
{
	memset(env, 0, sizeof(*env));
}

void
cfg_env_fini(struct cfg_env *env)
{
	cfg_env_reset(env, NULL, 0);
	mem_free(env->var);
	memset(env, 0, sizeof(*env));
}

/* --- the keywords ---------------------------------------------------------------------------- */

enum { KEEP_MAX = 256 };	/* maximum names for one resetenv */

static int
report_env(struct cfg_ctx *ctx, int rc)
{
	if (rc == -EINVAL)
		return cfg_error(ctx, 0, "'%s': '%.60s' is not the name of a variable.",
			cfg_kw_name(ctx), cfg_arg(ctx, 0));
	if (rc == -E2BIG)
		return cfg_error(ctx, 0, "'%s': too many variables; the limit is %d.",
				 cfg_kw_name(ctx), CFG_ENV_MAX);
	return rc ? cfg_nomem(ctx) : 0;
}

/* An empty string counts as no argument but is a valid value. */
static int
check_value(struct cfg_ctx *ctx)
{
	if (ctx->nword < ctx->base + 2)
		return cfg_error(
			ctx, ctx->argc, "'%s' expects a name and a value.", cfg_kw_name(ctx));
	return 0;
}

static int
parse_setenv(struct cfg_ctx *ctx)
{
	if (check_value(ctx))
		return -1;
	return report_env(ctx, cfg_env_set(ctx->env, cfg_arg(ctx, 0), cfg_arg(ctx, 1)));
}

static int
parse_presetenv(struct cfg_ctx *ctx)
{
	if (check_value(ctx))
		return -1;
	return report_env(ctx, cfg_env_preset(ctx->env, cfg_arg(ctx, 0), cfg_arg(ctx, 1)));
}

static int
parse_unsetenv(struct cfg_ctx *ctx)
{
	for (int i = 0; i < ctx->argc; i++)
		cfg_env_unset(ctx->env, cfg_arg(ctx, i));
	return 0;
}

static int
parse_resetenv(struct cfg_ctx *ctx)
{
	const char *keep[KEEP_MAX];

	if (ctx->argc > KEEP_MAX)
		return cfg_error(ctx, KEEP_MAX, "'%s': too many variables; the limit is %d.",
			cfg_kw_name(ctx), KEEP_MAX);
	for (int i = 0; i < ctx->argc; i++)
		keep[i] = cfg_arg(ctx, i);
	cfg_env_reset(ctx->env, keep, (unsigned int)ctx->argc);
	return 0;
}

#define UNCHANGED "none: the environment is that of the process"

static const struct cfg_kw kws[] = {
	{ .name = "setenv", .sections = CFG_GLOBAL, .min = 1, .max = 2, .parse = parse_setenv,
	  .syntax = "<name> <value>", .doc = "Sets an environment variable for the lines that "
		"follow.", .dflt = UNCHANGED },
	{ .name = "presetenv", .sections = CFG_GLOBAL, .min = 1, .max = 2, .parse = parse_presetenv,
	  .syntax = "<name> <value>", .doc = "Sets an environment variable unless it exists.",
	  .dflt = UNCHANGED },
	{ .name = "unsetenv", .sections = CFG_GLOBAL, .min = 1, .max = CFG_ANY,
	  .parse = parse_unsetenv, .syntax = "<name>...", .doc = "Deletes environment variables.",
	  .dflt = UNCHANGED },
	{ .name = "resetenv", .sections = CFG_GLOBAL, .max = CFG_ANY, .parse = parse_resetenv,
	  .syntax = "[<name>...]", .doc = "Deletes all environment variables except those named.",
	  .dflt = UNCHANGED },
	{ 0 }
};

const struct cfg_module env_cfg_module = { .name = "env", .kws = kws };
