/* The file that the states of a backend's servers are loaded from at start: keywords of proxies. */
#ifndef TACIT_PROXY_CONFIG_SERVER_CFG_H
#define TACIT_PROXY_CONFIG_SERVER_CFG_H

#include "cfg/ctx.h"
#include "cfg/registry.h"
#include "proxy/model/server.h"

/* The server option `source`, and the keyword. */
#define SOURCE_SYNTAX \
	"[interface <name>] [usesrc {<address>[:<port>]|client|clientip|" \
	"hdr_ip(<name>[,<occurrence>])}]"

extern const struct cfg_module server_state_cfg_module;

#endif
