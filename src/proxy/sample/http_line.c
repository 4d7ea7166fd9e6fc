/* Copies the request line for the log. On the session's worker. */
#include "proxy/sample/http_line.h"

#include <string.h>

/* Returns how much of it there was room for. */
static uint32_t
keep_part(struct http_txn *t, struct str part)
{
	size_t n = MIN(part.len, t->line_max - t->line_len);

	memcpy(t->line + t->line_len, part.p, n);
	t->line_len += (uint32_t)n;
	return (uint32_t)n;
}

void
http_line_keep(struct http_txn *t)
{
	const struct http_head *h = &t->req;

	t->line_len = 0;
	t->line_method = keep_part(t, h->method_text);
	(void)keep_part(t, STR(" "));
	t->line_target = keep_part(t, h->target);
	(void)keep_part(t, STR(" "));
	(void)keep_part(t, http_version_name(h->version));
}

void
http_line_drop(struct http_txn *t)
{
	t->line_len = t->line_method = t->line_target = 0;
}

struct str
http_line_method(const struct http_txn *t)
{
	return t ? (struct str){ t->line, t->line_method } : (struct str){ NULL, 0 };
}

/* A truncated line may end before it. */
struct str
http_line_target(const struct http_txn *t)
{
	if (!t)
		return (struct str){ NULL, 0 };
	return (struct str){ t->line + MIN(t->line_method + 1u, t->line_len), t->line_target };
}
