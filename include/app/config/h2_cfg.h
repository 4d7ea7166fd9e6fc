/* Keywords of `global` for HTTP/2: h2_cfg.c. */
#ifndef TACIT_APP_CONFIG_H2_CFG_H
#define TACIT_APP_CONFIG_H2_CFG_H

#include "h2/h2_conn.h"

/* Members of struct h2_config that keywords set. */
enum h2_tuned {
	H2_TUNED_WINDOW,
	H2_TUNED_STREAMS,
	H2_TUNED_TABLE,
	H2_TUNED_RXBUF,
	H2_TUNED_FRAMES,
	H2_TUNED_RESETS,
	H2_TUNED_GLITCHES,
	H2_TUNED_TOTAL,
	H2_TUNED_MEMBERS
};

/* Connections of clients, those to servers, and both, where their own is not set. */
enum h2_side { H2_FE, H2_BE, H2_BOTH, H2_SIDES };

struct h2_tune {
	/* As given, plus 1; 0: not given. */
	uint64_t given[H2_SIDES][H2_TUNED_MEMBERS];
	int no_extended; /* h2-workaround-bogus-websocket-clients */
};

/* The configuration of connections of one side. */
void h2_tune_apply(const struct h2_tune *t, enum h2_side side, struct h2_config *out);

#endif
