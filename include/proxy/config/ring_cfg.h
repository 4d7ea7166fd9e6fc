/* Sections `ring` (manual 3.9) and targets of `log` that are rings. */
#ifndef TACIT_PROXY_CONFIG_RING_CFG_H
#define TACIT_PROXY_CONFIG_RING_CFG_H

#include "cfg/registry.h"

struct addr;
struct cfg_ctx;
struct log_line;

extern const struct cfg_module ring_cfg_module;

/* `ring@name`: 0, or -1 after cfg_error(). */
int ring_cfg_name(struct cfg_ctx *ctx, const char *name, struct log_line *l);
/* A stream address: a ring of its own, in the line's format and length. The same. */
int ring_cfg_implicit(struct cfg_ctx *ctx, const struct addr *to, struct log_line *l);

#endif
