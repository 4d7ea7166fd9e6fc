/* trace: state changes of sessions, kept in a ring while it is on. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"

/* level: below 0 forgets what was recorded. */
static int
set_level(struct trace *t, int level, unsigned long long only)
{
	if (level > TRACE_OFF)
		return trace_start(t, (enum trace_level)level, only);
	if (level < 0)
		trace_clear(t);
	else
		trace_stop(t);
	return 0;
}

static void
do_trace(struct admin_conn *c, int argc, char **argv)
{
	struct process *p = c->admin->process;
	unsigned long long only = 0;
	char *end = NULL;
	int level = argc > 0 ? trace_level_parse(argv[0]) : -1, r = 0;

	if (argc > 1) {
		only = strtoull(argv[1], &end, 16);
		if (*end || !only)
			level = -1;
	}
	if (level < 0 && !(argc > 0 && strcmp(argv[0], "clear") == 0)) {
		admin_msg(c, ADMIN_ERR,
			"trace: expects off, error, state, io (with a session such as 0x1f) or "
			"clear.");
		return;
	}
	admin_stop_workers(c);
	for (unsigned int i = 0; i < p->n_workers && r == 0; i++)
		r = set_level(&p->workers[i].trace, level, only);
	admin_resume_workers(c);
	if (r < 0)
		admin_msg(c, ADMIN_ERR, "trace: out of memory.");
}

static void
do_show_trace(struct admin_conn *c, int argc, char **argv)
{
	struct process *p = c->admin->process;
	int64_t max = 0;

	if (argc > 0 && cfg_value_int(argv[0], 1, TRACE_RECORDS, &max, NULL) < 0) {
		admin_msg(c, ADMIN_ERR, "show trace: expects a number of records from 1 to %d.",
			TRACE_RECORDS);
		return;
	}
	admin_stop_workers(c);
	for (unsigned int i = 0; i < p->n_workers; i++) {
		const struct trace *t = &p->workers[i].trace;

		if (p->n_workers > 1)
			sbuf_addf(&c->out, "worker %u, ", i + 1);
		sbuf_addf(&c->out, "level: %s, records so far: %llu\n",
			  trace_level_name(t->level), (unsigned long long)t->seq);
		(void)trace_dump(t, 0, (unsigned int)max, &c->out);
	}
	admin_resume_workers(c);
}

const struct admin_cmd admin_trace_cmds[] = {
	{ "trace", "<off|error|state|io|clear> [<session>]", "record state changes of sessions",
		BIND_ADMIN, do_trace },
	{ "show trace", "[<max>]", "show what was recorded", BIND_OPERATOR, do_show_trace },
	{ NULL, NULL, NULL, BIND_USER, NULL },
};
