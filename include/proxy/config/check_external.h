/* External checks of a complete configuration (manual 4.2, option external-check). */
#ifndef TACIT_PROXY_CONFIG_CHECK_EXTERNAL_H
#define TACIT_PROXY_CONFIG_CHECK_EXTERNAL_H

#include "base/compiler.h"

struct cfg_diag;
struct proxies;
struct proxy;

/* Reports what a backend's external checks lack, and what has no effect without them. 0 or -1. */
int check_external_finish(const struct proxy *p, const struct proxies *root,
	struct cfg_diag *d) must_check;

#endif
