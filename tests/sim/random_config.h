/* Any mode, sizes, delays, limits and servers: the configuration of a random world. */
#ifndef TACIT_SIM_RANDOM_CONFIG_H
#define TACIT_SIM_RANDOM_CONFIG_H

#include "sim/dice.h"
#include "sim/world.h"

/* kind: all ends are patient and nothing is scarce. */
struct world_config random_config(struct dice *d, int kind);
/* Configuration lines for a world of mode tcp, or NULL: in a kind world they end no session. */
const char *random_rules(struct dice *d, int kind);
/* The rest: the amount of memory, and zero-copy sends. */
void random_bounds(struct dice *d, struct world_config *c);
/* The first data of a client where a PROXY header is expected: in a kind world a header. */
const char *random_header(struct dice *d, int kind);

/* Memory of a connection with TLS, about: tls_counts.c. */
#define RANDOM_TLS_BYTES 16384
/* TLS on some sides of a world of n clients, in some worlds; nothing is drawn for it. */
void random_tls(unsigned int n, struct world_config *c);

#endif
