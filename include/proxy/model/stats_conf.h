/* The statistics page of a proxy: the keywords `stats ...` (manual 4.2). */
#ifndef TACIT_PROXY_MODEL_STATS_CONF_H
#define TACIT_PROXY_MODEL_STATS_CONF_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/str.h"
#include "cfg/diag.h"

struct rule_cond;

#define STATS_URI_DEFAULT "/haproxy?stats"
#define STATS_REALM_DEFAULT "HAProxy Statistics"

enum stats_flag {
	STATS_HIDE_VERSION = 1u << 0,
	STATS_LEGENDS      = 1u << 1,
	STATS_MODULES      = 1u << 2,
	STATS_NODE         = 1u << 3, /* show-node */
	STATS_DESC         = 1u << 4  /* show-desc */
};

/* The values of service_job.flags for a job of the statistics. Its conf is the struct proxy. */
enum stats_job_flag {
	STATS_JOB_POST    = 1u << 0,
	STATS_JOB_ADMIN   = 1u << 1, /* a line `stats admin` allows changes */
	STATS_JOB_FOREIGN = 1u << 2, /* the form is of another site */
	STATS_JOB_CUT     = 1u << 3  /* the body does not fit into a buffer */
};

/* A line `stats auth` or `stats scope`. */
struct stats_user {
	struct list link;
	char *name, *password;
};

struct stats_scope {
	struct list link;
	char *name;              /* "." is the section itself */
};

/* A line `stats admin`. */
struct stats_admin_rule {
	struct list link;
	struct rule_cond *cond;
	struct cfg_where where;
};

struct stats_conf {
	char *uri, *realm;       /* NULL: the default */
	struct list users;       /* struct stats_user; empty: all clients may see it */
	struct list scopes;      /* struct stats_scope; empty: all proxies */
	struct list admin_rules; /* struct stats_admin_rule */
	unsigned int refresh_s;  /* 0: none */
	unsigned int flags;      /* enum stats_flag */
	char *node, *desc;       /* NULL: those of the section global */
};

/* NULL when memory is out. */
struct stats_conf *stats_conf_new(void) must_check;
void stats_conf_free(struct stats_conf **c);
/* The copy that a proxy gets of its defaults section's, which has no conditions. NULL when memory
 * is out. */
struct stats_conf *stats_conf_copy(const struct stats_conf *defaults) must_check;
/* 0 or -ERR_NOMEM. */
int stats_conf_add_user(struct stats_conf *c, struct str name, const char *password) must_check;
int stats_conf_add_scope(struct stats_conf *c, const char *name) must_check;
/* True if the page of the section `own` shows the proxy of this name. */
int stats_conf_shows(const struct stats_conf *c, const char *own, const char *proxy);
/* True if they are the name and password of a user. The time does not depend on how much of them is
 * correct. */
int stats_conf_admits(const struct stats_conf *c, struct str name, struct str password);

static inline const char *
stats_conf_uri(const struct stats_conf *c)
{
	return c->uri ? c->uri : STATS_URI_DEFAULT;
}

static inline const char *
stats_conf_realm(const struct stats_conf *c)
{
	return c->realm ? c->realm : STATS_REALM_DEFAULT;
}

#endif
