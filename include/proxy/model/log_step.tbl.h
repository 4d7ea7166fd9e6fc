/*
 * The steps of a session at which lines are logged (manual 8.3.5): LOG_STEP(id, name, at, http,
 * auto, text): at is what formats for it can use besides what every log line can, http: it exists
 * in mode http only, auto: `log-steps` may name it, text: for the manual. The others, without
 * ERROR, are those of `do-log` rules.
 */
#ifdef LOG_STEP
#define LOG_STEP_RULE "The action do-log, in the list of this name."
LOG_STEP(ACCEPT, "accept", 0, 0, 1, "A connection is accepted.")
LOG_STEP(REQUEST, "request", 0, 1, 1,
	"Mode http: the head of a request is complete, before its rules.")
LOG_STEP(CONNECT, "connect", 0, 0, 1, "There is a connection to the server.")
LOG_STEP(RESPONSE, "response", 0, 1, 1,
	"Mode http: the head of the response has been processed.")
LOG_STEP(CLOSE, "close", 0, 0, 1, "The end of the session or request.")
LOG_STEP(ERROR, "error", 0, 0, 0,
	"A connection without a valid request, PROXY header or handshake; these lines are "
	"always written.")
LOG_STEP(TCP_REQ_CONN, "tcp-req-conn", 0, 0, 0, LOG_STEP_RULE)
LOG_STEP(TCP_REQ_SESS, "tcp-req-sess", 0, 0, 0, LOG_STEP_RULE)
LOG_STEP(TCP_REQ_CONT, "tcp-req-cont", SAMPLE_AT_REQ, 0, 0, LOG_STEP_RULE)
LOG_STEP(TCP_RES_CONT, "tcp-res-cont", SAMPLE_AT_RES, 0, 0, LOG_STEP_RULE)
LOG_STEP(HTTP_REQ, "http-req", SAMPLE_AT_REQ | SAMPLE_AT_BODY, 1, 0, LOG_STEP_RULE)
LOG_STEP(HTTP_RES, "http-res", SAMPLE_AT_RES, 1, 0, LOG_STEP_RULE)
LOG_STEP(HTTP_AFTER_RES, "http-after-res", SAMPLE_AT_RES, 1, 0, LOG_STEP_RULE)
#undef LOG_STEP_RULE
#endif
