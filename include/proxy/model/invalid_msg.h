/*
 * The last invalid request of a frontend and the last invalid response of a backend, kept for `show
 * errors`. Any worker replaces them, under a lock that covers the exchange of a pointer only; the
 * first worker takes one out while it is shown.
 */
#ifndef TACIT_PROXY_MODEL_INVALID_MSG_H
#define TACIT_PROXY_MODEL_INVALID_MSG_H

#include <stdint.h>

#include "base/lock.h"
#include "http/bad.h"
#include "net/addr.h"

struct proxy;

/* Bytes of a server's name that are kept. */
#define INVALID_MSG_NAME_MAX 128

struct invalid_msg {
	uint64_t event;            /* how many the process had before */
	uint64_t wall_ms;
	const struct proxy *other; /* the backend of a request, the frontend of a response; NULL:
				    * none */
	char server[INVALID_MSG_NAME_MAX]; /* "": none */
	int server_id;
	struct addr src;           /* the client */
	enum http_bad why;
	uint64_t chunk_left;       /* bytes left of the body, or of the chunk */
	uint32_t room;             /* size of the buffer that it was in */
	uint32_t len;
	uint32_t at;               /* offset of the first byte that is wrong, <= len */
	char bytes[];
};

struct invalid_msgs {
	struct lock lock;
	struct invalid_msg *last;  /* owned; NULL: none, or it is being shown */
};

/* With room for n bytes; NULL without memory. */
struct invalid_msg *invalid_msg_new(size_t n) must_check;
/* Takes m over. The one before it is freed. */
void invalid_msg_keep(struct invalid_msgs *all, struct invalid_msg *m, struct sys *sys);
/* The caller's until it is given back; NULL: none. */
struct invalid_msg *invalid_msg_take(struct invalid_msgs *all, struct sys *sys) must_check;
/* Ends the show of m, which may be NULL. It is freed if there is a later one. */
void invalid_msg_give_back(struct invalid_msgs *all, struct invalid_msg *m, struct sys *sys);
/* Frees the message, when no worker runs. */
void invalid_msgs_fini(struct invalid_msgs *all);

#endif
