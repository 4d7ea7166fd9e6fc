/*
 * Random worlds with checks: servers that answer in pieces, late, wrong, with a reset or not at
 * all, in series of equal results around rise and fall; sessions all the time.
 */
#ifndef TACIT_SIM_CHECK_RANDOM_H
#define TACIT_SIM_CHECK_RANDOM_H

#include "sim/dice.h"

struct check_random_result {
	unsigned int checks, passed, failed, gone, downs; /* gone: 404 */
	unsigned int shown; /* states compared */
	unsigned int assigned, refused; /* sessions */
	char why[500];      /* "" if nothing is wrong */
};

/* Plays one world. 0, or -1 with r->why. */
int check_random_play(struct dice *d, int show, struct check_random_result *r);

#endif
