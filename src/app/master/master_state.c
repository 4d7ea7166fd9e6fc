/* The master's state becomes text. Master process, one thread. No worker process is starting, and
 * the current one is ready: starts and delays of starts are not in it. */
#include "app/master/master_state.h"

#include <inttypes.h>

#include "app/master/master.h"
#include "base/sbuf.h"

void
master_state_write(const struct master *m, struct sbuf *out)
{
	const struct master_settings *s = &m->settings;

	sbuf_addf(out, "version %d\n", MASTER_STATE_VERSION);
	sbuf_addf(out, "settings %d %d %d %d %d %s\n", s->quiet, s->insecure_caps,
		s->insecure_setuid, s->insecure_syscalls, s->set_dumpable,
		m->pidfile ? m->pidfile : "");
	sbuf_addf(out, "limits %ju %ju\n", (uintmax_t)m->spawn.fds.rlim_cur,
		(uintmax_t)m->spawn.fds.rlim_max);
	sbuf_addf(out, "master %" PRIu64 " %d %u\n", m->started_ms, m->exit_on_failure,
		m->max_reloads);
	sbuf_addf(out, "reloads %u %u %d %s\n", m->n_reloads, m->n_failed_reloads,
		m->reload_failed, m->reason);
	if (m->cli.bind)
		sbuf_addf(out, "commands %d\n", m->cli.listener.fd);
	list_each(it, &m->workers) {
		const struct worker_process *w = list_entry(it, struct worker_process, link);

		/* Behind the version, where a program that does not know it reads on. */
		sbuf_addf(out, "worker %d %d %d %u %" PRIu64 " %s%s\n", (int)w->own.pid, w->own.fd,
			(int)w->state, w->reloads, w->started_ms, w->version,
			w->asks_master ? MASTER_STATE_ASKS : "");
	}
	for (unsigned int i = 0; i < m->store.n; i++) {
		const struct stored_socket *k = &m->store.v[i];

		sbuf_addf(out, "socket %d %d %ju %ju %ju %ju %s\n", k->fd, (int)k->user,
			(uintmax_t)k->dev, (uintmax_t)k->ino, (uintmax_t)k->made.tv_sec,
			(uintmax_t)k->made.tv_nsec, k->key);
	}
	for (unsigned int i = 0; i < m->store.files.n; i++)
		sbuf_addf(out, "file %d %d\n", m->store.files.v[i].fd,
			(int)m->store.files.v[i].from);
	/* Must be last: the rest of the file is the workers' startup log. */
	sbuf_addf(out, MASTER_STATE_LOG "\n%s", m->startup_log ? m->startup_log : "");
}

void
master_state_descriptors(const struct master *m, void (*fn)(const struct master *m, int fd))
{
	if (m->cli.bind && m->cli.listener.fd >= 0)
		fn(m, m->cli.listener.fd);
	list_each(it, &m->workers)
		fn(m, list_entry(it, struct worker_process, link)->own.fd);
	for (unsigned int i = 0; i < m->store.n; i++)
		fn(m, m->store.v[i].fd);
	for (unsigned int i = 0; i < m->store.files.n; i++)
		fn(m, m->store.files.v[i].fd);
}
