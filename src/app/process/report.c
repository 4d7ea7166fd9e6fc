/* Messages of the process to its terminal, each flushed at once. Main thread. */
#include "app/process/report.h"

#include <stdarg.h>

void
report_msg(const struct report *r, enum report_level level, const char *fmt, ...)
{
	static const char *const names[] = { "[ALERT]", "[WARNING]", "[NOTICE]" };
	va_list ap;

	if ((r->quiet && level != REPORT_ALERT) || (level == REPORT_NOTICE && !r->verbose))
		return;
	fprintf(r->to, "%-11s(%d) : ", names[level], r->pid);
	va_start(ap, fmt);
	vfprintf(r->to, fmt, ap);
	va_end(ap);
	fputc('\n', r->to);
	fflush(r->to);
}
