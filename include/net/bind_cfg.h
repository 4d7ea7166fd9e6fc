/* Bind lines: `bind` in a proxy, `stats socket` in global (manual 5.1). */
#ifndef TACIT_NET_BIND_CFG_H
#define TACIT_NET_BIND_CFG_H

#include <sys/types.h>

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/registry.h"
#include "cfg/value.h"
#include "net/bind_conf.h"
#include "net/listener.h"

struct bind_conf;
struct cfg_ctx;

/* Unix sockets of bind lines: their permissions, and the prefix of their paths (manual 5.1 mode,
 * user, group; 3.1 unix-bind). Main thread, while the configuration is read. */

/* `unix-bind`: what holds for the lines that follow it, unless they say otherwise. */
struct bind_unix {
	char *prefix; /* owned; NULL: none */
	mode_t mode;  /* 0: by umask */
	uid_t uid;    /* -1: unchanged */
	gid_t gid;
};

void bind_unix_init(struct bind_unix *u);
void bind_unix_fini(struct bind_unix *u);
/* Reads `[<setting> <value>]...`, the arguments of ctx. 0, or -1 after cfg_error(). */
int bind_unix_parse(struct cfg_ctx *ctx, struct bind_unix *u) must_check;

/* --- lines --- */

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
/* The same for a line whose settings exist already: adds its addresses, and sets its options. */
int bind_cfg_add(struct cfg_ctx *ctx, int first, const struct bind_unix *u, struct bind_conf *b,
	void *owner) must_check;
/* Adds a listener of one address. 0 or -ERR_NOMEM. */
int bind_conf_add(struct bind_conf *b, const struct addr *a, void *owner) must_check;
/* The value of the option `proto` of bind and server lines, but for whether it fits the mode. 0, or
 * -1 after the error was reported. */
int bind_cfg_proto(struct cfg_ctx *ctx, enum mux_proto *out) must_check;
extern const struct cfg_enum bind_proto_words[];

#endif
