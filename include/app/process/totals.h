/* Totals over all workers, for show info and the ledger's report. */
#ifndef TACIT_APP_PROCESS_TOTALS_H
#define TACIT_APP_PROCESS_TOTALS_H

#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/ledger.h"
#include "event/loop.h"
#include "event/mailbox.h"
#include "rule/sample/shortfall.h"

struct process;
struct proxy;

struct totals {
	unsigned int sessions;
	uint64_t cum_conns, cum_sess, requests, bytes_in, bytes_sent;
	uint64_t fsm_bugs, lingers, logs_sent, logs_dropped, shortfalls[SHORTFALLS];
	uint64_t memory_used, memory_live; /* proxy/model/memory.h */
	uint64_t memory_holds, buf_waits;
	uint64_t pool_fails;
	unsigned int pipes_used, pipes_idle;
	uint64_t spliced, splice_fallbacks, bulk_waits;
	struct {
		uint64_t pinned, bytes, copied, refused, full;
	} zerocopy;                        /* net/zerocopy.h */
	unsigned int timers;
	unsigned int idle_pct;         /* on average */
	struct freq conn_rate, sess_rate, sent_rate;
	struct freq comp_in, comp_out; /* bytes given to compression, and made of them */
	unsigned int tls_live;
	uint64_t tls_cum;
	struct freq tls_accepted, tls_client_keys, tls_server_keys; /* tls/tls_counts.h */
	struct loop_stats loop;
	struct ledger ledger;
	struct mailbox_stats mail;
	uint64_t elided_inline;        /* freed slots given to a session of the same worker */
};

/* Any thread may call it while the workers run: each number is complete, but they are not from one
 * moment. */
void totals_read(const struct process *p, struct totals *t);
/* The present moment of the ledger. */
void totals_mark(const struct process *p, struct ledger_mark *m);
/* The present moment of the calls for a frontend, or for none (NULL). */
void totals_mark_account(const struct process *p, const struct proxy *fe, struct ledger_mark *m);
/* Makes the present moment the one that `show syscalls` counts from. The ledger continues. 0, or
 * -ERR_NOMEM: nothing has changed. */
int totals_clear_ledger(struct process *p) must_check;
/* Wake-ups made and saved, as one line without its end, printed with the ledger. */
void totals_wakes_text(const struct totals *t, char *buf, size_t len);

/* Prints the system calls of now since start (NULL: all) by name and per request, and per
 * connection unless connections carried more than one. */
void ledger_report(FILE *to, const struct ledger *now, const struct ledger *start, uint64_t conns,
	uint64_t requests);

#endif
