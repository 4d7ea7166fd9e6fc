/* Checks of the health checks' configuration that need all of it. Main thread. */
#ifndef TACIT_PROXY_CONFIG_CHECK_FINISH_H
#define TACIT_PROXY_CONFIG_CHECK_FINISH_H

#include "base/compiler.h"

struct cfg_diag;
struct check_conf;
struct proxies;
struct proxy;
struct server;

/*
 * Adds the rules that the method of a backend implies, and checks all of them and the options of
 * its servers. 0, or -1 when there were errors, which are in d.
 */
int check_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;
/* The same for the options of one server. */
int check_server_finish(struct server *s, struct cfg_diag *d) must_check;
/* Resolves the names in the section's own rules: also those of a defaults section, which its
 * proxies share. */
int check_conf_check_rules(struct check_conf *c, struct proxies *root,
	struct cfg_diag *d) must_check;

#endif
