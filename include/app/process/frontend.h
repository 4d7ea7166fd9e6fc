/*
 * Pausing, resuming and stopping one frontend while the process serves. On the first worker's
 * thread; the other workers are paused for the time of the calls that change the sockets.
 */
#ifndef TACIT_APP_PROCESS_FRONTEND_H
#define TACIT_APP_PROCESS_FRONTEND_H

#include "base/compiler.h"

struct process;
struct proxy;
struct sbuf;

/* Its sockets stop listening, and its sessions continue (net/listener.h, listener_suspend). Log
 * messages report it. */
void frontend_pause(struct process *p, struct proxy *fe);
/* 0, or a negative reason: an address is busy, which is logged, and it stays paused. */
int frontend_resume(struct process *p, struct proxy *fe) must_check;
/* Closes its sockets for good. Its sessions end after their current exchange. The message for the
 * terminal is appended to `lines`, since a write may take long; NULL: it is written. */
void frontend_stop(struct process *p, struct proxy *fe, struct sbuf *lines);
/* hard-stop-after is over: logs how many of its sessions are closed, if any are left. */
void frontend_note_hard_stop(struct process *p, struct proxy *fe);

#endif
