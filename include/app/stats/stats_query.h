/* The parameters of a request for the statistics, in its target (management manual 9.1). */
#ifndef TACIT_APP_STATS_STATS_QUERY_H
#define TACIT_APP_STATS_STATS_QUERY_H

#include <stddef.h>

#include "base/str.h"

enum stats_output { STATS_HTML, STATS_CSV, STATS_TYPED, STATS_JSON };

/* Words without a value, one bit each. */
enum stats_word {
	STATS_UP        = 1u << 0, /* only servers that are up */
	STATS_NOREFRESH = 1u << 1
};

struct stats_query {
	enum stats_output output;
	unsigned int words;      /* enum stats_word */
	struct str scope;        /* part of the names of proxies, encoded; empty: all */
	struct {
		int proxy, type, server; /* numbers; -1: all rows */
	} row;                   /* the only row, with its details: row=3.2.1 */
	struct str result;       /* of the form that redirected here: st=; empty: none */
};

/* Parses the target behind the prefix of `stats uri`. The texts are those of the target. */
void stats_query_parse(struct str target, struct str prefix, struct stats_query *out);
/*
 * Decodes a value of a URI or form: "%23a+b" is "#a b". Writes a terminated text of less than max
 * bytes. 0, or -1: it does not fit, is no valid encoding, or contains a NUL; to is empty then.
 */
int stats_decode(struct str text, char *to, size_t max);

#endif
