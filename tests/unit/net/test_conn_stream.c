/* Connections without a descriptor, carried by a scripted carrier, in a loop. */
#include "net_rig.h"

#include <stdio.h>

#include "net/conn_socket.h"
#include "net/conn_stream.h"

/* A carrier whose streams hold a few bytes each. */
struct script {
	struct conn_stream link;
	char in[64];     /* what the stream's user may read */
	size_t n_in, at;
	char out[64];    /* what it has written */
	size_t n_out, room;
	int ended;       /* the user has sent its end */
	int closed;
};

static struct conn below;
static struct script a, b;
static struct conn ca, cb;
static char seen[128]; /* events of the users, in order */
static int reads; /* the handler reads everything */

static struct script *
script_of(struct conn *c)
{
	return (struct script *)(void *)c->xprt;
}

static enum io_result
script_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct script *t = script_of(c);

	*got = MIN(len, t->n_in - t->at);
	if (!*got && t->link.err)
		return IO_ERR;
	if (!*got) {
		conn_stream_block(&t->link, EV_R);
		return IO_AGAIN;
	}
	memcpy(buf, t->in + t->at, *got);
	t->at += *got;
	return IO_OK;
}

static enum io_result
script_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct script *t = script_of(c);

	(void)more;
	*put = MIN(len, t->room);
	if (*put < len)
		conn_stream_block(&t->link, EV_W);
	if (!*put)
		return IO_AGAIN;
	memcpy(t->out + t->n_out, buf, *put);
	t->n_out += *put;
	t->room -= *put;
	return IO_OK;
}

static enum io_result
script_shutdown(struct conn *c)
{
	script_of(c)->ended = 1;
	return IO_OK;
}

static int
script_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	(void)what;
	return conn_query(conn_stream_of(c)->below, what, out);
}

static void
script_close(struct conn *c)
{
	script_of(c)->closed = 1;
}

static const struct xprt_ops script_ops = {
	.recv = script_recv,
	.send = script_send,
	.shutdown = script_shutdown,
	.query = script_query,
	.close = script_close,
};

static void
on_event(void *owner, int fd, uint32_t ev)
{
	struct conn *c = owner;
	char buf[64];
	size_t got, n = strlen(seen);

	assert_int_equal(fd, -1);
	snprintf(seen + n, sizeof(seen) - n, "%s%s%s%s%s ", c == &ca ? "a" : "b",
		ev & EV_R ? "R" : "", ev & EV_W ? "W" : "", ev & EV_ERR ? "E" : "",
		ev & EV_SPIN ? "S" : "");
	while (reads && (ev & EV_R) && conn_recv(c, buf, sizeof(buf), &got) == IO_OK)
		;
}

static void
begin(struct script *t, struct conn *c)
{
	memset(t, 0, sizeof(*t));
	t->link.x.ops = &script_ops;
	conn_stream_open(c, &t->link, &below, on_event, c);
}

static int
open_two(void **st)
{
	int fd[2];

	(void)st;
	rig_open(INTEREST_EDGE);
	rig_tcp_pair(fd);
	close(fd[1]);
	assert_int_equal(conn_open(&below, rig_loop, fd[0], on_event, NULL, CONN_TCP), 0);
	begin(&a, &ca);
	begin(&b, &cb);
	seen[0] = 0;
	reads = 1;
	return 0;
}

static int
close_two(void **st)
{
	(void)st;
	conn_close(&ca);
	conn_close(&cb);
	conn_close(&below);
	rig_close();
	return 0;
}

static void
give(struct script *t, const char *text)
{
	memcpy(t->in + t->n_in, text, strlen(text));
	t->n_in += strlen(text);
	conn_stream_report(&t->link, EV_R);
}

static void
a_new_stream_is_open_and_not_ready(void **st)
{
	(void)st;
	assert_true(conn_is_open(&ca));
	assert_false(conn_is_ready(&ca, DIR_R));
	assert_false(conn_is_ready(&ca, DIR_W));
	assert_false(conn_can(&ca, XPRT_PEEK));
	assert_ptr_equal(conn_socket(&ca), &below);
	assert_int_equal(conn_polled(&ca), 0);
	assert_int_equal(conn_unsent(&ca), 0);
}

static void
bytes_are_reported_in_the_turn_in_which_they_come(void **st)
{
	(void)st;
	conn_want(&ca, EV_R);
	conn_want(&cb, EV_R);
	give(&b, "two");
	give(&a, "one");
	rig_turn(0);
	assert_string_equal(seen, "bR aR ");
	rig_turn(0);
	assert_string_equal(seen, "bR aR ");
}

static void
what_is_not_wanted_is_reported_when_it_is(void **st)
{
	(void)st;
	conn_want(&ca, EV_W);
	give(&a, "later");
	rig_turn(0);
	assert_string_equal(seen, "");
	assert_true(conn_is_ready(&ca, DIR_R));
	conn_want(&ca, EV_R);
	rig_turn(0);
	assert_string_equal(seen, "aR ");
}

static void
a_full_sink_reports_its_room(void **st)
{
	size_t put;

	(void)st;
	a.room = 4;
	conn_stream_report(&a.link, EV_W);
	assert_int_equal(conn_send(&ca, "sixsix", 6, 0, &put), IO_OK);
	assert_int_equal(put, 4);
	assert_false(conn_is_ready(&ca, DIR_W));
	conn_want(&ca, EV_W);
	rig_turn(0);
	assert_string_equal(seen, "");
	a.room = 10;
	conn_stream_report(&a.link, EV_W);
	rig_turn(0);
	assert_string_equal(seen, "aW ");
}

static void
a_reset_is_an_error_in_both_directions(void **st)
{
	char buf[8];
	size_t got;

	(void)st;
	reads = 0;
	conn_want(&ca, 0);
	a.link.err = ECONNRESET;
	conn_stream_report(&a.link, EV_ERR);
	rig_turn(0);
	assert_string_equal(seen, "aE ");
	assert_true(conn_seen(&ca) & EV_ERR);
	assert_int_equal(conn_recv(&ca, buf, sizeof(buf), &got), IO_ERR);
	assert_int_equal(conn_take_error(&ca), ECONNRESET);
	/* The other stream of the connection continues. */
	give(&b, "x");
	conn_want(&cb, EV_R);
	rig_turn(0);
	assert_string_equal(seen, "aE bR ");
}

/* A handler that never reads what it wants is ended, as one of a descriptor. */
static void
a_stream_without_progress_spins(void **st)
{
	(void)st;
	reads = 0;
	give(&a, "x");
	for (int i = 0; i < 1000; i++) {
		conn_want(&ca, EV_R);
		rig_turn(0);
		assert_non_null(strchr(seen, 'R'));
		seen[0] = 0;
	}
	conn_want(&ca, EV_R);
	rig_turn(0);
	assert_string_equal(seen, "aS ");
}

/* Each delivery sends a byte, and nothing is received. */
static void
a_stream_that_sends_does_not_spin(void **st)
{
	size_t put;

	(void)st;
	for (int i = 0; i < 2000; i++) {
		seen[0] = 0;
		a.n_out = 0;
		a.room = 1;
		conn_want(&ca, EV_W);
		conn_stream_report(&a.link, EV_W);
		rig_turn(0);
		assert_string_equal(seen, "aW ");
		assert_int_equal(conn_send(&ca, "x", 1, 0, &put), IO_OK);
	}
}

static void
the_end_is_sent_once_and_a_reset_sends_none(void **st)
{
	(void)st;
	conn_shut(&ca);
	assert_true(a.ended);
	a.ended = 0;
	conn_close(&ca);
	assert_false(a.ended);
	assert_true(a.closed);
	assert_false(conn_is_open(&ca));
	conn_reset_on_close(&cb);
	conn_close(&cb);
	assert_true(b.closed);
	assert_false(b.ended);
	assert_int_equal(rig_calls(SYS_CALL_shutdown), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
}

static void
a_closed_stream_gets_no_event(void **st)
{
	(void)st;
	conn_want(&ca, EV_R);
	give(&a, "x");
	conn_close(&ca);
	rig_turn(0);
	assert_string_equal(seen, "");
}

static void
without_its_carrier_it_has_no_socket(void **st)
{
	(void)st;
	conn_close(&below);
	assert_null(conn_socket(&ca));
	a.link.below = NULL;
	assert_null(conn_socket(&ca));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_two, close_two)
	const struct CMUnitTest tests[] = {
		T(a_new_stream_is_open_and_not_ready),
		T(bytes_are_reported_in_the_turn_in_which_they_come),
		T(what_is_not_wanted_is_reported_when_it_is),
		T(a_full_sink_reports_its_room),
		T(a_reset_is_an_error_in_both_directions),
		T(a_stream_without_progress_spins),
		T(a_stream_that_sends_does_not_spin),
		T(the_end_is_sent_once_and_a_reset_sends_none),
		T(a_closed_stream_gets_no_event),
		T(without_its_carrier_it_has_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
