/*
 * Log settings: `log` lines (struct log_line, base/log.h), tags and formats of proxies and of the
 * process.
 */
#ifndef TACIT_PROXY_LOG_LOG_CONF_H
#define TACIT_PROXY_LOG_LOG_CONF_H

#include "base/compiler.h"
#include "base/log.h"
#include "proxy/log/log_format.h"
#include "proxy/model/proxy_log.h"

struct cfg_diag;
struct proxies;
struct proxy;

void log_global_init(struct log_global *g);
void log_global_fini(struct log_global *g);
/* The process's names in its logs. progname, node and g must outlive *out. */
void log_global_ident(const struct log_global *g, const char *progname, const char *node, int pid,
		      struct log_ident *out);

void log_lines_free(struct list *lines);

/* Copies the defaults section's lines, tag and format. 0 or -ERR_NOMEM. */
int proxy_log_inherit(struct proxy *p, const struct proxy *defaults) must_check;
void proxy_log_fini(struct proxy *p);

/*
 * Completes the log settings: opens rings, applies log-send-hostname to lines without a format,
 * gives lines the tags of their profiles, replaces `log global` by the global lines, compiles the
 * formats of a frontend and of its profiles. root: the configuration. Reports to d; 0, or -1 after
 * an error.
 */
int log_global_finish(struct log_global *g, struct cfg_diag *d) must_check;
int proxy_log_finish(struct proxy *p, const struct log_global *g, struct proxies *root,
	struct cfg_diag *d) must_check;

/* The same for the subrequests of a backend, once all rules are known: their lines have the format
 * of `option httplog`. */
int proxy_log_finish_inner(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;

/* A profile has a text for a line without one of the proxy's at this step. */
int profile_lines_exist(const struct proxy *fe, enum log_step step);
/* Writes the line of e to each target, by its profile. On the session's worker. */
void profile_lines_send(const struct log_entry *e);

#endif
