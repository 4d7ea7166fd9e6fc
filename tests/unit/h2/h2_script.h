/* Frames in words against one connection, and what it sends. */
#ifndef TESTS_UNIT_H2_H2_SCRIPT_H
#define TESTS_UNIT_H2_H2_SCRIPT_H

#include "unit/h2/h2_rig.h"
#include "unit/test.h"

static struct rig rig;
static struct wire in;
static struct h2_hpack peer_table;

#define FIRST "S, W 0 9221852"

static inline int
setup(void **st)
{
	(void)st;
	rig_prepare(&rig);
	init_table(&peer_table);
	in.n = 0;
	return 0;
}

static inline int
teardown(void **st)
{
	(void)st;
	rig_end(&rig);
	h2_hpack_fini(&peer_table);
	return 0;
}

/* Passes the frames to a connection that has begun. */
static inline void
feed(const char *words)
{
	in.n = 0;
	wire_words(&in, words);
	rig_feed(&rig, in.p, in.n, in.n);
}

static inline void
assert_sent(const char *expected)
{
	assert_string_equal(rig_sent(&rig, &peer_table), expected);
}

static inline void
assert_log(const char *expected)
{
	assert_string_equal(rig.log, expected);
	rig.n_log = 0;
	rig.log[0] = '\0';
}

/* A server that has greeted. */
static inline void
begin_server(void)
{
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, A");
	assert_sent(FIRST ", A");
}

static inline void
begin_client(void)
{
	assert_int_equal(rig_begin(&rig, 1), 0);
	feed("S, A");
	assert_sent(FIRST ", A");
}

/* A stream of a client with a request. */
static inline struct h2_stream *
open_stream(const char *method, int end)
{
	struct http_field field[4];
	struct http_head req;
	struct h2_stream *s = &rig_new_stream(&rig)->st;

	http_head_init(&req, HTTP_REQUEST, field, 4);
	req.method_text = str_of(method);
	req.method = http_method_of(req.method_text);
	req.target = STR("/");
	assert_int_equal(http_add(&req, STR("Host"), STR("a")), 0);
	assert_int_equal(h2_conn_open(&rig.h, s, &req, end), 0);
	return s;
}

static inline int
respond(struct h2_stream *s, unsigned int status, int end)
{
	struct http_head res;

	http_head_init(&res, HTTP_RESPONSE, NULL, 0);
	res.status = status;
	return h2_stream_send_head(s, &res, end);
}

#endif
