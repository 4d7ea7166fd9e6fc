/* show profiling and set profiling: what the functions that the workers' loops call cost, in
 * HAProxy's form. On the first worker; others count meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/counter.h"
#include "event/profile.h"

enum profiling_part { PROFILING_STATUS = 1, PROFILING_TASKS = 2, PROFILING_MEMORY = 4 };

/* A function, all workers together. */
struct profiled {
	profile_fn *fn;
	uint64_t calls, busy_ns, late_ns;
};

struct profiled_list {
	struct profiled v[PROFILE_FNS];
	size_t n;
};

/* The arguments of `show profiling`. */
struct profiling_query {
	unsigned int parts;
	int by_addr;
	size_t lines;
};

/* 0: another word. */
static unsigned int
profiling_part_of(const char *word)
{
	static const struct {
		const char *word;
		unsigned int parts;
	} rows[] = {
		{ "all", PROFILING_STATUS | PROFILING_TASKS | PROFILING_MEMORY },
		{ "status", PROFILING_STATUS },
		{ "tasks", PROFILING_TASKS },
		{ "memory", PROFILING_MEMORY },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].word, word) == 0)
			return rows[i].parts;
	return 0;
}

/* --- the sum of the workers --- */

static struct profiled *
find_profiled(struct profiled_list *l, profile_fn *fn)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].fn == fn)
			return &l->v[i];
	if (l->n == ARRAY_LEN(l->v))
		return NULL;
	l->v[l->n] = (struct profiled){ .fn = fn };
	return &l->v[l->n++];
}

static void
add_worker(struct profiled_list *l, const struct profile *p)
{
	for (size_t i = 0; i < ARRAY_LEN(p->row); i++) {
		const struct profile_row *r = &p->row[i];
		profile_fn *fn = counter_read(&r->fn);
		struct profiled *sum = fn ? find_profiled(l, fn) : NULL;

		if (!sum)
			continue;
		sum->calls += counter_read(&r->calls);
		sum->busy_ns += counter_read(&r->busy_ns);
		sum->late_ns += counter_read(&r->late_ns);
	}
}

static int
order_by_addr(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct profiled *)a)->fn;
	uintptr_t y = (uintptr_t)((const struct profiled *)b)->fn;

	return (x > y) - (x < y);
}

static int
order_by_time(const void *a, const void *b)
{
	const struct profiled *x = a, *y = b;

	return (x->busy_ns < y->busy_ns) - (x->busy_ns > y->busy_ns);
}

/* --- as text --- */

/* Four digits and the unit. */
static void
put_short_time(struct sbuf *out, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	char text[16] = "-";
	double v = (double)ns;
	size_t unit = 0;

	for (; v >= 1000 && unit < ARRAY_LEN(units) - 1; unit++)
		v /= 1000;
	if (ns)
		(void)snprintf(text, sizeof(text), "%.*f%s",
			v < 10 ? 3 : v < 100 ? 2 : v < 1000 ? 1 : 0, v, units[unit]);
	sbuf_addf(out, "%10s", text);
}

static void
put_profiled(struct sbuf *out, const struct profiled *f)
{
	const char *name = profile_name_of(f->fn);
	char addr[24];

	(void)snprintf(addr, sizeof(addr), "0x%" PRIxPTR, (uintptr_t)f->fn);
	sbuf_addf(out, "  %-24s %10" PRIu64, name ? name : addr, f->calls);
	put_short_time(out, f->busy_ns);
	put_short_time(out, f->busy_ns / f->calls);
	put_short_time(out, f->late_ns);
	put_short_time(out, f->late_ns / f->calls);
	sbuf_addc(out, '\n');
}

static void
show_tasks(struct admin_conn *c, const struct profiling_query *q)
{
	struct process *p = c->admin->process;
	struct profiled_list list = { .n = 0 };
	size_t left = q->lines;

	for (unsigned int i = 0; i < p->n_workers; i++)
		add_worker(&list, loop_profile(p->workers[i].loop));
	qsort(list.v, list.n, sizeof(list.v[0]), q->by_addr ? order_by_addr : order_by_time);
	sbuf_adds(&c->out,
		"Tasks activity:\n"
		"  function                      calls   cpu_tot   cpu_avg   "
		"lat_tot   lat_avg\n");
	for (size_t i = 0; i < list.n && left; i++) {
		/* A row is there before its first call is counted. */
		if (!list.v[i].calls)
			continue;
		put_profiled(&c->out, &list.v[i]);
		left--;
	}
}

/* Shows the mode of the first worker: it is the same in all, and with auto each decides for
 * itself. */
static void
show_status(struct admin_conn *c)
{
	struct process *p = c->admin->process;
	int mode = counter_read(&loop_profile(process_loop(p))->mode), is_on = 0;
	const char *text = mode == PROFILE_ON ? "on" : "off";

	for (unsigned int i = 0; i < p->n_workers; i++)
		is_on |= counter_read(&loop_profile(p->workers[i].loop)->is_on);
	if (mode == PROFILE_AUTO)
		text = is_on ? "auto-on" : "auto-off";
	sbuf_addf(&c->out,
		"Per-task CPU profiling              : %-14s# set profiling tasks {on|auto|off}\n"
		"Memory usage profiling              : off           "
		"# set profiling memory {on|off}\n",
		text);
}

/* --- the commands --- */

/* 0 stands for all. -1: it is no number. */
static int
take_line_count(const char *word, size_t *lines)
{
	size_t len = strlen(word);

	if (!len || strspn(word, "0123456789") < len)
		return -1;
	*lines = strtoul(word, NULL, 10);
	if (!*lines)
		*lines = SIZE_MAX;
	return 0;
}

void
admin_cmd_show_profiling(struct admin_conn *c, int argc, char **argv)
{
	struct profiling_query q = { .parts = profiling_part_of("all"), .lines = SIZE_MAX };

	for (int i = 0; i < argc; i++) {
		if (profiling_part_of(argv[i])) {
			q.parts = profiling_part_of(argv[i]);
		} else if (strcmp(argv[i], "byaddr") == 0) {
			q.by_addr = 1;
		} else if (take_line_count(argv[i], &q.lines) < 0) {
			admin_msg(c, ADMIN_ERR,
				"Expects either 'all', 'status', 'tasks', 'memory', 'byaddr' or a "
				"max number of output lines.");
			return;
		}
	}
	if (q.parts & PROFILING_STATUS)
		show_status(c);
	if (q.parts & PROFILING_TASKS)
		show_tasks(c, &q);
}

/* Starts a new count when it is turned on, as the manual says. */
static void
set_tasks_mode(struct admin_conn *c, enum profile_mode mode)
{
	struct process *p = c->admin->process;

	admin_stop_workers(c);
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct profile *of = loop_profile(p->workers[i].loop);

		if (mode == PROFILE_ON)
			profile_clear(of);
		profile_set_mode(of, mode);
	}
	admin_resume_workers(c);
}

void
admin_cmd_set_profiling(struct admin_conn *c, int argc, char **argv)
{
	const char *what = argc > 0 ? argv[0] : "", *value = argc > 1 ? argv[1] : "";
	int is_off = strcmp(value, "off") == 0, is_on = strcmp(value, "on") == 0;

	if (strcmp(what, "memory") == 0) {
		admin_msg(c, ADMIN_ERR, "Memory profiling not compiled in.");
	} else if (strcmp(what, "tasks") != 0) {
		admin_msg(c, ADMIN_ERR, "Expects either 'tasks' or 'memory'.");
	} else if (is_on || is_off) {
		set_tasks_mode(c, is_on ? PROFILE_ON : PROFILE_OFF);
	} else if (strcmp(value, "auto") == 0) {
		set_tasks_mode(c, PROFILE_AUTO);
	} else {
		admin_msg(c, ADMIN_ERR, "Expects 'on', 'auto', or 'off'.");
	}
}
