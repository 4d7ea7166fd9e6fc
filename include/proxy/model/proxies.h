/* All proxies of a configuration, and the checks that need the complete configuration. */
#ifndef TACIT_PROXY_MODEL_PROXIES_H
#define TACIT_PROXY_MODEL_PROXIES_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"
#include "dns/resolvers.h"
#include "http/name_case.h"
#include "http/status_set.h"
#include "net/bind_cfg.h"
#include "proxy/model/peers_conf.h"
#include "proxy/model/proxy.h"
#include "rule/match/pattern_file.h"
#include "rule/match/userlist.h"
#include "rule/sample/expr.h"

struct cache_section;
struct cfg_diag;
struct resolvers;
struct table;

#define PROXIES_MAX 65535

/*
 * The application's configuration object, ctx->root in parse functions, starts with this structure:
 * `struct config { struct proxies proxies; ... }`.
 */
struct proxies {
	struct list all;      /* struct proxy.link, file order */
	struct list defaults; /* defaults sections, file order */
	struct list error_groups; /* struct error_group.link: http-errors sections */
	unsigned int n;       /* number of all proxies */
	unsigned int n_accounts; /* of frontends in the ledger */
	/* The internal frontend that HAProxy makes for the stats sockets takes an id, too: it comes
	 * behind so many proxies. */
	int has_admin_frontend;
	unsigned int n_before_admin;
	struct list removed;  /* struct server.link: memory for servers that are added */
	struct name_index guids; /* where each is: of a proxy or server */
	struct name_index frontends, backends, error_group_names; /* listen sections are in both */
	struct name_index tables; /* proxies that have a table */
	struct list caches;      /* struct cache_section.link: sections cache */
	struct list mailers;     /* struct mailers_conf.link: sections mailers */
	struct list peers;       /* struct peers_conf.link: sections peers */
	struct table **every_table; /* of proxies, then of sections peers: in the order of lines */
	unsigned int n_tables;
	const char *local_peer;  /* the name of the process among peers */
	_Atomic int peers_news;  /* tables that peers share have changed (table_share()) */
	unsigned int stick_counters; /* tune.stick-counters */
	unsigned int n_tracked; /* number of them that rules use */
	struct status_set err_codes, fail_codes; /* http-err-codes, http-fail-codes */
	struct log_global log; /* of the section global */
	struct rule_vocab vocab; /* of rules and formats */
	struct pattern_files files; /* pattern files that they use */
	struct userlists userlists; /* sections userlist */
	struct name_case name_case; /* of the section global */
	struct list resolvers; /* struct resolvers.link: sections resolvers */
	/* The address that the name of a server had in a previous process: 1, or 0: none. NULL:
	 * there was none. */
	int (*last_addr)(void *arg, const struct server *s, struct addr *out);
	void *last_arg;
	struct dns_families families; /* dns-accept-family */
	int keep_unresolved;   /* -dr: a server's name that cannot be resolved is no error */
	unsigned int cookie_max; /* tune.http.cookielen: maximum size of a captured cookie */
	struct bind_unix unix_bind; /* global unix-bind, of the `bind` lines that follow */
	int sets_mark;           /* some rule sets the mark of packets: needs CAP_NET_ADMIN */
	int never_local;         /* pp2-never-send-local */
	int external_checks;     /* global external-check: commands may be run */
	int spread_checks;       /* per cent of a check's interval that are random */
	unsigned int max_spread_checks_ms; /* between the first checks of a backend; 0: no limit */
	size_t capture_size;     /* largest capture memory of a transaction, after
				  * proxies_finish() */
};

/* Takes ownership of p, also on failure. 0 or -ERR_NOMEM. */
int proxies_add(struct proxies *ps, struct proxy *p) must_check;
/* Notes that the section global has a line about stats sockets: see has_admin_frontend. */
void proxies_note_admin(struct proxies *ps);
/* The first proxy of this name with at least one of `caps` (PROXY_FE, PROXY_BE), or NULL. */
struct proxy *proxies_find(const struct proxies *ps, const char *name, unsigned int caps);
struct resolvers *proxies_find_resolvers(const struct proxies *ps, const char *name);
/* The stick table of this name, or NULL. Complete once all sections are read. */
struct table *proxies_find_table(const struct proxies *ps, const char *name);
/* The section cache of this name, or NULL. */
struct cache_section *proxies_find_cache(const struct proxies *ps, const char *name);
/* The section peers of this name, or NULL. */
struct peers_conf *proxies_find_peers(const struct proxies *ps, const char *name);
struct proxy *proxies_find_id(const struct proxies *ps, int id);
/* Once, when all proxies are known: a rule may choose a disabled backend if some frontend forces
 * that, so it is prepared like others, and is not published. */
void proxies_unpublish_disabled(struct proxies *ps);
/* A backend is published now, or is not: sets proxy.passes_over of all frontends. All workers but
 * the caller's are paused. */
void proxies_note_unpublished(struct proxies *ps);

#endif
