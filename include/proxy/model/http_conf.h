/* HTTP settings of a proxy (configuration manual, 4), for mode http only. */
#ifndef TACIT_PROXY_MODEL_HTTP_CONF_H
#define TACIT_PROXY_MODEL_HTTP_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"

struct proxy;
struct rule_cond;

/* http-reuse: which requests may use an idle connection of another session. */
enum http_reuse {
	HTTP_REUSE_SAFE,       /* all except the first request of a session */
	HTTP_REUSE_NEVER,      /* none */
	HTTP_REUSE_AGGRESSIVE, /* the first request too, on a connection that was reused before */
	HTTP_REUSE_ALWAYS      /* any */
};

/* Connection modes, in ascending precedence: if frontend and backend differ, the higher one
 * applies. */
enum http_persistence { HTTP_KEEP_ALIVE, HTTP_SERVER_CLOSE, HTTP_CLOSE };

/* option http-restrict-req-hdr-names: the treatment of characters other than letters, digits and
 * hyphens. */
enum http_names { HTTP_NAMES_PRESERVE, HTTP_NAMES_DELETE, HTTP_NAMES_REJECT };

/* retry-on: one bit for each kind of failure. */
enum http_retry {
#define HTTP_RETRY(id, name, all, text) HTTP_RETRY_##id,
#define HTTP_RETRY_STATUS(status, all) HTTP_RETRY_##status,
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
	HTTP_RETRIES
};

/* A line `monitor fail`: requests for monitor-uri are answered with 503 if the condition holds. */
struct monitor_rule {
	struct list link;        /* http_conf.monitor_fails */
	struct rule_cond *cond;
	struct cfg_where where;
};

struct http_conf {
	enum http_reuse reuse;
	enum http_persistence persistence;
	enum http_names names;
	uint32_t retry_on;   /* 1 << enum http_retry */
	char *monitor_uri;   /* NULL: none */
	struct list monitor_fails; /* struct monitor_rule, of this section only */
	char *send_name;     /* http-send-name-header: a field name; NULL: none */
	int max_ka_queue;    /* max-keep-alive-queue; -1: no limit */
	/* HTTP keywords of the section itself, one bit each, for warnings in mode tcp. */
	uint32_t given;
};

/* Sets the manual's defaults. */
void http_conf_init(struct http_conf *c);
void http_conf_fini(struct http_conf *c);
/* Copies the defaults section's settings that apply to a proxy with caps. 0 or -ERR_NOMEM. */
int http_conf_inherit(struct http_conf *c, const struct http_conf *defaults,
	unsigned int caps) must_check;

/* Removes it from its list, too. */
void monitor_rule_free(struct monitor_rule **r);

/* True if the connection to the client is closed after the response. Only the frontend decides. */
int http_closes_client(const struct proxy *fe);
/* True if the connection to the server is closed after the response: if either of the two requires
 * it. */
int http_closes_server(const struct proxy *fe, const struct proxy *be);
/* True if a response with this status is to be retried. */
int http_retries_status(const struct proxy *be, unsigned int status);
int http_retries(const struct proxy *be, enum http_retry what);

#endif
