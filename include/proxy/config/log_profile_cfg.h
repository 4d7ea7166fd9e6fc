/* Sections `log-profile` (manual 8.3.5), what names them, and log-steps. */
#ifndef TACIT_PROXY_CONFIG_LOG_PROFILE_CFG_H
#define TACIT_PROXY_CONFIG_LOG_PROFILE_CFG_H

#include "cfg/registry.h"

struct cfg_ctx;
struct log_line;

extern const struct cfg_module log_profile_cfg_module;

/* Argument i names the profile of a `log` line; its section may follow. 0, or -1 after
 * cfg_error(). */
int log_profile_cfg_name(struct cfg_ctx *ctx, int i, struct log_line *l);

#endif
