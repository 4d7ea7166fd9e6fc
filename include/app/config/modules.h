/* The explicit list of all modules that define keywords. */
#ifndef TACIT_APP_CONFIG_MODULES_H
#define TACIT_APP_CONFIG_MODULES_H

#include "base/compiler.h"
#include "cfg/registry.h"

/* Registers all of them. 0, or the result of cfg_registry_add(), and *culprit names the module. */
int modules_register(struct cfg_registry *reg, const char **culprit) must_check;

#endif
