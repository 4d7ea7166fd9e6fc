/* A copy of the environment, sorted by name. Main thread, while the configuration is read; the
 * process's own environment is never changed. */
#include "cfg/env.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

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

int
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

void
cfg_env_unset(struct cfg_env *env, const char *name)
{
	int found;
	unsigned int i = env_find(env, name, &found);

	if (found)
		env_remove(env, i);
}

void
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
