/* Finds bind lines that share a port, when all of the configuration is known. */
#ifndef TACIT_APP_CONFIG_BINDS_FINISH_H
#define TACIT_APP_CONFIG_BINDS_FINISH_H

#include "base/compiler.h"

struct config;

/* Main thread, before listeners are copied for the workers. Lines with the same address are warned
 * of, unless they are for different threads. 0 or -ERR_NOMEM, which is reported. */
int binds_finish(struct config *c) must_check;

#endif
