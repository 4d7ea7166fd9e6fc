/*
 * The only interface to the kernel. `sys_NAME(sys, ...)` calls through a table of functions, counts
 * the call in the ledger, and returns >= 0 or -errno; no other code reads errno. The table is
 * sys_linux.c in the daemon, and in tests the fake kernel or a fault injector. Calls interrupted by
 * a signal are repeated, except epoll_wait, connect and close.
 */
#ifndef TACIT_BASE_SYS_H
#define TACIT_BASE_SYS_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "base/compiler.h"
#include "base/ledger.h"

struct __user_cap_data_struct;
struct __user_cap_header_struct;
struct mmsghdr;
struct utsname;

struct sys_ops {
#define SYS_ROW(name, when, params, args) long (*name)(void *ctx UNPAREN params);
#include "base/sys.tbl.h"
#undef SYS_ROW
};

/*
 * One per worker: the table, its context, and the worker's ledger, in accounts. The loop and the
 * sessions choose the account before they do something for a frontend (sys_charge()): a call costs
 * the same with one account or many.
 */
struct sys {
	const struct sys_ops *ops;
	void *ctx;
	struct ledger *account;   /* the one that counts; a thread that pauses this may write it */
	struct ledger **accounts; /* by number; one that was not begun: `ledger` */
	unsigned int n_accounts;
	struct ledger *only;      /* accounts, until they are opened */
	struct ledger ledger;     /* account 0: calls of no frontend */
};

/* The real kernel. ctx is unused (NULL). */
extern const struct sys_ops sys_linux;

void sys_init(struct sys *s, const struct sys_ops *ops, void *ctx);

/* The calls that follow are of this account: until the next one, or the end of an event. */
static inline void
sys_charge(struct sys *s, unsigned int number)
{
	atomic_write(&s->account, s->accounts[number]);
}

/* The calls that follow are of no frontend. */
static inline void
sys_charge_none(struct sys *s)
{
	atomic_write(&s->account, &s->ledger);
}

/* The same as sys_charge(), which begins the account if need be. */
static inline void
sys_charge_first(struct sys *s, unsigned int number)
{
	if (unlikely(s->accounts[number] == &s->ledger))
		ledger_begin_account(s, number);
	sys_charge(s, number);
}

static inline int
sys_restarts(enum sys_call c)
{
	return c != SYS_CALL_epoll_wait && c != SYS_CALL_connect && c != SYS_CALL_close &&
	       c != SYS_CALL_close_range;
}

#define SYS_ROW(name, when, params, args)                                          \
	static inline long sys_##name(struct sys *s UNPAREN params)                \
	{                                                                          \
		long r_;                                                           \
		do {                                                               \
			r_ = s->ops->name(s->ctx UNPAREN args);                    \
			ledger_count(atomic_read(&s->account), SYS_CALL_##name, r_); \
		} while (unlikely(r_ == -EINTR) && sys_restarts(SYS_CALL_##name)); \
		return r_;                                                         \
	}
#include "base/sys.tbl.h"
#undef SYS_ROW

/* Nanoseconds of a clock. The clock ids in use cannot fail on Linux. */
static inline uint64_t
sys_clock_ns(struct sys *s, clockid_t id)
{
	struct timespec ts = { 0, 0 };

	(void)sys_clock_gettime(s, id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
