/* The lists of rules: what the configuration calls each, and what may be asked there. Data only. */
#include "rule/action/place.h"

#include "rule/sample/sample.h"

static const struct {
	const char *name;
	unsigned int at;
} places[] = {
	[RULE_TCP_CONNECTION] = { "tcp-request connection", SAMPLE_AT_CONN },
	[RULE_TCP_SESSION] = { "tcp-request session", SAMPLE_AT_CONN },
	[RULE_TCP_REQ_CONTENT] = { "tcp-request content", SAMPLE_AT_CONN | SAMPLE_AT_REQ },
	[RULE_TCP_RES_CONTENT] = { "tcp-response content",
		SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_RES },
	[RULE_HTTP_REQUEST] = { "http-request",
		SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_BODY | SAMPLE_AT_TXN },
	[RULE_HTTP_RESPONSE] = { "http-response",
		SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_RES |
			SAMPLE_AT_TXN },
	[RULE_HTTP_AFTER_RESPONSE] = { "http-after-response",
		SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_RES |
			SAMPLE_AT_TXN },
};

unsigned int
rule_place_scope(enum rule_place p)
{
	return places[p].at;
}

const char *
rule_place_name(enum rule_place p)
{
	return places[p].name;
}
