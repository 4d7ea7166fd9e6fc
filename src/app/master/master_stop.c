/* The end of sockets and of all worker processes. Master process, one thread. */
#include <signal.h>
#include <stdio.h>

#include "app/master/master.h"
#include "app/process/master_link.h"
#include "app/process/socket_pass.h"

static void
on_released(void *master, const char *key)
{
	char text[MASTER_LINK_MSG_MAX];
	struct master *m = master;
	int n = snprintf(text, sizeof(text), MASTER_RELEASED "%s", key);

	/* One that does not read them closes the socket without reading its backlog. */
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == WORKER_CURRENT)
			(void)sys_sendto(m->sys, w->own.fd, text, (size_t)n, MSG_NOSIGNAL);
	}
}

/* Sockets that no later worker process will use: they are closed when the present one has closed
 * them. */
void
master_release_sockets(struct master *m, pid_t user)
{
	fd_store_release(&m->store, user, on_released, m);
}

void
master_pass_sockets(struct master *m, pid_t to)
{
	struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	int fd = w ? socket_pass_connect(m->sys, to) : -1;
	char text[64];

	if (fd < 0)
		return;
	(void)snprintf(text, sizeof(text), MASTER_PASS "%ld", (long)to);
	(void)!master_send_fd(w, text, fd);
	(void)sys_close(m->sys, fd);
}

void
master_stop(struct master *m, int sig)
{
	if (m->state < MASTER_STOPPING) {
		m->state = MASTER_STOPPING;
		timer_stop(loop_timers(m->loop), &m->respawn_timer);
		notify_send(&m->notify, "STOPPING=1\nSTATUS=Stopping");
	}
	fd_store_release_all(&m->store, on_released, m);
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);
		int starts = w->state == WORKER_STARTING;

		master_signal(w, starts ? SIGTERM : sig);
		if (!starts)
			w->state = WORKER_LEAVING;
	}
	/* Its timers are few: the heap has room. */
	if (sig == SIGTERM)
		(void)!timer_set(loop_timers(m->loop), &m->kill_timer,
			loop_now_ms(m->loop) + MASTER_KILL_MS);
	if (list_is_empty(&m->workers))
		m->state = MASTER_OVER;
}
