#include "unit/cfg/cfg_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "cfg/files.h"

static char dir[64];
static struct cfg_dir from; /* names begin where the process was started */
static struct sys sys;

static int
make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/tacit-files-XXXXXX");
	sys_init(&sys, &sys_linux, NULL);
	return mkdtemp(dir) ? 0 : -1;
}

static int
remove_dir(void **state)
{
	static const char *const names[] = {
		"b.cfg", "a.cfg", "B.cfg", "x.conf", ".hidden.cfg", ".cfg", "sub.cfg", "big.cfg",
	};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (unlink(path) != 0)
			rmdir(path);
	}
	return rmdir(dir);
}

static void
write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
files_of_directories_are_read_in_order(void **state)
{
	struct world w;
	struct cfg_files fs;
	char path[128], want[512];
	char *all;

	(void)state;
	write_file("b.cfg", "global\n maxconn 2\n");
	write_file("a.cfg", "global\n maxconn 1\n");
	write_file("B.cfg", "frontend f\n");
	write_file("x.conf", "nonsense\n");
	write_file(".hidden.cfg", "nonsense\n");
	write_file(".cfg", "nonsense\n");
	snprintf(path, sizeof(path), "%s/sub.cfg", dir);
	assert_int_equal(mkdir(path, 0700), 0);

	world_init(&w);
	cfg_files_init(&fs);
	snprintf(path, sizeof(path), "%s/b.cfg", dir);
	assert_int_equal(cfg_files_add(&fs, &sys, path, &w.diag), 0);
	assert_int_equal(cfg_files_add(&fs, &sys, dir, &w.diag), 0);
	all = cfg_files_join(&fs);
	snprintf(want, sizeof(want), "%s/b.cfg;%s/B.cfg;%s/a.cfg;%s/b.cfg", dir, dir, dir, dir);
	assert_string_equal(all, want);
	mem_free(all);
	assert_int_equal(cfg_files_read(&fs, &sys, &from, &w.reader), 0);
	assert_string_equal(w.seen.p,
			    "begin global <> from <->\nmaxconn = 2\nend global <>\n"
			    "begin frontend <f> from <->\nend frontend <f>\n"
			    "begin global <> from <->\nmaxconn = 1\nend global <>\n"
			    "begin global <> from <->\nmaxconn = 2\nend global <>\n");
	cfg_files_fini(&fs);
	world_fini(&w);
}

static void
a_missing_file_is_reported(void **state)
{
	struct world w;
	struct cfg_files fs;
	char path[128];

	(void)state;
	world_init(&w);
	cfg_files_init(&fs);
	assert_int_equal(cfg_files_add(&fs, &sys, "/nonexistent/x.cfg", &w.diag), -1);
	write_file("a.cfg", "global\n");
	snprintf(path, sizeof(path), "%s/a.cfg", dir);
	assert_int_equal(cfg_files_add(&fs, &sys, path, &w.diag), 0);
	unlink(path);
	assert_int_equal(cfg_files_read(&fs, &sys, &from, &w.reader), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 2);
	assert_string_equal(w.diag.entry[0].text,
		"cannot open configuration file/directory '/nonexistent/x.cfg': No such file "
		"or directory");
	cfg_files_fini(&fs);
	world_fini(&w);
}

static void
big_files_are_read_and_huge_ones_refused(void **state)
{
	struct world w;
	struct cfg_files fs;
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/big.cfg", dir);
	f = fopen(path, "w");
	fputs("global\n", f);
	for (int i = 0; i < 40000; i++)
		fprintf(f, " # %04d\n", i % 10000);
	fputs(" maxconn 77\n", f);
	fclose(f);
	world_init(&w);
	cfg_files_init(&fs);
	assert_int_equal(cfg_files_add(&fs, &sys, path, &w.diag), 0);
	assert_int_equal(cfg_files_read(&fs, &sys, &from, &w.reader), 0);
	assert_non_null(strstr(w.seen.p, "maxconn = 77"));
	/* a sparse file, so that it needs no space */
	assert_int_equal(truncate(path, (off_t)CFG_FILE_MAX * 2), 0);
	assert_int_equal(cfg_files_read(&fs, &sys, &from, &w.reader), -1);
	assert_non_null(strstr(w.diag.entry[0].text, "File too large"));
	cfg_files_fini(&fs);
	world_fini(&w);
}

static void
descriptors_are_closed(void **state)
{
	struct world w;
	struct cfg_files fs;
	int before = open("/dev/null", O_RDONLY), after;

	(void)state;
	close(before);
	write_file("a.cfg", "global\n");
	world_init(&w);
	cfg_files_init(&fs);
	assert_int_equal(cfg_files_add(&fs, &sys, dir, &w.diag), 0);
	assert_int_equal(cfg_files_read(&fs, &sys, &from, &w.reader), 0);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(before, after);
	cfg_files_fini(&fs);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			files_of_directories_are_read_in_order, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_missing_file_is_reported, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(
			big_files_are_read_and_huge_ones_refused, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(descriptors_are_closed, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
