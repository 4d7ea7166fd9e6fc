/* Any mode, sizes, delays, limits and servers: the configuration of a world made by chance. */
#ifndef TACIT_SIM_CHANCE_CONFIG_H
#define TACIT_SIM_CHANCE_CONFIG_H

#include "sim/dice.h"
#include "sim/world.h"

/* kind: everybody is patient and nothing is missing. */
struct world_config chance_config(struct dice *d, int kind);
/* Lines of a configuration for a world of mode tcp, or NULL: those of a kind one end nothing. */
const char *chance_rules(struct dice *d, int kind);
/* The rest of it: how much memory, and sends in place. */
void chance_bounds(struct dice *d, struct world_config *c);
/* What a client begins with where a PROXY header is expected: a kind one with a header. */
const char *chance_header(struct dice *d, int kind);

#endif
