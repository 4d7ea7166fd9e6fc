/* The trace of one worker, a ring that only it writes. A record's number shows whether it is still
 * the one that a reader means. */
#include "base/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static const char *const level_names[TRACE_LEVELS] = { "off", "error", "state", "io" };

void
trace_init(struct trace *t)
{
	memset(t, 0, sizeof(*t));
}

void
trace_fini(struct trace *t)
{
	mem_free(t->ring);
	memset(t, 0, sizeof(*t));
}

int
trace_start(struct trace *t, enum trace_level level, uint64_t only)
{
	if (!t->ring && level != TRACE_OFF) {
		t->ring = mem_alloc(TRACE_RECORDS * sizeof(*t->ring));
		if (!t->ring)
			return -ERR_NOMEM;
		trace_clear(t);
	}
	t->level = level;
	t->only = only;
	return 0;
}

void
trace_stop(struct trace *t)
{
	t->level = TRACE_OFF;
}

void
trace_clear(struct trace *t)
{
	/* Sequence numbers continue, so that a reader can continue from the last one it saw. */
	for (unsigned int i = 0; t->ring && i < TRACE_RECORDS; i++)
		t->ring[i].seq = 0;
}

void
trace_add(struct trace *t, enum trace_level level, uint64_t now_ns, uint64_t session,
	const char *state, const char *event, const char *fmt, ...)
{
	struct trace_rec *r;
	va_list ap;

	if (likely(!trace_is_on(t, level)))
		return;
	if (t->only && t->only != session)
		return;
	r = &t->ring[t->seq % TRACE_RECORDS];
	r->seq = ++t->seq;
	r->now_ns = now_ns;
	r->session = session;
	r->state = state;
	r->event = event;
	r->level = (uint8_t)level;
	va_start(ap, fmt);
	(void)vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

static void
dump_one(const struct trace_rec *r, struct sbuf *out)
{
	sbuf_addf(out, "%llu %llu.%06llu %s s=%llu", (unsigned long long)r->seq,
		  (unsigned long long)(r->now_ns / 1000000000u),
		  (unsigned long long)(r->now_ns / 1000u % 1000000u), level_names[r->level],
		  (unsigned long long)r->session);
	if (r->state)
		sbuf_addf(out, " %s", r->state);
	if (r->event)
		sbuf_addf(out, " <- %s", r->event);
	if (r->text[0])
		sbuf_addf(out, " %s", r->text);
	sbuf_addc(out, '\n');
}

uint64_t
trace_dump(const struct trace *t, uint64_t after, unsigned int max, struct sbuf *out)
{
	uint64_t first = t->seq > TRACE_RECORDS ? t->seq - TRACE_RECORDS : 0;
	unsigned int n = 0;

	if (!t->ring)
		return after;
	for (uint64_t i = MAX(first, after); i < t->seq && (max == 0 || n < max); i++) {
		const struct trace_rec *r = &t->ring[i % TRACE_RECORDS];

		if (r->seq != i + 1)
			continue; /* cleared */
		dump_one(r, out);
		after = r->seq;
		n++;
	}
	return after;
}

const char *
trace_level_name(enum trace_level level)
{
	return level < TRACE_LEVELS ? level_names[level] : "?";
}

int
trace_level_parse(const char *name)
{
	for (int i = 0; i < TRACE_LEVELS; i++)
		if (strcmp(level_names[i], name) == 0)
			return i;
	return -ERR_UNKNOWN;
}
