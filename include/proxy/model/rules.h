/*
 * The rules of a proxy (manual 4.2): its own, preceded by those of its named defaults section.
 */
#ifndef TACIT_PROXY_MODEL_RULES_H
#define TACIT_PROXY_MODEL_RULES_H

#include "rule/action/action.h"

struct cfg_diag;
struct proxy;
struct proxies;

/* Rule lists: one for each place, the `redirect` lines, which follow http-request, and `stats
 * http-request`; events of a frontend's filters, which come before the http-response rules of both
 * proxies, and before the tcp-response rules of the backend. */
#define RULES_REDIRECT RULE_PLACES
#define RULES_STATS (RULE_PLACES + 1)
#define RULES_RES_EVENTS (RULE_PLACES + 2)
#define RULES_TCP_EVENTS (RULE_PLACES + 3)
#define RULES_LISTS (RULE_PLACES + 4)

struct proxy_rules {
	struct list own[RULES_LISTS];      /* struct rule.link */
	const struct proxy_rules *before;  /* the rules of the defaults section; NULL: none */
	unsigned int has;                  /* non-empty lists, here or before: one bit each */
	unsigned int inspect_ms;           /* tcp-request inspect-delay; 0: none */
	unsigned int inspect_response_ms;  /* tcp-response inspect-delay */
};

/* Position of a run over a list; zeroed at first. */
struct rules_at {
	const struct rule *next;           /* the rule to continue with; NULL: the first one */
	uint8_t own;                       /* the rules of the defaults section are done */
};

void proxy_rules_init(struct proxy_rules *r);
void proxy_rules_fini(struct proxy_rules *r);
/* Sets the rules of the defaults section, which must live as long. A section with rules never
 * belongs to a defaults section itself (rules_cfg.c). */
void proxy_rules_inherit(struct proxy_rules *r, const struct proxy_rules *defaults);

static inline int
proxy_has_rules(const struct proxy_rules *r, unsigned int list)
{
	return (int)(r->has >> list & 1);
}

/* Runs one list, as rules_run(). RULE_YIELD stores the position in *at. RULE_STOP in the defaults
 * section's rules also skips its own. */
enum rule_result proxy_rules_run(const struct proxy_rules *r, unsigned int list,
	struct rules_at *at, struct sample_ctx *cx, struct rule_outcome *out);
/* Resolves names in the rules and checks them for this mode when the configuration is complete. 0,
 * or -1 after errors. */
int proxy_rules_check(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;
/* The same for all defaults sections, each once; also checks the proxies that use them. */
int proxies_check_default_rules(struct proxies *ps, struct cfg_diag *d) must_check;

#endif
