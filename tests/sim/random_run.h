/* Events of a random world: failing calls, admin commands, a sudden end. */
#ifndef TACIT_SIM_RANDOM_RUN_H
#define TACIT_SIM_RANDOM_RUN_H

#include "sim/dice.h"
#include "sim/world.h"

/* n: number of clients. In kind worlds nothing but their actions happens. */
void random_run(struct world *w, struct dice *d, int kind, unsigned int n);

#endif
