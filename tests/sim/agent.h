/*
 * The ends of a simulated world that play scripts (agent.c), and texts for scripts of mode http.
 * Users: world.h, scenarios.c, and unit tests of sessions and checks.
 */
#ifndef TACIT_SIM_AGENT_H
#define TACIT_SIM_AGENT_H

#include <stdint.h>

#include "fake/kernel.h"
#include "fake/wire.h"

/*
 * One end of a forwarded connection as played by a test: a script of steps, run as far as the
 * socket permits, and again after each change of the socket. Bytes are numbered, so that the
 * receiver can verify them: a stream starts with its four-byte id, and the rest follows from id and
 * position.
 */

enum step_kind {
	STEP_END,
	STEP_SEND,     /* n bytes */
	STEP_WAIT,     /* until n more bytes were read */
	STEP_WAIT_EOF, /* until the other end has finished, however */
	STEP_PAUSE,    /* n milliseconds */
	STEP_SHUT,
	STEP_CLOSE,
	STEP_RESET,
	STEP_CUT,      /* FIN without the closing message of its wire; as SHUT without one */
	STEP_STALL,    /* reads nothing until a WAIT or READ step */
	STEP_READ,     /* reads again */
	STEP_SAY,      /* sends the text, in mode http */
	STEP_DRIP,     /* sends it a byte at a time, STEP_DRIP_MS apart */
	STEP_AWAIT     /* until the text was read, after the text awaited before */
};

#define STEP_DRIP_MS 2u

struct step {
	enum step_kind kind;
	uintptr_t n;           /* or the text, a const char * */
};

/* Memory of an agent that plays texts. */
#define AGENT_TEXT 6000

#define AGENT_STEPS 12

struct agent {
	struct fake *k;
	struct fake_sock *s;
	struct step step[AGENT_STEPS];
	unsigned int at;
	uint64_t base, began; /* bytes sent, and the time, at the start of the step; see begun */
	uint64_t due;        /* bytes to wait for, all STEP_WAITs together */
	int begun;
	/* Sent before the first step, with a pause after some bytes of it; not counted in
	 * `sent`. */
	const char *first;
	uint32_t takes_first; /* bytes of a request read before all that; not counted in `got` */
	size_t first_at, first_stop;
	uint64_t first_ms, first_due;
	uint32_t id;         /* of what it sends */
	uint32_t heard;      /* id of what it reads, once four bytes came */
	uint64_t sent, got;
	uint64_t react;      /* ns */
	int stalled;
	int fin;             /* it has sent FIN: `sent` is final */
	int cut;             /* the same, without the closing message of its wire */
	int eof;             /* it has read EOF */
	int err;             /* errno, 0: none */
	int wrong;           /* a byte differed from the expected one */
	int over;            /* closed, or the script has ended */
	int closed;
	struct wire *wire;   /* fake/wire.h; NULL: plain bytes */
	char text[AGENT_TEXT]; /* the text that it read, with texts in the script */
	size_t seen;         /* of it, up to where the last STEP_AWAIT ended */
};

/* steps ends with STEP_END, STEP_CLOSE or STEP_RESET; a script without more steps closes the
 * socket. */
void agent_start(struct agent *a, struct fake *k, struct fake_sock *s, uint32_t id,
		 const struct step *steps, uint64_t react_ns);
/* Sends this text before the first step, a valid or invalid PROXY header: with a pause after `stop`
 * bytes of it if ms is not 0. */
void agent_sends_first(struct agent *a, const char *text, size_t stop, uint64_t ms);
/* Makes it a SOCKS4 proxy first: reads a request of this length before it sends its first text. */
void agent_takes_first(struct agent *a, uint32_t bytes);
/* Speaks over w, but for what comes first; w belongs to the agent. */
void agent_uses_wire(struct agent *a, struct wire *w);
/* Both agents' names for messages. */
const char *step_name(enum step_kind k);

/* Steps and texts of HTTP dialogues, for scenarios and unit tests. */

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
