/* Stick tables of the process. Their entries lie in a memory file of their own, beside that of
 * the counters (app/process/keep.h): it is large, and closed as soon as it was copied. */
#include "app/process/process_tables.h"

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "proxy/model/proxies.h"
#include "table/table_file.h"

/* Entries that are removed in one turn, of each table. */
#define SWEEP_ENTRIES 256
/* Bounds of the time until the next sweep. */
#define SWEEP_MIN_MS 10
#define SWEEP_MAX_MS 1000
/* Interval at which the connections of a previous process are counted. */
#define DRAIN_MS 100

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
restore_table(struct process *p, struct table *t, const struct tables_former *f)
{
	struct table_caller by = table_caller_of(p);
	unsigned int n;

	switch (table_file_restore(t, &f->view, &by, &n)) {
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

/* Begins to count the connections of a process that drains. */
static void
begin_drain(struct process *p, struct tables_former *f)
{
	struct table_caller by = table_caller_of(p);
	struct list *it = NULL;
	struct table *t;

	while ((t = next_table(p, &it)) != NULL) {
		struct table_drain *d = mem_resize(f->drain, f->n_drain + 1, sizeof(*d));

		if (!d)
			return;
		f->drain = d;
		d += f->n_drain;
		*d = (struct table_drain){ .n = 0 };
		(void)table_drain_add(d, t, &f->view, &by);
		if (d->n)
			f->n_drain++;
		else
			table_drain_fini(d);
	}
}

static void
close_former(struct tables_former *f)
{
	for (unsigned int i = 0; i < f->n_drain; i++)
		table_drain_fini(&f->drain[i]);
	mem_free(f->drain);
	f->drain = NULL;
	f->n_drain = 0;
	memfile_close(&f->view);
}

void
process_tables_restore(struct process *p)
{
	struct process_tables *pt = &p->keep.tables;
	const struct tables_former *latest =
		p->cfg->global.reload_keep & KEEP_TABLES ? latest_former(pt) : NULL;
	struct list *it = NULL;
	struct table *t;

	while (latest && (t = next_table(p, &it)) != NULL)
		restore_table(p, t, latest);
	for (unsigned int i = pt->n_former; i-- > 0;) {
		struct tables_former *f = &pt->former[i];

		if (latest && !f->has_ended)
			begin_drain(p, f);
		memfile_forget_names(&f->view);
		if (!f->n_drain) {
			close_former(f);
			*f = pt->former[--pt->n_former];
		}
	}
}

/* Counts the connections that have ended there. */
static void
update_drains(struct process_tables *pt)
{
	for (unsigned int i = pt->n_former; i-- > 0;) {
		struct tables_former *f = &pt->former[i];
		unsigned int left = 0;

		for (unsigned int d = 0; d < f->n_drain; d++)
			left += table_drain_update(&f->drain[d]);
		if (!left) {
			close_former(f);
			*f = pt->former[--pt->n_former];
		}
	}
}

/* --- expiry --- */

static void
on_tables_timer(struct timer *timer)
{
	struct process *p = container_of(timer, struct process, keep.tables.timer);
	struct table_caller by = table_caller_of(p);
	uint32_t wait = SWEEP_MAX_MS;
	struct list *it = NULL;
	struct table *t;

	while ((t = next_table(p, &it)) != NULL) {
		uint32_t left = table_sweep(t, &by, SWEEP_ENTRIES);

		wait = MIN(wait, left ? MAX(left, SWEEP_MIN_MS) : 1);
	}
	update_drains(&p->keep.tables);
	if (p->keep.tables.n_former)
		wait = MIN(wait, DRAIN_MS);
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
	return timer_set(loop_timers(l), &p->keep.tables.timer, loop_now_ms(l) + SWEEP_MAX_MS);
}

void
process_tables_stop(struct process *p)
{
	timer_stop(loop_timers(process_loop(p)), &p->keep.tables.timer);
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
