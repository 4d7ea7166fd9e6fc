/* Severities in front of messages. Pure. */
#include "app/process/cli_mode.h"

void
cli_add_severity(struct sbuf *out, enum bind_severity form, int severity)
{
	static const char *const names[] = { "emerg", "alert", "crit", "err",
					     "warning", "notice", "info", "debug" };

	if (form == BIND_SEVERITY_NUMBER)
		sbuf_addf(out, "[%d]: ", severity);
	else if (form == BIND_SEVERITY_STRING)
		sbuf_addf(out, "[%s]: ", names[severity]);
}
