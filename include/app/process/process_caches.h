/* The memory of caches: a memory file, whose objects the next worker process copies. First worker,
 * before others run. */
#ifndef TACIT_APP_PROCESS_PROCESS_CACHES_H
#define TACIT_APP_PROCESS_PROCESS_CACHES_H

#include "base/compiler.h"
#include "base/memfile.h"

struct process;

struct process_caches {
	struct memfile own;
	struct memfile_view former; /* of the latest previous process; no map: none */
};

/* Makes the file for all caches, and gives it to the master, if there is one. 0, or a negative
 * reason that was reported. */
int process_caches_open(struct process *p) must_check;
/* Copies the objects of the previous process. */
void process_caches_restore(struct process *p);
/* No cache is used any more. */
void process_caches_close(struct process_caches *pc);

#endif
