/* Stick tables of the process. Their entries lie in a memory file of their own, beside that of
 * the counters (app/process/keep.h): it is large, and closed as soon as it was copied. */
#include "app/process/process_tables.h"

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "proxy/model/proxies.h"
#include "table/table_file.h"
#include "table/table_follow.h"

/* Entries that are removed in one turn, of each table. */
#define SWEEP_ENTRIES 256
/* Bounds of the time until the next sweep. */
#define SWEEP_MIN_MS 10
#define SWEEP_MAX_MS 1000
/* Previous processes: chunks that are compared in one turn, the time between two passes, and until
 * one that counts nothing and has no connections is not followed any more. */
#define FOLLOW_CHUNKS 256
#define FOLLOW_MS 100
#define FOLLOW_IDLE_MS 30000

static struct table_caller
table_caller_of(const struct process *p)
{
	return (struct table_caller){ .sys = p->sys, .now_ms = loop_now_ms(process_loop(p)) };
}

/* The table of the next proxy that has one; *it: the last one, NULL at the start. */
static struct table *
next_table(struct process *p, struct list **it)
{
	struct list *all = &p->cfg->proxies.all;

	for (*it = *it ? (*it)->next : all->next; *it != all; *it = (*it)->next) {
		struct proxy *px = list_entry(*it, struct proxy, link);

		if (px->table)
			return px->table;
	}
	return NULL;
}

/* --- files --- */

int
process_tables_open_former(struct process_tables *pt, struct sys *sys, int fd, int has_ended)
{
	struct tables_former *f = mem_resize(pt->former, pt->n_former + 1, sizeof(*f));
	const char *why;
	int r;

	if (!f)
		return -ERR_NOMEM;
	pt->former = f;
	f += pt->n_former;
	*f = (struct tables_former){ .has_ended = has_ended };
	r = memfile_open(&f->view, sys, fd, table_file_layout(), &why);
	if (r == 0)
		pt->n_former++;
	return r;
}

/* Makes the file and places the tables. 0 or a negative reason. */
static int
make_table_file(struct process *p, size_t size)
{
	struct memfile *f = &p->keep.tables.own;
	struct list *it = NULL;
	struct table *t;
	int r = memfile_create(f, p->sys, size, table_file_layout(), p->keep.generation);

	while (r == 0 && (t = next_table(p, &it)) != NULL)
		r = table_file_place(t, f);
	if (r == 0)
		r = memfile_seal(f);
	if (r == 0)
		r = master_link_keep(p->master, MASTER_LINK_FILE, f->fd, 1);
	memfile_close_fd(f);
	return r;
}

void
process_tables_open(struct process *p)
{
	size_t size = MEMFILE_HEAD;
	struct list *it = NULL;
	struct table *t;
	int r;

	if (!p->master || !(p->cfg->global.reload_keep & KEEP_TABLES))
		return;
	while ((t = next_table(p, &it)) != NULL)
		size += table_file_room(t);
	if (size == MEMFILE_HEAD)
		return;
	r = make_table_file(p, size);
	if (r < 0)
		report_msg(p->report, REPORT_WARNING,
			"cannot create the memory file of stick tables: %s. Their entries end "
			"with the process.",
			err_text(r));
}

/* --- the previous process --- */

/* The file of the latest process: it has the entries of earlier ones, too. */
static struct tables_former *
latest_former(const struct process_tables *pt)
{
	struct tables_former *latest = NULL;

	for (unsigned int i = 0; i < pt->n_former; i++)
		if (!latest || pt->former[i].view.generation > latest->view.generation)
			latest = &pt->former[i];
	return latest;
}

static void
report_restored_table(const struct process *p, const struct table *t, enum table_restored how)
{
	switch (how) {
	case TABLE_IS_OTHER:
		report_msg(p->report, REPORT_WARNING,
			"stick table '%s' starts empty: before the reload its keys were of "
			"another type or length.",
			table_name(t));
		break;
	case TABLE_IS_DAMAGED:
		report_msg(p->report, REPORT_WARNING,
			"stick table '%s' starts empty: the memory file of a previous worker "
			"process is damaged.",
			table_name(t));
		break;
	case TABLE_NOT_THERE:
	case TABLE_RESTORED:
		break;
	}
}

/* Notes that a table of the process is followed. */
static void
add_follow(struct tables_former *f, struct table_follow *follow)
{
	struct table_follow **more =
		mem_resize(f->follow, f->n_follow + 1, sizeof(struct table_follow *));

	if (!more) {
		table_follow_free(follow);
		return;
	}
	f->follow = more;
	more[f->n_follow++] = follow;
}

/* Copies the tables of the latest process. Of others that have not ended only connections are
 * missing: it has counted the rest. */
static void
restore_former(struct process *p, struct tables_former *f, int is_latest)
{
	struct table_caller by = table_caller_of(p);
	struct list *it = NULL;
	struct table *t;

	while ((t = next_table(p, &it)) != NULL) {
		struct table_follow *follow = NULL;
		unsigned int n;

		if (is_latest)
			report_restored_table(p, t, table_follow_restore(t, &f->view, &by, &n,
				f->has_ended ? NULL : &follow));
		else if (!f->has_ended)
			follow = table_follow_connections(t, &f->view, &by);
		if (follow)
			add_follow(f, follow);
	}
	f->busy_ms = by.now_ms;
}

static void
close_former(struct tables_former *f)
{
	for (unsigned int i = 0; i < f->n_follow; i++)
		table_follow_free(f->follow[i]);
	mem_free(f->follow);
	f->follow = NULL;
	f->n_follow = 0;
	memfile_close(&f->view);
}

void
process_tables_restore(struct process *p)
{
	struct process_tables *pt = &p->keep.tables;
	const struct tables_former *latest =
		p->cfg->global.reload_keep & KEEP_TABLES ? latest_former(pt) : NULL;

	for (unsigned int i = 0; latest && i < pt->n_former; i++)
		restore_former(p, &pt->former[i], &pt->former[i] == latest);
	for (unsigned int i = pt->n_former; i-- > 0;) {
		if (pt->former[i].n_follow)
			continue;
		close_former(&pt->former[i]);
		pt->former[i] = pt->former[--pt->n_former];
	}
}

/* Continues a pass over the tables of a process. Returns whether there is more of it. */
static int
follow_former(struct tables_former *f, const struct table_caller *by)
{
	int has_more = 0;

	for (unsigned int i = 0; i < f->n_follow; i++) {
		has_more |= table_follow_step(f->follow[i], FOLLOW_CHUNKS, by);
		if (!table_follow_is_idle(f->follow[i]))
			f->busy_ms = by->now_ms;
	}
	return has_more;
}

/* Adds what previous processes have counted. Returns how many milliseconds to wait. */
static uint32_t
follow_all(struct process_tables *pt, const struct table_caller *by)
{
	int has_more = 0;

	for (unsigned int i = pt->n_former; i-- > 0;) {
		has_more |= follow_former(&pt->former[i], by);
		if (by->now_ms - pt->former[i].busy_ms < FOLLOW_IDLE_MS)
			continue;
		close_former(&pt->former[i]);
		pt->former[i] = pt->former[--pt->n_former];
	}
	return has_more ? SWEEP_MIN_MS : pt->n_former ? FOLLOW_MS : SWEEP_MAX_MS;
}

/* --- expiry --- */

static void
on_tables_timer(struct timer *timer)
{
	struct process *p = container_of(timer, struct process, keep.tables.timer);
	struct table_caller by = table_caller_of(p);
	uint32_t wait = follow_all(&p->keep.tables, &by);
	struct list *it = NULL;
	struct table *t;

	while ((t = next_table(p, &it)) != NULL) {
		uint32_t left = table_sweep(t, &by, SWEEP_ENTRIES);

		wait = MIN(wait, left ? MAX(left, SWEEP_MIN_MS) : 1);
	}
	/* The timer is in the heap already. */
	(void)!timer_set(loop_timers(process_loop(p)), timer, by.now_ms + wait);
}
PROFILE_NAME(on_tables_timer, tables_timer)

int
process_tables_start(struct process *p)
{
	struct list *it = NULL;
	struct loop *l = process_loop(p);

	timer_init(&p->keep.tables.timer, on_tables_timer);
	if (!next_table(p, &it))
		return 0;
	return timer_set(loop_timers(l), &p->keep.tables.timer, loop_now_ms(l) + SWEEP_MIN_MS);
}

void
process_tables_close(struct process_tables *pt)
{
	while (pt->n_former)
		close_former(&pt->former[--pt->n_former]);
	mem_free(pt->former);
	pt->former = NULL;
	memfile_free(&pt->own);
}
