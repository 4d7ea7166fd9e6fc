/* An engine of SPOE as it is configured. Read on the main thread; workers only read it, but for
 * their own element of `run`. */
#ifndef TACIT_PROXY_FILTER_SPOE_CONF_H
#define TACIT_PROXY_FILTER_SPOE_CONF_H

#include "cfg/diag.h"
#include "cfg/value.h"
#include "proxy/model/filter.h"
#include "proxy/model/shard.h"
#include "rule/match/acl.h"
#include "rule/sample/var.h"

struct spoe_run;

enum spoe_event {
	SPOE_CLIENT_SESSION,
	SPOE_FE_TCP_REQUEST,
	SPOE_BE_TCP_REQUEST,
	SPOE_FE_HTTP_REQUEST,
	SPOE_BE_HTTP_REQUEST,
	SPOE_SERVER_SESSION,
	SPOE_TCP_RESPONSE,
	SPOE_HTTP_RESPONSE,
	SPOE_EVENTS
};

struct spoe_arg {
	struct spoe_arg *next;
	char *name;              /* "": none */
	struct cfg_where where;
	struct rule_expr *expr;
};

struct spoe_message {
	struct list link;        /* in spoe_conf.messages */
	char *name;
	struct rule_acls acls;
	struct spoe_arg *args;
	unsigned int n_args;
	enum spoe_event event;   /* SPOE_EVENTS: none */
	struct cfg_where where;  /* of the event, or of the message */
	struct rule_cond *cond;  /* of the event; NULL: always */
	int is_listed;           /* the agent sends it on its event */
};

/* Messages by name: a line may stand before the section that it names. */
struct spoe_name {
	struct spoe_name *next;
	char *text;
	struct cfg_where where;
	struct spoe_message *message; /* once all sections are read */
};

struct spoe_group {
	struct list link;        /* in spoe_conf.groups */
	char *name;
	struct cfg_where where;
	struct spoe_name *messages;
	int is_listed;           /* the agent has it */
};

/* A variable that an option names. */
struct spoe_var {
	int is_set;
	char *name;              /* as the option has it */
	struct var_name var;     /* txn.PREFIX.NAME, once the section is read */
};

enum spoe_var_use { SPOE_VAR_ERROR, SPOE_VAR_PROCESS, SPOE_VAR_TOTAL, SPOE_VARS };

#define SPOE_NO_ASYNC 1u
#define SPOE_NO_PIPELINING 2u
#define SPOE_CONTINUE_ON_ERROR 4u
#define SPOE_FORCE_SET_VAR 8u
#define SPOE_DONTLOG_NORMAL 16u
#define SPOE_LOGS 32u

struct spoe_conf {
	struct filter_conf conf; /* its name: of the scope; without one that of the agent */
	struct cfg_where where;
	char *agent;             /* NULL: not read yet */
	struct cfg_where agent_where;
	char *prefix;            /* of variables */
	char *be_name;
	struct cfg_where be_where;
	struct proxy *be;
	unsigned int flags;      /* SPOE_x */
	uint32_t hello_ms, idle_ms, processing_ms; /* 0: no limit */
	uint32_t max_frame;      /* 0: as large as a buffer permits */
	struct cfg_where max_frame_where;
	int max_waiting;
	int max_conn_rate, max_err_rate; /* 0: no limit */
	int events;              /* bits, 1u << enum spoe_event, that it sends messages on */
	struct spoe_var var[SPOE_VARS];
	struct spoe_name *listed_messages, *listed_groups;
	struct list messages, groups;
	struct spoe_run *run[ENGINES_MAX]; /* of each worker; NULL: it has sent nothing */
};

extern const struct filter_kind spoe_kind;
/* `free` of that: frees the engine with its messages, groups and variables, not its backend. */
void spoe_conf_free(struct filter_conf *conf);

/* Names of events, by number. */
extern const struct cfg_enum spoe_event_words[];
/* The name of a variable of an agent: 0, or -1 with *why. */
int spoe_var_name(const char *scope, const char *prefix, struct str name, struct var_name *out,
	const char **why) must_check;

#endif
