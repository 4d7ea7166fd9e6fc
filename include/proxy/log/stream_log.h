/*
 * The log line of a stream (configuration manual, 8.2 and 8.3). The first call at which all data
 * of the format is known writes it; s->own_line then is WRITTEN. With `log-steps` there
 * is a line for each of these steps instead. On the session's worker.
 */
#ifndef TACIT_PROXY_LOG_STREAM_LOG_H
#define TACIT_PROXY_LOG_STREAM_LOG_H

#include "proxy/model/log_profile.h"
#include "proxy/model/session.h"
#include "rule/action/action.h"

struct sample_ctx;

/*
 * For formats that need no later data, and for `option logasap`: called when the backend is known,
 * and again when the server is connected or, in mode http, has responded: the step response.
 */
void stream_log_if_known(struct stream *s);
static inline void
stream_log_early(struct stream *s)
{
	if (!list_is_empty(&s->sess->fe->logs))
		stream_log_if_known(s);
}

/*
 * Called at the end, when the server's slot has been released, the descriptors are still open, and
 * the session is still counted in its frontend. With `option dontlognull` nothing is written for a
 * client that sent nothing.
 */
void stream_log(struct stream *s);
/* The line of this step if `log-steps` names it. */
void stream_log_listed(struct stream *s, enum log_step step);
/* The stream has come to this step. */
static inline void
stream_log_step(struct stream *s, enum log_step step)
{
	if (unlikely(s->sess->fe->log.steps))
		stream_log_listed(s, step);
}

/* The action do-log (manual 4.4 of 3.1). */

extern const struct rule_action log_actions[];

#endif
