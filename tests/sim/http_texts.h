/* Steps and texts of HTTP dialogues, for scenarios and unit tests. */
#ifndef TACIT_SIM_HTTP_TEXTS_H
#define TACIT_SIM_HTTP_TEXTS_H

#include "sim/agent.h"

#define SAY(t)    { STEP_SAY, (uintptr_t)(t) }
#define AWAIT(t)  { STEP_AWAIT, (uintptr_t)(t) }
#define EOF_CLOSE { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 }

#define GET       "GET / HTTP/1.1\r\nHost: a\r\n"
#define GET_CLOSE GET "Connection: close\r\n\r\n"
#define POST_LINE "POST / HTTP/1.1\r\nHost: a\r\n"

/* A body of 2200 bytes, and heads for it. */
#define TEN(x)    x x x x x x x x x x
#define LONG_BODY TEN(TEN("0123456789abcdefghij<>"))
#define LONG_POST POST_LINE "Content-Length: 2200\r\n\r\n"
#define LONG_OK   "HTTP/1.1 200 OK\r\nContent-Length: 2200\r\n\r\n"

#endif
