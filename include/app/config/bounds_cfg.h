/* Keywords of `global` that limit memory: bounds_cfg.c. */
#ifndef TACIT_APP_CONFIG_BOUNDS_CFG_H
#define TACIT_APP_CONFIG_BOUNDS_CFG_H

#include "app/config/global.h"

/* Checks that need other keywords and -m (0: not given), before limits are computed: 0, or -1 with
 * the error in d. */
int bounds_finish(struct global_conf *g, unsigned int workers, int memory_mb,
		  struct cfg_diag *d) must_check;

#endif
