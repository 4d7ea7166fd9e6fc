/* A connection of HTTP/2: its life, its output, its end. Pure but for memory. */
#include "h2/h2_conn.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "h2/h2_conn_int.h"

enum goaway { GOAWAY_NONE, GOAWAY_FIRST, GOAWAY_FINAL };

/* Pieces kept for reuse, of either kind. */
#define PIECES_KEPT 64
/* The payload of the PING that follows the first GOAWAY. */
static const uint8_t goaway_ping[H2_PING_LEN] = { 't', 'a', 'c', 'i', 't', 'b', 'y', 'e' };

/* --- memory of a worker --- */

int
h2_shared_init(struct h2_shared *s, size_t head_size, unsigned int max_fields)
{
	memset(s, 0, sizeof(*s));
	pool_init(&s->out, "h2_out", sizeof(struct h2_piece) + H2_OUT_MAX, PIECES_KEPT);
	pool_init(&s->in, "h2_in", sizeof(struct h2_piece) + MAX(head_size, H2_FRAME_MIN_MAX),
		PIECES_KEPT);
	s->max_fields = max_fields;
	s->text_size = head_size;
	s->block_size =
		head_size + H2_BLOCK_EXTRA + ((size_t)max_fields + 8) * H2_FIELD_BOUND(0, 0);
	s->field = mem_alloc(max_fields * sizeof(*s->field));
	s->text = mem_alloc(s->text_size);
	s->block = mem_alloc(s->block_size);
	s->allocator = h2_hpack_allocator(&s->bytes);
	if (s->field && s->text && s->block && s->allocator)
		return 0;
	h2_shared_fini(s);
	return -ERR_NOMEM;
}

void
h2_shared_fini(struct h2_shared *s)
{
	pool_fini(&s->out);
	pool_fini(&s->in);
	mem_free(s->field);
	mem_free(s->text);
	mem_free(s->block);
	mem_free(s->allocator);
}

void
h2_config_default(struct h2_config *cfg)
{
	*cfg = (struct h2_config){
		.window = 65536,
		.max_streams = 100,
		.header_table = H2_TABLE_DEFAULT,
		.rxbuf = 1600 * 1024,
		.max_frames = 64,
		.max_resets = 4,
	};
}

/* --- output --- */

void
h2_conn_report_output(struct h2_conn *h, size_t before)
{
	if (!before && h->out.len)
		h->user->on_output(h->arg);
}

void
h2_conn_put(struct h2_conn *h, const uint8_t *p, size_t n)
{
	size_t before = h->out.len;

	if (h2_bytes_add(&h->out, &h->shared->out, p, n) < 0)
		h2_conn_fail(h, H2_INTERNAL_ERROR);
	h2_conn_report_output(h, before);
}

int
h2_conn_put_head(
	struct h2_conn *h, uint32_t id, const struct http_head *head, unsigned int flags, int end)
{
	long n = h2_head_encode(&h->hpack, head, flags, h->shared->block, h->shared->block_size);
	uint8_t header[H2_HEADER_LEN];
	size_t before = h->out.len;
	const uint8_t *p = h->shared->block;
	enum h2_type type = H2_HEADERS;

	if (n == -ERR_NOMEM)
		h2_conn_fail(h, H2_INTERNAL_ERROR);
	if (n < 0)
		return (int)n;
	do {
		uint32_t len = MIN((uint32_t)n, H2_FRAME_MIN_MAX);

		n -= len;
		(void)h2_put_header(header, len, type,
			(type == H2_HEADERS && end ? H2_END_STREAM : 0) | (n ? 0 : H2_END_HEADERS),
			id);
		if (h2_bytes_add(&h->out, &h->shared->out, header, sizeof(header)) < 0 ||
			h2_bytes_add(&h->out, &h->shared->out, p, len) < 0) {
			h2_conn_fail(h, H2_INTERNAL_ERROR);
			return -ERR_NOMEM;
		}
		p += len;
		type = H2_CONTINUATION;
	} while (n);
	h2_conn_report_output(h, before);
	return 0;
}

struct str
h2_conn_output(struct h2_conn *h)
{
	struct str s = h2_bytes_first(&h->out);

	h->out_shown = MAX(h->out_shown, h->out_sent + s.len);
	return s;
}

int
h2_conn_has_output(const struct h2_conn *h)
{
	return h->out.len != 0;
}

/* --- its own window --- */

/* Returns the window of the connection: room for all that its streams may send and hold together,
 * also while the peer does not know of an eighth of it, so that a stream whose user does not read
 * its body does not block the other streams. */
static uint32_t
conn_window(const struct h2_config *cfg)
{
	uint64_t all = (uint64_t)cfg->window * cfg->max_streams;

	all += cfg->rxbuf > cfg->window ? cfg->rxbuf - cfg->window : 0;
	return (uint32_t)MIN(all + all / 7, H2_MAX31);
}

/* Enlarges the peer's window in steps of an eighth, so that a peer that uses all of it does not
 * have to wait. */
void
h2_conn_consumed(struct h2_conn *h, size_t n)
{
	uint8_t frame[H2_HEADER_LEN + H2_WINDOW_LEN];

	h->recv_due += (uint32_t)n;
	if (h->recv_due < conn_window(h->cfg) / 8 || h->has_failed)
		return;
	h->recv_window += h->recv_due;
	(void)h2_put_window(frame, 0, h->recv_due);
	h->recv_due = 0;
	h2_conn_put(h, frame, sizeof(frame));
}

/* --- its beginning and end --- */

/* Writes what a connection begins with: at most FIRST_MAX bytes. */
#define FIRST_MAX 128

static size_t
put_first(const struct h2_conn *h, uint8_t *p)
{
	const struct h2_config *cfg = h->cfg;
	uint8_t *settings = p, *at;

	if (h->is_client) {
		memcpy(p, H2_PREFACE, H2_PREFACE_LEN);
		settings += H2_PREFACE_LEN;
	}
	at = settings + H2_HEADER_LEN;
	if (cfg->header_table != H2_TABLE_DEFAULT)
		at += h2_put_setting(at, H2_S_HEADER_TABLE_SIZE, cfg->header_table);
	if (h->is_client)
		at += h2_put_setting(at, H2_S_ENABLE_PUSH, 0);
	else
		at += h2_put_setting(at, H2_S_MAX_CONCURRENT_STREAMS, cfg->max_streams);
	at += h2_put_setting(at, H2_S_INITIAL_WINDOW_SIZE, cfg->window);
	if (!h->is_client && !cfg->no_extended)
		at += h2_put_setting(at, H2_S_ENABLE_CONNECT_PROTOCOL, 1);
	at += h2_put_setting(at, H2_S_NO_RFC7540_PRIORITIES, 1);
	(void)h2_put_header(settings, (uint32_t)(at - settings) - H2_HEADER_LEN, H2_SETTINGS, 0, 0);
	if (conn_window(cfg) > H2_WINDOW_DEFAULT)
		at += h2_put_window(at, 0, conn_window(cfg) - H2_WINDOW_DEFAULT);
	return (size_t)(at - p);
}

int
h2_conn_init(struct h2_conn *h, const struct h2_config *cfg, struct h2_shared *shared,
	const struct h2_user *user, void *arg, int is_client)
{
	uint8_t first[FIRST_MAX];

	memset(h, 0, sizeof(*h));
	h->cfg = cfg;
	h->shared = shared;
	h->user = user;
	h->arg = arg;
	h->stat = &shared->none;
	h->is_client = is_client != 0;
	h->next_id = 1;
	h->send_window = H2_WINDOW_DEFAULT;
	h->recv_window = MAX(conn_window(cfg), (uint32_t)H2_WINDOW_DEFAULT);
	h->local_window = h->peer_window = H2_WINDOW_DEFAULT;
	h->peer_max_streams = H2_STREAMS_GUESS;
	h->phase = is_client ? H2_PHASE_HEADER : H2_PHASE_PREFACE;
	list_init(&h->blocked);
	h2_hpack_init(&h->hpack, shared->allocator);
	return h2_bytes_add(&h->out, &shared->out, first, put_first(h, first));
}

/* Frees what only arriving frames use. */
static void
drop_input(struct h2_conn *h)
{
	h2_bytes_drop(&h->rest, &h->shared->in, h->rest.len);
	if (h->block)
		pool_put(&h->shared->in, h->block);
	h->block = NULL;
}

void
h2_conn_fini(struct h2_conn *h)
{
	assert(!h->n_attached);
	drop_input(h);
	h2_bytes_drop(&h->out, &h->shared->out, h->out.len);
	h2_hpack_fini(&h->hpack);
}

static void
put_goaway(struct h2_conn *h, uint32_t last, uint32_t code)
{
	uint8_t frame[H2_HEADER_LEN + H2_GOAWAY_LEN];

	counter_add(&h->stat->goaway_resp, 1);
	(void)h2_put_goaway(frame, last, (enum h2_code)code);
	h2_conn_put(h, frame, sizeof(frame));
}

void
h2_conn_fail(struct h2_conn *h, enum h2_code code)
{
	if (h->has_failed)
		return;
	h->has_failed = 1;
	counter_add(&h->stat->conn_errors, 1);
	h->goaway_code = code;
	put_goaway(h, h->last_id, code);
	if (!h->is_busy)
		h->user->on_continue(h->arg);
}

void
h2_conn_glitch(struct h2_conn *h)
{
	h->glitches++;
	if (h->cfg->max_glitches && h->glitches >= h->cfg->max_glitches)
		h2_conn_fail(h, H2_ENHANCE_YOUR_CALM);
}

void
h2_conn_goaway(struct h2_conn *h, uint32_t code, int at_once)
{
	uint8_t ping[H2_HEADER_LEN + H2_PING_LEN];

	if (h->has_failed || h->goaway_out == GOAWAY_FINAL)
		return;
	if (at_once) {
		h->goaway_out = GOAWAY_FINAL;
		put_goaway(h, h->last_id, code);
	} else if (h->goaway_out == GOAWAY_NONE) {
		h->goaway_out = GOAWAY_FIRST;
		h->goaway_code = code;
		put_goaway(h, H2_MAX31, H2_NO_ERROR);
		(void)h2_put_ping(ping, 0, goaway_ping);
		h2_conn_put(h, ping, sizeof(ping));
	}
}

void
h2_conn_on_pong(struct h2_conn *h, const uint8_t *payload)
{
	if (h->goaway_out == GOAWAY_FIRST && memcmp(payload, goaway_ping, H2_PING_LEN) == 0)
		h2_conn_goaway(h, h->goaway_code, 1);
}

int
h2_conn_is_closing(const struct h2_conn *h)
{
	return h->has_failed || h->goaway_out == GOAWAY_FINAL;
}

/* --- waiting --- */

void
h2_conn_resume(struct h2_conn *h, enum h2_wait why)
{
	if (h->waits != why)
		return;
	/* on_continue() is called once for a wait. */
	h->waits = H2_WAIT_TURN;
	h->user->on_continue(h->arg);
}

int
h2_conn_wants_input(const struct h2_conn *h)
{
	return !h->has_failed && !h->waits;
}

/* --- facts --- */

unsigned int
h2_conn_max_streams(const struct h2_conn *h)
{
	return h->is_client ? MIN(h->cfg->max_streams, h->peer_max_streams) : h->cfg->max_streams;
}

int
h2_conn_is_used_up(const struct h2_conn *h)
{
	return h->has_failed || h->goaway_in || h->goaway_out || h->next_id > H2_MAX31;
}

void
h2_conn_trim(struct h2_conn *h)
{
	h2_hpack_park(&h->hpack);
}
