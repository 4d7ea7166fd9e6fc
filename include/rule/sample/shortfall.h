/*
 * Evaluations that end without their result for lack of steps or of room. As in HAProxy they count
 * as "not found" or "no match". Therefore each one is counted and reported.
 */
#ifndef TACIT_RULE_SAMPLE_SHORTFALL_H
#define TACIT_RULE_SAMPLE_SHORTFALL_H

#include <stdint.h>

#include "base/compiler.h"

struct sample_ctx;

enum shortfall_kind {
	SHORTFALL_REGEX, /* a regular expression was given up */
	SHORTFALL_ROOM,  /* a value is too long */
	SHORTFALLS
};

#define SHORTFALL_TEXT_MAX 400

/* One per worker, which alone writes it. */
struct shortfalls {
	_Atomic uint64_t n[SHORTFALLS];
	/* Called for each one, with the place of the rule where it is known. May be NULL. */
	void (*tell)(void *arg, enum shortfall_kind kind, const char *text);
	void *arg;
};

/* Counts one and reports it, if cx has a function for that. The text is a subject. */
void shortfall_add(struct sample_ctx *cx, enum shortfall_kind kind, const char *why,
	const char *subject, ...) fmt_printf(4, 5);

#endif
