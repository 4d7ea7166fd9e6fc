/* Answers of agents. On the first worker. */
#include "proxy/check/check_agent.h"

#include <stdio.h>

#include "proxy/backend/server_state.h"
#include "proxy/check/agent.h"

static int
contains_line_end(struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.p[i] == '\n' || bytes.p[i] == '\r')
			return 1;
	return 0;
}

static void
apply_admin(struct engine *e, struct server *s, enum agent_admin admin)
{
	switch (admin) {
	case AGENT_ADMIN_SAME:
		break;
	case AGENT_ADMIN_READY:
		server_set_forced(e, s, SERVER_READY);
		break;
	case AGENT_ADMIN_DRAIN:
		server_set_forced(e, s, SERVER_DRAIN_FORCED);
		break;
	case AGENT_ADMIN_MAINT:
		server_set_forced(e, s, SERVER_MAINT_FORCED);
		break;
	}
}

/* A weight that the algorithm does not allow is ignored, as in HAProxy. */
static void
apply_words(struct engine *e, struct server *s, const struct agent_report *say)
{
	apply_admin(e, s, say->admin);
	if (say->weight >= 0)
		(void)!server_set_weight(e, s, server_weight_of(s, say->weight));
	if (say->maxconn >= 0)
		server_set_maxconn(e, s, say->maxconn);
}

/* Only a whole line counts. */
static void
put_incomplete(const struct check *c, const struct check_input *in, struct check_verdict *out)
{
	out->code = c->code;
	out->status = in->received.len ? c->status : CHECK_L7RSP;
	(void)snprintf(out->info, sizeof(out->info), "%s",
		in->received.len ? "Ignoring incomplete line from agent"
				 : "TCPCHK got an empty response at step 2");
}

enum check_step
check_agent_look(struct engine *e, const struct check *c, const struct check_input *in,
	struct check_verdict *out)
{
	struct agent_report say;

	if (!contains_line_end(in->received) && !in->ended && !in->full)
		return CHECK_STEP_WAIT;
	if (!contains_line_end(in->received)) {
		put_incomplete(c, in, out);
		return CHECK_STEP_FAIL;
	}
	agent_parse(in->received, &say);
	apply_words(e, c->srv, &say);
	*out = say.verdict;
	return CHECK_STEP_FAIL;
}
