/* The scenarios that sessions are tested with: played normally, and again with each call
 * failing. */
#ifndef TACIT_SIM_SCENARIOS_H
#define TACIT_SIM_SCENARIOS_H

#include "sim/world.h"

struct scenario {
	const char *name;
	struct world_config cfg;
	unsigned int n_clients;           /* 0: one; all connect at once and play the same */
	struct step client[AGENT_STEPS];
	struct step origin[AGENT_STEPS];
	const char *terms;                /* termination codes in the order of their ends */
	uint64_t to_server, to_client;    /* bytes that must arrive at each client and its origin */
	unsigned int max_calls;           /* of the whole scenario; 0: no limit */
	unsigned int min_ms, max_ms;      /* until the last session ends; 0: no limit */
	int golden;                       /* its calls are compared with golden/NAME.txt */
	int any_order; /* of the ends, when a send is late */
	int no_torture;
	int uneven;                       /* connections to the origin differ: not counted */
};

extern const struct scenario scenarios[];
extern const unsigned int n_scenarios;

/* Builds the world and starts the clients. 0, or -1 with w->why. */
int scenario_open(struct world *w, const struct scenario *sc);

#endif
