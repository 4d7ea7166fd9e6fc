/*
 * Messages between the checker and the helper process that runs the commands of external checks.
 * They are datagrams of a socket pair of type SOCK_SEQPACKET. Pure: bytes in memory.
 */
#ifndef TACIT_PROXY_CHECK_EXTERNAL_MSG_H
#define TACIT_PROXY_CHECK_EXTERNAL_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/* Maximum number of commands that run at the same time. */
#define EXTERNAL_COMMANDS_MAX 128
/* Maximum size of a request, and of its numbers of strings. */
#define EXTERNAL_REQUEST_MAX 16384
#define EXTERNAL_ARGS_MAX 8
#define EXTERNAL_ENV_MAX 24
/* Exit status of a process that could not execute its command. */
#define EXTERNAL_NOT_EXECUTED 255

enum external_request_kind {
	EXTERNAL_RUN,        /* run this command */
	EXTERNAL_KILL        /* kill the command with this id: no strings */
};

/* Begins a request: the arguments and then the variables follow, each with its NUL. */
struct external_request_head {
	uint32_t kind;       /* enum external_request_kind */
	uint32_t id;         /* of the command; chosen by the checker */
	uint32_t n_args;     /* the first one is the command */
	uint32_t n_env;      /* "NAME=value" */
};

/* A request as the helper uses it. The strings are those of the message. */
struct external_request {
	enum external_request_kind kind;
	uint32_t id;
	const char *args[EXTERNAL_ARGS_MAX + 1]; /* ends with NULL */
	const char *env[EXTERNAL_ENV_MAX + 1];   /* ends with NULL */
};

enum external_answer_kind {
	EXTERNAL_ENDED,      /* value: the status, as of wait(2). The last answer about this id. */
	EXTERNAL_FAILED      /* value: errno. The command was not executed; EXTERNAL_ENDED
			      * follows. */
};

struct external_answer {
	uint32_t kind;       /* enum external_answer_kind */
	uint32_t id;
	int32_t value;
};

/* Appends the head, or one string with its NUL. */
void external_msg_begin(struct sbuf *out, enum external_request_kind kind, uint32_t id,
	unsigned int n_args, unsigned int n_env);
void external_msg_add(struct sbuf *out, const char *fmt, ...) fmt_printf(2, 3);
/* Reads a whole message. 0, or -ERR_SYNTAX if it is none. */
int external_msg_read(const char *msg, size_t len, struct external_request *out) must_check;

#endif
