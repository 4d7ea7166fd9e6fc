/* Warnings about bounds that the configuration sets. Main thread, at start. */
#include "app/process/process_bounds.h"

#include "base/err.h"

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
