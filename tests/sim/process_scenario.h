/* The texts of scenarios of a process, tests/sim/process/NAME.txt: see sim/process_script.h. */
#ifndef TACIT_SIM_PROCESS_SCENARIO_H
#define TACIT_SIM_PROCESS_SCENARIO_H

#define PROCESS_SCENARIO_FOLDER "tests/sim/process"
#define PROCESS_SCENARIO_TEXT 262144
#define PROCESS_SCENARIO_TRACE "--- trace\n"
#define PROCESS_SCENARIO_NAME 64

struct process_scenario {
	char path[300];
	char text[PROCESS_SCENARIO_TEXT]; /* of the file */
	char copy[PROCESS_SCENARIO_TEXT];
	char *config, *script; /* its parts, in the copy; reading a script writes to it */
	const char *trace;     /* "": it has none yet */
	char why[400];
};

/* The names of all of them in order, or of the one that $SCENARIO names: their number, `most` at
 * most. */
unsigned int process_scenario_names(char (*names)[PROCESS_SCENARIO_NAME], unsigned int most);
/* 0, or -1 with why. */
int process_scenario_read(struct process_scenario *sc, const char *name);
/* Sets a trace. 0, or -1 with why. */
int process_scenario_write(struct process_scenario *sc, const char *trace);

#endif
