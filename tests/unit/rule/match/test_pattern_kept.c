/* Changes of a map that outlive the process: a later one repeats them, and trusts nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "rule/match/pattern_restore.h"
#include "rule/match/pattern_ref.h"
#include "rule/match/pattern_version.h"
#include "unit/test.h"

enum { ROOM = 4 << 20, KIND = 5, ROUNDS = 20000, KEYS = 60 };

static struct sys sys;
static struct memfile file;
static struct rule_err why;

struct one_map {
	struct pattern_ref *ref;
	struct pattern_set set;
};

static struct str
str_z(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static void
add_to_map(struct pattern_ref *ref, uint32_t version, const char *key, const char *value)
{
	assert_int_equal(pattern_ref_add(ref, version, str_z(key), str_z(value), &why), 0);
}

/* As a file is read; is_kept: changes are kept from then on. */
static void
open_map(struct one_map *m, int is_kept)
{
	char key[16];

	m->ref = pattern_ref_new("f.map", &keyhash_known);
	assert_non_null(m->ref);
	m->ref->two_columns = 1;
	m->ref->file_hash = 9;
	pattern_set_init(&m->set, PATTERN_STR, SAMPLE_STR, &keyhash_known);
	assert_int_equal(pattern_ref_feed(m->ref, &m->set, 0, &why), 0);
	for (int i = 0; i < KEYS / 2; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		add_to_map(m->ref, m->ref->version, key, "file");
	}
	if (is_kept)
		assert_int_equal(pattern_kept_begin(m->ref, &file, KIND), 0);
}

static void
close_map(struct one_map *m)
{
	pattern_set_forget(&m->set);
	pattern_ref_free(&m->ref);
}

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	return memfile_create(&file, &sys, ROOM, 1, 1);
}

static int
teardown(void **st)
{
	(void)st;
	memfile_free(&file);
	return 0;
}

static enum pattern_restored
restore_from_file(struct one_map *to, struct pattern_restore *out)
{
	const struct memfile_item *chunk[1000];
	struct memfile_view v;
	enum pattern_restored how;
	const char *reason;
	unsigned int n = 0;

	assert_int_equal(memfile_read(&v, file.map, file.size, 1, &reason), 0);
	for (unsigned int i = 0; i < v.n; i++)
		if (v.item[i].kind == KIND)
			chunk[n++] = &v.item[i];
	how = pattern_kept_restore(to->ref, chunk, n, out);
	memfile_close(&v);
	return how;
}

/* The current entries of both, in order. */
static void
assert_same_maps(const struct one_map *a, const struct one_map *b)
{
	struct list *y = b->ref->entries.next;
	unsigned int n = 0;

	list_each(x, &a->ref->entries) {
		const struct pattern_entry *e = list_entry(x, struct pattern_entry, link), *o;

		if (!pattern_ref_is_current(a->ref, e))
			continue;
		assert_true(y != &b->ref->entries);
		o = list_entry(y, struct pattern_entry, link);
		assert_string_equal(e->bytes, o->bytes);
		assert_string_equal(e->value, o->value);
		y = y->next;
		n++;
	}
	assert_true(y == &b->ref->entries);
	assert_int_equal(a->set.n, n);
	assert_int_equal(b->set.n, n);
}

static void
a_map_that_was_not_changed_takes_no_memory(void **st)
{
	struct pattern_restore r;
	struct one_map a, b;

	(void)st;
	open_map(&a, 1);
	open_map(&b, 0);
	assert_int_equal(restore_from_file(&b, &r), PATTERN_UNCHANGED);
	close_map(&a);
	close_map(&b);
}

static void
each_change_is_repeated(void **st)
{
	struct pattern_restore r;
	struct one_map a, b;

	(void)st;
	open_map(&a, 1);
	add_to_map(a.ref, a.ref->version, "new", "1");
	add_to_map(a.ref, a.ref->version, "new", "twice");
	assert_int_equal(pattern_ref_set(a.ref, str_z("k3"), str_z("other"), &why), 1);
	assert_int_equal(pattern_ref_set(a.ref, str_z("k3"), str_z("again"), &why), 1);
	assert_int_equal(pattern_ref_del(a.ref, str_z("k4")), 1);
	add_to_map(a.ref, a.ref->version, "k4", "back");
	assert_int_equal(pattern_ref_set(a.ref, str_z("new"), str_z("set"), &why), 2);
	open_map(&b, 0);
	assert_int_equal(restore_from_file(&b, &r), PATTERN_RESTORED);
	assert_int_equal(r.n, 5);
	assert_int_equal(r.refused, 0);
	assert_same_maps(&a, &b);
	close_map(&b);
	/* Another file. */
	open_map(&b, 0);
	b.ref->file_hash++;
	assert_int_equal(restore_from_file(&b, &r), PATTERN_FILE_CHANGED);
	assert_null(pattern_ref_find(b.ref, str_z("new")));
	close_map(&a);
	close_map(&b);
}

static void
change_at_random(struct pattern_ref *ref, uint32_t *prepared)
{
	char key[40], value[300];
	int op = rand() % 1000;

	snprintf(key, sizeof(key), "k%d", rand() % KEYS);
	memset(value, 'a' + rand() % 26, sizeof(value));
	value[rand() % (int)sizeof(value)] = '\0';
	value[sizeof(value) - 1] = '\0';
	if (op < 300)
		add_to_map(ref, ref->version, key, value);
	else if (op < 600)
		assert_true(pattern_ref_set(ref, str_z(key), str_z(value), &why) >= 0);
	else if (op < 980)
		(void)pattern_ref_del(ref, str_z(key));
	else if (op < 985)
		assert_int_equal(pattern_version_replace(ref, ref->version, 1), 0);
	else if (op < 988)
		*prepared = pattern_version_prepare(ref);
	else if (op < 996 && *prepared)
		add_to_map(ref, *prepared, key, value);
	else if (*prepared && pattern_version_replace(ref, *prepared, 0) == 0)
		*prepared = 0;
}

/* The memory stays bounded, and the later process has the same map at any time. */
static void
changes_at_random(void **st)
{
	struct one_map a, b;
	uint32_t prepared = 0;

	(void)st;
	open_map(&a, 1);
	srand(7);
	for (int i = 0; i < ROUNDS; i++) {
		struct pattern_restore r;

		change_at_random(a.ref, &prepared);
		if (i % 97)
			continue;
		open_map(&b, 0);
		assert_true(restore_from_file(&b, &r) <= PATTERN_UNCHANGED);
		assert_int_equal(r.refused, 0);
		assert_same_maps(&a, &b);
		close_map(&b);
	}
	assert_int_equal(a.ref->kept->head->lost, 0);
	close_map(&a);
}

static void
changes_without_room_are_reported(void **st)
{
	static char big[8000];
	struct pattern_restore r;
	struct one_map a, b;
	char key[20];

	(void)st;
	open_map(&a, 1);
	memset(big, 'x', sizeof(big) - 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "big%d", i);
		add_to_map(a.ref, a.ref->version, key, big);
	}
	assert_true(a.ref->kept->head->lost > 100);
	open_map(&b, 0);
	assert_int_equal(restore_from_file(&b, &r), PATTERN_RESTORED);
	assert_int_equal(r.n + r.refused, 1000);
	close_map(&a);
	close_map(&b);
}

/* Bytes of slots take values that a reader must not trust. */
static void
damaged_slots_are_refused(void **st)
{
	static const uint32_t junk[] = { 0, 1, 63, 128, 4096, 0x7fffffff, 0xffffffff };
	struct pattern_restore r;
	struct one_map a, b;
	unsigned int damaged = 0;
	uint32_t *words;

	(void)st;
	open_map(&a, 1);
	add_to_map(a.ref, a.ref->version, "one", "1");
	add_to_map(a.ref, a.ref->version, "two", "2");
	words = (uint32_t *)(void *)(a.ref->kept->head + 1);
	for (size_t at = 0; at < 32; at++) {
		for (size_t j = 0; j < sizeof(junk) / sizeof(junk[0]); j++) {
			uint32_t was = words[at];

			words[at] = junk[j];
			open_map(&b, 0);
			damaged += restore_from_file(&b, &r) == PATTERN_DAMAGED;
			close_map(&b);
			words[at] = was;
		}
	}
	assert_true(damaged > 20);
	close_map(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_map_that_was_not_changed_takes_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(each_change_is_repeated, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_at_random, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_without_room_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_slots_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
