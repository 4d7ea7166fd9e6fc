/* The rings of logs while the process runs: the first worker stores what all workers post, and
 * sends it to the rings' servers. */
#ifndef TACIT_APP_PROCESS_RINGS_H
#define TACIT_APP_PROCESS_RINGS_H

#include <stdint.h>

#include "base/compiler.h"

/* Time for the servers of rings when the process ends. */
#define RINGS_DRAIN_MS 2000

struct log_ring;
struct process;

/* Makes the files of rings, before privileges are dropped. 0, or -ERR_SYS after a report with the
 * place in the configuration. */
int rings_open_files(struct process *p) must_check;
/* Connects to the servers of all rings. 0, or a negative reason. */
int rings_start(struct process *p) must_check;
/* Collects what the workers have logged, and disconnects. Servers have RINGS_DRAIN_MS to take it;
 * what is left is counted and reported. Closes their files; if the start has failed the previous
 * ones get their names back. The other threads have ended. */
void rings_stop(struct process *p);
/* For struct log_sink.on_ring: arg is the worker. */
void rings_on_log(void *worker, struct log_ring *r);
/* Called on the first worker: stores what was posted to any ring. */
void rings_collect(struct process *p);
/* Messages that rings have dropped. Any thread. */
uint64_t rings_dropped(const struct process *p);

#endif
