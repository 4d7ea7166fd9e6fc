/* Tables of previous processes, followed in turns. */
#include <string.h>

/* The unit itself, instead of the library's. */
#include "app/process/process_tables.c"
#include "app/process/worker.h"
#include "base/keyhash.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

/* A table of more slots than are compared in one turn. */
#define ENTRIES 200000u
#define CHUNK_ENTRIES 64u
#define BACKENDS "backend t\n stick-table type integer size 200k expire 1h store gpc0\n"
/* The same with peers, and a section whose table is new, as is that of a backend. */
#define SHARED \
	"peers p\n peer a 127.0.0.1:1000\n peer b 127.0.0.1:1001\npeers q\n" \
	" peer a 127.0.0.1:1002\n peer b 127.0.0.1:1003\n" \
	" table u type integer size 10 store gpc0\nbackend new\n" \
	" stick-table type integer size 10 store gpc0\n" \
	"backend t\n stick-table type integer size 200k expire 1h peers p store gpc0\n"
#define PID 4321

/* The previous process. */
static struct table *before;
static struct memfile file;
static _Atomic int news;

static void
count_all(void)
{
	struct table_caller by = process_table_caller(&proc);

	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct table_entry *e;
		struct table_key k;

		assert_int_equal(table_key_int(before, &k, i), 0);
		e = table_get(before, &k, &by);
		assert_non_null(e);
		(void)table_add(before, e, TABLE_GPC0, 0, &by, 1);
		table_unref(e);
	}
}

/* Returns how many entries of this process have this count. */
static unsigned int
counted_all(uint64_t want)
{
	struct table_caller by = process_table_caller(&proc);
	struct table *t = cfg.proxies.every_table[0];
	unsigned int n = 0;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct table_entry *e;
		struct table_key k;
		uint64_t v = 0;

		assert_int_equal(table_key_int(t, &k, i), 0);
		e = table_find(t, &k, &by);
		if (!e)
			continue;
		(void)table_read(t, e, TABLE_GPC0, 0, &by, &v);
		n += v == want;
		table_unref(e);
	}
	return n;
}

/* Starts the table of the previous process, then this one. */
static void
start(const char *global, const char *proxies)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = ENTRIES,
		.expire_ms = 3600000, .brates_factor = 1 };
	struct process_tables *pt = &proc.keep.tables;
	_Atomic uint64_t *mark;
	const char *why;
	int32_t *pid;
	size_t room;

	c.store[TABLE_GPC0].n = 1;
	assert_int_equal(bench_open(global, proxies), 0);
	assert_int_equal(worker_open(w), 0);
	assert_int_equal(process_peers_start(&proc), 0);
	before = table_new("t", &c, &keyhash_known);
	assert_non_null(before);
	if (proc.peers)
		assert_int_equal(table_share(before, &news), 0);
	room = table_file_room(before) + table_file_marks_room(before, 2);
	room += MEMFILE_HEAD + memfile_record_size("process", "", sizeof(*pid));
	assert_int_equal(memfile_create(&file, proc.sys, room, table_file_layout(), 1), 0);
	assert_int_equal(table_file_place(before, &file), 0);
	pid = memfile_add(&file, RECORD_PROCESS, "process", "", sizeof(*pid));
	assert_non_null(pid);
	*pid = PID;
	assert_int_equal(memfile_seal(&file), 0);
	mark = table_file_mark(before, TABLE_MARK_COMPLETE);
	assert_non_null(mark);
	atomic_store(mark, 1);
	count_all();
	pt->former = mem_zalloc(sizeof(*pt->former));
	assert_non_null(pt->former);
	*pt->former = (struct tables_former){ .fd = -1, .alive = -1 };
	assert_int_equal(memfile_open(&pt->former->view, proc.sys, file.fd, table_file_layout(),
				 &why), 0);
	pt->n_former = 1;
	process_tables_restore(&proc);
	assert_int_equal(process_tables_start(&proc), 0);
	assert_int_equal(pt->n_former, 1);
}

static void
finish(void)
{
	bench_close();
	table_free(before);
	memfile_free(&file);
}

/* The turn of the timer. Returns how many previous processes are followed then. */
static unsigned int
turn(void)
{
	on_tables_timer(&proc.keep.tables.timer);
	return proc.keep.tables.n_former;
}

/* A turn has a bound also when the previous process has ended. */
static void
the_end_is_followed_in_turns(void **st)
{
	const struct tables_former *f;
	unsigned int turns = 1;

	(void)st;
	start("", BACKENDS);
	f = proc.keep.tables.former;
	assert_int_equal(counted_all(1), ENTRIES);
	assert_int_equal(turn(), 1);
	/* In the chunks that this pass has gone over, too. */
	count_all();
	process_tables_on_end(&proc, PID);
	for (; turn() && !f->is_closing; turns++)
		assert_in_range(counted_all(2), 1, turns * FOLLOW_SLOTS);
	assert_int_equal(counted_all(2), ENTRIES);
	assert_in_range(turns, 2 * ENTRIES / FOLLOW_SLOTS, 2 * ENTRIES / FOLLOW_SLOTS + 2);
	/* So has what frees it. */
	for (turns = 1; turn(); turns++)
		assert_int_equal(f->n_follow, 1);
	assert_in_range(turns, ENTRIES / (CLOSE_CHUNKS * CHUNK_ENTRIES),
		ENTRIES / (CLOSE_CHUNKS * CHUNK_ENTRIES) + 2);
	finish();
}

/* The process ends while it frees what it does not follow any more. */
static void
the_own_end_frees_the_rest(void **st)
{
	(void)st;
	start("", BACKENDS);
	process_tables_on_end(&proc, PID);
	while (!proc.keep.tables.former->is_closing)
		assert_int_equal(turn(), 1);
	process_tables_on_end(&proc, PID);
	process_tables_finish(&proc);
	finish();
}

/* A process that ends itself does not wait for another turn. */
static void
the_own_end_adds_all(void **st)
{
	(void)st;
	start("", BACKENDS);
	assert_int_equal(counted_all(1), ENTRIES);
	assert_int_equal(turn(), 1);
	count_all();
	process_tables_on_end(&proc, PID);
	assert_int_equal(turn(), 1);
	process_tables_finish(&proc);
	assert_int_equal(counted_all(2), ENTRIES);
	finish();
}

static const struct peer_group *
group_of(const char *name)
{
	list_each(it, &proc.peers->runs) {
		const struct peer_group *g = list_entry(it, struct peers_run, link)->group;

		if (strcmp(g->name, name) == 0)
			return g;
	}
	fail_msg("no group %s", name);
	return NULL;
}

/* A group whose tables were restored asks for no lesson, whatever other tables are new. */
static void
new_tables_are_those_of_their_group(void **st)
{
	(void)st;
	start("localpeer a", SHARED);
	assert_int_equal(group_of("p")->resync, PEER_RESYNC_DONE);
	assert_int_equal(group_of("q")->resync, PEER_RESYNC_WANTED);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_is_followed_in_turns),
		cmocka_unit_test(the_own_end_adds_all),
		cmocka_unit_test(the_own_end_frees_the_rest),
		cmocka_unit_test(new_tables_are_those_of_their_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
