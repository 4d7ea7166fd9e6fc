/* The memory file of a cache, as the next process reads it. */

#include <sys/mman.h>

#include "base/mem.h"
#include "unit/cache/cache_rig.h"

enum { OBJECTS = 60, DAMAGES = 3000 };

static void
fill(struct cache_rig *r)
{
	for (unsigned int i = 0; i < OBJECTS; i++)
		assert_true(rig_put(r, &r->by, i, i + 1, 20 + i, i * 150, 1000 + i * 1000));
}

static int
is_any(const struct cache_heads *heads unused, struct str head unused)
{
	return 1;
}

static char room[1000];
static const struct cache_heads any = { sizeof(room), room, is_any };

/* True for heads of an even length that are those of their objects. */
static int
is_even(const struct cache_heads *heads unused, struct str head)
{
	unsigned int i = (unsigned int)head.len - 20;

	assert_true(rig_is(head, i, i + 1, 0));
	return !(head.len & 1);
}

/* The number of objects that are found, each with its own bytes. */
static unsigned int
count(struct cache_rig *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < OBJECTS; i++) {
		char text[64], head[400];
		struct cache_entry *e = cache_find(r->c, &r->by, rig_key(i, text), &rig_all);
		struct cache_place at;
		size_t pos = 0;

		if (!e)
			continue;
		n++;
		assert_int_equal(e->head_len, 20 + i);
		assert_int_equal(e->body_len, i * 150);
		cache_read_head(r->c, e, head, &at);
		assert_true(rig_is((struct str){ head, 20 + i }, i, i + 1, 0));
		while (pos < e->body_len) {
			struct str s = cache_read(r->c, &at, e->body_len - pos);

			assert_true(rig_is(s, i, i + 1, 20 + i + pos));
			pos += s.len;
		}
		cache_unref(r->c, &r->by, e);
	}
	return n;
}

static void
objects_survive(void **state)
{
	struct cache_rig old, new;
	struct memfile_view view;
	const char *why = "";
	struct cache_entry *e;
	char text[64];

	(void)state;
	rig_start(&old, 1, 20000);
	fill(&old);
	assert_int_equal(memfile_seal(&old.file), 0);
	assert_int_equal(memfile_open(&view, &old.sys, old.file.fd, cache_file_layout(), &why), 0);
	rig_start(&new, 2, 20000);
	/* Five are too old, one was removed, one is not complete. */
	new.by.now_ms += 5000;
	assert_int_equal(cache_remove(old.c, &old.by, rig_key(50, text)), 1);
	e = cache_begin(old.c, &old.by, rig_key(OBJECTS, text), &rig_all, 0);
	assert_non_null(e);
	/* One is stored after the new process has read its clock. */
	old.by.now_ms = new.by.now_ms + 20;
	assert_true(rig_put(&old, &old.by, 50, 51, 70, 7500, 1000));
	assert_int_equal(cache_restore(new.c, &new.by, &view, &any), OBJECTS - 5);
	assert_int_equal(count(&new), OBJECTS - 5);
	cache_abort(old.c, &old.by, e);
	/* The age continues, and max-age of now is a bound. */
	e = cache_find(new.c, &new.by, rig_key(59, text), &rig_all);
	assert_non_null(e);
	assert_int_equal(e->born_ms, 1000000);
	assert_int_equal(e->expires_ms, 1060000);
	cache_unref(new.c, &new.by, e);
	rig_end(&new);
	/* Objects that are too large now. */
	rig_start(&new, 1, 1000);
	assert_true(cache_restore(new.c, &new.by, &view, &any) < 10);
	memfile_close(&view);
	rig_end(&new);
	rig_end(&old);
}

static void
heads_must_be_usable(void **state)
{
	const struct cache_heads heads = { 60, room, is_even };
	struct cache_rig old, new;
	struct memfile_view view;
	const char *why = "";

	(void)state;
	rig_start(&old, 1, 20000);
	fill(&old);
	assert_int_equal(memfile_seal(&old.file), 0);
	assert_int_equal(memfile_open(&view, &old.sys, old.file.fd, cache_file_layout(), &why), 0);
	rig_start(&new, 1, 20000);
	/* Heads have 20 to 79 bytes: 41 have up to 60. */
	assert_int_equal(cache_restore(new.c, &new.by, &view, &heads), 21);
	assert_int_equal(count(&new), 21);
	memfile_close(&view);
	rig_end(&new);
	rig_end(&old);
}

/* Its writer may be hostile: whatever is in links, lengths and chains, no byte is read outside. */
static void
damage_is_survived(void **state)
{
	struct cache_rig old, new;
	struct memfile_view view;
	uint64_t seed = 7;
	char *copy;
	const char *why = "";

	(void)state;
	rig_start(&old, 1, 20000);
	fill(&old);
	copy = mem_alloc(old.file.size);
	assert_non_null(copy);
	for (int i = 0; i < DAMAGES; i++) {
		size_t area;
		uint32_t value;

		memcpy(copy, old.file.map, old.file.size);
		assert_int_equal(memfile_read(&view, copy, old.file.size, cache_file_layout(),
					 &why), 0);
		for (int k = 0; k < 4; k++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			area = (size_t)((k & 1 ? (char *)old.c->link : old.c->chunk[0]) -
				old.file.map);
			value = seed >> 60 & 1 ? (uint32_t)(seed >> 20)
					       : (uint32_t)(seed >> 50 & 511);
			area += (size_t)(seed >> 40) %
				(k & 1 ? 300 * sizeof(struct cache_link) : 200 * CACHE_BLOCK);
			memcpy(copy + area, &value, sizeof(value));
		}
		rig_start(&new, 1, 20000);
		(void)cache_restore(new.c, &new.by, &view, &any);
		rig_end(&new);
		memfile_close(&view);
	}
	mem_free(copy);
	rig_end(&old);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_survive),
		cmocka_unit_test(heads_must_be_usable),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
