/* Consecutive errors of sessions on a server. On any worker, without a lock: the worker whose error
 * is the last one of error-limit is the only one to raise the alarm. */
#include "proxy/backend/server_observe.h"

#include "base/atomic.h"

enum outcome { IGNORED, SUCCESS, ERROR };

/* Logs show the texts of errors only. */
static const struct {
	const char *text;
	enum outcome at[CHECK_OBSERVE_LAYER7 + 1];
} findings[] = {
	[SERVER_CONNECTED] = { "L4 successful connection", { IGNORED, SUCCESS, IGNORED } },
	[SERVER_CONNECT_FAILED] = { "L4 unsuccessful connection", { IGNORED, ERROR, ERROR } },
	[SERVER_GOOD_STATUS] = { "Correct http response", { IGNORED, IGNORED, SUCCESS } },
	[SERVER_BAD_STATUS] = { "Wrong http response", { IGNORED, IGNORED, ERROR } },
	[SERVER_BAD_HEAD] = { "Invalid http response (headers)", { IGNORED, IGNORED, ERROR } },
	[SERVER_READ_TIMEOUT] = { "Read timeout (http)", { IGNORED, IGNORED, ERROR } },
	[SERVER_READ_ERROR] = { "Read error (http)", { IGNORED, IGNORED, ERROR } },
	[SERVER_CLOSED_EARLY] = { "Close from server (http)", { IGNORED, IGNORED, ERROR } },
};

const char *
server_finding_text(enum server_finding f)
{
	return findings[f].text;
}

void
server_forget_errors(struct server *s)
{
	/* A store of the same value would take the line from other workers. */
	if (atomic_read(&s->errors))
		atomic_write(&s->errors, 0u);
}

static void
raise_alarm(struct engine *e, struct server *s, enum server_finding f)
{
	atomic_write(&s->errors, 0u);
	atomic_write(&s->last_error, (unsigned int)f);
	(void)atomic_add(&s->alarms, 1u);
	if (e->index == 0) {
		if (e->hooks.on_alarm)
			e->hooks.on_alarm(e, s);
	} else if (e->hooks.wake_for_alarm) {
		e->hooks.wake_for_alarm(e, 0, s);
	}
}

void
server_observe_finding(struct engine *e, struct server *s, enum server_finding f)
{
	const struct check_server_conf *c = &s->conf.check;

	switch (findings[f].at[c->observe]) {
	case IGNORED:
		return;
	case SUCCESS:
		server_forget_errors(s);
		return;
	case ERROR:
		break;
	}
	if (atomic_add(&s->errors, 1u) == (unsigned int)c->error_limit)
		raise_alarm(e, s, f);
}

void
server_observe_status(struct engine *e, struct server *s, unsigned int status)
{
	int good = (status >= 100 && status < 500) || status == 501 || status == 505;

	server_observe(e, s, good ? SERVER_GOOD_STATUS : SERVER_BAD_STATUS);
}

unsigned int
server_take_alarms(struct server *s, enum server_finding *last)
{
	unsigned int n = atomic_swap(&s->alarms, 0u);

	*last = (enum server_finding)atomic_read(&s->last_error);
	return n;
}
