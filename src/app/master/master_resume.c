/* The master continues with a new program: it takes over what the previous one knew and has left
 * open. Master process, one thread. */
#include <fcntl.h>
#include <stdlib.h>

#include "app/master/master.h"
#include "app/master/master_state.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

static void
restore_flag(const struct master *m, int fd)
{
	(void)!sys_fcntl(m->sys, fd, F_SETFD, FD_CLOEXEC);
}

static char *
read_state(struct master *m, const char *number)
{
	char *end, *text;
	long fd = strtol(number, &end, 10);

	if (end == number || *end || fd < 0 || fd > INT32_MAX)
		return NULL;
	text = file_text(m->sys, (int)fd, SIZE_MAX);
	(void)sys_close(m->sys, (int)fd);
	return text;
}

int
master_resume(struct master *m, const char *notify_path, const char *state_fd)
{
	char why[256] = "";
	char *text;
	int r;

	master_init(m);
	m->pid_fd = -1;
	m->state = MASTER_RUNNING;
	master_open_notify(m, notify_path);
	r = signals_block(m->sys);
	if (!r)
		r = master_open_loop(m);
	if (r)
		return master_report_failure(m, "cannot continue as master", r);
	text = read_state(m, state_fd);
	r = text ? master_state_read(m, text) : -ERR_INVAL;
	mem_free(text);
	if (r)
		return master_report_failure(m, "cannot take over the master's state", r);
	master_state_descriptors(m, restore_flag);
	master_raise_descriptors(m);
	r = master_cli_bind(m, why, sizeof(why));
	if (r) {
		report_msg(m->report, REPORT_ALERT, "the master's socket: %s", why);
		return r;
	}
	r = master_cli_start(m);
	if (r)
		return master_report_failure(m, "cannot start the master's socket", r);
	/* SIGCHLD may have come before the loop was there. */
	master_reap(m);
	return 0;
}
