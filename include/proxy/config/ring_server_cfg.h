/* Servers of sections `ring` (manual 3.9). Main thread, while the configuration is read. */
#ifndef TACIT_PROXY_CONFIG_RING_SERVER_CFG_H
#define TACIT_PROXY_CONFIG_RING_SERVER_CFG_H

struct cfg_ctx;

/* `server` of the section ctx->obj, a struct ring_conf: 0, or -1 after cfg_error(). */
int ring_server_cfg_parse(struct cfg_ctx *ctx);

#endif
