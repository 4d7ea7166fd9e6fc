/*
 * The conditions of the admin command `wait`: parsed once, then evaluated every few milliseconds
 * until they are met. On the first worker; nothing is counted or reported for them on the others,
 * which are asked only for sessions and whether they are idle.
 */
#ifndef TACIT_APP_ADMIN_WAIT_COND_H
#define TACIT_APP_ADMIN_WAIT_COND_H

#include <stdint.h>

#include "app/admin/info.h"
#include "app/admin/stat_rows.h"
#include "base/compiler.h"
#include "event/mailbox.h"

struct admin_conn;
struct proxy;

enum {
	WAIT_NAME_MAX = 512,    /* "backend/server" */
	WAIT_TEXT_MAX = 80      /* a text to compare with, and how a condition is named */
};

enum wait_kind {
	WAIT_DELAY,      /* no condition */
	WAIT_REMOVABLE,  /* a server may be deleted */
	WAIT_VALUE,      /* of `show info` or `show stat` */
	WAIT_SESSIONS,   /* the number of sessions that a filter matches */
	WAIT_IDLE        /* no worker has anything to do */
};

enum wait_op { WAIT_EQ, WAIT_NE, WAIT_LT, WAIT_LE, WAIT_GT, WAIT_GE, WAIT_OPS };

/* The expected value: a number, or with is_text a text, which only WAIT_EQ and WAIT_NE compare. */
struct wait_test {
	enum wait_op op;
	const char *word; /* its name, such as "eq" */
	int is_text;
	int64_t n;
	char text[WAIT_TEXT_MAX];
};

struct wait_value {
	enum wait_of {
		WAIT_OF_PROCESS, WAIT_OF_FRONTEND, WAIT_OF_BACKEND, WAIT_OF_SERVER, WAIT_OF_STATE
	} of;
	const struct proxy *px;
	int field; /* enum info_field of the process, else enum stat_col */
};

/* Sessions for which all of it is true. */
struct wait_filter {
	const struct proxy *fe, *be; /* NULL: any */
	int has_server;              /* wait_cond.server of be */
	int state;                   /* enum stream_state; -1: any */
	uint64_t id;                 /* 0: any */
};

struct wait_cond {
	enum wait_kind kind;
	char what[WAIT_TEXT_MAX];   /* its words without the comparison, for messages */
	char server[WAIT_NAME_MAX]; /* a name, since servers come and go; "": none */
	struct wait_value value;
	struct wait_filter filter;
	struct wait_test test;
};

/* The value that an evaluation has found. */
struct wait_seen {
	enum { WAIT_SEEN_NONE, WAIT_SEEN_NUMBER, WAIT_SEEN_TEXT } kind;
	int64_t n;
	char text[WAIT_TEXT_MAX * 2];
};

/* The work of a worker until it was last asked whether it is idle. */
struct wait_mark {
	uint64_t turns, events, tries, mails;
};

/* A round of questions to all workers. */
struct wait_round {
	unsigned int worker;  /* the one that is asked */
	int is_done;          /* it has no more */
	uint64_t after;       /* id of the last session that it has counted */
	uint64_t began_ms;
	int64_t count;        /* sessions that match */
	uint64_t busy;        /* a bit for each worker that was not idle */
	int has_marks;        /* the round before has made them */
	struct wait_mark mark[MAILBOX_PEERS_MAX];
};

/* First member of the state of a walk that asks workers. */
struct wait_asking {
	struct wait_cond cond;
	struct wait_round round;
};

#endif
