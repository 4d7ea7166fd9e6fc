/*
 * The ledger: counts every system call by name and result. `show syscalls` prints it. A test checks
 * that it equals strace -c.
 */
#ifndef TACIT_BASE_LEDGER_H
#define TACIT_BASE_LEDGER_H

#include <errno.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct sys;

enum sys_call {
#define SYS_ROW(name, when, params, args) SYS_CALL_##name,
#include "base/sys.tbl.h"
#undef SYS_ROW
	SYS_CALLS
};

enum sys_outcome { SYS_OK, SYS_AGAIN, SYS_ERROR, SYS_OUTCOMES };

/* The calls of a worker, or an account of them: those made for one frontend, or for none. */
struct ledger {
	uint64_t n[SYS_CALLS][SYS_OUTCOMES];
	unsigned int account; /* its number; 0: of no frontend, or a sum */
};

/* A moment of the ledger: the counts until then. */
struct ledger_mark {
	struct ledger ledger;
	uint64_t conns, requests;
	uint64_t at_ms;      /* loop clock */
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
static inline void
ledger_add(struct ledger *dst, const struct ledger *src)
{
	for (int c = 0; c < SYS_CALLS; c++)
		for (int o = 0; o < SYS_OUTCOMES; o++)
			dst->n[c][o] += atomic_read(&src->n[c][o]);
}

/* --- the accounts of a worker --- */

/* Makes room for accounts 0 to n - 1: 0, or -ERR_NOMEM. */
int ledger_open_accounts(struct sys *s, unsigned int n) must_check;
/* Adds all accounts to account 0. */
void ledger_close_accounts(struct sys *s);
/* Begins an account that has counted nothing; without memory its calls stay in account 0. */
void ledger_begin_account(struct sys *s, unsigned int number);
/* Adds the calls of all accounts. By any thread. */
void ledger_add_all(struct ledger *dst, const struct sys *s);
/* Adds the calls of one account. By any thread. */
void ledger_add_account(struct ledger *dst, const struct sys *s, unsigned int number);

#endif
