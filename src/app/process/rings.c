/* Rings of logs. Workers post without a lock and mail the first worker, which owns what is stored;
 * before the threads run, and after they have ended, whoever logs is that owner. */
#include "app/process/rings.h"

#include <string.h>

#include "app/process/process.h"
#include "app/process/watchdog.h"
#include "app/process/wake_worker.h"
#include "base/counter.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "proxy/model/ring_conf.h"

static struct list *
rings_of(const struct process *p)
{
	return &p->cfg->proxies.log.rings;
}

static void
on_ring_mail(void *worker, struct mail *m)
{
	const struct worker *w = worker;

	log_ring_collect(m->arg, process_log(w->process));
}
PROFILE_NAME(on_ring_mail, ring_mail)

void
rings_on_log(void *worker, struct log_ring *r)
{
	struct worker *w = worker, *first = process_first(w->process);
	struct mail m = { .fn = on_ring_mail, .arg = r };

	if (w == first || !w->has_thread)
		log_ring_collect(r, &first->log);
	else
		poke_tell(w, first, &m);
}

void
rings_collect(struct process *p)
{
	list_each(it, rings_of(p))
		log_ring_collect(&list_entry(it, struct ring_conf, link)->ring, process_log(p));
}

/* Reported once per server: DroppedLogs counts what is lost. */
static void
on_server_failure(void *arg, int err)
{
	struct ring_server *s = arg;
	const struct process *p = s->process;

	if (s->has_failed)
		return;
	s->has_failed = 1;
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': server '%s' cannot be reached or has closed the connection: %s. tacit "
		"tries again. DroppedLogs in 'show info' counts messages that are lost.",
		s->ring->name, s->name, err ? strerror(err) : "end of file");
}

int
rings_start(struct process *p)
{
	int r = 0;

	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers) {
			struct ring_server *s = list_entry(st, struct ring_server, link);

			s->process = p;
			s->client.on_failure = on_server_failure;
			s->client.arg = s;
			if (!r)
				r = log_client_start(&s->client, process_loop(p), &c->ring,
					&s->conf);
		}
	}
	return r;
}

/* --- the stop --- */

static int
servers_are_busy(const struct process *p)
{
	list_each(it, rings_of(p))
		list_each(st, &list_entry(it, struct ring_conf, link)->servers)
			if (log_client_is_busy(&list_entry(st, struct ring_server, link)->client))
				return 1;
	return 0;
}

/* Servers that are connected, or will be, get time to take what the rings have. A second SIGTERM
 * ends it. */
static void
drain_rings(struct process *p)
{
	struct loop *l = process_loop(p);
	uint64_t until = l ? loop_now_ms(l) + RINGS_DRAIN_MS : 0;

	if (!servers_are_busy(p))
		return;
	/* Of workers that have ended none answers. */
	watchdog_stop(p);
	while (servers_are_busy(p) && p->state != PROCESS_GONE && loop_now_ms(l) < until)
		if (loop_turn(l, (int)(until - loop_now_ms(l))) < 0)
			return;
}

static void
stop_server(struct process *p, struct ring_conf *c, struct ring_server *s)
{
	unsigned int lost = log_client_stop(&s->client);

	if (!lost)
		return;
	counter_add(&c->ring.dropped, lost);
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': %u messages are lost: server '%s' has not taken them before the end.",
		c->name, lost, s->name);
}

void
rings_stop(struct process *p)
{
	/* Time is up: other threads may run. */
	if (p->running)
		return;
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct log_sink *k = &p->workers[i].log;

		if (p->workers[i].log_open)
			log_flush(k);
		k->on_ring = NULL;
	}
	drain_rings(p);
	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers)
			stop_server(p, c, list_entry(st, struct ring_server, link));
	}
}

uint64_t
rings_dropped(const struct process *p)
{
	uint64_t n = 0;

	list_each(it, rings_of(p))
		n += counter_read(&list_entry(it, struct ring_conf, link)->ring.dropped);
	return n;
}
