/* Log settings of `global` and proxies: tags and formats. The `log` lines of a proxy are
 * proxy.logs. */
#ifndef TACIT_PROXY_MODEL_PROXY_LOG_H
#define TACIT_PROXY_MODEL_PROXY_LOG_H

#include <stdint.h>

#include "base/list.h"
#include "cfg/diag.h"

struct rule_fmt;

#define LOG_LINES_MAX 32 /* of one section */
#define LOG_TAG_MAX 64   /* bytes of a log-tag, and of a host's name */

/* The log settings of `global`. */
struct log_global {
	struct list lines;   /* struct log_line */
	struct list rings;   /* struct ring_conf: proxy/model/ring_conf.h */
	struct list profiles; /* struct log_profile: proxy/model/log_profile.h */
	char *tag;           /* log-tag; NULL: the program's name */
	char *hostname;      /* log-send-hostname; "": this machine's name; NULL: not given */
};

/* Formats selected by options. */
enum log_preset {
	LOG_PRESET_NONE,
	LOG_PRESET_TCP,
	LOG_PRESET_HTTP,
	LOG_PRESET_HTTPS,
	LOG_PRESET_CLF,
	LOG_PRESET_JSON
};

/* An additional format, besides that of the lines. */
struct log_text {
	char *text;                 /* NULL: none */
	struct cfg_where where;
	struct rule_fmt *fmt;       /* compiled */
};

/* The log settings of a proxy, in addition to its lines (proxy.logs) and options. */
struct proxy_log {
	char *tag;                  /* log-tag; NULL: the process's */
	enum log_preset preset;     /* option tcplog, httplog: used without log-format */
	char *format_text;          /* log-format; NULL: the preset's */
	struct cfg_where format_where; /* of either */
	struct rule_fmt *format;  /* compiled; NULL: the default format, or JSON */
	int json;                   /* written by log_json.h */
	struct log_text error;      /* error-log-format: for connections without a valid request */
	struct log_text sd;         /* log-format-sd: structured data of RFC 5424 */
	unsigned int steps;         /* log-steps: bits of enum log_step; 0: not given */
	int has_profiles;           /* lines of proxy.logs have a profile: log/log_conf.h */
	int profile_stage;          /* enum log_stage at which what they need is known */
	uint64_t count;             /* number of lines written: %lc */
};

#endif
