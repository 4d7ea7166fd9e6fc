/* getpid() without a system call. Any thread; the page is set before there are threads, and all of
 * them write the same number. Programs get this file with their libraries: it needs no other. */
#include "app/main/own_pid.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"

static _Atomic int *kept_pid; /* 0 there: not known in this process */

pid_t
getpid(void)
{
	int pid = kept_pid ? atomic_read(kept_pid) : 0;

	if (pid)
		return pid;
	/* Not through a ledger: any thread of any library may ask. */
	pid = (int)syscall(SYS_getpid);
	if (kept_pid)
		atomic_write(kept_pid, pid);
	return pid;
}

void
own_pid_keep(_Atomic int *page)
{
	kept_pid = page;
}
