/* Places of rules: the rule lists of a proxy. */
#ifndef TACIT_RULE_ACTION_PLACE_H
#define TACIT_RULE_ACTION_PLACE_H

/* Places where rules run, one list each. */
enum rule_place {
	RULE_TCP_CONNECTION,
	RULE_TCP_SESSION,
	RULE_TCP_REQ_CONTENT,
	RULE_TCP_RES_CONTENT,
	RULE_HTTP_REQUEST,
	RULE_HTTP_RESPONSE,
	RULE_HTTP_AFTER_RESPONSE,
	RULE_PLACES
};

/* The same as bits, for tables of actions. */
#define RULE_IN(place) (1u << RULE_##place)
#define RULE_IN_TCP \
	(RULE_IN(TCP_CONNECTION) | RULE_IN(TCP_SESSION) | RULE_IN(TCP_REQ_CONTENT) | \
		RULE_IN(TCP_RES_CONTENT))
#define RULE_IN_HTTP (RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE) | RULE_IN(HTTP_AFTER_RESPONSE))

/* SAMPLE_AT_x available to rules at this place. */
unsigned int rule_place_scope(enum rule_place p);
/* "http-request" etc. */
const char *rule_place_name(enum rule_place p);

#endif
