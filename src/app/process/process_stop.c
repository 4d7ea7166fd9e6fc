/* The end of the process: what each signal means, and the way from serving to nothing left open. */
#include <signal.h>
#include <stdlib.h>

#include "app/process/frontend.h"
#include "app/process/process.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "event/profile.h"
#include "net/listener.h"
#include "proxy/session/session.h"

static void
close_frontends(struct process *p, struct sbuf *lines)
{
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled && px->listening != PROXY_STOPPED)
			frontend_stop(p, px, lines);
	}
}

static void
set_stop_timer(struct process *p, uint64_t ms)
{
	/* The heap has room reserved for the worker's timers. */
	if (timer_set(loop_timers(process_loop(p)), &p->stop_timer,
		    loop_now_ms(process_loop(p)) + ms))
		log_msg(process_log(p), LOG_LEVEL_ALERT,
			"cannot set the timer of the stop: out of memory");
}

static void
stop_listening(struct process *p, int drains)
{
	struct sbuf lines;

	if (p->state >= PROCESS_STOPPING)
		return;
	socket_pass_assume(&p->pass);
	/* Reads which sockets the master keeps. */
	if (p->master)
		master_link_read(p->master);
	if (drains)
		process_refuse_new(p);
	sbuf_init(&lines, 0);
	rendezvous_begin(p);
	p->state = PROCESS_STOPPING;
	(void)atomic_swap(&p->draining, 1);
	notify_send(p->notify, "STOPPING=1\nSTATUS=Stopping, %u connections left",
		process_sessions(p));
	if (drains)
		process_drain_listeners(p);
	close_frontends(p, &lines);
	process_close_kept_admin(p);
	if (p->admin)
		p->service->drain(p->admin);
	for (unsigned int i = 0; i < p->n_workers; i++)
		engine_soft_stop(&p->workers[i].engine);
	rendezvous_end(p);
	/* A thousand lines perhaps, while the others serve again. */
	if (lines.len)
		report_text(p->report, lines.p);
	sbuf_fini(&lines);
	timer_stop(loop_timers(process_loop(p)), &p->status_timer);
	timer_stop(loop_timers(process_loop(p)), &p->stop_timer);
	if (p->cfg->global.hard_stop_after_ms)
		set_stop_timer(p, p->cfg->global.hard_stop_after_ms);
}

/* Stops accepting; sessions finish by themselves, or are closed at hard-stop-after. */
static void
soft_stop(struct process *p)
{
	if (p->state == PROCESS_RUNNING && p->cfg->global.grace_ms) {
		p->state = PROCESS_GRACE;
		set_stop_timer(p, p->cfg->global.grace_ms);
		return;
	}
	stop_listening(p, 1);
}

/* Stops accepting and closes every session. */
static void
hard_stop(struct process *p)
{
	stop_listening(p, 0);
	if (p->state == PROCESS_KILLING)
		return;
	p->state = PROCESS_KILLING;
	rendezvous_begin(p);
	/* Connections that are being handed over become sessions, which are closed too. */
	process_run_mail(p);
	for (unsigned int i = 0; i < p->n_workers; i++)
		engine_kill_all(&p->workers[i].engine);
	rendezvous_end(p);
	set_stop_timer(p, PROCESS_KILL_MS);
}

/* Clients that were to be served are not: to the terminal, too. In HAProxy's words. */
static void
note_hard_stop(struct process *p)
{
	static const char text[] = "soft-stop running for too long, performing a hard-stop.";

	report_msg(p->report, REPORT_WARNING, "%s", text);
	log_msg(process_log(p), LOG_LEVEL_WARNING, "%s", text);
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			frontend_note_hard_stop(p, px);
	}
}

void
process_on_stop_timer(struct timer *t)
{
	struct process *p = container_of(t, struct process, stop_timer);

	if (p->state == PROCESS_GRACE) {
		stop_listening(p, 1);
	} else if (p->state == PROCESS_STOPPING) {
		note_hard_stop(p);
		hard_stop(p);
	} else {
		p->state = PROCESS_GONE;
	}
}
PROFILE_NAME(process_on_stop_timer, process_stop_timer)

/* Lists the servers and their state, for SIGHUP (management manual, 3). */
static void
log_proxies(struct process *p)
{
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);
		struct proxy_stat fe;

		proxy_stat_sum(px, PROXY_FE, &fe);
		list_each(st, &px->servers) {
			struct server *s = list_entry(st, struct server, link);
			char status[SERVER_STATUS_MAX];
			struct server_stat sum;

			server_stat_sum(s, &sum);
			log_msg(process_log(p), LOG_LEVEL_NOTICE,
				"Server %s/%s is %s. Conn: %u act, %u pend, %llu tot.", px->name,
				s->name, server_status_text(s, status), atomic_read(&s->cur),
				atomic_read(&s->queued),
				(unsigned long long)sum.cum_sess);
		}
		if (px->caps & PROXY_FE)
			log_msg(process_log(p), LOG_LEVEL_NOTICE,
				"Proxy %s: %u act(FE), %u act(BE), %llu tot(FE).", px->name,
				atomic_read(&px->fe_gate.n), atomic_read(&px->be_cur),
				(unsigned long long)fe.cum_sess);
	}
}

static void
log_pools(struct process *p, const struct engine *e)
{
	const struct pool *pools[] = { &e->session_pool, &e->buf_pool };

	for (size_t i = 0; i < ARRAY_LEN(pools); i++)
		log_msg(process_log(p), LOG_LEVEL_NOTICE,
			"Pool %s (%zu bytes): %u used, %u kept, %u at most.", pools[i]->name,
			pools[i]->size, counter_read(&pools[i]->live),
			counter_read(&pools[i]->kept), counter_read(&pools[i]->peak));
}

void
process_on_signal(struct process *p, int sig, pid_t from)
{
	if (p->master && sig == SIGINT)
		return;
	switch (sig) {
	case SIGTERM:
	case SIGINT:
		p->exit_signal = sig;
		if (++p->stop_signals > 1)
			p->state = PROCESS_GONE;
		else
			hard_stop(p);
		break;
	case SIGUSR1:
		p->exit_signal = sig;
		soft_stop(p);
		break;
	case SIGUSR2:
		log_msg(process_log(p), LOG_LEVEL_WARNING,
			"SIGUSR2: there is no reload without a master (-W)");
		report_msg(p->report, REPORT_WARNING,
			"SIGUSR2: there is no reload without a master (-W)");
		break;
	case SIGTTOU:
		socket_pass_to(&p->pass, from, -1);
		break;
	case SIGHUP:
		log_proxies(p);
		break;
	case SIGQUIT:
		for (unsigned int i = 0; i < p->n_workers; i++)
			log_pools(p, &p->workers[i].engine);
		break;
	default:
		break;
	}
}
