/* Plays a scenario with its k-th system call failing, for all k and each way that call can fail,
 * and with its k-th allocation failing, for all k; alone, and with the next ones of its kind.
 * Users: test_torture.c, test_torture_checks.c, test_torture_process.c. */
#ifndef TACIT_SIM_TORTURE_H
#define TACIT_SIM_TORTURE_H

#include <stdint.h>

#include "base/ledger.h"
#include "fake/kernel.h"

struct fault {
	uint64_t call;       /* the nth one, 0: none */
	unsigned int choice; /* of its errors */
	unsigned int again;  /* number of later calls of its name that fail too */
	uint64_t alloc;      /* the nth one, 0: none */
};

struct outcome {
	uint64_t calls, allocs;
	enum sys_call failed; /* SYS_CALLS: none */
	int err;
	int bad;
	char why[1000];
};

struct torture {
	const char *name;
	const void *subject;
	/* Plays it once, between torture_begin() and torture_end(); show: prints its trace. */
	void (*play)(struct outcome *out, const void *subject, const struct fault *f, int show);
};

/* Prepares the fault of a world that is open, and counts from here. */
void torture_begin(struct outcome *out, struct fake *k, const struct fault *f);
/* Notes what was counted and what has failed. Nothing fails any more. */
void torture_end(struct outcome *out, struct fake *k);

/* Plays all faults and prints those that go wrong; returns how many did. clean is what happened
 * without a fault. With TORTURE_SITES=n in the environment what one call stack calls or allocates
 * fails n times in a program, instead of each time. */
int torture_play(const struct torture *t, struct outcome *clean);

#endif
