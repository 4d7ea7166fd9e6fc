/*
 * Settings of health checks: the method of a backend with its rules (manual 4.2: option httpchk,
 * option tcp-check, http-check, tcp-check ...) and their options on server lines (manual 5.2).
 * Plain data: read by config, used by proxy/check.
 */
#ifndef TACIT_PROXY_MODEL_CHECK_CONF_H
#define TACIT_PROXY_MODEL_CHECK_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/str.h"
#include "cfg/diag.h"
#include "net/addr.h"
#include "rule/sample/expr.h"
#include "rule/sample/fmt.h"
#include "rule/sample/regex.h"
#include "rule/sample/var_cond.h"
#include "tls/cert.h"

/* Parts of the traffic that formats and expressions of rules may use: the server, and the last
 * response. */
#define CHECK_SCOPE (SAMPLE_AT_CHECK | SAMPLE_AT_RES)

/* Maximum length of the texts of external-check. */
#define CHECK_EXTERNAL_TEXT_MAX 4096

/* The method of a server's checks. All but CHECK_EXTERNAL run a list of rules. */
enum check_method {
	CHECK_CONNECT,    /* no option: the connection is enough */
	CHECK_TCP,        /* option tcp-check */
	CHECK_HTTP,       /* option httpchk */
	CHECK_MYSQL,
	CHECK_PGSQL,
	CHECK_REDIS,
	CHECK_SMTP,
	CHECK_LDAP,
	CHECK_SSL_HELLO,
	CHECK_SPOP,
	CHECK_AGENT,      /* agent-check of a server */
	CHECK_EXTERNAL    /* option external-check */
};

/* Results, with the manual's codes (show stat, check_status). */
enum check_status {
#define CHECK_STATUS(id, result, code, text) CHECK_##id,
#include "proxy/model/check_status.tbl.h"
#undef CHECK_STATUS
	CHECK_STATUSES
};

enum check_result {
	CHECK_UNKNOWN,    /* none yet, or without a meaning for the state */
	CHECK_NEUTRAL,    /* an agent's answer without a word on health */
	CHECK_FAILED,
	CHECK_PASSED,
	CHECK_CONDPASS    /* passed, but no new sessions (disable-on-404) */
};

enum check_rule_kind {
	CHECK_RULE_CONNECT,
	CHECK_RULE_SEND,
	CHECK_RULE_EXPECT,
	CHECK_RULE_SET_VAR,
	CHECK_RULE_UNSET_VAR
};

/* Bytes that are the same each time, or a format (fmt set). Owned. */
struct check_text {
	char *p;
	size_t len;
	struct rule_fmt *fmt;
};

enum check_proto { CHECK_PROTO_DEFAULT, CHECK_PROTO_H1, CHECK_PROTO_H2, CHECK_PROTO_NONE };

struct check_connect {
	struct addr addr;            /* len 0: the server's */
	unsigned int port;           /* 0: port_expr, or the server's check port or port */
	struct rule_expr *port_expr;
	uint8_t defaults;            /* `default`: encapsulation as on the server line */
	uint8_t send_proxy;          /* begins with a PROXY header */
	uint8_t via_socks4;          /* through the server's SOCKS4 proxy, if it has one */
	uint8_t linger;              /* closes with FIN, not with a reset */
	uint8_t ssl;                 /* uses TLS, whatever the server's checks do otherwise */
	char *sni;                   /* name that is asked for; NULL: none, or check-sni */
	struct tls_bytes alpn;       /* len 0: those of the server line */
	enum check_proto proto;      /* what is spoken, whatever a handshake agrees on */
};

struct check_header {
	char *name;
	struct rule_fmt *value;
};

/* The request of option httpchk. NULL: not given. Owned. */
struct check_request {
	char *method, *uri, *version;
	char *raw;                   /* old style: header lines and a body behind the version */
};

struct check_send {
	/* tcp-check send, send-lf, send-binary, send-binary-lf; hex: the format makes hex
	 * digits. */
	struct check_text data;
	uint8_t hex;
	/* http-check send: is_http. A missing part is that of `request`, then OPTIONS, "/",
	 * HTTP/1.0. */
	uint8_t is_http;
	char *method;
	struct check_text uri;
	char *version;               /* "HTTP/1.1" */
	struct check_header *headers; /* array of n_headers */
	unsigned int n_headers;
	struct check_text body;      /* p and fmt NULL: none */
	const struct check_request *request; /* of the backend; NULL: none */
};

enum check_match {
	CHECK_MATCH_STATUS,          /* list of statuses and ranges */
	CHECK_MATCH_RSTATUS,
	CHECK_MATCH_HDR,             /* elements of a header's list */
	CHECK_MATCH_FHDR,            /* whole values */
	CHECK_MATCH_STRING,          /* string, string-lf; mode http: in the body */
	CHECK_MATCH_RSTRING,
	CHECK_MATCH_BINARY,          /* binary, binary-lf */
	CHECK_MATCH_RBINARY,         /* regex over hex digits */
	CHECK_MATCH_PROTOCOL         /* of a built-in method: expect.protocol */
};

/* -m of a header's name or value. */
enum check_match_method {
	CHECK_METHOD_STR, CHECK_METHOD_BEG, CHECK_METHOD_END, CHECK_METHOD_SUB, CHECK_METHOD_REG
};

struct check_pattern {
	struct check_text text;
	struct regex *regex;         /* CHECK_METHOD_REG, RSTATUS, RSTRING, RBINARY */
	enum check_match_method how;
};

struct check_range {
	unsigned int lo, hi;         /* inclusive */
};

struct check_expect {
	enum check_match match;
	uint8_t negate;
	uint8_t is_http;             /* of http-check: the response is parsed */
	uint8_t has_match;           /* `match` is given */
	uint8_t has_value;           /* HDR, FHDR: `value` is given */
	int min_recv;                /* -1: not set */
	struct check_pattern pattern; /* STRING.. RBINARY, RSTATUS; HDR: of the name */
	struct check_pattern value;  /* HDR, FHDR */
	struct check_range *ranges;  /* STATUS */
	unsigned int n_ranges;
	/* CHECK_UNK: the default of the method. */
	enum check_status ok_status, error_status, tout_status;
	struct rule_fmt *on_success, *on_error;
	struct rule_expr *status_code;
	/* PROTOCOL: what is expected now, a value of enum check_protocol
	 * (proxy/check/protocol.h). */
	unsigned int protocol;
	/* is_http: enum http_method of the request before it. */
	unsigned int request_method;
};

struct check_set_var {
	struct var_name name;
	unsigned int conds;          /* of rule/sample/var_cond.h */
	struct rule_expr *expr;
	struct rule_fmt *fmt;        /* set-var-fmt */
};

struct check_rule {
	struct list link;            /* check_conf.rules */
	enum check_rule_kind kind;
	/* Its number among the lines of the section, from 1, also counting comments, as HAProxy
	 * counts steps; 0: it is implied. */
	unsigned int step;
	char *comment;               /* of `comment`, here or on a line before; NULL: none */
	uint8_t is_borrowed;         /* what it points to is owned by a defaults section */
	struct cfg_where where;
	union {
		struct check_connect connect;
		struct check_send send;
		struct check_expect expect;
		struct check_set_var var; /* also UNSET_VAR */
	} u;
};

/* The keywords that rules come from. */
enum check_family { CHECK_FAMILY_NONE, CHECK_FAMILY_TCP, CHECK_FAMILY_HTTP };

/* The health checks of a backend or a defaults section. */
struct check_conf {
	enum check_method method;
	struct cfg_where where;      /* of the option */
	struct check_request request;
	char *command;               /* external-check command; NULL: not set */
	char *path;                  /* external-check path: $PATH of the command; NULL: not set */
	char *user; /* of mysql-check, pgsql-check; smtpchk: "EHLO host"; or NULL */
	uint8_t pre_41;              /* mysql-check user <name> pre-41 */
	uint8_t disable_on_404;
	uint8_t send_state;
	uint8_t own_rules;           /* the section has http-check or tcp-check rules of its own */
	uint8_t begins_with_connect; /* the first of them that is not on a variable */
	enum check_family family;    /* of the rules */
	unsigned int steps;          /* number of own rules, with comment lines */
	char *comment;               /* of a comment line: for the next rule */
	struct check_order_error {
		const char *keyword;
		const char *missing; /* the rule before it; NULL: the order is right */
		unsigned int step;
		struct cfg_where where;
	} order;                     /* an error only if the rules are used */
	struct list rules;           /* struct check_rule, complete after check_conf_finish() */
};

void check_conf_init(struct check_conf *c);
/* Frees and clears. */
void check_conf_fini(struct check_conf *c);
/*
 * Copies the settings of a defaults section, which has to live longer: rules refer to its texts.
 * 0 or -ERR_NOMEM.
 */
int check_conf_inherit(struct check_conf *to, const struct check_conf *from) must_check;
/* Before a line of this family: rules of the other one are dropped, and inherited ones. */
void check_conf_set_family(struct check_conf *c, enum check_family family);
void check_conf_drop_rules(struct check_conf *c);
/* A new rule, at the end of the list, with the comment of the line before. NULL without memory. */
struct check_rule *check_rule_add(struct check_conf *c, enum check_rule_kind kind,
	struct cfg_where where) must_check;
/* set-var, set-var-fmt, unset-var. */
int check_rule_is_on_var(const struct check_rule *r);
/* True if a connect has the word ssl. */
int check_conf_has_ssl(const struct check_conf *c);
/* The last rule, without those on variables; NULL: none. */
const struct check_rule *check_conf_last_rule(const struct check_conf *c);
void check_request_fini(struct check_request *r);

/* Properties of a status: its result, code ("L4OK") and text ("Layer4 check passed"). */
enum check_result check_status_result(enum check_status s);
/* Its number in show servers state, and back: CHECK_STATUSES for an unknown one. */
unsigned int check_status_number(enum check_status s);
enum check_status check_status_of_number(unsigned int n);
const char *check_status_code(enum check_status s);
const char *check_status_text(enum check_status s);

/* The checks of a server (manual 5.2). Part of struct server_conf: owns agent_send and track. */
enum check_on_error {
	CHECK_ON_FAIL,
	CHECK_ON_FASTINTER,
	CHECK_ON_SUDDEN_DEATH,
	CHECK_ON_MARK_DOWN
};
enum check_observe { CHECK_OBSERVE_NONE, CHECK_OBSERVE_LAYER4, CHECK_OBSERVE_LAYER7 };
/* The state of a server before its first check, and the number of checks that change it. */
enum check_init_state {
	CHECK_INIT_UP,           /* one */
	CHECK_INIT_FULLY_UP,     /* `fall` */
	CHECK_INIT_DOWN,         /* one */
	CHECK_INIT_FULLY_DOWN    /* `rise` */
};

struct check_server_conf {
	int check;                   /* `check` */
	int agent;                   /* `agent-check` */
	unsigned int inter_ms, fastinter_ms, downinter_ms, agent_inter_ms; /* 0: not set */
	int rise, fall;
	int send_proxy;              /* check-send-proxy */
	int via_socks4;              /* check-via-socks4 */
	struct addr addr, agent_addr; /* len 0: the server's */
	unsigned int port, agent_port;
	char *agent_send;
	char *track;                 /* [<proxy>/]<server> */
	enum check_observe observe;
	enum check_on_error on_error;
	int error_limit;
	int shutdown_on_down;        /* on-marked-down shutdown-sessions */
	int shutdown_backups_on_up;  /* on-marked-up shutdown-backup-sessions */
	unsigned int slowstart_ms;
	enum check_init_state init_state;
	enum check_proto proto;      /* check-proto */
};

void check_server_conf_init(struct check_server_conf *c);
void check_server_conf_fini(struct check_server_conf *c);
/* Copies; 0 or -ERR_NOMEM: nothing was copied. */
int check_server_conf_copy(struct check_server_conf *to,
	const struct check_server_conf *from) must_check;

#endif
