/* show profiling and set profiling: that there is none is said in HAProxy's form. */
#include <string.h>

#include "app/admin/admin_int.h"

enum profiling_part { PROFILING_STATUS = 1, PROFILING_TASKS = 2, PROFILING_MEMORY = 4 };

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

static int
is_line_count(const char *word)
{
	size_t len = strlen(word);

	return len > 0 && strspn(word, "0123456789") == len && strspn(word, "0") < len;
}

void
admin_cmd_show_profiling(struct admin_conn *c, int argc, char **argv)
{
	unsigned int parts = profiling_part_of("all");

	for (int i = 0; i < argc; i++) {
		if (profiling_part_of(argv[i])) {
			parts = profiling_part_of(argv[i]);
		} else if (strcmp(argv[i], "byaddr") != 0 && !is_line_count(argv[i])) {
			admin_msg(c, ADMIN_ERR,
				"Expects either 'all', 'status', 'tasks', 'memory', 'byaddr' or a "
				"max number of output lines.");
			return;
		}
	}
	if (parts & PROFILING_STATUS)
		sbuf_adds(&c->out,
			"Per-task CPU profiling              : off           "
			"# set profiling tasks {on|auto|off}\n"
			"Memory usage profiling              : off           "
			"# set profiling memory {on|off}\n");
	if (parts & PROFILING_TASKS)
		sbuf_adds(&c->out,
			"Tasks activity:\n"
			"  function                      calls   cpu_tot   cpu_avg   "
			"lat_tot   lat_avg\n");
}

void
admin_cmd_set_profiling(struct admin_conn *c, int argc, char **argv)
{
	const char *what = argc > 0 ? argv[0] : "", *value = argc > 1 ? argv[1] : "";
	int is_off = strcmp(value, "off") == 0, is_on = strcmp(value, "on") == 0;

	if (strcmp(what, "memory") == 0) {
		if (is_on)
			admin_msg(c, ADMIN_ERR, "Memory profiling not compiled in.");
		else if (!is_off)
			admin_msg(c, ADMIN_ERR, "Expects either 'on' or 'off'.");
	} else if (strcmp(what, "tasks") != 0) {
		admin_msg(c, ADMIN_ERR, "Expects either 'tasks' or 'memory'.");
	} else if (is_on || strcmp(value, "auto") == 0) {
		admin_msg(c, ADMIN_ERR,
			"Task profiling is not supported: use perf(1), and 'show latency' for "
			"times of sessions.");
	} else if (!is_off) {
		admin_msg(c, ADMIN_ERR, "Expects 'on', 'auto', or 'off'.");
	}
}
