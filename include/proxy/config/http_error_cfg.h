/* Keywords for error responses: errorfile and similar ones, and the section http-errors. */
#ifndef TACIT_PROXY_CONFIG_HTTP_ERROR_CFG_H
#define TACIT_PROXY_CONFIG_HTTP_ERROR_CFG_H

#include <stdint.h>
#include "cfg/registry.h"

struct cfg_ctx;

struct http_reply;

struct proxy_errors;

/* ctx->root is a struct proxies; ctx->obj is a struct proxy or error_group. */
extern const struct cfg_module errors_cfg_module;

extern const struct cfg_module http_error_cfg_module; /* http-error */

/* Maximum size read from a file; the limit for a reply is known when tune.bufsize is. */
#define ERRORS_CFG_FILE_MAX (1u << 20)

#endif
