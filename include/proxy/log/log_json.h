/*
 * The line of `option httplog json`: one object of JSON, whose fields are those of log_json.tbl.h,
 * all of them always.
 */
#ifndef TACIT_PROXY_LOG_LOG_JSON_H
#define TACIT_PROXY_LOG_LOG_JSON_H

#include "base/sbuf.h"
#include "proxy/sample/eval.h"

struct session;

/*
 * Writes it to out, which is empty, in at most `room` bytes: where texts are too long for that they
 * are cut, and the line says so. It is valid in any case; {"cut":true} is the least.
 */
void log_json_write(struct session *s, const struct log_context *cx, size_t room,
	struct sbuf *out);

#endif
