/* Rules of a simulated world's proxy, from lines of a configuration. */
#ifndef TESTS_SIM_WORLD_RULES_H
#define TESTS_SIM_WORLD_RULES_H

struct proxy;

struct world_rules;

/* Reads lines of "http-request", "acl" and so on into p's lists. NULL, with the error in why[len],
 * or what the lists use, to be freed after p. */
struct world_rules *world_rules_new(struct proxy *p, const char *lines, char *why,
	unsigned long len);
/* Number of counters that rules track-sc use. */
unsigned int world_rules_tracked(const struct world_rules *r);
/* NULL is allowed. */
void world_rules_free(struct world_rules **r);

#endif
