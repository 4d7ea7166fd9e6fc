/* Responses of local services: their framing, slices, slow clients, and clients that leave. */
#include "unit/proxy/session_rig.h"

#include "base/mem.h"
#include "proxy/model/service.h"
#include "proxy/model/stats_conf.h"
#include "sim/faults.h"

#define ROW "row-%04d\n"
#define ROW_LEN 9
#define ROWS 400

/* A service with that many rows; it fails at one of them, or from the beginning. */
static struct services services;
static int rows, fails_at, begun, steps, ended;

static int
begin_rows(struct service_job *j, void *owner)
{
	(void)owner;
	/* The job needs a second turn. */
	if (!j->state) {
		j->state = mem_alloc(1);
		return 1;
	}
	begun++;
	if (fails_at == 0)
		return 0;
	j->status = 200;
	j->has_body = rows > 0;
	service_field(j, STR("X-Rows"), "%d", rows);
	service_field(j, STR("X-Target"), "%.*s", (int)j->target.len, j->target.p);
	return 0;
}

static int
step_row(struct service_job *j, void *owner)
{
	(void)owner;
	if (steps == fails_at) {
		j->out.failed = 1;
		return 1;
	}
	sbuf_addf(&j->out, ROW, steps);
	return ++steps < rows;
}

static void
end_rows(struct service_job *j)
{
	ended++;
	mem_free(j->state);
}

static const struct local_service row_service = {
	.name = "<STATS>", .begin = begin_rows, .step = step_row, .end = end_rows
};

static void
add_stats(struct proxy *px)
{
	px->stats = stats_conf_new();
	assert_non_null(px->stats);
}

static const struct world_config plain = { HTTP_WORLD, .prepare = add_stats };

static void
open_rows(const struct world_config *cfg, int n, int fails, size_t slice)
{
	static const struct step origin[] = { EOF_CLOSE };

	rows = n;
	fails_at = fails;
	begun = steps = ended = 0;
	rig_open(cfg, origin);
	services_start(&services, &w.engine, NULL);
	services.stats = &row_service;
	services.slice = slice;
}

/* Each job has been freed, once; descriptors and pools are checked by rig_close(). */
static void
close_rows(int jobs)
{
	assert_int_equal(begun, jobs);
	assert_int_equal(ended, jobs);
	services_stop(&services);
	rig_close();
}

static void
play_rows(const struct world_config *cfg, const struct step *client, int n, size_t slice)
{
	open_rows(cfg, n, -1, slice);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
}

#define ASK(method, version, more) \
	SAY(method " /haproxy?stats;x HTTP/" version "\r\nHost: a\r\n" more "\r\n")
#define HEAD "HTTP/1.1 200 OK\r\nX-Rows: 400\r\nX-Target: /haproxy?stats;x\r\n"

/* All rows, in order, at the start of a text; returns what follows. */
static const char *
check_rows(const char *at)
{
	char row[32];

	for (int i = 0; i < ROWS; i++, at += ROW_LEN) {
		(void)snprintf(row, sizeof(row), ROW, i);
		assert_memory_equal(at, row, ROW_LEN);
	}
	return at;
}

/* The content of chunks; returns what follows the last one. */
static const char *
decode_chunks(const char *at, char *to, size_t *chunks)
{
	unsigned long n;
	char *end;

	for (*chunks = 0;; ++*chunks) {
		n = strtoul(at, &end, 16);
		assert_memory_equal(end, "\r\n", 2);
		if (n == 0)
			break;
		memcpy(to, end + 2, n);
		to += n;
		at = end + 2 + n;
		assert_memory_equal(at, "\r\n", 2);
		at += 2;
	}
	*to = '\0';
	assert_memory_equal(end + 2, "\r\n", 2);
	return end + 4;
}

static void
a_response_to_http_1_0_ends_with_its_connection(void **st)
{
	static const struct step client[] = { ASK("GET", "1.0", ""), EOF_CLOSE };
	const char *text = w.client[0].text;

	(void)st;
	play_rows(&plain, client, ROWS, 100);
	assert_memory_equal(text, HEAD "Connection: close\r\n\r\n",
		sizeof(HEAD "Connection: close\r\n\r\n") - 1);
	assert_string_equal(check_rows(strstr(text, "\r\n\r\n") + 4), "");
	assert_string_equal(rig_terms(), "LR");
	close_rows(1);
}

/* The connection is kept: two requests, pipelined. */
static void
a_response_is_chunked(void **st)
{
	static const struct step client[] = { ASK("GET", "1.1", ""), AWAIT("0\r\n\r\n"),
		ASK("HEAD", "1.1", ""), AWAIT("stats;x\r\n\r\n"), { STEP_CLOSE, 0 } };
	const char *text = w.client[0].text, *rest;
	char body[ROWS * ROW_LEN + 1];
	size_t chunks;

	(void)st;
	play_rows(&plain, client, ROWS, 100);
	assert_memory_equal(text, HEAD "Transfer-Encoding: chunked\r\n\r\n",
		sizeof(HEAD "Transfer-Encoding: chunked\r\n\r\n") - 1);
	rest = decode_chunks(strstr(text, "\r\n\r\n") + 4, body, &chunks);
	assert_string_equal(check_rows(body), "");
	assert_in_range(chunks, ROWS * ROW_LEN / 120, ROWS * ROW_LEN / 100 + 1);
	/* HEAD has no body, and none is generated. */
	assert_string_equal(rest, HEAD "\r\n");
	assert_string_equal(rig_terms(), "LR LR");
	close_rows(2);
}

/* A response in one slice, and one without a body. */
static void
a_short_response_is_whole(void **st)
{
	static const struct step client[] = { ASK("GET", "1.1", ""), AWAIT("\r\n0\r\n\r\n"),
		{ STEP_CLOSE, 0 } };
	static const struct step none[] = { ASK("GET", "1.1", ""), AWAIT("\r\n\r\n"),
		{ STEP_CLOSE, 0 } };

	(void)st;
	play_rows(&plain, client, 1, 100);
	assert_non_null(strstr(w.client[0].text, "\r\n\r\n9\r\nrow-0000\n\r\n0\r\n\r\n"));
	close_rows(1);
	play_rows(&plain, none, 0, 100);
	assert_string_equal(w.client[0].text,
		"HTTP/1.1 200 OK\r\nX-Rows: 0\r\nX-Target: /haproxy?stats;x\r\n"
		"Content-Length: 0\r\n\r\n");
	close_rows(1);
}

/* The socket takes one byte, and the client reads one at a time. */
static void
a_client_that_reads_one_byte_at_a_time_gets_it_all(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .prepare = add_stats, .sndbuf = 1,
		.rcvbuf = 64, .bufsize = 1024 };
	static const struct step client[] = { ASK("GET", "1.0", ""), EOF_CLOSE };

	(void)st;
	play_rows(&cfg, client, ROWS, 200);
	assert_string_equal(check_rows(strstr(w.client[0].text, "\r\n\r\n") + 4), "");
	close_rows(1);
}

/* The service generates at most a slice, a buffer and the kernel's buffers ahead. */
static void
a_client_that_does_not_read_stops_the_service(void **st)
{
	static const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1,
		.prepare = add_stats, .sndbuf = 300, .rcvbuf = 300, .bufsize = 1024,
		.to = { .connect = 5000, .client = 300, .server = 5000, .queue = 5000 } };
	static const struct step client[] = { { STEP_STALL, 0 }, ASK("GET", "1.0", ""),
		{ STEP_PAUSE, 5000 }, { STEP_CLOSE, 0 } };

	(void)st;
	open_rows(&cfg, 100000, -1, 200);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_in_range(steps, 300 / ROW_LEN, (2 * 300 + 1024 + 2 * 200) / ROW_LEN + 2);
	assert_string_equal(rig_terms(), "LR");
	close_rows(1);
}

/* The client leaves in the middle, while the first worker has the job, and while it has not. */
static void
a_client_that_leaves_ends_the_job(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .prepare = add_stats, .sndbuf = 300,
		.rcvbuf = 300, .bufsize = 1024 };
	static const struct step client[] = { ASK("GET", "1.1", ""), AWAIT("row-0020"),
		{ STEP_RESET, 0 } };

	(void)st;
	open_rows(&cfg, 100000, -1, 200);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_in_range(steps, 20, 1000);
	close_rows(1);
}

static void
the_response_of_a_failed_service_is_truncated(void **st)
{
	static const struct step client[] = { ASK("GET", "1.1", ""), EOF_CLOSE };

	(void)st;
	open_rows(&plain, ROWS, 100, 200);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_non_null(strstr(w.client[0].text, "row-0000"));
	assert_null(strstr(w.client[0].text, "\r\n0\r\n"));
	assert_int_equal(w.client[0].err, ECONNRESET);
	close_rows(1);
	/* Before its head. */
	open_rows(&plain, ROWS, 0, 200);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_memory_equal(w.client[0].text, "HTTP/1.1 500 ", 13);
	close_rows(1);
}

/* Without a buffer the response waits for one, and continues. */
static void
a_response_waits_for_a_buffer(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .prepare = add_stats, .sndbuf = 300,
		.rcvbuf = 300, .bufsize = 1024 };
	static const struct step client[] = { ASK("GET", "1.0", ""), AWAIT("row-0010"),
		{ STEP_STALL, 0 }, { STEP_PAUSE, 200 }, { STEP_READ, 0 }, EOF_CLOSE };
	void *kept;

	(void)st;
	open_rows(&cfg, ROWS, -1, 200);
	(void)world_client(&w, client, 0);
	world_run(&w, 20 * FAKE_MS);
	kept = rig_exhaust_memory();
	world_run(&w, 1000 * FAKE_MS);
	rig_restore_memory(kept);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(check_rows(strstr(w.client[0].text, "\r\n\r\n") + 4), "");
	close_rows(1);
}

/* A client may have after a fault: nothing, an error, all of it, or a truncated response. */
static void
check_after_fault(const char *what, uint64_t k)
{
	const char *text = w.client[0].text, *body = strstr(text, "\r\n\r\n");
	static char content[ROWS * ROW_LEN + 1];
	size_t chunks;

	if (!body || strncmp(text, "HTTP/1.1 200 ", 13) != 0 || !strstr(body, "\r\n0\r\n\r\n"))
		return;
	(void)decode_chunks(body + 4, content, &chunks);
	if (*check_rows(content))
		fail_msg("%s %llu: more than all rows", what, (unsigned long long)k);
}

/* Plays one exchange in small pieces; the world's checks are about descriptors and pools. */
static void
play_fault(const char *what, uint64_t alloc, uint64_t call, unsigned int choice)
{
	static const struct world_config cfg = { HTTP_WORLD, .prepare = add_stats, .sndbuf = 300,
		.rcvbuf = 300, .bufsize = 1024 };
	static const struct step client[] = { ASK("GET", "1.1", "Connection: close\r\n"),
		EOF_CLOSE };

	open_rows(&cfg, ROWS, -1, 200);
	w.non_strict = 1;
	if (call)
		fake_torture(w.k, fake_calls(w.k) + call, choice);
	faults_set(alloc);
	w.mem_faults = 1;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	check_after_fault(what, alloc + call);
}

static void
end_fault(void)
{
	faults_set(0);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	services_stop(&services);
	rig_close();
}

static void
each_allocation_may_fail(void **st)
{
	int hit = 1;
	uint64_t k = 0;

	(void)st;
	while (hit) {
		play_fault("allocation", ++k, 0, 0);
		hit = faults_hit();
		end_fault();
	}
	assert_in_range(k, 5, 1000);
}

static void
each_call_may_fail(void **st)
{
	int hit = 1;
	uint64_t k = 0;

	(void)st;
	while (hit) {
		hit = 0;
		k++;
		for (unsigned int choice = 0; choice < 8; choice++) {
			play_fault("call", 0, k, choice);
			hit |= fake_failed_call(w.k) != SYS_CALLS;
			end_fault();
		}
	}
	assert_in_range(k, 10, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_to_http_1_0_ends_with_its_connection),
		cmocka_unit_test(a_response_is_chunked),
		cmocka_unit_test(a_short_response_is_whole),
		cmocka_unit_test(a_client_that_reads_one_byte_at_a_time_gets_it_all),
		cmocka_unit_test(a_client_that_does_not_read_stops_the_service),
		cmocka_unit_test(a_client_that_leaves_ends_the_job),
		cmocka_unit_test(the_response_of_a_failed_service_is_truncated),
		cmocka_unit_test(a_response_waits_for_a_buffer),
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(each_call_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
