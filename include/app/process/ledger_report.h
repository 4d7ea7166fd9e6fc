/* The ledger as a table for people: what `make run` leaves behind. */
#ifndef TACIT_APP_PROCESS_LEDGER_REPORT_H
#define TACIT_APP_PROCESS_LEDGER_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/ledger.h"

/* System calls of `now` beyond those of `start` (NULL: all), by name and per connection. */
void ledger_report(FILE *to, const struct ledger *now, const struct ledger *start, uint64_t conns);

#endif
