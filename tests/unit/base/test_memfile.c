/* Memory files: what is written is found, and nothing of a damaged one is trusted. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/memfile.h"
#include "base/sys.h"
#include "unit/test.h"

#define SIZE 8192
#define LAYOUT 77

static struct sys sys;
static struct memfile file;
static struct memfile_view view;
static const char *why;

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	memset(&view, 0, sizeof(view));
	why = "";
	return memfile_create(&file, &sys, SIZE, LAYOUT, 5);
}

static int
teardown(void **st)
{
	(void)st;
	memfile_close(&view);
	memfile_free(&file);
	return 0;
}

static void
records_are_found_by_key_and_alias(void **st)
{
	const struct memfile_item *item;
	char *a, *b;

	(void)st;
	a = memfile_add(&file, 1, "a", "", 10);
	b = memfile_add(&file, 2, "a", "other", 100);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal((uintptr_t)b % MEMFILE_ALIGN, 0);
	strcpy(a, "one");
	strcpy(b, "two");
	assert_int_equal(memfile_seal(&file), 0);
	/* The sealed file is written to again. */
	assert_non_null(memfile_add(&file, 3, "gone", "", 10));
	memfile_remove(&file, memfile_add(&file, 3, "gone", "", 10));
	assert_int_equal(memfile_open(&view, &sys, file.fd, LAYOUT, &why), 0);
	assert_int_equal(view.generation, 5);
	assert_int_equal(view.n, 3);
	item = memfile_find(&view, 1, "a", "");
	assert_string_equal(item->payload, "one");
	assert_int_equal(item->len, 64);
	assert_string_equal(memfile_find(&view, 2, "b", "other")->payload, "two");
	assert_null(memfile_find(&view, 2, "a", "unknown"));
	assert_null(memfile_find(&view, 2, "a", ""));
	assert_string_equal(memfile_find(&view, 1, "a", "unknown")->payload, "one");
	assert_null(memfile_find(&view, 2, "b", ""));
	assert_null(memfile_find(&view, 4, "a", ""));
	/* The reader sees what is written later. */
	strcpy(a, "new");
	assert_string_equal(item->payload, "new");
}

static void
there_is_an_end_of_the_room(void **st)
{
	unsigned int n = 0;

	(void)st;
	while (memfile_add(&file, 1, "key", "", 1000))
		n++;
	assert_int_equal(n, (SIZE - MEMFILE_HEAD) / 1088);
	assert_null(memfile_add(&file, 1, "key", "", SIZE_MAX - 10));
	assert_int_equal(memfile_seal(&file), 0);
	assert_int_equal(memfile_open(&view, &sys, file.fd, LAYOUT, &why), 0);
	assert_int_equal(view.n, n);
}

static void
others_cannot_write_to_it(void **st)
{
	char byte = 0;

	(void)st;
	assert_int_equal(memfile_open(&view, &sys, file.fd, LAYOUT, &why), -ERR_INVAL);
	assert_string_equal(why, "it is not sealed");
	assert_int_equal(memfile_seal(&file), 0);
	assert_int_equal(ftruncate(file.fd, 0), -1);
	assert_int_equal(ftruncate(file.fd, 2 * SIZE), -1);
	assert_int_equal(pwrite(file.fd, &byte, 1, 0), -1);
	assert_ptr_equal(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0),
		MAP_FAILED);
}

/* Each 32-bit word of head and records takes values that a reader must not trust. */
static void
damaged_files_are_refused_or_read_within_their_bounds(void **st)
{
	static const uint32_t junk[] = { 0, 1, 63, 64, 65, 4096, 0x7fffffff, 0xffffffff };
	static char copy[1024] __attribute__((aligned(64)));
	unsigned int refused = 0;

	(void)st;
	assert_non_null(memfile_add(&file, 1, "key", "alias", 100));
	assert_non_null(memfile_add(&file, 2, "second", "", 100));
	for (size_t at = 0; at < 512; at += 4) {
		for (size_t j = 0; j < sizeof(junk) / sizeof(junk[0]); j++) {
			memcpy(copy, file.map, sizeof(copy));
			memcpy(copy + at, &junk[j], sizeof(junk[j]));
			if (memfile_read(&view, copy, sizeof(copy), LAYOUT, &why) < 0)
				refused++;
			for (unsigned int i = 0; i < view.n; i++) {
				const char *p = view.item[i].payload;

				assert_true(p > copy && view.item[i].len <= sizeof(copy) &&
					p + view.item[i].len <= copy + sizeof(copy));
			}
			memfile_close(&view);
		}
	}
	assert_true(refused > 30);
	memcpy(copy, file.map, sizeof(copy));
	for (size_t n = 0; n < 448; n++) {
		assert_int_equal(memfile_read(&view, copy, n, LAYOUT, &why), -ERR_INVAL);
		memfile_close(&view);
	}
	assert_int_equal(memfile_read(&view, copy, 448, LAYOUT, &why), 0);
	memfile_close(&view);
	assert_int_equal(memfile_read(&view, copy, 448, LAYOUT + 1, &why), -ERR_INVAL);
	assert_string_equal(why, "another version of tacit has written it");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			records_are_found_by_key_and_alias, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_an_end_of_the_room, setup, teardown),
		cmocka_unit_test_setup_teardown(others_cannot_write_to_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			damaged_files_are_refused_or_read_within_their_bounds, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
