/*
 * A server as its health checks see it, written from the manual alone (configuration.txt 5.2:
 * check, rise, fall, inter, fastinter, downinter, init-state; 4.2: http-check disable-on-404;
 * management.txt 9.1: status). The simulation compares tacit with it.
 */
#ifndef TACIT_SIM_CHECK_MODEL_H
#define TACIT_SIM_CHECK_MODEL_H

#define CHECK_MODEL_TEXT 32

enum check_model_begin { MODEL_UP, MODEL_FULLY_UP, MODEL_DOWN, MODEL_FULLY_DOWN };

enum check_model_answer { MODEL_FAILED, MODEL_PASSED, MODEL_404 };

struct check_model {
	unsigned int rise, fall;
	unsigned int inter, fastinter, downinter; /* ms; 0: not set */
	int takes_404;    /* http-check disable-on-404 */
	int is_up;
	int is_stopping;  /* up, and the last answer was 404: no new sessions */
	/* Consecutive results against the state; the state changes at `fall` or `rise`. */
	unsigned int streak;
	int is_last_word; /* unchecked, and the first result decides */
	unsigned int downs;
};

void check_model_begin(struct check_model *m, enum check_model_begin how);
void check_model_result(struct check_model *m, enum check_model_answer answer);
/* The interval until the next check, in ms. */
unsigned int check_model_interval(const struct check_model *m);
/* The status in show stat: "UP", "DOWN", "NOLB", "UP 1/3" (valid checks left of fall), "DOWN 1/2"
 * (had of rise). */
const char *check_model_text(const struct check_model *m, char buf[CHECK_MODEL_TEXT]);

#endif
