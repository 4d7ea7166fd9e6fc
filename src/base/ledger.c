/* Counts of system calls. Each worker writes its own ledger without a lock; a reader sums them. */
#include "base/ledger.h"

const char *
ledger_name(enum sys_call call)
{
	static const char *const names[SYS_CALLS] = {
#define SYS_ROW(name, when, params, args) #name,
#include "base/sys.tbl.h"
#undef SYS_ROW
	};

	return names[call];
}

uint64_t
ledger_sum(const struct ledger *l, enum sys_call call)
{
	uint64_t sum = 0;

	for (int o = 0; o < SYS_OUTCOMES; o++)
		sum += l->n[call][o];
	return sum;
}

int
ledger_is_clock(enum sys_call call)
{
	return call == SYS_CALL_clock_gettime;
}

uint64_t
ledger_total(const struct ledger *l)
{
	uint64_t sum = 0;

	for (int c = 0; c < SYS_CALLS; c++)
		if (!ledger_is_clock((enum sys_call)c))
			sum += ledger_sum(l, (enum sys_call)c);
	return sum;
}

void
ledger_add(struct ledger *dst, const struct ledger *src)
{
	for (int c = 0; c < SYS_CALLS; c++)
		for (int o = 0; o < SYS_OUTCOMES; o++)
			dst->n[c][o] += atomic_read(&src->n[c][o]);
}
