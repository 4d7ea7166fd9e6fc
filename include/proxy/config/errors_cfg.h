/* Keywords for error responses: errorfile and similar ones, and the section http-errors. */
#ifndef TACIT_PROXY_CONFIG_ERRORS_CFG_H
#define TACIT_PROXY_CONFIG_ERRORS_CFG_H

#include <stdint.h>

#include "cfg/registry.h"

struct cfg_ctx;
struct http_reply;
struct proxy_errors;

/* ctx->root is a struct proxies; ctx->obj is a struct proxy or error_group. */
extern const struct cfg_module errors_cfg_module;
extern const struct cfg_module http_error_cfg_module; /* http-error */

/* --- for both of them --- */

/* Maximum size read from a file; the limit for a reply is known when tune.bufsize is. */
#define ERRORS_CFG_FILE_MAX (1u << 20)

/* The number of the error with the status in the argument, or -1. */
int errors_cfg_status(struct cfg_ctx *ctx, int i);
/* Adds a reply, or those of a group, for the errors in `which`. Takes ownership of the reply. 0 or
 * -1. */
int errors_cfg_add(struct cfg_ctx *ctx, uint32_t which, struct http_reply *reply, const char *group,
	int i);
/* Reads the whole reply from the file in argument i. 0 or -1. */
int errors_cfg_read(struct cfg_ctx *ctx, int i, struct http_reply **out);
/* The owner of the line: a proxy or a section http-errors. */
struct proxy_errors *errors_cfg_owner(struct cfg_ctx *ctx);

#endif
