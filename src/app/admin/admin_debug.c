/* debug dev: makes a worker hang, or the process end, so that whatever watches it can be tried
 * (management manual 9.3). HAProxy stalls the thread that runs the command; here any of them. */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "app/admin/admin_int.h"
#include "app/process/wake_worker.h"
#include "base/futex.h"
#include "event/mailbox.h"

enum { STALL_MAX_MS = 3600 * 1000 };

/* A number up to `max`; without the argument `otherwise`. Negative: it was refused. */
static long
read_number(struct admin_conn *c, const char *text, long otherwise, long max, const char *what)
{
	char *end;
	long v;

	if (!text)
		return otherwise;
	v = strtol(text, &end, 10);
	if (end != text && !*end && v >= 0 && v <= max)
		return v;
	admin_msg(c, ADMIN_ERR, "'%s': expects %s from 0 to %ld.", text, what, max);
	return -1;
}

static void
be_busy(struct worker *w, unsigned int ms)
{
	uint64_t end = sys_clock_ns(w->sys, CLOCK_MONOTONIC) + ms * UINT64_C(1000000);

	while (sys_clock_ns(w->sys, CLOCK_MONOTONIC) < end)
		;
}

/* No other thread wakes this futex word: only the time ends the wait. */
static void
be_asleep(struct worker *w, unsigned int ms)
{
	_Atomic uint32_t word = 0;

	futex_wait(w->sys, &word, 0, (int)ms);
}

static void
on_loop_mail(void *worker, struct mail *m)
{
	be_busy(worker, (unsigned int)(uintptr_t)m->arg);
}

static void
on_delay_mail(void *worker, struct mail *m)
{
	be_asleep(worker, (unsigned int)(uintptr_t)m->arg);
}

/* The first worker hangs before it answers. */
static void
stall_thread(struct admin_conn *c, mail_fn *fn, char **argv, int argc)
{
	struct process *p = c->admin->process;
	long ms = read_number(c, argc > 0 ? argv[0] : NULL, 1, STALL_MAX_MS, "milliseconds");
	long thread = ms < 0 ? -1
			     : read_number(c, argc > 1 ? argv[1] : NULL, 1, p->n_workers,
				       "the number of a thread");
	struct mail m = { .fn = fn, .arg = (void *)(uintptr_t)ms };

	if (thread == 0)
		admin_msg(c, ADMIN_ERR, "Threads are numbered from 1.");
	else if (thread == 1)
		fn(c->admin->worker, &m);
	else if (thread > 1)
		wake_worker_post(c->admin->worker, &p->workers[thread - 1], &m);
}

void
admin_cmd_debug_dev_loop(struct admin_conn *c, int argc, char **argv)
{
	stall_thread(c, on_loop_mail, argv, argc);
}

void
admin_cmd_debug_dev_delay(struct admin_conn *c, int argc, char **argv)
{
	stall_thread(c, on_delay_mail, argv, argc);
}

/* Nothing is closed, sent or removed, as when it is killed. */
void
admin_cmd_debug_dev_exit(struct admin_conn *c, int argc, char **argv)
{
	long code = read_number(c, argc > 0 ? argv[0] : NULL, 0, UINT8_MAX, "an exit code");

	if (code >= 0)
		_Exit((int)code);
}

void
admin_cmd_debug_dev_panic(struct admin_conn *c, int argc, char **argv)
{
	(void)c;
	(void)argc;
	(void)argv;
	abort();
}

void
admin_cmd_debug_dev_log(struct admin_conn *c, int argc, char **argv)
{
	struct sbuf text;

	sbuf_init(&text, 0);
	for (int i = 0; i < argc; i++)
		sbuf_addf(&text, "%s%s", i ? " " : "", argv[i]);
	if (text.failed)
		admin_msg(c, ADMIN_ERR, "Out of memory.");
	else
		log_msg(process_log(c->admin->process), LOG_LEVEL_INFO, "%.*s", (int)text.len,
			text.p ? text.p : "");
	sbuf_fini(&text);
}
