/* TLS of the process: what each worker accepts with. Main thread, before workers run. */
#ifndef TACIT_APP_PROCESS_PROCESS_TLS_H
#define TACIT_APP_PROCESS_PROCESS_TLS_H

#include "base/compiler.h"

struct process;
struct server;

/* Makes the contexts of all workers; nothing if there is no TLS. 0 or a negative reason. */
int process_open_tls(struct process *p) must_check;

/* Makes those for a server that was added at run time; the workers are paused. 0 or a negative
 * reason, -ERR_UNSUPPORTED if the configuration has no TLS. */
int process_open_added_tls(struct process *p, struct server *s) must_check;

/* Changes the random keys of tickets from now on, when they are old. 0 or -ERR_NOMEM. */
int process_start_tickets(struct process *p) must_check;

#endif
