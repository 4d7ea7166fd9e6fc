/* The options of bind lines that concern TLS (manual 5.1). Main thread, while the configuration is
 * read. */
#ifndef TACIT_TLS_BIND_CFG_TLS_H
#define TACIT_TLS_BIND_CFG_TLS_H

#include "cfg/registry.h"

extern const struct cfg_module bind_cfg_tls_module;

#endif
