/*
 * HTTP/2 at the ends of a world: a connection of either role over a socket of the fake kernel, and
 * the exchanges in it, whose messages are texts of HTTP/1. Users: h2_wire.c (clients) and
 * h2_origin_wire.c (servers).
 */
#ifndef TACIT_SIM_H2_END_H
#define TACIT_SIM_H2_END_H

#include "base/sbuf.h"
#include "fake/wire.h"
#include "h2/h2_conn.h"
#include "http/h1_body.h"

#define H2_END_CHUNK 4096
#define H2_END_FIELDS 64

/* A request and its response. */
struct h2_exchange {
	struct list link;  /* h2_end.exchanges */
	struct h2_stream st;
	enum http_framing framing; /* of the body that is received */
	struct sbuf text;  /* received */
	size_t given;      /* of it to the script */
	int is_whole;      /* nothing more of it follows */
	struct sbuf body;  /* of the message that is sent: */
	size_t body_at;    /* sent so far */
	int body_ends;     /* no more follows; */
	int has_ended;     /* END_STREAM was sent */
	int is_deaf;       /* nothing can be sent: it was reset, or the peer wants no more */
	int is_reset;      /* by either side, or with the connection */
};

struct h2_end {
	struct wire wire;
	struct h2_shared shared;
	struct h2_config cfg;
	struct h2_conn conn;
	struct list exchanges; /* in the order of the requests */
	size_t may_send;   /* bytes that the socket gets; SIZE_MAX: no bound */
	int has_more;      /* input waits in conn */
	int eof;
};

/* Begins a connection, with the settings of cfg; its exchanges are released by h2_exchange_fini().
 * The end itself is `arg` in callbacks. */
void h2_end_init(struct h2_end *e, const struct wire_ops *ops, const struct h2_user *user,
	size_t head_max, int is_client);
void h2_end_fini(struct h2_end *e);
/* Sends output: 1 when none is left. */
int h2_end_out(struct h2_end *e, struct fake_sock *s);
/* Reads what has arrived: exchanges grow, or begin. */
void h2_end_in(struct h2_end *e, struct fake_sock *s);
/* The operations flush and end of its wire: with the bodies of all exchanges. */
int h2_end_wire_flush(struct wire *w, struct fake_sock *s);
int h2_end_wire_end(struct wire *w, struct fake_sock *s);

void h2_exchange_init(struct h2_end *e, struct h2_exchange *x);
/* Removes it from its connection; its stream is the caller's to release. */
void h2_exchange_fini(struct h2_exchange *x);
/* Appends fields to the text. */
void h2_exchange_add_fields(struct h2_exchange *x, const struct http_head *h);
/* Appends trailers, which end the body. */
void h2_exchange_add_trailers(struct h2_exchange *x, const struct http_head *h);
/* Appends what has arrived of the body, in chunks if it has no length; 1: that was all. */
int h2_exchange_add_data(struct h2_exchange *x);
/* Moves text to a buffer: the number of bytes. */
size_t h2_exchange_give(struct h2_exchange *x, char *to, size_t room);
/* Sends what the windows allow of the body, and its end. */
void h2_exchange_send(struct h2_exchange *x);

/* Callbacks of either role. */
void h2_end_on_room(struct h2_stream *st);
void h2_end_on_continue(void *arg);
void h2_end_ignore(void *arg);

#endif
