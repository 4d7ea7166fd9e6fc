/*
 * The whole configuration: files and environment in, a checked set of structures out. Loading binds
 * nothing and changes nothing in the process.
 */
#ifndef TACIT_APP_CONFIG_CONFIG_H
#define TACIT_APP_CONFIG_CONFIG_H

#include <stdio.h>

#include "app/config/global.h"
#include "base/compiler.h"
#include "cfg/cond.h"
#include "cfg/diag.h"
#include "cfg/env.h"
#include "cfg/registry.h"
#include "proxy/model/proxies.h"

struct options;
struct sys;

struct config {
	struct proxies proxies; /* first: what the proxies' keywords see as ctx->root */
	struct global_conf global;
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	char hostname[65];      /* as the kernel says: that of a struct utsname */
};

/* Registers the modules and copies the environment. 0, -ERR_NOMEM, or another reason for a module
 * that cannot be registered. fini is due in any case. */
int config_init(struct config *c, const char *const *environment) must_check;
void config_fini(struct config *c);

/*
 * Reads the files of the command line, applies what the command line overrides, and checks it all.
 * 0, or -ERR_INVAL when the configuration is refused: the reasons are in c->diag.
 */
int config_load(struct config *c, struct sys *sys, const struct options *o) must_check;

/* Does it have anything to listen on? */
int config_has_listener(const struct config *c);
/* Does any of its proxies ask for pipes, or use them where there are some? */
int config_splices(const struct config *c);
int config_may_splice(const struct config *c);
/* What .if and -cc are told of this program. */
void config_facts(struct config *c, struct cfg_facts *out);
/* Evaluates a condition: its exit code, 0 true, 1 false or, with the reason on `err`, no condition
 * at all. */
int config_cond(struct config *c, const char *expr, FILE *err);

#endif
