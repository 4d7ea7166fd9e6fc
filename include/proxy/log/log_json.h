/*
 * The line of `option httplog json`: one JSON object, always with all fields of log_json.tbl.h.
 */
#ifndef TACIT_PROXY_LOG_LOG_JSON_H
#define TACIT_PROXY_LOG_LOG_JSON_H

#include "base/sbuf.h"
#include "proxy/sample/eval.h"

struct stream;

/*
 * Writes the line to out, which is empty, in at most `room` bytes: texts that are too long are
 * truncated, and the line shows it. The line is always valid; {"cut":true} is the minimum.
 */
void log_json_write(struct stream *s, const struct log_context *cx, size_t room,
	struct sbuf *out);

#endif
