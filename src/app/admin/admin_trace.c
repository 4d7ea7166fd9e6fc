/* trace: state changes of sessions, kept in a ring while it is on. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"

/* Records in about a slice. */
#define RECORDS_PER_VISIT 128

struct trace_tour {
	struct admin_tour tour;
	int level;              /* negative: deletes the records */
	unsigned long long only;
};

static void
set_level(struct admin_conn *c, struct worker *w, void *state)
{
	struct trace_tour *t = state;

	t->tour.is_done = 1;
	if (t->level < 0)
		trace_clear(&w->trace);
	else if (t->level == TRACE_OFF)
		trace_stop(&w->trace);
	else if (trace_start(&w->trace, (enum trace_level)t->level, t->only) < 0)
		admin_msg(c, ADMIN_ERR, "trace: worker %u is out of memory.", w->index + 1);
}

void
admin_cmd_trace(struct admin_conn *c, int argc, char **argv)
{
	struct trace_tour t = { .tour.visit = set_level };
	unsigned long long only = 0;
	char *end = NULL;
	int level = argc > 0 ? trace_level_parse(argv[0]) : -1;

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
	t.level = level;
	t.only = only;
	admin_tour(c, &t, sizeof(t));
}

struct records_tour {
	struct admin_tour tour;
	unsigned int max;       /* per worker; 0: all */
	unsigned int left;      /* remaining records */
	uint64_t last;          /* later records are not shown */
};

/* tour.after: the last record shown. Records overwritten meanwhile are missing. */
static void
show_records(struct admin_conn *c, struct worker *w, void *state)
{
	struct records_tour *r = state;
	const struct trace *t = &w->trace;
	unsigned int n = RECORDS_PER_VISIT;
	uint64_t next;

	if (!r->tour.after) {
		if (c->admin->process->n_workers > 1)
			sbuf_addf(&c->out, "worker %u, ", w->index + 1);
		sbuf_addf(&c->out, "level: %s, records so far: %llu\n", trace_level_name(t->level),
			(unsigned long long)t->seq);
		r->left = r->max;
		r->last = t->seq;
	}
	if (r->max)
		n = MIN(n, r->left);
	next = trace_dump(t, r->tour.after, n, &c->out);
	r->left -= r->max ? n : 0;
	r->tour.is_done = next == r->tour.after || next >= r->last || (r->max && !r->left);
	r->tour.after = next;
}

void
admin_cmd_show_trace(struct admin_conn *c, int argc, char **argv)
{
	struct records_tour r = { .tour.visit = show_records };
	int64_t max = 0;

	if (argc > 0 && cfg_value_int(argv[0], 1, TRACE_RECORDS, &max, NULL) < 0) {
		admin_msg(c, ADMIN_ERR, "show trace: expects a number of records from 1 to %d.",
			TRACE_RECORDS);
		return;
	}
	r.max = (unsigned int)max;
	admin_tour(c, &r, sizeof(r));
}
