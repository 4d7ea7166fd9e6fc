/*
 * A third codec beside HTTP/1 and HTTP/2, and a filter, neither of which is of any use: both are
 * added by a commit that touches this file only. In the codec a request is the line "GET /path
 * LENGTH" and a response "200 LENGTH", each with so many bytes behind it. As in HTTP/2 the machines
 * of the proxy see messages of HTTP/1 through a transport (net/xprt.h); the filter counts bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "http/h1_parse.h"
#include "net/xprt.h"
#include "proxy/model/filter.h"
#include "sim/world.h"
#include "unit/test.h"

#define LINE 200
#define FIELDS 16

/* --- the codec --- */

struct codec_maker {
	struct xprt_maker maker;
	int is_client;           /* it writes requests */
	unsigned int made, live;
};

struct codec {
	struct xprt x;
	struct codec_maker *maker;
	char in[LINE], head[LINE]; /* a line that arrives, and the head that it has become */
	size_t n_in, n_head, given;
	size_t body_in, body_out;  /* bytes of a body that follow */
	char out[LINE];            /* a line that is sent */
	size_t n_out, sent, head_len; /* the head's that it stands for */
};

static struct codec *
codec_of(const struct conn *c)
{
	return container_of(c->xprt, struct codec, x);
}

static enum io_result
refuse(struct conn *c)
{
	conn_failed(c, -EPROTO);
	return IO_ERR;
}

static enum io_result
codec_step(struct conn *c)
{
	(void)c;
	return IO_OK;
}

/* Makes a head of a complete line: 0, or -1, it is none. */
static int
read_line(struct codec *k)
{
	char method[LINE], path[LINE];
	unsigned int status, len;
	int is_good, n;

	if (k->maker->is_client) {
		is_good = sscanf(k->in, "%u %u", &status, &len) == 2;
		n = snprintf(k->head, LINE, "HTTP/1.1 %u x\r\nContent-Length: %u\r\n\r\n", status,
			len);
	} else {
		is_good = sscanf(k->in, "%s %s %u", method, path, &len) == 3;
		n = snprintf(k->head, LINE,
			"%s %s HTTP/1.1\r\nHost: codec\r\nContent-Length: %u\r\n\r\n", method, path,
			len);
	}
	if (!is_good || n >= LINE)
		return -1;
	k->n_head = (size_t)n;
	k->given = k->n_in = 0;
	k->body_in = len;
	return 0;
}

static enum io_result
codec_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct codec *k = codec_of(c);
	enum io_result r = IO_OK;

	*got = 0;
	if (k->given == k->n_head && k->body_in) {
		r = conn_sock_recv(c, buf, MIN(len, k->body_in), got);
		k->body_in -= *got;
		return r;
	}
	while (r == IO_OK && k->given == k->n_head) {
		size_t n;

		r = conn_sock_recv(c, k->in + k->n_in, 1, &n);
		k->n_in += n;
		if (n && k->in[k->n_in - 1] == '\n' && read_line(k) < 0)
			return refuse(c);
		if (k->n_in == LINE - 1)
			return refuse(c);
		memset(k->in + k->n_in, 0, LINE - k->n_in);
	}
	*got = MIN(len, k->n_head - k->given);
	memcpy(buf, k->head + k->given, *got);
	k->given += *got;
	k->x.holds = *got && (k->given < k->n_head || k->body_in);
	return *got ? IO_OK : r;
}

/* Makes a line of a head: 0, or -1, it is not complete, or has a body without a length. */
static int
write_line(struct codec *k, const char *p, size_t n)
{
	struct http_field field[FIELDS];
	struct h1_parser parser = { 0 };
	struct http_head h;
	enum h1_parse_status status;

	http_head_init(&h, k->maker->is_client ? HTTP_REQUEST : HTTP_RESPONSE, field, FIELDS);
	status = k->maker->is_client ? h1_parse_request(&parser, p, n, &h, &k->head_len)
				     : h1_parse_response(&parser, p, n, &h, &k->head_len);
	if (status != HTTP_COMPLETE ||
		(h.framing != HTTP_BODY_NONE && h.framing != HTTP_BODY_LENGTH))
		return -1;
	k->body_out = h.framing == HTTP_BODY_LENGTH ? (size_t)h.length : 0;
	k->n_out = (size_t)(k->maker->is_client
		? snprintf(k->out, LINE, "%.*s %.*s %zu\n", (int)h.method_text.len,
			h.method_text.p, (int)h.target.len, h.target.p, k->body_out)
		: snprintf(k->out, LINE, "%u %zu\n", h.status, k->body_out));
	k->sent = 0;
	return k->n_out < LINE ? 0 : -1;
}

/* The head counts as sent with the last byte of its line. */
static enum io_result
codec_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct codec *k = codec_of(c);
	enum io_result r = IO_OK;
	size_t n;

	*put = 0;
	if (!k->n_out && k->body_out) {
		r = conn_sock_send(c, buf, MIN(len, k->body_out), more, put);
		k->body_out -= *put;
		return r;
	}
	if (!k->n_out && write_line(k, buf, len) < 0)
		return refuse(c);
	while (r == IO_OK && k->sent < k->n_out) {
		r = conn_sock_send(c, k->out + k->sent, k->n_out - k->sent, 0, &n);
		k->sent += n;
	}
	if (k->sent < k->n_out)
		return r;
	*put = k->head_len;
	k->n_out = 0;
	return IO_OK;
}

static unsigned int
codec_want(const struct xprt *x, unsigned int dir)
{
	(void)x;
	return dir;
}

static int
codec_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	(void)c;
	(void)what;
	(void)out;
	return -ERR_UNKNOWN;
}

static void
codec_close(struct conn *c)
{
	struct codec *k = codec_of(c);

	k->maker->live--;
	free(k);
}

static const struct xprt_ops codec_ops = {
	.step = codec_step,
	.recv = codec_recv,
	.send = codec_send,
	.shutdown = codec_step,
	.want = codec_want,
	.query = codec_query,
	.close = codec_close,
};

static struct xprt *
codec_make(const struct xprt_maker *m, const struct conn *c, int *reason)
{
	struct codec_maker *maker = container_of((struct xprt_maker *)m, struct codec_maker, maker);
	struct codec *k = calloc(1, sizeof(*k));

	(void)c;
	*reason = -ERR_NOMEM;
	if (!k)
		return NULL;
	k->x.ops = &codec_ops;
	k->maker = maker;
	maker->made++;
	maker->live++;
	return &k->x;
}

/* --- the filter --- */

struct counter {
	struct filter f;
	uint64_t n;
};

static uint64_t counted[SIDES];

static enum filter_part
begin_counter(const struct filter_conf *conf, struct stream *s, int side, struct http_head *head)
{
	(void)head;
	return filter_get(s, side, conf) ? FILTER_PASSES : FILTER_ABSENT;
}

static void
count(struct filter *f, struct stream *s, const char *p, size_t n)
{
	(void)p;
	counted[f == filter_get(s, SERVER, f->conf)] += n;
}

/* There is one, which is no memory of its own. */
static void
keep_conf(struct filter_conf *conf)
{
	(void)conf;
}

static const struct filter_kind counter_kind = { .name = "counts",
	.size = sizeof(struct counter),
	.begin = begin_counter,
	.passed = count,
	.conf_free = keep_conf };

static struct filter_conf counter_conf;

static void
add_counter(struct proxy *px)
{
	counter_conf = (struct filter_conf){ .kind = &counter_kind };
	filter_conf_add(&px->filters, &counter_conf);
}

/* --- worlds --- */

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct world w;
static struct codec_maker client_codec, server_codec;

/* Plays two exchanges; sides: those that speak the codec, 1 << enum side. */
static void
play(unsigned int sides, const struct step *client, const struct step *origin)
{
	static const struct world_config cfg = { .http = 1,
		.to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000 },
		.prepare = add_counter };
	char terms[100];

	client_codec = (struct codec_maker){ .maker = { codec_make } };
	server_codec = (struct codec_maker){ .maker = { codec_make }, .is_client = 1 };
	memset(counted, 0, sizeof(counted));
	assert_int_equal(world_open(&w, &cfg), 0);
	w.ln->xprt = sides & 1u << CLIENT ? &client_codec.maker : NULL;
	w.server_makers[0] = &server_codec.maker;
	w.srv[0]->xprt = sides & 1u << SERVER ? w.server_makers : NULL;
	w.origin_steps = origin;
	(void)world_client(&w, client, 0);
	world_run(&w, 60 * FAKE_SEC);
	assert_string_equal(world_terms(&w, terms, sizeof(terms)), "-- --");
	if (world_close(&w) < 0)
		fail_msg("sides %u: %s", sides, w.why);
	assert_int_equal(client_codec.made, sides & 1u << CLIENT ? 1 : 0);
	assert_int_equal(server_codec.made, sides & 1u << SERVER ? 1 : 0);
	assert_int_equal(client_codec.live + server_codec.live, 0);
	assert_int_equal(counted[CLIENT], 3);
	assert_int_equal(counted[SERVER], 10);
}

static const struct step codec_client[] = { SAY("GET /a 0\n"), AWAIT("200 5\nhello"),
	SAY("PUT /b 3\nabc"), AWAIT("200 5\nhello"), { STEP_CLOSE, 0 } };
static const struct step h1_client[] = { SAY(GET "\r\n"), AWAIT("hello"),
	SAY("PUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"), AWAIT("hello"),
	{ STEP_CLOSE, 0 } };
static const struct step codec_origin[] = { AWAIT("GET /"), AWAIT(" 0\n"), SAY("200 5\nhello"),
	AWAIT("PUT /b 3\nabc"), SAY("200 5\nhello"), { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step h1_origin[] = { AWAIT("\r\n\r\n"), SAY(OK), AWAIT("abc"), SAY(OK),
	{ STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

static void
clients_speak_it(void **st)
{
	(void)st;
	play(1u << CLIENT, codec_client, h1_origin);
}

static void
servers_speak_it(void **st)
{
	(void)st;
	play(1u << SERVER, h1_client, codec_origin);
}

static void
both_sides_speak_it(void **st)
{
	(void)st;
	play(1u << CLIENT | 1u << SERVER, codec_client, codec_origin);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_speak_it),
		cmocka_unit_test(servers_speak_it),
		cmocka_unit_test(both_sides_speak_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
