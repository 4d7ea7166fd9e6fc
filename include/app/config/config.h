/*
 * The whole configuration: reads files and environment, and produces checked structures. Loading
 * binds nothing and does not change the process.
 */
#ifndef TACIT_APP_CONFIG_CONFIG_H
#define TACIT_APP_CONFIG_CONFIG_H

#include <stdio.h>

#include "app/config/global.h"
#include "base/compiler.h"
#include "cfg/cond.h"
#include "cfg/diag.h"
#include "cfg/env.h"
#include "cfg/files.h"
#include "cfg/registry.h"
#include "proxy/model/proxies.h"
#include "rule/sample/var.h"
#include "tls/tls_conf.h"

struct options;
struct sys;

struct config {
	struct proxies proxies; /* first: ctx->root of the proxies' keywords */
	struct global_conf global;
	struct tls_conf tls;
	struct vars vars;       /* of scope proc, until the process takes them */
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_dir dir;     /* of files that are named by relative names */
	char hostname[65];      /* the kernel's host name, as in struct utsname */
};

/* Registers the modules and copies the environment. 0, -ERR_NOMEM, or another reason when a module
 * cannot be registered. fini must be called in any case. */
int config_init(struct config *c, const char *const *environment) must_check;
void config_fini(struct config *c);

/*
 * Reads the files of the command line, applies its overrides, and checks the result. 0, or
 * -ERR_INVAL when the configuration is rejected: the reasons are in c->diag.
 */
int config_load(struct config *c, struct sys *sys, const struct options *o) must_check;

/* True if it has any listener. */
int config_has_listener(const struct config *c);
/* True if any proxy asks for pipes, or would use them. */
int config_splices(const struct config *c);
int config_may_splice(const struct config *c);
/* Facts about this program for .if and -cc. */
void config_facts(struct config *c, struct cfg_facts *out);
/* Evaluates a condition and returns the exit code: 0 true, 1 false or, with the reason on `err`,
 * not a valid condition. */
int config_cond(struct config *c, const char *expr, FILE *err);

#endif
