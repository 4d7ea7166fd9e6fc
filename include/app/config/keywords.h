/* The list of keywords that -dK prints: of the configuration, then of rules. */
#ifndef TACIT_APP_CONFIG_KEYWORDS_H
#define TACIT_APP_CONFIG_KEYWORDS_H

#include <stdio.h>

#include "app/config/config.h"
#include "cfg/dump.h"

/* 0, or -ERR_NOMEM. */
int keywords_print(const struct config *c, enum cfg_dump kind, FILE *to) must_check;

#endif
