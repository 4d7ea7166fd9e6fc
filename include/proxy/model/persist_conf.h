/*
 * What the configuration says of persistence (manual 4.2): how requests come back to the server
 * they were at before (`cookie`), and what has its say before that (`use-server`, `force-persist`,
 * `ignore-persist`). Of a backend.
 */
#ifndef TACIT_PROXY_MODEL_PERSIST_CONF_H
#define TACIT_PROXY_MODEL_PERSIST_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/str.h"
#include "cfg/diag.h"
#include "rule/match/cond.h"
#include "rule/sample/fmt.h"

struct proxies;
struct proxy;
struct server;

/* What is done about the cookie. */
enum persist_way {
	PERSIST_PASSIVE, /* it is looked at */
	PERSIST_REWRITE, /* the server sets it, and we fill it in */
	PERSIST_INSERT,  /* it is ours */
	PERSIST_PREFIX   /* it is the server's, and we write before it */
};

/* Behind the server's name in a cookie that is the server's. */
#define PERSIST_DELIMITER '~'

enum persist_what { PERSIST_FORCE, PERSIST_IGNORE, PERSIST_USE };

/* A line `force-persist`, `ignore-persist` or `use-server`. */
struct persist_rule {
	struct list link;
	enum persist_what what;
	struct rule_cond *cond;
	struct cfg_where where;
	/* PERSIST_USE: */
	char *name;
	struct rule_fmt *fmt;  /* the name is made for each session; NULL: it is `name` */
	struct server *srv;    /* resolved, when there is no fmt */
};

/* A server with a cookie. */
struct persist_entry {
	struct server *srv;
	unsigned int at;       /* its place in the file */
};

struct persist_conf {
	char *name;            /* of the cookie; NULL: none */
	enum persist_way way;
	uint8_t indirect, nocache, postonly, preserve;
	char *attrs;           /* behind a cookie that we set: "; domain=a; Secure", or NULL */
	unsigned int max_idle, max_life; /* s; 0: no bound */
	struct cfg_where where;
	struct list rules;     /* struct persist_rule: force and ignore; the first that holds */
	struct list uses;      /* struct persist_rule: use-server */
	struct persist_entry *entry; /* by cookie, then as in the file */
	unsigned int n_entries;
};

void persist_conf_init(struct persist_conf *c);
void persist_conf_fini(struct persist_conf *c);
/* Forgets the `cookie` line. */
void persist_conf_drop_cookie(struct persist_conf *c);
/* Takes over what defaults give: the cookie. 0 or -ERR_NOMEM. */
int persist_conf_inherit(struct persist_conf *c, const struct persist_conf *defaults) must_check;
void persist_rule_free(struct persist_rule **r);
/*
 * All proxies are known: resolves what the lines of p name, and reports what is wrong to d. 0 or
 * -ERR_NOMEM.
 */
int persist_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;

/* Is there anything to be asked? */
int persist_conf_is_empty(const struct persist_conf *c);
/* Does the log say what became of the cookie (manual 8.5)? */
int persist_conf_shows(const struct persist_conf *c);
/* The servers of that cookie, in the order of the file: the first place, and how many. */
unsigned int persist_conf_find(const struct persist_conf *c, struct str cookie, unsigned int *n);
/* SAMPLE_AT_x that hold where the lines of a backend in that mode are asked. */
unsigned int persist_scope(const struct proxy *be);

#endif
