/*
 * A whole process with its k-th system call failing, for all k from the first line of its
 * configuration to its end, and each way that call can fail; and with its k-th allocation failing.
 * It may refuse to start, or serve less; it never crashes, hangs, blocks, spins, or leaves a
 * descriptor open. A call that a signal interrupts changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/faults.h"
#include "sim/process_world.h"
#include "unit/test.h"

#define ERRORS_MAX 8
#define REPORTS_MAX 5
#define SCENARIOS 256
#define AGAIN 3

struct fault {
	uint64_t call;       /* the nth one, 0: none */
	unsigned int choice; /* of its errors */
	unsigned int again;  /* number of later calls of its name that fail too */
	uint64_t alloc;      /* the nth one, 0: none */
};

struct outcome {
	uint64_t calls, allocs;
	enum sys_call failed;
	int err;
	int bad;
	char why[500];
};

static struct process_world w;
static struct process_scenario sc;

/* The trace is compared only if nothing has failed but by a signal. connect() continues then, and a
 * wait that begins again knows how long the turn before it has taken. */
static int
is_to_be_the_same(const struct outcome *out)
{
	return (out->failed == SYS_CALLS && !faults_hit()) ||
		(out->err == EINTR && out->failed != SYS_CALL_connect &&
			out->failed != SYS_CALL_epoll_wait);
}

static void
play(struct outcome *out, const char *name, const struct fault *f)
{
	struct process_script *script;

	memset(out, 0, sizeof(*out));
	if (process_scenario_read(&sc, name) < 0)
		fail_msg("%s", sc.why);
	process_world_open(&w);
	script = process_script_read(&w, sc.script);
	if (!script)
		fail_msg("%s", w.why);
	if (f->call)
		fake_torture(w.k, fake_calls(w.k) + f->call, f->choice);
	fake_fail_again(w.k, f->again);
	faults_set(f->alloc);
	faults_set_again(f->again);
	w.mem_faults = 1;
	out->calls = fake_calls(w.k);
	if (process_world_start(&w, sc.config) == 0)
		process_world_run(&w);
	else if (fake_failed_call(w.k) != SYS_CALLS || faults_hit())
		w.why[0] = '\0';
	out->calls = fake_calls(w.k) - out->calls;
	out->failed = fake_failed_call(w.k);
	out->allocs = faults_counted();
	out->err = fake_failed_errno(w.k);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	if (is_to_be_the_same(out) && strcmp(w.trace.p ? w.trace.p : "", sc.trace) != 0)
		process_world_error(&w, "the trace is another one");
	out->bad = process_world_close(&w) < 0;
	memcpy(out->why, w.why, sizeof(w.why));
	process_script_free(&script);
}

/* The k-th call for all k, in every way it can fail, once and repeatedly. */
static int
fail_calls(const char *name, uint64_t calls, unsigned int again)
{
	struct fault f = { .again = again };
	struct outcome out;
	int bad = 0;

	for (f.call = 1; f.call <= calls; f.call++)
		for (f.choice = 0; f.choice < ERRORS_MAX && bad < REPORTS_MAX; f.choice++) {
			play(&out, name, &f);
			if (out.failed == SYS_CALLS)
				break;
			if (!out.bad)
				continue;
			bad++;
			print_message("%s: call %llu, %s, fails with %s, %u times more: %s\n", name,
				(unsigned long long)f.call, ledger_name(out.failed),
				strerrorname_np(out.err), again, out.why);
		}
	return bad;
}

static int
fail_allocations(const char *name, uint64_t allocs, unsigned int again)
{
	struct fault f = { .again = again };
	struct outcome out;
	int bad = 0;

	for (f.alloc = 1; f.alloc <= allocs && bad < REPORTS_MAX; f.alloc++) {
		play(&out, name, &f);
		if (!out.bad)
			continue;
		bad++;
		print_message("%s: allocation %llu fails, %u times more: %s\n", name,
			(unsigned long long)f.alloc, again, out.why);
	}
	return bad;
}

static void
test_torture(void **state)
{
	const char *name = *state;
	const struct fault none = { 0 };
	struct outcome clean;
	int bad;

	play(&clean, name, &none);
	if (clean.bad)
		fail_msg("%s: %s", name, clean.why);
	bad = fail_calls(name, clean.calls, 0);
	bad += fail_calls(name, clean.calls, AGAIN);
	bad += fail_allocations(name, clean.allocs, 0);
	bad += fail_allocations(name, clean.allocs, AGAIN);
	if (getenv("SHOW_CALLS"))
		print_message("%-32s %llu calls, %llu allocations\n", name,
			(unsigned long long)clean.calls, (unsigned long long)clean.allocs);
	assert_int_equal(bad, 0);
}

/* OpenSSL would have to read virtual time, and to make keys for each of thousands of worlds. */
static int
uses_tls(const char *name)
{
	if (process_scenario_read(&sc, name) < 0)
		fail_msg("%s", sc.why);
	return strstr(sc.config, "site.pem") != NULL;
}

/* True if the n-th scenario belongs to the part of all that TEST_PART names, such as 2of4. */
static int
is_in_part(unsigned int n)
{
	const char *part = getenv("TEST_PART");
	unsigned int i, parts;

	if (!part || !*part)
		return 1;
	if (sscanf(part, "%uof%u", &i, &parts) != 2 || i < 1 || i > parts)
		fail_msg("TEST_PART=%s: 1of4 is one", part);
	return n % parts == i - 1;
}

int
main(void)
{
	static char names[SCENARIOS][PROCESS_SCENARIO_NAME];
	static struct CMUnitTest tests[SCENARIOS];
	unsigned int n = process_scenario_names(names, SCENARIOS), used = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (!is_in_part(i) || uses_tls(names[i]))
			continue;
		tests[used] = (struct CMUnitTest)cmocka_unit_test(test_torture);
		tests[used].name = names[i];
		tests[used++].initial_state = names[i];
	}
	return _cmocka_run_group_tests("torture of a process", tests, used, NULL, NULL);
}
