/* Messages of the process to its terminal, each flushed at once. Any thread; only the main one
 * before the others start, which is what is kept. */
#include "app/process/report.h"

#include <stdarg.h>

void
report_msg(const struct report *r, enum report_level level, const char *fmt, ...)
{
	static const char *const names[] = { "[ALERT]", "[WARNING]", "[NOTICE]" };
	struct sbuf text;
	va_list ap;

	if ((r->quiet && level != REPORT_ALERT) || (level == REPORT_NOTICE && !r->verbose))
		return;
	sbuf_init(&text, 0);
	sbuf_addf(&text, "%-11s(%d) : ", names[level], r->pid);
	va_start(ap, fmt);
	sbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	sbuf_addc(&text, '\n');
	if (text.len)
		fputs(text.p, r->to);
	fflush(r->to);
	if (r->kept && !r->is_started && text.len)
		sbuf_add(r->kept, text.p, text.len);
	sbuf_fini(&text);
}
