/*
 * Persistence settings of a backend (manual 4.2): `cookie`, and the rules that take precedence over
 * it (`use-server`, `force-persist`, `ignore-persist`).
 */
#ifndef TACIT_PROXY_MODEL_PERSIST_CONF_H
#define TACIT_PROXY_MODEL_PERSIST_CONF_H

#include <stddef.h>
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
struct table;

/*
 * Cookies of servers made of their addresses and a secret key of the backend (manual 4.2, `cookie
 * dynamic`): proxies with the same key make the same ones. The first worker changes them when an
 * address or the key changes; others read them without a lock.
 */

/* Room for the text of a cookie. */
#define DYNAMIC_COOKIE_TEXT 17
/* Maximum length of a key. */
#define DYNAMIC_COOKIE_KEY_MAX 1024

struct dynamic_cookie {
	struct server *srv;
	uint64_t value;      /* 0: none; any worker may read it (atomic_read) */
};

struct dynamic_cookies {
	int is_on;           /* `dynamic`, or by command */
	char *key;           /* dynamic-cookie-key; NULL: none */
	struct dynamic_cookie *entry; /* of servers without `cookie`, in file order */
	unsigned int n;
};

/* On the first worker: sets the cookies after a change of the key or of is_on. */
void dynamic_cookies_set(struct proxy *p);
/* The same for one server, whose address has changed. */
void dynamic_cookie_set(struct server *s);

/* The value of a cookie that a client has sent; 0: it is none of these. */
uint64_t dynamic_cookie_parse(struct str text);
/* The next server with it, from *at on, which begins with 0; NULL: no more. */
struct server *
dynamic_cookie_next(const struct dynamic_cookies *d, uint64_t value, unsigned int *at);
/* The cookie of a server, from its line or made, in text or its own; NULL: it has none. */
const char *server_cookie(const struct server *s, char text[DYNAMIC_COOKIE_TEXT]);

/* Handling of the cookie. */
enum persist_way {
	PERSIST_PASSIVE, /* it is only read */
	PERSIST_REWRITE, /* the server sets it, tacit replaces its value */
	PERSIST_INSERT,  /* tacit sets it */
	PERSIST_PREFIX   /* the server sets it, tacit adds a prefix */
};

/* Separates the server's name from the server's own cookie value. */
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
	struct rule_fmt *fmt;  /* format of the name; NULL: `name` is used */
	struct server *srv;    /* the resolved server, when there is no fmt */
};

/* Parts of a `stick` line: `on` is a match and a store-request. */
#define STICK_MATCH 1u
#define STICK_STORE 2u
#define STICK_STORE_RESPONSE 4u

/* A line `stick on`, `stick match`, `stick store-request` or `stick store-response`. */
struct stick_rule {
	struct list link;
	unsigned int what;     /* STICK_x */
	struct rule_expr *expr;
	struct rule_cond *cond; /* NULL: always */
	char *table_name;
	struct table *table;   /* when the configuration is complete */
	struct cfg_where where;
};

/* Stores of one request or response: as in HAProxy. */
#define STICK_STORES_MAX 8

/* A server with a cookie. */
struct persist_entry {
	struct server *srv;
	unsigned int at;       /* its position in the file */
};

struct persist_conf {
	char *name;            /* of the cookie; NULL: none */
	enum persist_way way;
	uint8_t indirect, nocache, postonly, preserve;
	uint8_t looks;         /* mode tcp: rules inspect the bytes that have come */
	char *attrs;           /* attributes of a cookie that tacit sets: "; domain=a; Secure", or
			        * NULL */
	char *extra;           /* what `attr` has added to them, in any line and in the defaults
			        * section: "; a=b", or NULL */
	unsigned int max_idle, max_life; /* in s; 0: no limit */
	struct cfg_where where;
	struct list rules;     /* struct persist_rule: force and ignore; the first match applies */
	struct list uses;      /* struct persist_rule: use-server */
	struct list sticks;    /* struct stick_rule */
	unsigned int stick_what; /* their STICK_x together; 0: there are none */
	struct persist_entry *entry; /* sorted by cookie, then by file order */
	unsigned int n_entries;
	struct dynamic_cookies dynamic;
	char *rdp_cookie;      /* persist rdp-cookie: its name; NULL: none */
	struct cfg_where rdp_where;
};

void persist_conf_init(struct persist_conf *c);
void persist_conf_fini(struct persist_conf *c);
/* Deletes the `cookie` settings, but for those of `attr`: lines add to them, as in HAProxy. */
void persist_conf_drop_cookie(struct persist_conf *c);
/* Copies the cookie settings of the defaults section. 0 or -ERR_NOMEM. */
int persist_conf_inherit(struct persist_conf *c, const struct persist_conf *defaults) must_check;
void persist_rule_free(struct persist_rule **r);
void stick_rule_free(struct stick_rule **r);
/* Makes the index of its servers by cookie, and their dynamic cookies, if it has a cookie: 0, or
 * -ERR_NOMEM: a server may be missing. */
int persist_conf_index(struct proxy *p) must_check;
/* A server is removed, which may be in the index. */
void persist_conf_forget(struct persist_conf *c, struct server *s);
/*
 * Resolves the names in the lines of p when all proxies are known, and reports errors to d. 0 or
 * -ERR_NOMEM.
 */
int persist_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;

/* True if no persistence is configured. */
static inline int
persist_conf_is_empty(const struct persist_conf *c)
{
	return !c->name && !c->rdp_cookie && !(c->stick_what & (STICK_MATCH | STICK_STORE)) &&
		list_is_empty(&c->rules) && list_is_empty(&c->uses);
}

/* True if the log shows the state of the cookie (manual 8.5). */
int persist_conf_shows(const struct persist_conf *c);
/* The servers with this cookie, in file order: the first index, and their number. */
unsigned int persist_conf_find(const struct persist_conf *c, struct str cookie, unsigned int *n);
/* SAMPLE_AT_x that are available to these rules in this mode. */
unsigned int persist_scope(const struct proxy *be);

#endif
