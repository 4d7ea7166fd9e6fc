/* Messages of the admin commands, and pausing of the workers. Runs on the first worker. */
#include <stdarg.h>

#include "app/admin/admin_int.h"
#include "app/process/wake_worker.h"

void
admin_severity(struct admin_conn *c, int severity)
{
	cli_add_severity(&c->out, c->severity, severity);
}

void
admin_msg(struct admin_conn *c, int severity, const char *fmt, ...)
{
	va_list ap;

	admin_severity(c, severity);
	va_start(ap, fmt);
	sbuf_vaddf(&c->out, fmt, ap);
	va_end(ap);
	sbuf_addc(&c->out, '\n');
}

void
admin_stop_workers(struct admin_conn *c)
{
	rendezvous_begin(c->admin->process);
}

void
admin_resume_workers(struct admin_conn *c)
{
	rendezvous_end(c->admin->process);
}
