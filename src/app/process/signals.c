/* Signals as events of the first worker's loop. They are blocked before any thread is made, so
 * that all threads have them blocked. */
#include "app/process/signals.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/sys.h"
#include "event/profile.h"

#define SIGNALS_BATCH 8

static void
handled_signals(sigset_t *set)
{
	static const int sigs[] = { SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT, SIGCHLD,
		SIGTTOU };

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
		sigaddset(set, sigs[i]);
}

int
signals_block(struct sys *sys)
{
	static const int ignored[] = { SIGPIPE, SIGTTIN, SIGXFSZ };
	struct sigaction sa;
	sigset_t set;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_IGN;
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
		long r = sys_rt_sigaction(sys, ignored[i], &sa);

		if (r < 0)
			return (int)r;
	}
	handled_signals(&set);
	return (int)sys_rt_sigprocmask(sys, SIG_BLOCK, &set);
}

static void
on_signals(void *owner, int fd, uint32_t ev)
{
	struct signals *s = owner;
	struct signalfd_siginfo si[SIGNALS_BATCH];
	long r = sys_read(loop_sys(s->loop), fd, si, sizeof(si));
	struct loop *l = s->loop;

	(void)ev;
	loop_again(l, fd, DIR_R);
	if (r > 0)
		loop_progress(l, fd);
	/* fn may close the descriptor: s is not used after that. */
	for (long i = 0; i < r / (long)sizeof(si[0]) && s->fd >= 0; i++)
		s->fn(s->owner, (int)si[i].ssi_signo,
			si[i].ssi_code == SI_USER ? (pid_t)si[i].ssi_pid : 0);
}
PROFILE_NAME(on_signals, signals_io)

int
signals_open(struct signals *s, struct loop *l, signals_fn *fn, void *owner)
{
	sigset_t set;
	long r;
	int err;

	s->loop = l;
	s->fn = fn;
	s->owner = owner;
	s->fd = -1;
	handled_signals(&set);
	r = sys_signalfd4(loop_sys(l), -1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (r < 0)
		return (int)r;
	err = loop_add(l, (int)r, LOOP_CONN, on_signals, s);
	if (err) {
		(void)sys_close(loop_sys(l), (int)r);
		return err;
	}
	s->fd = (int)r;
	loop_want(l, s->fd, EV_R);
	/* A signal that is already pending wakes the poll: no try is needed. */
	loop_again(l, s->fd, DIR_R);
	return 0;
}

void
signals_close(struct signals *s)
{
	if (s->fd < 0)
		return;
	loop_forget(s->loop, s->fd);
	(void)sys_close(loop_sys(s->loop), s->fd);
	s->fd = -1;
}
