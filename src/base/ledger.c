/* Counts of system calls. Each worker writes its own ledger without a lock; a reader sums them. */
#include "base/ledger.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"

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

/* --- accounts -------------------------------------------------------------------------------- */

int
ledger_open_accounts(struct sys *s, unsigned int n)
{
	struct ledger **all = mem_alloc(n * sizeof(*all));

	if (!all)
		return -ERR_NOMEM;
	assert(s->accounts == &s->only);
	for (unsigned int i = 0; i < n; i++)
		all[i] = &s->ledger;
	s->accounts = all;
	s->n_accounts = n;
	return 0;
}

void
ledger_close_accounts(struct sys *s)
{
	if (s->accounts == &s->only)
		return;
	sys_charge_none(s);
	for (unsigned int i = 1; i < s->n_accounts; i++) {
		if (s->accounts[i] == &s->ledger)
			continue;
		ledger_add(&s->ledger, s->accounts[i]);
		mem_free(s->accounts[i]);
	}
	mem_free(s->accounts);
	s->accounts = &s->only;
	s->n_accounts = 1;
}

void
ledger_begin_account(struct sys *s, unsigned int number)
{
	struct ledger *a = number ? mem_zalloc(sizeof(*a)) : NULL;

	if (!a)
		return;
	a->account = number;
	/* A thread that sees it sees its zeros. */
	atomic_store_explicit(ATOMIC_OF(&s->accounts[number]), a, memory_order_release);
}

void
ledger_add_account(struct ledger *dst, const struct sys *s, unsigned int number)
{
	const struct ledger *a = &s->ledger;

	if (number)
		a = atomic_load_explicit(ATOMIC_OF(&s->accounts[number]), memory_order_acquire);
	if (a == &s->ledger && number)
		return;
	ledger_add(dst, a);
}

void
ledger_add_all(struct ledger *dst, const struct sys *s)
{
	for (unsigned int i = 0; i < s->n_accounts; i++)
		ledger_add_account(dst, s, i);
}
