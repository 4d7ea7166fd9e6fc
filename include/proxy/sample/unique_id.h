/*
 * The unique id of a request, in mode tcp of a session (manual, unique-id-format): created when it
 * is first needed by a rule, the header or the log, and constant from then on.
 */
#ifndef TACIT_PROXY_SAMPLE_UNIQUE_ID_H
#define TACIT_PROXY_SAMPLE_UNIQUE_ID_H

#include "base/compiler.h"
#include "base/str.h"
#include "proxy/model/unique_id_conf.h"

struct arena;
struct cfg_diag;
struct http_head;
struct proxy;
struct proxies;
struct stream;

/* Compiles the format and adds a capture slot, when the proxy is complete. 0, or -1 after
 * errors. */
int unique_id_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;

/*
 * 1, with the id, which lives as long as the transaction; 0: there is none. a: context for the
 * format. A request's head must be complete.
 */
int unique_id_get(const struct stream *s, struct arena *a, struct str *out);
/* Adds it to the head for the server. 0 or a negative reason. */
int unique_id_add(const struct stream *s, struct http_head *req) must_check;

#endif
