/*
 * The rules of a proxy (manual 4.2): what it says itself, and what the named defaults section says
 * that it was made from, which comes first.
 */
#ifndef TACIT_PROXY_MODEL_RULES_H
#define TACIT_PROXY_MODEL_RULES_H

#include "rule/action/action.h"

struct cfg_diag;
struct proxy;
struct proxies;

/* The lists: one of each place, and the lines `redirect`, which come after http-request. */
#define RULES_REDIRECT RULE_PLACES
#define RULES_LISTS (RULE_PLACES + 1)

struct proxy_rules {
	struct list own[RULES_LISTS];      /* struct rule.link */
	const struct proxy_rules *before;  /* of the defaults section; NULL: none */
	unsigned int has;                  /* lists that are not empty, here or before: bits */
	unsigned int inspect_ms;           /* tcp-request inspect-delay; 0: none */
	unsigned int inspect_response_ms;  /* tcp-response inspect-delay */
};

/* Where a run over a list stands; zeroed to begin with. */
struct rules_at {
	const struct rule *next;           /* to go on with; NULL: from the start */
	uint8_t own;                       /* those before are done */
};

void proxy_rules_init(struct proxy_rules *r);
void proxy_rules_fini(struct proxy_rules *r);
/* Those of a proxy made from that defaults section, which must live as long. A section that has
 * rules is no defaults section's own (rules_cfg.c). */
void proxy_rules_inherit(struct proxy_rules *r, const struct proxy_rules *defaults);

static inline int
proxy_has_rules(const struct proxy_rules *r, unsigned int list)
{
	return (int)(r->has >> list & 1);
}

/* Runs one list, as rules_run(); RULE_YIELD leaves in *at where to go on. RULE_STOP of what is
 * before ends its own too. */
enum rule_result proxy_rules_run(const struct proxy_rules *r, unsigned int list,
	struct rules_at *at, struct sample_ctx *cx, struct rule_outcome *out);
/* The configuration is complete: what the rules name, and whether they can run in this mode. 0, or
 * -1 after errors. */
int proxy_rules_check(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;
/* The same of all defaults sections, once: who uses them too. */
int proxies_check_default_rules(struct proxies *ps, struct cfg_diag *d) must_check;

#endif
