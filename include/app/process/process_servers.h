/* Servers that are added while the process runs, or that its previous process had added. */
#ifndef TACIT_APP_PROCESS_PROCESS_SERVERS_H
#define TACIT_APP_PROCESS_PROCESS_SERVERS_H

#include "app/process/process.h"
#include "base/compiler.h"
#include "proxy/config/server_add.h"

struct process;
struct server;

/* Adds a server with its TLS and its checks; the other workers are paused, or have not started.
 * NULL: the reasons are in d, and nothing has changed. */
struct server *process_add_server(struct process *p, const struct server_line *line,
	struct cfg_diag *d) must_check;

/* Makes the contexts of all workers; nothing if there is no TLS. 0 or a negative reason. */
int process_open_tls(struct process *p) must_check;
/* Changes the random keys of tickets from now on, when they are old. 0 or -ERR_NOMEM. */
int process_start_tickets(struct process *p) must_check;

#endif
