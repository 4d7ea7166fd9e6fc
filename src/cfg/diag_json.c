/* The diagnostics of a configuration as one JSON document, for editors. Pure. */
#include "cfg/diag.h"

#include "base/json.h"

static const char *const severities[CFG_SEV_COUNT] = {
	[CFG_ALERT] = "error",
	[CFG_WARNING] = "warning",
	[CFG_NOTICE] = "notice",
	[CFG_DIAGMSG] = "diagnostic",
};

static void
put_text(struct sbuf *out, const char *text)
{
	json_put(out, str_of(text), SIZE_MAX);
}

static void
put_place(struct sbuf *out, const struct cfg_where *w)
{
	sbuf_adds(out, "{\"file\":");
	put_text(out, w->file->name);
	if (w->line)
		sbuf_addf(out, ",\"line\":%u", w->line);
	if (w->col)
		sbuf_addf(out, ",\"column\":%u", w->col);
	sbuf_addc(out, '}');
}

static void
put_missing(struct sbuf *out, const struct cfg_diag *d)
{
	const char *comma = "";

	sbuf_adds(out, ",\"not_supported\":[");
	for (unsigned int m = 0; m < CFG_MISSING_COUNT; m++) {
		const struct cfg_places *p = &d->missing[m];

		if (!p->n)
			continue;
		sbuf_addf(out, "%s{\"feature\":", comma);
		put_text(out, cfg_missing_name(m));
		sbuf_adds(out, ",\"instead\":");
		put_text(out, cfg_missing_instead(m));
		sbuf_adds(out, ",\"places\":[");
		for (unsigned int i = 0; i < p->n; i++) {
			sbuf_adds(out, i ? "," : "");
			put_place(out, &p->at[i]);
		}
		sbuf_adds(out, "]}");
		comma = ",";
	}
	sbuf_addc(out, ']');
}

static void
put_diagnostic(struct sbuf *out, const struct cfg_diag *d, const struct cfg_diag_entry *e)
{
	const char *comma = "";

	sbuf_addf(out, "{\"severity\":\"%s\",\"text\":", severities[e->sev]);
	put_text(out, e->text);
	sbuf_adds(out, ",\"places\":[");
	for (unsigned int i = 0; i < e->places.n; i++) {
		if (!cfg_diag_shows(d, e, &e->places.at[i]))
			continue;
		sbuf_adds(out, comma);
		put_place(out, &e->places.at[i]);
		comma = ",";
	}
	sbuf_adds(out, "]}");
}

/* True if it is shown at any of its places. */
static bool
is_shown_at_all(const struct cfg_diag *d, const struct cfg_diag_entry *e)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->places.n; i++)
		n += cfg_diag_shows(d, e, &e->places.at[i]);
	return n || !e->places.n;
}

static void
put_document(const struct cfg_diag *d, struct sbuf *out)
{
	const char *comma = "";

	sbuf_addf(out, "{\"valid\":%s,\"messages\":[", cfg_diag_is_fatal(d) ? "false" : "true");
	for (unsigned int i = 0; i < d->nentry; i++) {
		if (!is_shown_at_all(d, &d->entry[i]))
			continue;
		sbuf_adds(out, comma);
		put_diagnostic(out, d, &d->entry[i]);
		comma = ",";
	}
	sbuf_addc(out, ']');
	if (cfg_diag_misses(d))
		put_missing(out, d);
	sbuf_addf(out, ",\"not_shown\":%u}\n", d->dropped);
}

void
cfg_diag_print_json(const struct cfg_diag *d, FILE *to)
{
	struct sbuf out;

	sbuf_init(&out, 0);
	put_document(d, &out);
	fputs(out.failed ? "{\"error\":\"out of memory\"}\n" : out.p, to);
	sbuf_fini(&out);
}
