/* Stick tables of the process. Their entries lie in a memory file of their own, beside that of
 * the counters (app/process/keep.h): it is large, and closed as soon as it was copied. */
#include "app/process/process_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "app/process/former.h"
#include "app/process/inherited.h"
#include "app/process/process.h"
#include "app/process/process_peers.h"
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
/* Previous processes: slots of each table that are compared in one turn, which takes a millisecond,
 * the time between two passes, and until one that counts nothing and has no connections is not
 * followed any more. */
#define FOLLOW_SLOTS 65536
#define FOLLOW_MS 100
#define FOLLOW_IDLE_MS 30000
/* Chunks, or bytes of the mapping, that are freed of one in a turn. */
#define CLOSE_CHUNKS 256
#define CLOSE_BYTES ((size_t)64 << 20)

/* The record of the process, beside those of tables: its pid. */
#define RECORD_PROCESS TABLE_FILE_KINDS

static struct table_caller
process_table_caller(const struct process *p)
{
	return (struct table_caller){ .sys = p->sys, .now_ms = loop_now_ms(process_loop(p)) };
}

/* The next table; *i: how many came before, 0 at the start. */
static struct table *
next_table(const struct process *p, unsigned int *i)
{
	const struct proxies *ps = &p->cfg->proxies;

	return *i < ps->n_tables ? ps->every_table[(*i)++] : NULL;
}

/* --- files --- */

/* Makes the file and places the tables. 0 or a negative reason. */
static int
make_table_file(struct process *p, size_t size)
{
	struct memfile *f = &p->keep.tables.own;
	unsigned int it = 0;
	struct table *t;
	int32_t *pid;
	int r = memfile_create(f, p->sys, size, table_file_layout(), p->keep.generation);

	while (r == 0 && (t = next_table(p, &it)) != NULL)
		r = table_file_place(t, f);
	pid = r == 0 ? memfile_add(f, RECORD_PROCESS, "process", "", sizeof(*pid)) : NULL;
	if (pid)
		*pid = (int32_t)sys_getpid(p->sys);
	if (r == 0)
		r = memfile_seal(f);
	/* Without a master it is passed to the next process. */
	if (r == 0 && !p->master)
		return 0;
	if (r == 0)
		r = master_link_keep(p->master, MASTER_LINK_FILE, f->fd, 1);
	memfile_close_fd(f);
	return r;
}

/* The peers of all sections. */
static unsigned int
peers_of_all(const struct process *p)
{
	unsigned int n = 0;

	list_each(it, &p->cfg->proxies.peers)
		n += list_length(&list_entry(it, struct peers_conf, link)->peers);
	return n;
}

void
process_tables_open(struct process *p)
{
	const size_t empty = MEMFILE_HEAD + memfile_record_size("process", "", sizeof(int32_t));
	size_t size = empty;
	unsigned int it = 0;
	struct table *t;
	int r;

	if (!(p->cfg->global.reload_keep & KEEP_TABLES))
		return;
	while ((t = next_table(p, &it)) != NULL)
		size += table_file_room(t) + table_file_marks_room(t, peers_of_all(p) + 1);
	if (size == empty)
		return;
	r = make_table_file(p, size);
	if (r < 0)
		report_msg(p->report, REPORT_WARNING,
			"cannot create the memory file of stick tables: %s. Their entries end "
			"with the process.",
			err_text(r));
}

/* --- without a master --- */

static const char file_name[] = "tables", alive_name[] = "tables alive";

int
process_tables_passed(struct process *p, unsigned int i, const char **name)
{
	struct process_tables *pt = &p->keep.tables;
	const struct tables_former *f;

	*name = i % 2 ? alive_name : file_name;
	if (!pt->own.map || pt->own.fd < 0)
		return -1;
	if (!pt->alive[1] && sys_pipe2(p->sys, pt->alive, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	if (i < 2)
		return i ? pt->alive[0] : pt->own.fd;
	f = i / 2 <= pt->n_former ? &pt->former[i / 2 - 1] : NULL;
	return !f ? -1 : i % 2 ? f->alive : f->fd;
}

/* Takes a file and the pipe behind it. */
static void
take_passed(struct process_tables *pt, struct sys *sys, int fd, int alive)
{
	struct tables_former *f = mem_resize(pt->former, pt->n_former + 1, sizeof(*f));
	const char *why;

	if (f) {
		pt->former = f;
		f += pt->n_former;
		*f = (struct tables_former){ .fd = fd, .alive = alive };
	}
	/* A file of another version cannot be read: its entries end with its process. */
	if (f && memfile_open(&f->view, sys, fd, table_file_layout(), &why) == 0) {
		pt->n_former++;
		return;
	}
	(void)sys_close(sys, fd);
	(void)sys_close(sys, alive);
}

/* Asks the processes that this one replaces, and waits until one has answered. */
static void
ask_for_tables(const struct process *p)
{
	struct former *f = p->former;

	if (f->has_asked || !former_can_help(f))
		return;
	for (int n = FORMER_PATIENCE_MS / FORMER_STEP_MS; n && !f->n_fetches; n--) {
		former_ask(f);
		if (!f->n_asked)
			return;
	}
}

void
process_tables_fetch(struct process *p)
{
	struct process_tables *pt = &p->keep.tables;
	struct inherited_sockets *in = p->inherited;
	const struct inherited_socket *s, *alive;
	uint64_t latest = 0;

	if (p->master || !p->former || !pt->own.map)
		return;
	if (!inherited_find(in, file_name))
		ask_for_tables(p);
	while (pt->n_former < KEEP_FORMER_MAX && (s = inherited_take(in, file_name)) != NULL) {
		alive = inherited_take(in, alive_name);
		if (alive)
			take_passed(pt, p->sys, s->fd, alive->fd);
		else
			(void)sys_close(p->sys, s->fd);
	}
	for (unsigned int i = 0; i < pt->n_former; i++)
		latest = MAX(latest, pt->former[i].view.generation);
	((struct memfile_head *)(void *)pt->own.map)->generation = latest + 1;
}

/* Notes that a process has ended: the other end of its pipe is closed. */
static void
notice_end(struct tables_former *f, struct sys *sys)
{
	char byte;

	if (f->alive >= 0 && !f->has_ended)
		f->has_ended = sys_read(sys, f->alive, &byte, 1) != -EAGAIN;
}

/* --- the previous process --- */

/* The file of the latest process that is followed: it has the entries of earlier ones, too. */
static struct tables_former *
latest_former(const struct process_tables *pt)
{
	struct tables_former *latest = NULL;

	for (unsigned int i = 0; i < pt->n_former; i++)
		if (!pt->former[i].is_closing && (!latest ||
			pt->former[i].view.generation > latest->view.generation))
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
add_follow(struct tables_former *f, struct table_follow *follow, const struct table_caller *by)
{
	struct table_follow **more =
		mem_resize(f->follow, f->n_follow + 1, sizeof(struct table_follow *));

	if (!more) {
		table_follow_free(follow, by);
		return;
	}
	f->follow = more;
	more[f->n_follow++] = follow;
}

/* Copies the tables of the latest process. Of others that have not ended only connections are
 * missing: it has counted the rest, and does until it ends. */
static void
restore_former(struct process *p, struct tables_former *f, int is_latest)
{
	struct table_caller by = process_table_caller(p);
	unsigned int it = 0;
	struct table *t;

	f->counts = is_latest;
	while ((t = next_table(p, &it)) != NULL) {
		struct table_follow *follow = NULL;
		unsigned int n;

		if (is_latest) {
			enum table_restored how = table_follow_restore(t, &f->view, &by, &n,
				f->has_ended ? NULL : &follow);

			report_restored_table(p, t, how);
		} else if (!f->has_ended) {
			follow = table_follow_connections(t, &f->view, &by);
		}
		if (follow)
			add_follow(f, follow, &by);
	}
	f->busy_ms = by.now_ms;
}

/* Tables are those of the previous process, in the state that its peers know. */
static void
resume_groups(const struct process *p, const struct memfile_view *v)
{
	if (p->peers)
		list_each(it, &p->peers->runs)
			peer_group_resume(list_entry(it, struct peers_run, link)->group, v);
}

void
process_tables_on_end(struct process *p, pid_t pid)
{
	struct process_tables *pt = &p->keep.tables;

	for (unsigned int i = 0; i < pt->n_former; i++) {
		const struct memfile_item *item =
			memfile_find(&pt->former[i].view, RECORD_PROCESS, "process", "");
		int32_t of = 0;

		if (item && item->len >= sizeof(of))
			memcpy(&of, item->payload, sizeof(of));
		pt->former[i].has_ended |= of == pid;
	}
}

/* Ends following a previous process. `by` is NULL when the tables are freed next, or when no table
 * is followed: the changes are not logged then. */
static void
close_former(struct tables_former *f, const struct table_caller *by)
{
	for (unsigned int i = 0; i < f->n_follow; i++)
		table_follow_free(f->follow[i], by);
	mem_free(f->follow);
	f->follow = NULL;
	f->n_follow = 0;
	if (f->fd >= 0)
		(void)sys_close(f->view.sys, f->fd);
	if (f->alive >= 0)
		(void)sys_close(f->view.sys, f->alive);
	memfile_close(&f->view);
}

/* Frees a part of what close_former() does. 1: there is more. */
static int
begin_closing(struct tables_former *f, const struct table_caller *by)
{
	f->is_closing = 1;
	for (; f->n_follow; f->n_follow--) {
		struct table_follow *last = f->follow[f->n_follow - 1];

		if (table_follow_shrink(last, CLOSE_CHUNKS, by))
			return 1;
		table_follow_free(last, by);
	}
	return memfile_drop(&f->view, CLOSE_BYTES);
}

void
process_tables_restore(struct process *p)
{
	struct process_tables *pt = &p->keep.tables;
	const struct tables_former *latest =
		p->cfg->global.reload_keep & KEEP_TABLES ? latest_former(pt) : NULL;

	for (unsigned int i = 0; latest && i < pt->n_former; i++)
		restore_former(p, &pt->former[i], &pt->former[i] == latest);
	if (latest)
		resume_groups(p, &latest->view);
	for (unsigned int i = pt->n_former; i-- > 0;) {
		if (pt->former[i].n_follow)
			continue;
		close_former(&pt->former[i], NULL);
		pt->former[i] = pt->former[--pt->n_former];
	}
}

/* Continues a pass over each table of a process, by at most so many slots. Returns whether there
 * is more of it, or of the last passes over one that has ended: it has no connections then, and
 * conn_cur is without them. */
static int
follow_former(struct tables_former *f, unsigned int most, const struct table_caller *by)
{
	int has_more = 0;

	/* Chunks may have been added since. */
	(void)!memfile_more(&f->view);
	for (unsigned int i = 0; i < f->n_follow; i++) {
		has_more |= f->has_ended ? table_follow_rest(f->follow[i], most, by)
					 : table_follow_step(f->follow[i], most, by);
		if (!table_follow_is_idle(f->follow[i]))
			f->busy_ms = by->now_ms;
	}
	return has_more;
}

/* True if a process is still followed: its file may be on the way to the next process, or it has
 * more that was not added. */
static int
is_followed(const struct process *p, const struct tables_former *f, int has_more, uint64_t now_ms)
{
	if (p->pass.fd >= 0)
		return 1;
	/* Its counts are followed when the latest process has ended. */
	if (!f->counts && !f->has_ended)
		return 1;
	return f->has_ended ? has_more : now_ms - f->busy_ms < FOLLOW_IDLE_MS;
}

/* The latest process that is left adds what earlier ones count, and is followed with that. */
static void
follow_counts_of_latest(struct process_tables *pt, const struct table_caller *by)
{
	struct tables_former *f = latest_former(pt);

	if (!f || f->counts)
		return;
	f->counts = 1;
	f->busy_ms = by->now_ms;
	for (unsigned int i = 0; i < f->n_follow; i++)
		table_follow_count(f->follow[i]);
}

/* Adds what previous processes have counted. Returns how many milliseconds to wait. */
static uint32_t
follow_all(struct process *p, const struct table_caller *by)
{
	struct process_tables *pt = &p->keep.tables;
	int has_more = 0;

	for (unsigned int i = pt->n_former; i-- > 0;) {
		struct tables_former *f = &pt->former[i];
		int has_rest = 0;

		notice_end(f, p->sys);
		if (!f->is_closing)
			has_rest = follow_former(f, FOLLOW_SLOTS, by);
		has_more |= has_rest;
		if (!f->is_closing && is_followed(p, f, has_rest, by->now_ms))
			continue;
		if (begin_closing(f, by)) {
			has_more = 1;
			continue;
		}
		close_former(f, by);
		*f = pt->former[--pt->n_former];
	}
	follow_counts_of_latest(pt, by);
	return has_more ? SWEEP_MIN_MS : pt->n_former ? FOLLOW_MS : SWEEP_MAX_MS;
}

/* --- expiry --- */

static void
on_tables_timer(struct timer *timer)
{
	struct process *p = container_of(timer, struct process, keep.tables.timer);
	struct table_caller by = process_table_caller(p);
	uint32_t wait = follow_all(p, &by);
	unsigned int it = 0;
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
	unsigned int it = 0;
	struct loop *l = process_loop(p);

	timer_init(&p->keep.tables.timer, on_tables_timer);
	if (!next_table(p, &it))
		return 0;
	return timer_set(loop_timers(l), &p->keep.tables.timer, loop_now_ms(l) + SWEEP_MIN_MS);
}

void
process_tables_finish(struct process *p)
{
	struct process_tables *pt = &p->keep.tables;
	struct table_caller by;

	/* One that could not start may have no loop. */
	if (!pt->n_former || !process_loop(p))
		return;
	by = process_table_caller(p);
	/* The rest of the passes that have begun, and whole ones. */
	for (unsigned int i = 0; i < 2 * pt->n_former; i++)
		if (!pt->former[i / 2].is_closing)
			(void)follow_former(&pt->former[i / 2], UINT_MAX, &by);
}

void
process_tables_close(struct process_tables *pt)
{
	while (pt->n_former)
		close_former(&pt->former[--pt->n_former], NULL);
	mem_free(pt->former);
	pt->former = NULL;
	for (unsigned int i = 0; i < 2 && pt->alive[1]; i++)
		(void)sys_close(pt->own.sys, pt->alive[i]);
	pt->alive[0] = pt->alive[1] = 0;
	memfile_free(&pt->own);
}
