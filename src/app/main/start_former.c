/* The processes that the new one replaces: -sf, -st, -x. Main thread, at start; with a master its
 * first worker process takes the sockets, and the master sends the signals. */
#include <string.h>

#include "app/main/start_int.h"
#include "base/err.h"

void
start_name_former(struct start *st)
{
	st->former.pids = st->opts.former;
	st->former.n_pids = st->opts.n_former;
	st->former.sig = st->opts.former_sig;
}

/* A process of root may lose the right to signal those of others. */
int
start_prepare_former(struct start *st)
{
	struct former *f = &st->former;
	int r = 0;

	start_name_former(st);
	f->user = st->cfg.global.uid;
	st->process.former = f;
	if (st->opts.fetch_from && strcmp(st->opts.fetch_from, "/dev/null") != 0)
		r = former_fetch(f, st->opts.fetch_from);
	/* A master continues without: it has reported why, and there is another way to get them. */
	if (st->link.fd >= 0)
		r = 0;
	if (r || st->link.fd >= 0 || sys_getuid(&st->sys) != 0)
		return r;
	r = former_keep_privileges(f);
	if (r)
		report_msg(&st->report, REPORT_ALERT,
			"cannot keep the privilege to end previous processes: %s", err_text(r));
	return r;
}
