/* The ledger as a table for users, as printed by `make run`. */
#ifndef TACIT_APP_PROCESS_LEDGER_REPORT_H
#define TACIT_APP_PROCESS_LEDGER_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/ledger.h"

/* Prints the system calls of now since start (NULL: all) by name, per connection and per HTTP
 * request. */
void ledger_report(FILE *to, const struct ledger *now, const struct ledger *start, uint64_t conns,
	uint64_t requests);

#endif
