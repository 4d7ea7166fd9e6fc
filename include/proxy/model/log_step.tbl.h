/*
 * The steps of a session at which lines are logged (manual 8.3.5): LOG_STEP(id, name, at, http,
 * auto): at is what formats for it can use besides what every log line can, http: it exists in
 * mode http only, auto: `log-steps` may name it. The others, without ERROR, are those of `do-log`
 * rules.
 */
#ifdef LOG_STEP
LOG_STEP(ACCEPT, "accept", 0, 0, 1)
LOG_STEP(REQUEST, "request", 0, 1, 1)
LOG_STEP(CONNECT, "connect", 0, 0, 1)
LOG_STEP(RESPONSE, "response", 0, 1, 1)
LOG_STEP(CLOSE, "close", 0, 0, 1)
LOG_STEP(ERROR, "error", 0, 0, 0)
LOG_STEP(TCP_REQ_CONN, "tcp-req-conn", 0, 0, 0)
LOG_STEP(TCP_REQ_SESS, "tcp-req-sess", 0, 0, 0)
LOG_STEP(TCP_REQ_CONT, "tcp-req-cont", SAMPLE_AT_REQ, 0, 0)
LOG_STEP(TCP_RES_CONT, "tcp-res-cont", SAMPLE_AT_RES, 0, 0)
LOG_STEP(HTTP_REQ, "http-req", SAMPLE_AT_REQ | SAMPLE_AT_BODY, 1, 0)
LOG_STEP(HTTP_RES, "http-res", SAMPLE_AT_RES, 1, 0)
LOG_STEP(HTTP_AFTER_RES, "http-after-res", SAMPLE_AT_RES, 1, 0)
#endif
