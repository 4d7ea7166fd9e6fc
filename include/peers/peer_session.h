/* Sessions with peers: a handshake, then messages (peers/peer_group.h, which has the thread, the
 * clock and the order of calls). Times are in milliseconds of table_caller.now_ms. */
#ifndef TACIT_PEERS_PEER_SESSION_H
#define TACIT_PEERS_PEER_SESSION_H

#include "peers/peer_group.h"

enum peer_state {
	PEER_HELLO_IN,          /* the peer's hello is to come */
	PEER_HELLO_OUT,         /* its answer to ours */
	PEER_UP,
	PEER_ENDING             /* what is left of the output is sent, then it is closed */
};

/* A table while it is taught. */
struct peer_lesson {
	int is_on;              /* until the peer has confirmed */
	int is_sent;
	int of_sums;            /* of tables that add up, else of the others */
	int returns;            /* now its own counts of the time before its start */
	unsigned int table;
	struct table_walk walk;
};

struct peer_session {
	struct peer_group *group;
	struct peer *peer;      /* NULL: not known yet */
	enum peer_state state;
	int is_client;
	enum table_data last;   /* the last type of data in messages */
	uint8_t *in, *out;
	size_t in_len, out_at, out_len;
	uint64_t heard_ms;      /* the time of the last bytes in; in a handshake its start */
	uint64_t sent_ms;       /* of the last bytes out */
	unsigned int confirms;  /* to be sent */
	int is_taught;          /* the peer was asked for its entries, and has not sent all */
	unsigned int sum_confirms;
	unsigned int announced; /* tables before this one: the peer knows of those that add up */
	int peer_adds_up;       /* it has such a table, too */
	int sums_are_asked;     /* on this connection */
	int peer_begins;        /* it has counted nothing that was sent before */
	int peer_asks;          /* for all counts, on this connection */
	unsigned int old_lessons; /* of sums that were sent and began again: to be confirmed */
	struct table_wire_sent sent;
	struct table_wire_names names;
	const struct peer_table *sending; /* the table that the output is about; NULL: none */
	int sends_returned;     /* peer_table.returned of it */
	uint32_t last_id;       /* of its last update */
	int has_def;            /* the input is about a table that is known or not */
	struct table_wire_def def;
	struct peer_cursor *reading; /* that table; NULL: not known here */
	int is_returned;        /* the input is about what this process had counted */
	struct peer_lesson lesson;
};

/* Begins as the side that has connected, with this peer, or that was connected to. 0 or
 * -ERR_NOMEM. */
int peer_session_begin(struct peer_session *s, struct peer_group *g, struct peer *peer,
	uint64_t now_ms) must_check;
/* Ends it: its peer has no session then, unless another one has replaced this one. */
void peer_session_end(struct peer_session *s);
/* Where to read to; *n is not 0 unless it is ending. */
uint8_t *peer_session_room(struct peer_session *s, size_t *n);
/* n bytes were read to there. */
void peer_session_receive(struct peer_session *s, size_t n, const struct table_caller *by);
/* The bytes to be sent, in the session's buffer: valid until the next call for it. */
struct str peer_session_output(const struct peer_session *s);
/* The first n bytes of the output were sent. */
void peer_session_sent(struct peer_session *s, size_t n, const struct table_caller *by);
/* The time at which peer_session_fill() has something to do without other cause. */
uint64_t peer_session_deadline(const struct peer_session *s);
/* True if it has to be closed now. */
int peer_session_is_over(const struct peer_session *s);

#endif
