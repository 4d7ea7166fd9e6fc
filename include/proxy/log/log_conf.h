/*
 * What the configuration says about logs: `log` lines (struct log_line, base/log.h), tags and
 * formats of proxies and of the process.
 */
#ifndef TACIT_PROXY_LOG_LOG_CONF_H
#define TACIT_PROXY_LOG_LOG_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/log.h"
#include "cfg/diag.h"

struct cfg_diag;
struct proxies;
struct proxy;
struct rule_fmt;
struct rule_vocab;

#define LOG_LINES_MAX 32 /* of one section */
#define LOG_TAG_MAX 64   /* bytes of a log-tag, and of a host's name */

/* Of `global`. */
struct log_global {
	struct list lines;   /* struct log_line */
	char *tag;           /* log-tag; NULL: the program's name */
	char *hostname;      /* log-send-hostname; "": this machine's name; NULL: not given */
};

/* The formats that options name. */
enum log_preset {
	LOG_PRESET_NONE,
	LOG_PRESET_TCP,
	LOG_PRESET_HTTP,
	LOG_PRESET_CLF,
	LOG_PRESET_JSON
};

/* A format beside that of the lines. */
struct log_text {
	char *text;                 /* NULL: there is none */
	struct cfg_where where;
	struct rule_fmt *fmt;       /* compiled */
};

/* Of a proxy, beside its lines (proxy.logs) and options. */
struct proxy_log {
	char *tag;                  /* log-tag; NULL: that of the process */
	enum log_preset preset;     /* option tcplog, httplog: without log-format */
	char *format_text;          /* log-format; NULL: the preset's */
	struct cfg_where format_where;
	struct rule_fmt *format;  /* compiled; NULL: the default line, or that of json */
	int json;                   /* log_json.h writes it */
	struct log_text error;      /* error-log-format: of what is no request */
	struct log_text sd;         /* log-format-sd: structured data of RFC 5424 */
	uint64_t count;             /* lines written: %lc */
};

void log_global_init(struct log_global *g);
void log_global_fini(struct log_global *g);
/* Who the process is in its logs. progname, node and g must outlive *out. */
void log_global_ident(const struct log_global *g, const char *progname, const char *node, int pid,
		      struct log_ident *out);

void log_lines_free(struct list *lines);

/* What a proxy takes over from its defaults: lines, tag, format. 0 or -ERR_NOMEM. */
int proxy_log_inherit(struct proxy *p, const struct proxy *defaults) must_check;
void proxy_log_fini(struct proxy *p);

/*
 * The configuration is complete: gives lines without a format the one that log-send-hostname asks
 * for, puts the global lines in the place of `log global`, compiles a frontend's formats. root: the
 * configuration. Reports to d; 0, or -1 after an error.
 */
void log_global_finish(struct log_global *g);
int proxy_log_finish(struct proxy *p, const struct log_global *g, struct proxies *root,
	struct cfg_diag *d) must_check;

#endif
