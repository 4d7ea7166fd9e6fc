#include "sim/torture.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "sim/faults.h"
#include "unit/test.h"

#define REPORTS_MAX 5
#define AGAIN 3
#define FRAMES 48
#define SITES (1u << 16)

/* Where the calls and the allocations of a play without a fault came from. */
struct places {
	struct place {
		uint64_t stack;
		enum sys_call call;
	} at[1u << 16];
	uint64_t n;
};

static struct places calls, allocs;
/* Counts of failures of each call stack in this program. */
static struct site {
	uint64_t stack;
	unsigned int n;
} sites[SITES];

static uint64_t
stack_hash(void)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES);
	uint64_t h = 14695981039346656037u;

	for (int i = 0; i < n; i++)
		h = (h ^ (uint64_t)(uintptr_t)frame[i]) * 1099511628211u;
	return h;
}

static void
note(struct places *p, enum sys_call call)
{
	if (p->n == ARRAY_LEN(p->at))
		fail_msg("more than %zu places", ARRAY_LEN(p->at));
	p->at[p->n++] = (struct place){ stack_hash(), call };
}

static void
on_call(enum sys_call call)
{
	note(&calls, call);
}

static void
on_allocation(void)
{
	note(&allocs, SYS_CALLS);
}

void
torture_begin(struct outcome *out, struct fake *k, const struct fault *f)
{
	int is_clean = !f->call && !f->alloc;

	memset(out, 0, sizeof(*out));
	out->calls = fake_calls(k);
	if (f->call)
		fake_torture(k, out->calls + f->call, f->choice);
	fake_fail_again(k, f->again);
	faults_set(f->alloc);
	faults_set_again(f->again);
	if (is_clean)
		calls.n = allocs.n = 0;
	fake_on_call(k, is_clean ? on_call : NULL);
	faults_on_allocation(is_clean ? on_allocation : NULL);
}

void
torture_end(struct outcome *out, struct fake *k)
{
	out->calls = fake_calls(k) - out->calls;
	out->allocs = faults_counted();
	out->failed = fake_failed_call(k);
	out->err = fake_failed_errno(k);
	fake_fail(k, FAKE_ANY_CALL, 0, 0);
	fake_on_call(k, NULL);
	faults_on_allocation(NULL);
}

/* True if a place has not failed as often as TORTURE_SITES says; counts it. */
static int
is_due(const struct place *p, unsigned int again)
{
	const char *most = getenv("TORTURE_SITES");
	uint64_t key = p->stack + again;
	unsigned int i = key % SITES;

	if (!most || !*most)
		return 1;
	while (sites[i].n && sites[i].stack != key)
		i = (i + 1) % SITES;
	if (sites[i].n >= strtoul(most, NULL, 10))
		return 0;
	sites[i].stack = key;
	sites[i].n++;
	return 1;
}

/* Plays one fault; returns 1 if it goes wrong. */
static int
play(const struct torture *t, const struct fault *f)
{
	struct outcome out, shown;

	t->play(&out, t->subject, f, 0);
	if (f->call && out.failed == SYS_CALLS)
		fail_msg("%s: call %llu did not fail", t->name, (unsigned long long)f->call);
	if (!out.bad)
		return 0;
	if (f->alloc)
		print_message("%s: allocation %llu fails, %u times more: %s\n", t->name,
			(unsigned long long)f->alloc, f->again, out.why);
	else
		print_message("%s: call %llu, %s, fails with %s, %u times more: %s\n", t->name,
			(unsigned long long)f->call, ledger_name(out.failed),
			strerrorname_np(out.err), f->again, out.why);
	if (getenv("SCENARIO"))
		t->play(&shown, t->subject, f, 1);
	return 1;
}

static int
fail_calls(const struct torture *t, unsigned int again)
{
	struct fault f = { .again = again };
	int bad = 0;

	for (f.call = 1; f.call <= calls.n && bad < REPORTS_MAX; f.call++) {
		const struct place *p = &calls.at[f.call - 1];

		if (!fake_fault_errno(p->call, 0) || !is_due(p, again))
			continue;
		for (f.choice = 0; fake_fault_errno(p->call, f.choice); f.choice++)
			bad += play(t, &f);
	}
	return bad;
}

static int
fail_allocations(const struct torture *t, unsigned int again)
{
	struct fault f = { .again = again };
	int bad = 0;

	for (f.alloc = 1; f.alloc <= allocs.n && bad < REPORTS_MAX; f.alloc++)
		if (is_due(&allocs.at[f.alloc - 1], again))
			bad += play(t, &f);
	return bad;
}

int
torture_play(const struct torture *t, struct outcome *clean)
{
	const struct fault none = { 0 };

	(void)stack_hash(); /* the first one allocates */
	t->play(clean, t->subject, &none, 0);
	if (clean->bad)
		fail_msg("%s: %s", t->name, clean->why);
	assert_int_equal(clean->calls, calls.n);
	assert_int_equal(clean->allocs, allocs.n);
	if (getenv("SHOW_CALLS"))
		print_message("%-32s %llu calls, %llu allocations\n", t->name,
			(unsigned long long)clean->calls, (unsigned long long)clean->allocs);
	return fail_calls(t, 0) + fail_calls(t, AGAIN) + fail_allocations(t, 0) +
	       fail_allocations(t, AGAIN);
}
