/* The metrics as entries of the manual: -dK man8. Main thread. */
#include <stdio.h>
#include <string.h>

#include "app/admin/info.h"
#include "app/admin/stat_rows.h"
#include "app/promex/promex.h"
#include "base/compiler.h"
#include "base/sbuf.h"

/* The bits of scopes, in the order of their names. */
enum { FE = 1 << 0, LST = 1 << 1, BE = 1 << 2, SRV = 1 << 3 };

static const char *const scope_names[] = { "frontend", "listener", "backend", "server" };

struct described {
	const char *name;		/* behind "haproxy_SCOPE_" */
	unsigned int scopes;		/* 0: of the process */
	unsigned int value;		/* enum info_field or stat_col */
	enum { METRIC_GAUGE, METRIC_COUNTER } type;	/* of the process only */
	const char *help;		/* NULL: that of the field */
};

static const struct described metrics[] = {
#define PROCESS_METRIC(f, type, name) { name, 0, INFO_##f, type, NULL },
#define STAT_METRIC(col, scopes, form, name, help) { name, scopes, STAT_##col, 0, help },
#include "app/promex/metric.tbl.h"
};

struct page {
	cfg_entry_fn *fn;
	void *arg;
};

/* Calls fn for a metric; scope NULL: of tacit alone. kind: "A gauge" and the like. */
static void
put_entry(const struct page *p, const char *scope, const char *metric, const char *help,
	const char *kind, unsigned int scopes)
{
	char name[96];
	struct sbuf place;
	const char *sep = ", for each ";

	if (scope)
		snprintf(name, sizeof(name), "haproxy_%s_%s", scope, metric);
	else
		snprintf(name, sizeof(name), "tacit_%s", metric);
	sbuf_init(&place, 0);
	sbuf_adds(&place, kind);
	for (size_t s = 0; s < ARRAY_LEN(scope_names); s++)
		if (scopes >> s & 1) {
			sbuf_addf(&place, "%s%s", sep, scope_names[s]);
			sep = ", ";
		}
	p->fn(p->arg, &(struct cfg_entry){ .heading = "METRICS",
			.intro = "The service\n.B prometheus\\-exporter\nof the action\n"
				 ".B use\\-service\nanswers with these.\n"
				 "<scope> stands for each of the words that are listed.\n",
			.name = name,
			.doc = help,
			.place = place.p });
	sbuf_fini(&place);
}

void
promex_entries(cfg_entry_fn *fn, void *arg)
{
	const struct page p = { fn, arg };

	for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
		const struct described *m = &metrics[i];
		const struct field *f = m->scopes ? stat_field((enum stat_col)m->value)
						  : info_field_of((enum info_field)m->value);

		put_entry(&p, m->scopes ? "<scope>" : "process", m->name,
			m->help ? m->help : f->desc,
			m->type == METRIC_COUNTER || (m->scopes && f->tags[1] == 'C')
				? "A counter" : "A gauge", m->scopes);
	}
#define LATENCY_KIND(id, name, help) \
	put_entry(&p, "<scope>", name "_time_seconds", help ", in seconds", "A histogram", \
		BE | SRV | (strcmp(name, "total") == 0 ? FE : 0));
#include "proxy/model/latency.tbl.h"
#undef LATENCY_KIND
	put_entry(&p, NULL, "syscalls_total",
		"System calls by name and result, those of the start among them", "A counter", 0);
	put_entry(&p, "sticktable", "size", "Entries that a stick table may have", "A gauge", 0);
	put_entry(&p, "sticktable", "used", "Entries that a stick table has", "A gauge", 0);
}
