/* Targets of `log` lines: addresses, descriptors and rings. */
#ifndef TACIT_PROXY_CONFIG_LOG_DEST_CFG_H
#define TACIT_PROXY_CONFIG_LOG_DEST_CFG_H

struct cfg_ctx;
struct log_line;

/* Argument 0, when the rest of the line is known: an implicit ring has its length. 0, or -1 after
 * cfg_error(). */
int log_dest_parse(struct cfg_ctx *ctx, struct log_line *l);

#endif
