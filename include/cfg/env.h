#ifndef TACIT_CFG_ENV_H
#define TACIT_CFG_ENV_H

#include <stddef.h>

#include "cfg/registry.h"

/*
 * The environment of a configuration (manual 2.3 and setenv, presetenv, unsetenv, resetenv): a
 * copy, so that reading a configuration does not change the process. Names set by the configuration
 * consist of letters, digits and '_' and do not start with a digit; inherited names are not
 * checked.
 */

enum {
	CFG_ENV_MAX = 4096,		/* variables */
	CFG_ENV_VALUE_MAX = 131072,	/* bytes of one value, as Linux allows */
};

struct cfg_env_var {
	char *name;
	char *value;
};

struct cfg_env {
	struct cfg_env_var *var;	/* sorted by name */
	unsigned int nvar, cap;
};

void cfg_env_init(struct cfg_env *env);
void cfg_env_fini(struct cfg_env *env);

/* Copies environ ("NAME=VALUE", NULL at the end). 0 or -ENOMEM, -E2BIG. */
int cfg_env_import(struct cfg_env *env, const char *const *environ_);

const char *cfg_env_get(const struct cfg_env *env, const char *name);	/* or NULL */
/* 0, -EINVAL for an invalid name, -E2BIG, -ENOMEM. preset keeps an existing value. */
int cfg_env_set(struct cfg_env *env, const char *name, const char *value);

/* The global keywords setenv, presetenv, unsetenv and resetenv. */
extern const struct cfg_module env_cfg_module;

#endif
