/* Copies the request line for the log. On the session's worker. */
#include "proxy/sample/http_line.h"

#include <string.h>

struct str
http_line_method(const struct http_txn *t)
{
	const char *end = t && t->line_len ? memchr(t->line, ' ', t->line_len) : NULL;

	if (!t)
		return (struct str){ NULL, 0 };
	return (struct str){ t->line, end ? (size_t)(end - t->line) : t->line_len };
}

/* The parts between the blanks; a truncated line has only the first ones. */
struct str
http_line_target(const struct http_txn *t)
{
	struct str method = http_line_method(t), rest;
	const char *end;

	if (!t)
		return (struct str){ NULL, 0 };
	if (method.len == t->line_len)
		return (struct str){ t->line + t->line_len, 0 };
	rest = (struct str){ t->line + method.len + 1, t->line_len - method.len - 1 };
	end = memrchr(rest.p, ' ', rest.len);
	return end ? (struct str){ rest.p, (size_t)(end - rest.p) } : rest;
}
