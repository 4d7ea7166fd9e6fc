/* Bind lines: `bind` in a proxy, `stats socket` in global (manual 5.1). */
#ifndef TACIT_NET_BIND_CFG_H
#define TACIT_NET_BIND_CFG_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/registry.h"
#include "net/bind_conf.h"
#include "net/listener.h"

struct cfg_ctx;
struct bind_conf;
struct bind_unix;

#define BIND_LISTENERS_MAX 65536 /* of one line: ports times addresses */

/* The options of bind lines (CFG_OPT_BIND). */
extern const struct cfg_module bind_cfg_module;

/*
 * Reads `<address>[,...] [<option>...]` from argument `first` on and appends a struct bind_conf
 * with its listeners (owned by `owner`) to `binds`. u: what holds for unix sockets otherwise, or
 * NULL. 0 and *out (may be NULL), or -1 after the error was reported.
 */
int bind_cfg_line(struct cfg_ctx *ctx, int first, const struct bind_unix *u, struct list *binds,
		  void *owner, struct bind_conf **out);
/* The value of the option `proto` of bind and server lines, but for whether it fits the mode. 0, or
 * -1 after the error was reported. */
int bind_cfg_proto(struct cfg_ctx *ctx, enum mux_proto *out) must_check;

#endif
