/* Counts evaluations that ended for lack of steps or room, and reports where. On the worker that
 * evaluates. */
#include "rule/sample/shortfall.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/counter.h"
#include "cfg/diag.h"
#include "rule/sample/sample.h"

void
shortfall_add(struct sample_ctx *cx, enum shortfall_kind kind, const char *why,
	const char *subject, ...)
{
	static const char *const meaning[SHORTFALLS] = {
		[SHORTFALL_REGEX] = "is given up and counts as no match",
		[SHORTFALL_ROOM] = "has no value",
	};
	const struct cfg_where *at = cx->where;
	struct shortfalls *s = cx->shortfalls;
	char text[SHORTFALL_TEXT_MAX], place[SHORTFALL_TEXT_MAX / 2] = "", what[150];
	va_list ap;

	if (!s)
		return;
	counter_add(&s->n[kind], 1);
	if (!s->tell)
		return;
	va_start(ap, subject);
	vsnprintf(what, sizeof(what), subject, ap);
	va_end(ap);
	if (at && at->file)
		snprintf(place, sizeof(place), "[%.160s:%u] : ", at->file->name, at->line);
	snprintf(text, sizeof(text), "%s%s %s: %s.", place, what, meaning[kind], why);
	s->tell(s->arg, kind, text);
}
