#include <stdio.h>
#include <string.h>

#include "app/config/keywords.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static char out[1 << 20];

/* Each list has what only it has. */
static void
each_class_is_printed(void **state)
{
	static const struct {
		enum cfg_dump kind;
		const char *has, *has_not;
	} rows[] = {
		{ CFG_DUMP_CFG, "\tmaxconn", "src_port" },
		{ CFG_DUMP_ALL, "implemented  -DFBL acl ", ".TP" },
		{ CFG_DUMP_MAN, ".TP", "unsupported  " },
		{ CFG_DUMP_VIM, "syn match tacitKeyword", "src_port" },
		{ CFG_DUMP_SMP, "src_port: integer", "maxconn" },
		{ CFG_DUMP_CNV, "base64", "src_port" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		FILE *f = fmemopen(out, sizeof(out), "w");

		assert_non_null(f);
		assert_int_equal(keywords_print(&cfg, rows[i].kind, f), 0);
		fclose(f);
		if (!strstr(out, rows[i].has) || strstr(out, rows[i].has_not))
			fail_msg("class %zu:\n%.2000s", i, out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_class_is_printed) };

	return cmocka_run_group_tests(tests, world_open, world_close);
}
