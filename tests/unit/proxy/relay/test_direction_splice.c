/* Splicing: when it is used, which direction owns a pipe, and that every byte arrives however it
 * ends. */
#include "unit/proxy/session_rig.h"

#include "proxy/relay/direction.h"
#include "proxy/model/memory.h"
#include "proxy/session/session.h"

#define SMALL .sndbuf = 20000, .rcvbuf = 20000, .bufsize = 4096
#define SPLICED(opt, after) .options = OPT_SPLICE_##opt, .maxpipes = 4, .splice_after = after
#define ASKS { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 }
#define STALL_FOR(ms)                                                          \
	{ STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, ms }, { STEP_READ, 0 }, \
		{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 }
#define SENDS(n) { STEP_WAIT, 100 }, { STEP_SEND, n }, { STEP_CLOSE, 0 }

static const struct step asks[] = { ASKS };
static const struct step stalled[] = { STALL_FOR(1000) };

static uint64_t
splices(void)
{
	return ledger_sum(&w.sys.ledger, SYS_CALL_splice);
}

static void
a_bulk_transfer_goes_through_a_pipe(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	rig_play(&cfg, asks, origin);
	assert_int_equal(w.client[0].got, 100000);
	/* All except the first read, which showed that it is a bulk transfer. */
	assert_in_range(w.engine.stat.spliced, 100000 - 2 * 4096, 100000 - 4096);
	assert_int_equal(w.engine.stat.bytes_out, 100000);
	assert_int_equal(w.engine.stat.splice_fallbacks, 0);
	assert_int_equal(w.engine.pipes.made, 1);
	assert_int_equal(w.engine.pipes.used, 0);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* The other direction has no such option. */
static void
options_apply_to_each_direction(void **st)
{
	static const struct step client[] = { { STEP_SEND, 60000 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 60000 }, { STEP_SEND, 50 },
					      { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	rig_play(&cfg, client, origin);
	assert_int_equal(splices(), 0);
	rig_close();
	cfg.options = OPT_SPLICE_REQUEST;
	rig_play(&cfg, client, origin);
	assert_int_equal(w.served[0].got, 60000);
	assert_true(w.engine.stat.spliced >= 50000);
	rig_close();
}

static void
splice_auto_waits_for_enough_bytes(void **st)
{
	static const struct step little[] = { SENDS(16000) }, much[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(AUTO, 16384) };

	(void)st;
	rig_play(&cfg, asks, little);
	assert_int_equal(splices(), 0);
	assert_int_equal(w.engine.pipes.made, 0);
	rig_close();
	rig_play(&cfg, asks, much);
	assert_in_range(w.engine.stat.spliced, 100000 - 5 * 4096, 100000 - 4 * 4096);
	rig_close();
}

/* Many small responses are no bulk transfer, whatever their sum is. */
static void
pauses_restart_the_count(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 12000 },
		{ STEP_PAUSE, 5 }, { STEP_SEND, 12000 }, { STEP_PAUSE, 5 }, { STEP_SEND, 12000 },
		{ STEP_PAUSE, 5 }, { STEP_SEND, 12000 }, { STEP_CLOSE, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(AUTO, 16384) };

	(void)st;
	rig_play(&cfg, asks, origin);
	assert_int_equal(splices(), 0);
	rig_close();
}

static void
without_the_option_nothing_is_spliced(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, .maxpipes = 4, .splice_after = 1 };

	(void)st;
	rig_play(&cfg, asks, origin);
	assert_int_equal(splices(), 0);
	rig_close();
	/* The same without pipes: nosplice. */
	cfg.options = OPT_SPLICE_AUTO | OPT_SPLICE_RESPONSE;
	cfg.maxpipes = 0;
	rig_play(&cfg, asks, origin);
	assert_int_equal(splices(), 0);
	assert_int_equal(w.engine.stat.splice_fallbacks, 0);
	rig_close();
}

/* A direction owns a pipe while it holds bytes; reading stops meanwhile, and the pipe is returned
 * empty. */
static void
a_slow_sink_keeps_the_pipe(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };
	struct direction *d;
	uint64_t read;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, stalled, 0);
	world_run(&w, 100 * FAKE_MS);
	d = &rig_session(0)->dir[SERVER];
	assert_non_null(d->pipe);
	assert_null(d->buf);
	assert_true(d->pipe->bytes > 0);
	assert_int_equal(direction_pending(d), d->pipe->bytes);
	assert_int_equal(direction_buffered(d), 0);
	assert_int_equal(w.engine.pipes.used, 1);
	read = d->bytes;
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(d->bytes, read);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 100000);
	assert_int_equal(w.engine.pipes.used, 0);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Between two transfers the connection has no pipe, and after a while none is open. */
static void
an_idle_connection_owns_no_pipe(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 50000 },
		{ STEP_PAUSE, 10000 }, { STEP_SEND, 50000 }, { STEP_CLOSE, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	world_run(&w, 500 * FAKE_MS);
	assert_null(rig_session(0)->dir[SERVER].pipe);
	assert_int_equal(w.engine.pipes.n_idle, 1);
	world_run(&w, 3 * FAKE_SEC);
	assert_int_equal(w.engine.pipes.n_idle, 0);
	assert_int_equal(w.engine.pipe_timer.pos, 0);
	assert_int_equal(fake_fds(w.k), 4);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 100000);
	rig_close();
}

/* After four bursts of less than a buffer it is copied again. */
static void
a_slow_transfer_is_copied_again(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 30000 },
		{ STEP_PAUSE, 5 }, { STEP_SEND, 9 }, { STEP_PAUSE, 5 }, { STEP_SEND, 9 },
		{ STEP_PAUSE, 5 }, { STEP_SEND, 9 }, { STEP_PAUSE, 5 }, { STEP_SEND, 9 },
		{ STEP_PAUSE, 5000 }, { STEP_CLOSE, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(AUTO, 8192) };
	const struct direction *d;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	world_run(&w, 17 * FAKE_MS);
	d = &rig_session(0)->dir[SERVER];
	assert_int_equal(d->bytes, 30027);
	assert_true(d->is_bulk);
	world_run(&w, FAKE_SEC);
	assert_int_equal(d->bytes, 30036);
	assert_false(d->is_bulk);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* Without a pipe everything is copied, and the next transfer gets one. */
static void
without_a_pipe_it_is_copied(void **st)
{
	static const struct step origin[] = { SENDS(50000) };
	static const int errors[] = { EMFILE, ENFILE, ENOMEM };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		rig_open(&cfg, origin);
		fake_fail(w.k, SYS_CALL_pipe2, 1, errors[i]);
		(void)world_client(&w, asks, 0);
		world_run(&w, 2 * FAKE_SEC);
		assert_int_equal(w.client[0].got, 50000);
		assert_int_equal(splices(), 0);
		assert_true(w.engine.stat.splice_fallbacks > 0);
		assert_int_equal(w.sys.ledger.n[SYS_CALL_pipe2][SYS_ERROR], 1);
		fake_advance(w.k, PIPE_RETRY_MS * FAKE_MS);
		(void)world_client(&w, asks, 0);
		world_run(&w, 2 * FAKE_SEC);
		assert_int_equal(w.client[1].got, 50000);
		assert_true(splices() > 0);
		rig_close();
	}
}

/* The nth splice fails with err: every byte arrives, and in order. */
static void
fails_at(uint64_t nth, int err, const struct step *client)
{
	static const struct step origin[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	fake_fail(w.k, SYS_CALL_splice, nth, err);
	world_run(&w, RIG_LIMIT);
	if (w.client[0].got != 100000 || strcmp(rig_terms(), "--") != 0)
		fail_msg("splice %u failed with %d: %llu bytes, %s", (unsigned int)nth, err,
			(unsigned long long)w.client[0].got, rig_terms());
	assert_int_equal(w.engine.stat.splice_fallbacks, 1);
	/* Splicing is not tried again on this connection. */
	assert_int_equal(splices(), nth);
	rig_close();
}

static void
a_failed_splice_loses_no_byte(void **st)
{
	static const int errors[] = { EINVAL, ENOMEM, ENOSYS, EOPNOTSUPP, EPERM };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		for (uint64_t nth = 1; nth <= 6; nth++) {
			fails_at(nth, errors[i], asks);
			fails_at(nth, errors[i], stalled);
		}
}

/* Bytes read from the pipe may be sent with zero-copy; then further bytes must not be read into the
 * same buffer. */
static void
a_buffer_in_use_by_the_kernel_is_left_alone(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	static const struct fake_zc_conf late = { .late = 20 * FAKE_MS };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1), .zerocopy = 1024,
				    .client_delay = 5 * FAKE_MS };

	(void)st;
	for (uint64_t nth = 2; nth <= 6; nth++) {
		rig_open(&cfg, origin);
		fake_zerocopy(w.k, &late);
		(void)world_client(&w, asks, 0);
		fake_fail(w.k, SYS_CALL_splice, nth, EINVAL);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(w.client[0].got, 100000);
		assert_int_equal(w.engine.stat.splice_fallbacks, 1);
		assert_true(w.engine.zerocopy.bytes > 0);
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

static long
no_way_out(void *ctx, int in, int out, size_t len, unsigned int flags)
{
	long r = sys_fake.splice(ctx, in, out, len, flags);

	/* splice() fails, and the bytes stay in the pipe. */
	return r == -EAGAIN ? -EINVAL : r;
}

static long
no_read(void *ctx, int fd, void *buf, size_t len)
{
	(void)ctx;
	(void)fd;
	(void)buf;
	(void)len;
	return -EIO;
}

/* The bytes in the pipe cannot be read: the stream ends with a reset. */
static void
bytes_lost_in_a_pipe_break_the_stream(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 100000 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };
	struct sys_ops ops = sys_fake;

	(void)st;
	ops.splice = no_way_out;
	ops.read = no_read;
	rig_open(&cfg, origin);
	w.sys.ops = &ops;
	(void)world_client(&w, stalled, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.engine.pipes.used, 0);
	assert_true(w.client[0].got > 0 && w.client[0].got < 100000);
	assert_false(w.client[0].eof);
	assert_false(w.served[0].eof);
	assert_int_equal(w.n_ends, 1);
	assert_string_equal(rig_terms(), "SD");
	rig_close();
}

/* A reset that splice() has met and not reported does not become a clean end. */
static void
a_hidden_reset_is_found(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 100000 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	for (uint64_t nth = 1; nth <= 4; nth++) {
		rig_open(&cfg, origin);
		(void)world_client(&w, asks, 0);
		fake_cut_splice(w.k, nth);
		world_run(&w, RIG_LIMIT);
		assert_string_equal(rig_terms(), "CD");
		assert_false(w.served[0].eof);
		assert_int_equal(w.served[0].err, ECONNRESET);
		rig_close();
	}
}

/* Bytes in pipes count as memory: without memory less is spliced, then it is copied, and every byte
 * arrives. */
static void
pipes_stay_within_the_memory(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1),
				    .memory = 4 * SESSION_SIZE + 40000 };
	uint64_t most = 0, room = cfg.memory / 4 * 3;

	(void)st;
	rig_open(&cfg, origin);
	for (int i = 0; i < 4; i++)
		(void)world_client(&w, stalled, 0);
	for (int i = 0; i < 50; i++) {
		world_run(&w, 10 * FAKE_MS);
		most = MAX(most, w.engine.pipes.bytes);
		assert_true(memory_used(&w.engine) <= cfg.memory);
	}
	assert_in_range(most, 4096, room);
	assert_true(w.engine.stat.splice_fallbacks > 0);
	world_run(&w, RIG_LIMIT);
	for (int i = 0; i < 4; i++)
		assert_int_equal(w.client[i].got, 100000);
	assert_int_equal(w.engine.pipes.bytes, 0);
	rig_close();
}

/* However the session ends, a pipe with bytes in it is closed. */
static void
an_end_closes_the_pipe(void **st)
{
	static const struct step origin[] = { SENDS(100000) };
	static const struct step leaves[] = { { STEP_SEND, 100 }, { STEP_STALL, 0 },
					      { STEP_PAUSE, 100 }, { STEP_RESET, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, SPLICED(RESPONSE, 1) };

	(void)st;
	for (int how = 0; how < 3; how++) {
		cfg.to.client = how == 2 ? 300 : 30000;
		rig_open(&cfg, origin);
		(void)world_client(&w, how == 1 ? leaves : stalled, 0);
		world_run(&w, 90 * FAKE_MS);
		assert_int_equal(w.engine.pipes.used, 1);
		if (how == 0)
			stream_kill(rig_session(0), 'K');
		world_run(&w, how == 2 ? 500 * FAKE_MS : 50 * FAKE_MS);
		assert_int_equal(w.engine.n_sessions, 0);
		assert_string_equal(rig_terms(), how == 0 ? "KD" : how == 1 ? "CD" : "cD");
		assert_int_equal(w.engine.pipes.used, 0);
		world_run(&w, RIG_LIMIT);
		/* The bytes in the pipe were lost, and the client has seen no clean end. */
		assert_false(w.client[0].eof);
		rig_close();
	}
}

/* A dispatch ends after a multiple of what it would have copied. */
static void
one_dispatch_is_bounded(void **st)
{
	static const struct step origin[] = { SENDS(1000000) };
	struct world_config cfg = { RIG_WORLD, .bufsize = 1024, .sndbuf = 1 << 20,
				    .rcvbuf = 1 << 20, SPLICED(RESPONSE, 1) };
	struct direction *d;
	uint64_t before;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	d = &rig_session(0)->dir[SERVER];
	assert_true(d->is_bulk);
	before = d->bytes;
	assert_int_equal(direction_pump(rig_session(0), SERVER), STREAM_EV_NONE);
	assert_int_equal(
		d->bytes - before, BULK_SPLICED_SHARE * w.engine.limits.max_reads * 1024);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* --- bodies of mode http --- */

#define SPLICES .http = 1, .bufsize = 1024, .maxpipes = 4, .splice_after = 1
#define HTTP_BOTH RIG_WORLD, SPLICES, .options = OPT_SPLICE_REQUEST | OPT_SPLICE_RESPONSE

/* Two pipelined requests, and a response to each. */
static const struct step two_posts[] = { SAY(LONG_POST LONG_BODY LONG_POST LONG_BODY),
	AWAIT(LONG_BODY), AWAIT(LONG_BODY), { STEP_PAUSE, 10 }, { STEP_CLOSE, 0 } };
static const struct step two_answers[] = { AWAIT(LONG_BODY), SAY(LONG_OK), { STEP_PAUSE, 5 },
	SAY(LONG_BODY), AWAIT(LONG_BODY), SAY(LONG_OK LONG_BODY "\r\n"), EOF_CLOSE };

static void
both_came_whole(const char *what, unsigned int n)
{
	if (strcmp(w.served[0].text, LONG_POST LONG_BODY LONG_POST LONG_BODY) != 0 ||
		strcmp(w.client[0].text, LONG_OK LONG_BODY LONG_OK LONG_BODY) != 0 ||
		strcmp(rig_terms(), "-- --") != 0 || w.n_served != 1)
		fail_msg("%s %u: %llu and %llu bytes over %u connections, %s", what, n,
			(unsigned long long)w.served[0].got, (unsigned long long)w.client[0].got,
			w.n_served, rig_terms());
}

/* The message after a body stays in the socket, and so do unrequested bytes of the server. */
static void
a_body_is_spliced_to_its_end(void **st)
{
	struct world_config cfg = { HTTP_BOTH };

	(void)st;
	for (unsigned int mode = INTEREST_UNMERGED; mode <= INTEREST_EDGE; mode++) {
		cfg.mode = (enum interest_mode)mode;
		rig_open(&cfg, two_answers);
		w.allow_del = mode == INTEREST_UNMERGED;
		(void)world_client(&w, two_posts, 0);
		world_run(&w, RIG_LIMIT);
		both_came_whole("mode", mode);
		/* All but what came with the heads. */
		assert_in_range(w.engine.stat.spliced, 4 * (2200 - 512), 4 * 2200 - 1);
		assert_int_equal(w.engine.stat.splice_fallbacks, 0);
		assert_int_equal(w.engine.pipes.used, 0);
		rig_close();
	}
}

/* The bytes are copied whichever call fails, the bodies end correctly, and the connections are
 * kept. */
static void
bodies_are_copied_when_splicing_fails(void **st)
{
	static const int errors[] = { EINVAL, ENOMEM, ENOSYS, EPERM };
	struct world_config cfg = { HTTP_BOTH };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		for (unsigned int nth = 1; nth <= 8; nth++) {
			rig_open(&cfg, two_answers);
			(void)world_client(&w, two_posts, 0);
			fake_fail(w.k, SYS_CALL_splice, nth, errors[i]);
			world_run(&w, RIG_LIMIT);
			both_came_whole(strerror(errors[i]), nth);
			assert_int_equal(w.engine.stat.splice_fallbacks, 1);
			/* Splicing is tried again for the next body. */
			assert_true(splices() > nth || nth > 6);
			rig_close();
		}
	rig_open(&cfg, two_answers);
	(void)world_client(&w, two_posts, 0);
	fake_fail(w.k, SYS_CALL_pipe2, 1, EMFILE);
	world_run(&w, RIG_LIMIT);
	both_came_whole("without a pipe", 0);
	rig_close();
	/* A pipe that holds less than its size. */
	cfg.pipe_slots = 4;
	cfg.fragment = 100;
	rig_open(&cfg, two_answers);
	(void)world_client(&w, two_posts, 0);
	world_run(&w, RIG_LIMIT);
	both_came_whole("small pipe", 0);
	rig_close();
}

static unsigned int nth_splice;

/* The first splice, into the pipe, works. */
static long
only_in(void *ctx, int in, int out, size_t len, unsigned int flags)
{
	return nth_splice++ ? -EINVAL : sys_fake.splice(ctx, in, out, len, flags);
}

/* A body whose rest is lost has not ended, although all of it was read. */
static void
a_lost_rest_of_a_body_is_no_end(void **st)
{
	static const struct step client[] = { SAY(GET "\r\n"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(LONG_OK LONG_BODY),
		EOF_CLOSE };
	struct world_config cfg = { HTTP_BOTH };
	struct sys_ops ops = sys_fake;

	(void)st;
	nth_splice = 0;
	ops.splice = only_in;
	ops.read = no_read;
	rig_open(&cfg, origin);
	w.sys.ops = &ops;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.engine.stat.splice_fallbacks, 1);
	assert_true(w.client[0].got > 0 && w.client[0].got < strlen(LONG_OK LONG_BODY));
	assert_false(w.client[0].eof);
	assert_int_equal(w.client[0].err, ECONNRESET);
	assert_string_equal(rig_terms(), "SD");
	assert_int_equal(w.engine.idle.pool.live, 0);
	rig_close();
}

/* Bodies with chunked framing, or needed for a retry, are copied. */
static void
not_every_body_is_spliced(void **st)
{
	static const struct http_dialogue copied[] = {
		{ .name = "chunks", .cfg = { HTTP_BOTH }, .reuses = 1, .served = 1,
		  .client = { SAY(GET "\r\n"), AWAIT("0\r\n\r\n"), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n"
			  "Transfer-Encoding: chunked\r\n\r\n898\r\n" LONG_BODY "\r\n0\r\n\r\n"),
			  EOF_CLOSE },
		  .to_client = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			       "898\r\n" LONG_BODY "\r\n0\r\n\r\n",
		  .terms = "--" },
		{ .name = "chunks for an HTTP/1.0 client", .cfg = { HTTP_BOTH }, .served = 1,
		  .client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n"
			  "Transfer-Encoding: chunked\r\n\r\n898\r\n" LONG_BODY "\r\n0\r\n\r\n"),
			  EOF_CLOSE },
		  .to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" LONG_BODY,
		  .terms = "--" },
		{ .name = "no option", .cfg = { RIG_WORLD, SPLICES }, .served = 1,
		  .client = { SAY(GET_CLOSE), EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY(LONG_OK LONG_BODY), EOF_CLOSE },
		  .to_client = "HTTP/1.1 200 OK\r\nContent-Length: 2200\r\nConnection: close"
			       "\r\n\r\n" LONG_BODY,
		  .terms = "--" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		http_play(&copied[i]);
		assert_int_equal(splices(), 0);
	}
}

/* Bodies up to the close, and tunnels: their length is unknown. */
static void
bodies_of_unknown_length(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "until the close",
			.served = 1,
			.cfg = { RIG_WORLD, SPLICES, .options = OPT_SPLICE_AUTO },
			.client = { SAY(GET_CLOSE), EOF_CLOSE },
			.origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n\r\n" LONG_BODY),
				{ STEP_PAUSE, 5 }, SAY(LONG_BODY), { STEP_CLOSE, 0 } },
			.to_client =
				"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" LONG_BODY LONG_BODY,
			.terms = "--" },
		{ .name = "tunnel",
			.cfg = { HTTP_BOTH },
			.served = 1,
			.client = { SAY(GET "Connection: upgrade\r\nUpgrade: x\r\n\r\n"),
				AWAIT("\r\n\r\n"), SAY(LONG_BODY), AWAIT(LONG_BODY),
				{ STEP_CLOSE, 0 } },
			.origin = { AWAIT("\r\n\r\n"),
				SAY("HTTP/1.1 101 OK\r\nUpgrade: x\r\n"
				    "Connection: upgrade\r\n\r\n"),
				AWAIT(LONG_BODY), SAY(LONG_BODY), EOF_CLOSE },
			.to_server = GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n" LONG_BODY,
			.to_client = "HTTP/1.1 101 OK\r\nUpgrade: x\r\n"
				     "Connection: upgrade\r\n\r\n" LONG_BODY,
			.terms = "--" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(d); i++) {
		http_play(&d[i]);
		assert_true(splices() > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bulk_transfer_goes_through_a_pipe),
		cmocka_unit_test(options_apply_to_each_direction),
		cmocka_unit_test(splice_auto_waits_for_enough_bytes),
		cmocka_unit_test(pauses_restart_the_count),
		cmocka_unit_test(without_the_option_nothing_is_spliced),
		cmocka_unit_test(a_slow_sink_keeps_the_pipe),
		cmocka_unit_test(an_idle_connection_owns_no_pipe),
		cmocka_unit_test(a_slow_transfer_is_copied_again),
		cmocka_unit_test(without_a_pipe_it_is_copied),
		cmocka_unit_test(a_failed_splice_loses_no_byte),
		cmocka_unit_test(a_buffer_in_use_by_the_kernel_is_left_alone),
		cmocka_unit_test(bytes_lost_in_a_pipe_break_the_stream),
		cmocka_unit_test(a_hidden_reset_is_found),
		cmocka_unit_test(an_end_closes_the_pipe),
		cmocka_unit_test(pipes_stay_within_the_memory),
		cmocka_unit_test(one_dispatch_is_bounded),
		cmocka_unit_test(a_body_is_spliced_to_its_end),
		cmocka_unit_test(bodies_are_copied_when_splicing_fails),
		cmocka_unit_test(a_lost_rest_of_a_body_is_no_end),
		cmocka_unit_test(not_every_body_is_spliced),
		cmocka_unit_test(bodies_of_unknown_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
