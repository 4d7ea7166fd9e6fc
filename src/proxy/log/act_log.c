/* Action do-log: a log line at the rule's step. Parsed on the main thread, run on the session's
 * worker. */
#include "proxy/log/act_log.h"

#include "proxy/log/stream_log.h"

static const enum log_step steps[RULE_PLACES] = {
	[RULE_TCP_CONNECTION] = LOG_STEP_TCP_REQ_CONN,
	[RULE_TCP_SESSION] = LOG_STEP_TCP_REQ_SESS,
	[RULE_TCP_REQ_CONTENT] = LOG_STEP_TCP_REQ_CONT,
	[RULE_TCP_RES_CONTENT] = LOG_STEP_TCP_RES_CONT,
	[RULE_HTTP_REQUEST] = LOG_STEP_HTTP_REQ,
	[RULE_HTTP_RESPONSE] = LOG_STEP_HTTP_RES,
	[RULE_HTTP_AFTER_RESPONSE] = LOG_STEP_HTTP_AFTER_RES,
};

static int
parse_do_log(struct rule *r unused, const struct rule_vocab *v unused, struct cfg_ctx *ctx unused,
	int arg, unsigned int at unused)
{
	return arg;
}

/* The line changes what later rules see no more than what they may ask for. */
static enum rule_result
run_do_log(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const void *log = cx->log;
	unsigned int at = cx->at;

	stream_log_by_rule(out->proxy, steps[r->place], cx, out->log_level);
	cx->log = log;
	cx->at = at;
	return RULE_CONT;
}

const struct rule_action log_actions[] = {
	{ .name = "do-log",
		.places = RULE_IN_TCP | RULE_IN_HTTP,
		.parse = parse_do_log,
		.run = run_do_log,
		.doc = "Writes a log line now, besides those that the frontend writes by itself. "
			"Its step, for a log-profile, is named after the list of the rule: "
			"tcp-req-conn, tcp-req-sess, tcp-req-cont, tcp-res-cont, http-req, "
			"http-res or http-after-res." },
	{ 0 },
};
