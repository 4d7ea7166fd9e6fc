/*
 * State that outlives a worker process. Under a master each has a memory file (base/memfile.h) in
 * which its counters lie from the start: a worker counts there as it would anywhere else, and what
 * it has counted survives its death. The master keeps the files and hands them to the next worker
 * process.
 * That one shows the sum of
 *
 *   - its own shards,
 *   - its `base`, in its own file: all that processes had counted which had ended when it started;
 *   - shards and base of each previous process that had not ended then: it may count on while it
 *     drains.
 *
 * So each number is in exactly one of the files that the master keeps, and nothing has to be moved
 * at a moment that a death could hit: a base is complete before its process is ready, and only
 * then the master closes the files that went into it. Proxies and servers are found by name, or by
 * guid. A record that does not fit, of another version or damaged, starts from zero, and a message
 * reports it.
 */
#ifndef TACIT_APP_PROCESS_KEEP_H
#define TACIT_APP_PROCESS_KEEP_H

#include <stdint.h>

#include "app/process/process_caches.h"
#include "app/process/process_tables.h"
#include "base/compiler.h"
#include "base/memfile.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_kept.h"
#include "proxy/model/shard.h"

struct inherited_sockets;
struct process;
struct report;

/* Kinds of records. */
enum keep_kind {
	KEEP_PROCESS = 1,
	KEEP_PROXY,
	KEEP_SERVER,
	KEEP_NUMBERS,
	KEEP_MAP,
	KEEP_TICKET_KEYS
};

enum {
	KEEP_FORMER_MAX = 256,   /* files of previous processes that are read */
	KEEP_ROOM_SERVERS = 1024 /* for servers that are added at run time */
};

/* Payload of a KEEP_PROCESS record. */
struct kept_process {
	/* Set when a command has cleared counters: those in files of lower generations count no
	 * more. */
	uint64_t cleared, maxima_cleared;
	/* Limits that commands change. */
	struct kept_number maxconn, conn_rate, sess_rate, tls_rate;
};

/* The shards are followed by rows of histograms: 1 + n_shards for each side of a proxy, or for a
 * server. */
struct kept_proxy {
	uint32_t n_shards;
	struct latency_use latency[2];
	struct proxy_kept state;
	struct proxy_stat base[2]; /* of the frontend, of the backend */
	cacheline_aligned struct proxy_shard shard[];
};

struct kept_server {
	uint32_t n_shards;
	struct latency_use latency;
	struct server_kept state;
	struct server_stat base;
	cacheline_aligned struct server_shard shard[];
};

/* Numbers of the whole process: a record KEEP_NUMBERS has n own ones, then n of previous processes
 * that have ended. */
struct keep_numbers {
	uint64_t *own;           /* NULL: nothing is kept */
	unsigned int n;
	int (*is_maximum)(unsigned int i); /* of previous ones the highest counts, not the sum */
	const uint64_t *past[2 * KEEP_FORMER_MAX + 1]; /* own base, then both of previous ones */
	unsigned int n_past;
	unsigned int n_cleared;  /* the first of past, behind the own base, whose maxima are */
};

struct keep_former {
	struct memfile_view view;
	int has_ended;
	int is_cleared;          /* `clear counters` was given since */
};

struct keep {
	struct memfile own;
	struct process_tables tables; /* stick tables, in a file of their own */
	struct process_caches caches; /* likewise */
	struct keep_former *former; /* in order of their generations */
	unsigned int n_former;
	struct kept_process *process; /* NULL: nothing is kept */
	uint64_t generation;
	size_t maps_room;           /* bytes for changes of maps */
	uint64_t noted_ms;
};

/* Opens the files that the master has handed over, *k being zeroed. A file that cannot be used is
 * reported. */
void keep_open_former(struct keep *k, struct inherited_sockets *in, const struct report *report);
/* The address that a server's name had in a previous process. 1, or 0: none. */
int keep_last_addr(const struct keep *k, const struct server *s, struct addr *out);
/* Under a master: makes the own file, moves the shards there and gives it to the master. p->keep
 * has the previous ones. To be called after process_init(). 0, or a negative reason that was
 * reported. */
int keep_open(struct process *p) must_check;
/* Gives servers the states that they had in a previous process, adds those that were added there
 * at run time, and begins to note states. To be called after state_files_apply(), before others
 * run. */
void keep_restore_states(struct process *p);
/* Frees what only the start needs. */
void keep_forget_names(struct process *p);
/* Closes everything: no shard is used any more. */
void keep_close(struct process *p);
/* After each turn of the first worker: notes the numbers of the process now and then. */
void keep_after_turn(struct process *p);
/* A server was added at run time with these words: its shards move to the file. All workers but the
 * caller's are paused. */
void keep_add_server(struct process *p, struct server *s, int argc, char *const *argv);
void keep_remove_server(struct process *p, struct server *s);
/* `clear counters`, with all: everything, else maxima. Counts of previous processes, also later
 * ones, are no longer shown, here and after reloads. */
void keep_clear(struct process *p, int all);
/* Takes room for n numbers, and finds those of previous processes. name: changes with their
 * meaning. During keep_open(). 0 or -ERR_FULL. */
int keep_numbers(struct process *p, const char *name, unsigned int n,
	int (*is_maximum)(unsigned int i), struct keep_numbers *out) must_check;
/* Clears maxima, also those of previous processes. */
static inline void
keep_numbers_clear(struct keep_numbers *x)
{
	for (unsigned int i = 0; i < x->n; i++)
		if (x->is_maximum(i))
			x->own[i] = x->own[x->n + i] = 0;
	x->n_cleared = x->n_past;
}

/* The value of number i in previous processes. */
uint64_t keep_number_past(const struct keep_numbers *x, unsigned int i);

/* Notes the limits of the process, which a command has changed. */
void keep_note_limits(struct process *p);

/* --- parts, each in a file of its own --- */

void keep_restore_maps(struct process *p);
/* Restores the keys of the latest previous process, before the own ones are used. */
void keep_restore_tickets(struct process *p);
/* `guid`, or "" for none. */
static inline const char *
keep_guid(const char *guid)
{
	return guid ? guid : "";
}

/* The keys of the records of a proxy in previous files; side: PROXY_FE or PROXY_BE, or both for a
 * listen section. */
#define KEEP_KEY_MAX 1024
const struct memfile_item *keep_find_side(const struct keep_former *f, const struct proxy *px,
	unsigned int side);
void keep_server_key(char key[KEEP_KEY_MAX], const struct server *s);

#endif
