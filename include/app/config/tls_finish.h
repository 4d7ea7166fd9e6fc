/* TLS of a configuration that has been read. Main thread. */
#ifndef TACIT_APP_CONFIG_TLS_FINISH_H
#define TACIT_APP_CONFIG_TLS_FINISH_H

#include "base/compiler.h"

struct config;
struct sys;

/* True if a listener or a server uses TLS. */
int config_uses_tls(const struct config *c);
/* Reads the certificates of all bind lines. 0, or -1 after the errors were reported. */
int tls_finish(struct config *c, struct sys *sys) must_check;

struct cfg_diag;
struct server;

/* The same for a server that was added at run time: with files that have been read already. */
int tls_finish_added(struct config *c, struct server *s, struct cfg_diag *d) must_check;

#endif
