/* The parts of a row of `show stat`: a metric needs one column of each of thousands of rows. */
#ifndef TACIT_APP_ADMIN_STAT_PARTS_H
#define TACIT_APP_ADMIN_STAT_PARTS_H

#include "app/admin/stat_row.h"

/* One bit each. */
enum stat_part {
	STAT_PART_COUNTERS = 1, /* sums of shards */
	STAT_PART_LOAD = 2,     /* what is there now, and limits */
	STAT_PART_STATE = 4,    /* of servers and checks */
	STAT_PART_IDLE = 8,     /* idle connections */
	STAT_PART_NAMES = 16,
	STAT_PARTS = 31
};

/* The parts that this column needs; for STAT_COLS: all. */
unsigned int stat_parts_of(enum stat_col only);

#endif
