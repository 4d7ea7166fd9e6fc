/* Sets of status codes, as http-err-codes gives them (manual 3.1): "400-499,-404". */
#ifndef TACIT_HTTP_STATUS_SET_H
#define TACIT_HTTP_STATUS_SET_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

#define STATUS_SET_FIRST 100u
#define STATUS_SET_LAST 599u

struct status_set {
	uint64_t bits[8];
};

/* HAProxy's defaults: 400 to 499; 500 to 599 without 501 and 505. */
void status_set_client_errors(struct status_set *set);
void status_set_server_failures(struct status_set *set);
/*
 * Reads ranges, separated by commas: "<code>[-<code>]", after a '+' or '-' to add or remove them;
 * the first one without a sign, of all calls with the same *is_own, begins an empty set. 0, or -1
 * with *why (static).
 */
int status_set_parse(struct status_set *set, struct str text, int *is_own,
	const char **why) must_check;

static inline int
status_set_has(const struct status_set *set, unsigned int status)
{
	unsigned int i = status - STATUS_SET_FIRST;

	return status >= STATUS_SET_FIRST && status <= STATUS_SET_LAST &&
		(int)(set->bits[i / 64] >> (i % 64) & 1);
}

#endif
