/*
 * The ledger: counts every system call by name and result. `show syscalls` prints it. A test checks
 * that it equals strace -c.
 */
#ifndef TACIT_BASE_LEDGER_H
#define TACIT_BASE_LEDGER_H

#include <errno.h>
#include <stdint.h>

#include "base/atomic.h"

enum sys_call {
#define SYS_ROW(name, when, params, args) SYS_CALL_##name,
#include "base/sys.tbl.h"
#undef SYS_ROW
	SYS_CALLS
};

enum sys_outcome { SYS_OK, SYS_AGAIN, SYS_ERROR, SYS_OUTCOMES };

struct ledger {
	uint64_t n[SYS_CALLS][SYS_OUTCOMES];
};

/* EINPROGRESS counts as "not yet", like EAGAIN. */
static inline enum sys_outcome
ledger_outcome(long r)
{
	if (r >= 0)
		return SYS_OK;
	return r == -EAGAIN || r == -EINPROGRESS ? SYS_AGAIN : SYS_ERROR;
}

/* Only the owner writes; another thread that reads meanwhile sees complete numbers. */
static inline void
ledger_count(struct ledger *l, enum sys_call call, long r)
{
	uint64_t *n = &l->n[call][ledger_outcome(r)];

	atomic_write(n, *n + 1);
}

/* The kernel's name of a call, as strace prints it. */
const char *ledger_name(enum sys_call call);

/* All calls of one name, whatever their result. */
uint64_t ledger_sum(const struct ledger *l, enum sys_call call);

/* All calls but clock reads, which most machines answer without entering the kernel. */
uint64_t ledger_total(const struct ledger *l);

/* True for calls that the vDSO usually answers: strace does not see them. */
int ledger_is_clock(enum sys_call call);

/* dst += src, for totals over workers. The owner of src may be counting meanwhile. */
void ledger_add(struct ledger *dst, const struct ledger *src);

#endif
