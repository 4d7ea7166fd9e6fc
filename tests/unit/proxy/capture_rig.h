/* A session of a frontend with captures: log_world.h with slots. */
#ifndef TESTS_UNIT_PROXY_CAPTURE_RIG_H
#define TESTS_UNIT_PROXY_CAPTURE_RIG_H

#include "log_world.h"
#include "unit/test.h"

#include "proxy/sample/capture.h"
#include "proxy/model/http_txn.h"

static struct log_world w;
static struct http_txn capture_txn;

static inline void
capture_slot(enum capture_kind kind, const char *name, unsigned int max)
{
	unsigned int i;

	assert_int_equal(capture_add(&w.fe.captures, kind, name, max, &i), 0);
}

/* req.hdr 0: Host, 5 bytes; 1: for rules, 8 bytes; res.hdr 0: Server, 5 bytes; the cookie, 8
 * bytes. */
static inline void
capture_open(void)
{
	log_world_init(&w);
	memset(&capture_txn, 0, offsetof(struct http_txn, line));
	w.fe.mode = PROXY_HTTP;
	w.s.is_http = 1;
	w.s.txn = &capture_txn;
	capture_txn.head_ms = 1;
	capture_slot(CAPTURE_REQUEST, "Host", 5);
	capture_slot(CAPTURE_REQUEST, NULL, 8);
	capture_slot(CAPTURE_RESPONSE, "Server", 5);
	capture_slot(CAPTURE_COOKIE, "SID", 8);
	capture_slot(CAPTURE_COOKIE, "SID", 8);
	capture_conf_finish(&w.fe.captures);
	engine_allow_captures(&w.engine, w.fe.captures.size);
	captures_begin(&w.s);
	assert_non_null(w.s.captures);
}

static inline void
capture_close(void)
{
	captures_end(&w.s);
	assert_int_equal(w.engine.capture_pool.live, 0);
	pool_fini(&w.engine.capture_pool);
	capture_conf_fini(&w.fe.captures);
}

static inline void
capture_is(enum capture_kind kind, unsigned int i, const char *want)
{
	struct str got;

	if (!capture_get(&w.s, kind, i, &got)) {
		if (want)
			fail_msg("nothing, not \"%s\"", want);
	} else if (!want || !str_is(got, str_of(want))) {
		fail_msg("\"%.*s\", not \"%s\"", (int)got.len, got.p, want ? want : "(nothing)");
	}
}

#endif
