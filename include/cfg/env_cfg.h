#ifndef TACIT_CFG_ENV_CFG_H
#define TACIT_CFG_ENV_CFG_H

#include "cfg/registry.h"

/* The global keywords setenv, presetenv, unsetenv and resetenv. */
extern const struct cfg_module env_cfg_module;

#endif
