/* How a world made by chance goes: calls that fail, an operator's hand, a sudden end. */
#ifndef TACIT_SIM_CHANCE_RUN_H
#define TACIT_SIM_CHANCE_RUN_H

#include "sim/dice.h"
#include "sim/world.h"

/* n: its clients. In kind worlds nothing happens but what they do. */
void chance_run(struct world *w, struct dice *d, int kind, unsigned int n);

#endif
