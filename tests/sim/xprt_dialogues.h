/* Dialogues that must take the same course over any transport as on plain sockets. */
#ifndef TACIT_SIM_XPRT_DIALOGUES_H
#define TACIT_SIM_XPRT_DIALOGUES_H

#include "unit/proxy/session_rig.h"

/* In mode tcp. */
struct tcp_dialogue {
	const char *name;
	struct step client[AGENT_STEPS], origin[AGENT_STEPS];
	const char *terms;
	int crosses; /* both sides fill all buffers while the other one writes */
};

static const struct tcp_dialogue tcp_dialogues[] = {
	{ "a question and an answer",
		{ { STEP_SEND, 100 }, { STEP_WAIT, 300 }, { STEP_END, 0 } },
		{ { STEP_WAIT, 100 }, { STEP_SEND, 300 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		"--", 0 },
	{ "a long answer",
		{ { STEP_SEND, 4 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_WAIT, 4 }, { STEP_SEND, 30000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
			{ STEP_END, 0 } }, "--", 0 },
	{ "much both ways",
		{ { STEP_SEND, 20000 }, { STEP_WAIT, 20000 }, { STEP_END, 0 } },
		{ { STEP_SEND, 20000 }, { STEP_WAIT, 20000 }, { STEP_WAIT_EOF, 0 },
			{ STEP_END, 0 } }, "--", 1 },
	{ "one direction ends before the other",
		{ { STEP_SEND, 100 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_WAIT_EOF, 0 }, { STEP_SEND, 5000 }, { STEP_SHUT, 0 }, { STEP_PAUSE, 50 },
			{ STEP_END, 0 } }, "--", 0 },
	{ "one direction ends long before the other",
		{ { STEP_SEND, 100 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_WAIT_EOF, 0 }, { STEP_SEND, 5000 }, { STEP_PAUSE, 50 },
			{ STEP_SEND, 5000 }, { STEP_PAUSE, 50 }, { STEP_SHUT, 0 },
			{ STEP_END, 0 } }, "--", 0 },
	{ "the server speaks first",
		{ { STEP_WAIT, 50 }, { STEP_SEND, 50 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_SEND, 50 }, { STEP_WAIT, 50 }, { STEP_END, 0 } }, "--", 0 },
	{ "a slow reader",
		{ { STEP_SEND, 4 }, { STEP_STALL, 0 }, { STEP_PAUSE, 200 }, { STEP_READ, 0 },
			{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_WAIT, 4 }, { STEP_SEND, 40000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
			{ STEP_END, 0 } }, "--", 0 },
	{ "a slow reader that speaks",
		{ { STEP_SEND, 4 }, { STEP_STALL, 0 }, { STEP_PAUSE, 50 }, { STEP_SEND, 3000 },
			{ STEP_PAUSE, 200 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 },
			{ STEP_END, 0 } },
		{ { STEP_WAIT, 4 }, { STEP_SEND, 40000 }, { STEP_WAIT, 3000 }, { STEP_SHUT, 0 },
			{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } }, "--", 1 },
	{ "a pause in the middle",
		{ { STEP_SEND, 10 }, { STEP_PAUSE, 50 }, { STEP_SEND, 10 }, { STEP_WAIT, 20 },
			{ STEP_END, 0 } },
		{ { STEP_WAIT, 10 }, { STEP_SEND, 10 }, { STEP_WAIT, 10 }, { STEP_SEND, 10 },
			{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } }, "--", 0 },
	{ "the server resets",
		{ { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } },
		{ { STEP_WAIT, 100 }, { STEP_RESET, 0 } }, "SD", 0 },
};

#define BODY "0123456789"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n" BODY
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct http_dialogue http_dialogues[] = {
	{ "a request", { HTTP_WORLD }, CLIENT_GET, REPLY_OK, NULL, OK2 "\r\nok", "--", 1, 0 },
	{ "two requests", { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY(GET "\r\n"), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("\r\n\r\n"),
			SAY(OK2 "\r\nok"), EOF_CLOSE },
		NULL, OK2 "\r\nok" OK2 "\r\nok", "-- --", 1, 1 },
	{ "pipelined", { HTTP_WORLD },
		.client = { SAY(GET "\r\n" GET_CLOSE), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("\r\n\r\n"),
			SAY(OK2 "\r\nok"), EOF_CLOSE },
		NULL, OK2 "\r\nok" OK2 "Connection: close\r\n\r\nok", "-- --", 1, 1 },
	{ "a body", { HTTP_WORLD },
		.client = { SAY(POST), EOF_CLOSE },
		.origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
		NULL, OK2 "\r\nok", "--", 1, 0 },
	{ "chunks", { HTTP_WORLD }, CLIENT_GET,
		REPLY(SAY(CHUNKED "3\r\nabc\r\n"), { STEP_PAUSE, 20 }, SAY("0\r\n\r\n"), EOF_CLOSE),
		NULL, CHUNKED "3\r\nabc\r\n0\r\n\r\n", "--", 1, 0 },
	{ "a slow head", { HTTP_WORLD },
		.client = { { STEP_DRIP, (uintptr_t)(GET "\r\n") }, EOF_CLOSE }, REPLY_OK, NULL,
		OK2 "\r\nok", "--", 1, 0 },
	{ "a client that leaves", { HTTP_WORLD, .options = OPT_ABORTONCLOSE },
		.client = { SAY(GET "\r\n"), { STEP_PAUSE, 50 }, { STEP_SHUT, 0 }, EOF_CLOSE },
		REPLY({ STEP_PAUSE, 500 }, EOF_CLOSE), NULL, NULL, "CH", 1, 0 },
	{ "more while the answer is awaited", { HTTP_WORLD, .options = OPT_ABORTONCLOSE },
		.client = { SAY(GET "\r\n"), { STEP_PAUSE, 50 }, SAY(GET_CLOSE), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 100 }, SAY(OK2 "\r\nok"),
			AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE },
		NULL, OK2 "\r\nok" OK2 "Connection: close\r\n\r\nok", "-- --", 1, 1 },
};

#endif
