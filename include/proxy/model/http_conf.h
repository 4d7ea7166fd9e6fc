/* What the configuration says of HTTP in a proxy (configuration manual, 4): for mode http only. */
#ifndef TACIT_PROXY_MODEL_HTTP_CONF_H
#define TACIT_PROXY_MODEL_HTTP_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"

struct cfg_diag;
struct proxy;

/* http-reuse: which requests may go over a connection that another session left behind. */
enum http_reuse {
	HTTP_REUSE_SAFE,       /* all but the first of a session */
	HTTP_REUSE_NEVER,      /* none */
	HTTP_REUSE_AGGRESSIVE, /* the first too, over one that was reused before */
	HTTP_REUSE_ALWAYS      /* any */
};

/* How connections go on after a response, the weakest first: of a frontend and a backend that
 * differ, the strongest holds. */
enum http_persistence { HTTP_KEEP_ALIVE, HTTP_SERVER_CLOSE, HTTP_CLOSE };

/* retry-on: a bit for each failure that is worth another attempt. */
enum http_retry {
#define HTTP_RETRY(id, name, all) HTTP_RETRY_##id,
#define HTTP_RETRY_STATUS(status, all) HTTP_RETRY_##status,
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
	HTTP_RETRIES
};

struct http_conf {
	enum http_reuse reuse;
	enum http_persistence persistence;
	uint32_t retry_on;   /* 1 << enum http_retry */
	char *monitor_uri;   /* NULL: none */
	struct list monitor_fails; /* struct monitor_rule, of the section itself */
	/* Keywords about HTTP that the section itself has, a bit each: for what is said of them in
	 * mode tcp. */
	uint32_t given;
};

/* As the manual's defaults. */
void http_conf_init(struct http_conf *c);
void http_conf_fini(struct http_conf *c);
/* Takes over what defaults give a proxy that can do caps. 0 or -ERR_NOMEM. */
int http_conf_inherit(struct http_conf *c, const struct http_conf *defaults,
	unsigned int caps) must_check;

/* Does the connection to the client end with the response? The frontend alone decides. */
int http_closes_client(const struct proxy *fe);
/* Does the connection to the server? Either of the two is enough. */
int http_closes_server(const struct proxy *fe, const struct proxy *be);
/* Is a response of that status worth another attempt? */
int http_retries_status(const struct proxy *be, unsigned int status);
int http_retries(const struct proxy *be, enum http_retry what);

#endif
