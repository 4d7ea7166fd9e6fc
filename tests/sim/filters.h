/* Filters of a simulated world's proxy (proxy/model/filter.h). */
#ifndef TESTS_SIM_FILTERS_H
#define TESTS_SIM_FILTERS_H

#include "proxy/model/proxy.h"

/* The deeds of a filter, on the bytes of both directions, in their order. */
enum filter_deed {
	FILTER_DOUBLES, /* each byte comes twice */
	FILTER_DELAYS,  /* 700 bytes pass in 10 ms */
	FILTER_HOLDS,   /* up to 8 bytes wait for those behind them, or for the end */
	FILTER_HALVES,  /* each second byte is dropped */
	FILTER_DROPS,   /* dashes are dropped */
	FILTER_DRIPS,   /* 3 bytes pass in 100 ms */
	FILTER_DEEDS
};

/* Together they leave bytes as they were. */
#define FILTERS_NEUTRAL (1u << FILTER_DOUBLES | 1u << FILTER_DELAYS | 1u << FILTER_HOLDS | \
	1u << FILTER_HALVES)

/* Appends those deeds (bits) to the filters of px: world_config.filters. */
void filters_add(struct proxy *px, unsigned int deeds);

#endif
