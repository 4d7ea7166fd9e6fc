/*
 * Compression of bodies (HAProxy 2.6, 9.2, with the words of 3.x): a filter of mode http. Settings
 * that a backend does not have are those of the frontend. Responses are compressed for clients that
 * accept it, requests where that is configured.
 */
#ifndef TACIT_PROXY_FILTER_COMPRESS_H
#define TACIT_PROXY_FILTER_COMPRESS_H

#include "cfg/registry.h"
#include "proxy/model/compression.h"
#include "rule/sample/expr.h"

struct cfg_diag;
struct engine;
struct proxies;
struct proxy;

extern const struct cfg_module compress_cfg_module;
extern const struct rule_fetch compress_fetches[];

/* Copies the settings of a defaults section. 0 or -ERR_NOMEM. */
int compress_inherit(struct proxy *p, const struct proxy *defaults) must_check;

/* Notes lines without effect when all are read. */
void compress_finish(struct proxy *p, struct cfg_diag *d);

/* Gives an engine a compressor, if a proxy compresses. 0 or -ERR_NOMEM. To be called before it has
 * sessions. */
int engine_allow_compression(struct engine *e, const struct proxies *ps,
	const struct deflate_conf *conf) must_check;
/* Frees the compressor when the engine has no sessions left. */
void engine_compression_free(struct engine *e);

#endif
