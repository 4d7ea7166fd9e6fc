/*
 * Parses an agent's report about its server (manual 5.2, agent-check): words between blanks and
 * commas, up to the end of a line. Pure.
 */
#ifndef TACIT_PROXY_CHECK_AGENT_H
#define TACIT_PROXY_CHECK_AGENT_H

#include "base/str.h"
#include "cfg/value.h"
#include "proxy/check/check_expect.h"

enum agent_health { AGENT_SAYS_NOTHING, AGENT_SAYS_UP, AGENT_SAYS_DOWN };
enum agent_admin { AGENT_ADMIN_SAME, AGENT_ADMIN_READY, AGENT_ADMIN_DRAIN, AGENT_ADMIN_MAINT };

/* The last word of each kind. */
struct agent_report {
	enum agent_health health;
	enum agent_admin admin;
	int weight;              /* per cent of the configured weight; -1: not given */
	int maxconn;             /* -1: not given */
	/* L7OK, L7STS, or CHECKED if the agent has sent nothing about health; in HAProxy's
	 * words. */
	struct check_verdict verdict;
};

/* The words of a report. */
extern const struct cfg_enum agent_words[];

/*
 * Parses the bytes of a line; the first CR, LF or NUL ends it. Words that are not known are no
 * failure: the first of them is in the text.
 */
void agent_parse(struct str line, struct agent_report *out);

#endif
