/* Warnings about bounds that the configuration sets. */
#include "app/process/process_bounds.h"

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"

/* A process at its limit reaches it again with each session that ends. */
#define FULL_LOG_MS 60000

static void
warn_if_less(struct process *p, const char *name, const char *side, int want, int got)
{
	if (got < want)
		report_msg(p->report, REPORT_WARNING,
			"tune.%s.%s is %d, but the kernel allows %d (net.core.%s)", name, side,
			want, got, name[0] == 'r' ? "rmem_max" : "wmem_max");
}

static void
check_sockbuf(struct process *p, const char *side, const struct sockbuf *b)
{
	struct sockbuf got;
	int r;

	if (!b->rcv && !b->snd)
		return;
	r = sockbuf_probe(p->sys, b, &got);
	if (r < 0) {
		report_msg(p->report, REPORT_WARNING, "cannot try the buffers of the %s side: %s",
			side, err_text(r));
		return;
	}
	warn_if_less(p, "rcvbuf", side, b->rcv, got.rcv);
	warn_if_less(p, "sndbuf", side, b->snd, got.snd);
}

void
process_check_sockbufs(struct process *p)
{
	check_sockbuf(p, "client", &p->cfg->global.client_buf);
	check_sockbuf(p, "server", &p->cfg->global.server_buf);
}

void
process_note_full(struct worker *w)
{
	struct process *p = w->process;
	uint64_t now = loop_now_ms(w->loop), last = atomic_read(&p->full_log_ms);

	counter_add(&w->full_times, 1);
	/* Another worker may have been faster. */
	if ((last && now < last + FULL_LOG_MS) || !atomic_replace(&p->full_log_ms, &last, now))
		return;
	log_msg(&w->log, LOG_LEVEL_WARNING,
		"maxconn %u of the process is reached: more connections wait until others end. "
		"maxconn_reached in 'show activity' counts this.",
		w->engine.shared->max_sessions);
}
