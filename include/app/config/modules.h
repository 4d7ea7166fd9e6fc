/* The modules whose keywords make up the language: one explicit list. */
#ifndef TACIT_APP_CONFIG_MODULES_H
#define TACIT_APP_CONFIG_MODULES_H

#include "base/compiler.h"
#include "cfg/registry.h"

/* Registers all of them. 0, or what cfg_registry_add() said; *culprit names the module then. */
int modules_register(struct cfg_registry *reg, const char **culprit) must_check;

#endif
