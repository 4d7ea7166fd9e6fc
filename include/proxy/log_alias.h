/* The variables of log formats: what each writes of a session (configuration manual, 8.2.6 and
 * 8.4). */
#ifndef TACIT_PROXY_LOG_ALIAS_H
#define TACIT_PROXY_LOG_ALIAS_H

#include "proxy/log_format.h"

#define LOG_FLAG_QUOTE 1u  /* Q: strings and addresses in double quotes */
#define LOG_FLAG_HEX 2u    /* X: addresses, ports and some numbers in hexadecimal */
#define LOG_FLAG_ESCAPE 4u /* E: a backslash before '"', '\' and ']' */

struct log_render {
	const struct session *s;
	const struct log_context *cx;
	struct sbuf *out;
	unsigned int flags;
};

typedef void log_put_fn(struct log_render *r);

struct log_alias {
	const char *name;
	log_put_fn *put; /* NULL: not offered, why says it */
	enum log_stage stage;
	const char *why;
};

/* The variable called so, or NULL. */
const struct log_alias *log_alias_find(const char *name, size_t len);

#endif
