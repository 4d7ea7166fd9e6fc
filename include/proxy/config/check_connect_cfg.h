/* The rule connect of http-check and tcp-check. Main thread, while the configuration is read. */
#ifndef TACIT_PROXY_CONFIG_CHECK_CONNECT_CFG_H
#define TACIT_PROXY_CONFIG_CHECK_CONNECT_CFG_H

#include "base/compiler.h"

struct cfg_ctx;

/* The line of a rule. 0, or -1 after it has reported an error. */
int check_cfg_parse_connect(struct cfg_ctx *ctx) must_check;

#endif
