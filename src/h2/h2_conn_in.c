/* Received bytes of a connection of HTTP/2: frames in pieces of any size, field blocks, settings.
 * Nothing of a frame is kept but its first fields; bodies go to their streams as they come. */
#include "h2/h2_conn.h"

#include <string.h>

#include "base/err.h"
#include "h2/h2_conn_int.h"
#include "h2/h2_stream_int.h"

/* CONTINUATION frames of one field block. */
#define BLOCK_FRAMES_MAX 16

/* True if a frame opens a stream of the peer's. */
static int
opens_stream(const struct h2_conn *h, const struct h2_frame *f)
{
	return f->type == H2_HEADERS && !h->is_client && f->stream % 2 && f->stream > h->max_id;
}

/* Returns the reason why a frame cannot be answered now. A peer that respects the limit of streams
 * waits only for streams that it has reset itself and whose user has not released them yet. */
static enum h2_wait
wait_reason(const struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;

	if (h->out.len >= H2_OUT_MAX)
		return H2_WAIT_OUT;
	if (opens_stream(h, f) && h->n_attached >= h->cfg->max_streams &&
		h->n_open < h->cfg->max_streams && !h2_conn_is_closing(h))
		return H2_WAIT_STREAMS;
	if ((h->cfg->max_frames && !h->frames) || (h->cfg->max_resets && !h->resets))
		return H2_WAIT_TURN;
	return H2_WAIT_NOT;
}

/* --- field blocks --- */

/* A request of a new stream whose head is too long: the stream ends with a response
 * (10.5.1). */
static void
answer_too_long(struct h2_conn *h, uint32_t id, int ends)
{
	struct http_head res;

	http_head_init(&res, HTTP_RESPONSE, NULL, 0);
	res.status = 431;
	counter_add(&h->stat->stream_errors, 1);
	if (h2_conn_put_head(h, id, &res, 0, 1) == 0 && !ends)
		h2_stream_refuse(h, id, H2_NO_ERROR);
	h2_conn_report_bad_request(h);
}

static void
on_bad_head(struct h2_conn *h, uint32_t id, int result, int ends, int is_request)
{
	switch (-result) {
	case ERR_SYNTAX:
		h2_conn_fail(h, H2_COMPRESSION_ERROR);
		break;
	case ERR_INVAL:
		counter_add(&h->stat->stream_errors, 1);
		h2_stream_refuse(h, id, H2_PROTOCOL_ERROR);
		h2_conn_glitch(h);
		if (is_request)
			h2_conn_report_bad_request(h);
		break;
	case ERR_RANGE:
		if (is_request)
			answer_too_long(h, id, ends);
		else
			h2_stream_refuse(h, id, H2_CANCEL);
		break;
	default:
		h2_conn_fail(h, H2_INTERNAL_ERROR);
		break;
	}
}

static void
on_request_block(struct h2_conn *h, uint32_t id, const uint8_t *p, size_t n, int ends)
{
	unsigned int flags = (ends ? H2_HEAD_ENDED : 0u) |
		(h->cfg->no_extended ? 0u : H2_HEAD_EXTENDED);
	struct h2_texts texts = h2_shared_texts(h->shared);
	struct h2_stream *st = NULL;
	struct http_head req;
	int r;

	http_head_init(&req, HTTP_REQUEST, h->shared->field, h->shared->max_fields);
	r = h2_head_decode(&h->hpack, p, n, flags, &req, &texts);
	if (r == 0)
		r = h->user->on_request(h->arg, &req, ends, &st);
	if (r < 0) {
		on_bad_head(h, id, r, ends, 1);
		return;
	}
	if (r || !st) {
		h2_stream_refuse(h, id, r ? (enum h2_code)r : H2_REFUSED_STREAM);
		return;
	}
	h2_stream_attach(st, h, id);
	st->method = (uint8_t)req.method;
	st->is_extended = texts.extended;
	st->rx_head = 1;
	h2_stream_set_body(st, &req);
	if (ends)
		(void)!h2_stream_end_rx(st);
}

/* A response's head, or trailers. */
static void
on_stream_block(struct h2_stream *st, const uint8_t *p, size_t n, int ends)
{
	struct h2_conn *h = st->conn;
	enum http_kind kind = h->is_client && !st->rx_head ? HTTP_RESPONSE : HTTP_TRAILERS;
	unsigned int flags = (ends ? H2_HEAD_ENDED : 0u) |
		(st->is_extended ? H2_HEAD_EXTENDED : 0u);
	struct h2_texts texts = h2_shared_texts(h->shared);
	struct http_head head;
	int r;

	http_head_init(&head, kind, h->shared->field, h->shared->max_fields);
	head.method = (enum http_method)st->method;
	r = h2_head_decode(&h->hpack, p, n, flags, &head, &texts);
	if (r < 0) {
		on_bad_head(h, st->id, r, ends, 0);
		return;
	}
	if (kind == HTTP_RESPONSE && (head.status >= 200 || head.status == 101)) {
		st->rx_head = 1;
		h2_stream_set_body(st, &head);
	}
	if (ends && h2_stream_end_rx(st) < 0) {
		counter_add(&h->stat->stream_errors, 1);
		h2_stream_fail(st, H2_PROTOCOL_ERROR);
		return;
	}
	(void)!h2_stream_report_head(st, &head, ends);
}

/* Uses a complete block; one that is dropped changes the table, too (4.3). */
static void
use_block(struct h2_conn *h, const uint8_t *p, size_t n)
{
	uint32_t id = h->block_stream;
	struct h2_stream *st = h2_stream_find(h, id);
	int r;

	h->block_stream = 0;
	if (!h->block_dropped && h->block_opens) {
		on_request_block(h, id, p, n, h->block_ends);
		return;
	}
	/* Its stream may have been left, or reset, since it began. */
	if (!h->block_dropped && st && !st->reset_out) {
		on_stream_block(st, p, n, h->block_ends);
		return;
	}
	r = h2_head_skip(&h->hpack, p, n);
	if (r < 0)
		on_bad_head(h, id, r, 0, 0);
	else if (h->block_code)
		h2_stream_refuse(h, id, (enum h2_code)h->block_code);
}

static void
begin_block(struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;
	const struct h2_verdict *v = &h->verdict;

	counter_add(&h->stat->headers_rcvd, 1);
	h->block_stream = f->stream;
	h->block_frames = 0;
	h->block_ends = (f->flags & H2_END_STREAM) != 0;
	h->block_dropped = v->action != H2_ACCEPT;
	h->block_code = v->action == H2_ACT_STREAM ? v->code : 0;
	h->block_opens = (uint8_t)opens_stream(h, f);
	if (!h->block_opens)
		return;
	h->max_id = f->stream;
	if (h2_conn_is_closing(h)) {
		h->block_dropped = 1;
		h->block_code = 0;
		return;
	}
	h->last_id = f->stream;
	if (h->n_open >= h->cfg->max_streams) {
		h->block_dropped = 1;
		h->block_code = H2_REFUSED_STREAM;
	}
}

static void
count_continuation(struct h2_conn *h)
{
	if (++h->block_frames > BLOCK_FRAMES_MAX)
		h2_conn_fail(h, H2_ENHANCE_YOUR_CALM);
}

/* Keeps n bytes of a block that is not complete: at most a piece. */
static void
keep_block(struct h2_conn *h, const uint8_t *p, size_t n)
{
	struct pool *pool = &h->shared->in;
	struct h2_piece *b = h->block;

	if (!b) {
		b = h->block = pool_get(pool);
		if (!b) {
			h2_conn_fail(h, H2_INTERNAL_ERROR);
			return;
		}
		b->to = 0;
	}
	if (h2_piece_room(pool) - b->to < n) {
		h2_conn_fail(h, H2_ENHANCE_YOUR_CALM);
		if (h->block_opens && !h->block_dropped)
			h2_conn_report_bad_request(h);
		return;
	}
	memcpy(b->p + b->to, p, n);
	b->to += (uint32_t)n;
}

/* Uses a block that was kept, or an empty one. */
static void
use_kept_block(struct h2_conn *h)
{
	static const uint8_t nothing[1];
	struct h2_piece *b = h->block;

	h->block = NULL;
	use_block(h, b ? b->p : nothing, b ? b->to : 0);
	if (b)
		pool_put(&h->shared->in, b);
}

/* Bytes of a block; one that is here in full is used where it is. */
static void
on_block_bytes(struct h2_conn *h, const uint8_t *p, size_t n)
{
	int is_last = (h->frame.flags & H2_END_HEADERS) && h->left == h->padding;

	if (is_last && !h->block) {
		use_block(h, p, n);
		return;
	}
	keep_block(h, p, n);
	if (is_last && !h->has_failed)
		use_kept_block(h);
}

/* The end of HEADERS or CONTINUATION. */
static void
end_block_frame(struct h2_conn *h)
{
	if (!h->block_stream)
		return;
	if (h->frame.flags & H2_END_HEADERS)
		use_kept_block(h);
	else if (!h->frame.len)
		h2_conn_glitch(h);
}

/* --- DATA --- */

static void
begin_data(struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;
	struct h2_stream *st = h2_stream_find(h, f->stream);

	counter_add(&h->stat->data_rcvd, 1);
	h->recv_window -= f->len;
	if (h->recv_window < 0) {
		h2_conn_fail(h, H2_FLOW_CONTROL_ERROR);
		return;
	}
	if (!f->len && !(f->flags & H2_END_STREAM))
		h2_conn_glitch(h);
	if (h->verdict.action != H2_ACCEPT || !st)
		return;
	st->recv_window -= f->len;
	if (st->recv_window < 0)
		h->verdict = (struct h2_verdict){ 0, H2_ACT_STREAM, H2_FLOW_CONTROL_ERROR };
}

/* True if nothing of a body is left in the frame that ends it, nor padding behind it. */
static int
is_end_of_body(const struct h2_conn *h)
{
	return (h->frame.flags & H2_END_STREAM) && !h->left;
}

static void
on_data_bytes(struct h2_conn *h, const uint8_t *p, size_t n)
{
	struct h2_stream *st = h2_stream_find(h, h->frame.stream);

	if (h->verdict.action == H2_ACCEPT && st && !st->reset_out)
		h2_stream_receive(st, p, n, is_end_of_body(h));
	else
		h2_conn_consumed(h, n);
}

static void
end_data(struct h2_conn *h)
{
	struct h2_stream *st = h2_stream_find(h, h->frame.stream);

	if (h->verdict.action != H2_ACCEPT || !st || st->rx_end || st->reset_out)
		return;
	if (h->frame.flags & H2_END_STREAM)
		h2_stream_receive(st, NULL, 0, 1);
	else if (h->frame.flags & H2_PADDED)
		(void)h2_stream_take(st, NULL, 0);
}

/* --- SETTINGS --- */

static void
on_setting(struct h2_conn *h, uint32_t id, uint32_t value)
{
	struct h2_known w = { .is_client = h->is_client };
	struct h2_verdict v = h2_check_setting(id, value, &w);

	if (v.action != H2_ACCEPT) {
		h2_conn_fail(h, (enum h2_code)v.code);
		return;
	}
	switch (id) {
	case H2_S_HEADER_TABLE_SIZE:
		if (h2_hpack_set_out(&h->hpack, value) < 0)
			h2_conn_fail(h, H2_INTERNAL_ERROR);
		break;
	case H2_S_INITIAL_WINDOW_SIZE:
		h->window_by += (int64_t)value - h->peer_window;
		h->peer_window = value;
		break;
	case H2_S_MAX_CONCURRENT_STREAMS:
		h->peer_max_streams = value;
		break;
	case H2_S_ENABLE_CONNECT_PROTOCOL:
		h->may_extend = value != 0;
		break;
	default:
		break;
	}
}

/* Reads bytes of SETTINGS. A setting may arrive in parts: they are collected in `hold`. */
static void
on_settings_bytes(struct h2_conn *h, const uint8_t *p, size_t n)
{
	while (n && !h->has_failed) {
		size_t len = MIN(n, (size_t)(H2_SETTING_LEN - h->n_hold));

		memcpy(h->hold + h->n_hold, p, len);
		h->n_hold += (uint8_t)len;
		p += len;
		n -= len;
		if (h->n_hold < H2_SETTING_LEN)
			return;
		h->n_hold = 0;
		on_setting(h, (uint32_t)h->hold[0] << 8 | h->hold[1], h2_get32(h->hold + 2));
	}
}

/* Applies our settings, which the peer has acknowledged (6.5.3). */
static void
on_settings_ack(struct h2_conn *h)
{
	int64_t by = (int64_t)h->cfg->window - h->local_window;

	if (h->has_ack)
		return;
	h->has_ack = 1;
	h->local_window = h->cfg->window;
	if (h2_stream_open_all(h, 0, by) < 0 ||
		h2_hpack_set_in(&h->hpack, h->cfg->header_table) < 0)
		h2_conn_fail(h, H2_INTERNAL_ERROR);
}

static void
end_settings(struct h2_conn *h)
{
	uint8_t ack[H2_HEADER_LEN];

	counter_add(&h->stat->settings_rcvd, 1);
	if (h->frame.flags & H2_ACK) {
		on_settings_ack(h);
		return;
	}
	if (h->has_settings)
		h2_conn_glitch(h);
	h->has_settings = 1;
	/* Once for all settings of the frame: each takes a walk over all streams. */
	if (h->window_by && h2_stream_open_all(h, h->window_by, 0) < 0)
		h2_conn_fail(h, H2_FLOW_CONTROL_ERROR);
	h->window_by = 0;
	if (h->has_failed)
		return;
	(void)h2_put_settings_ack(ack);
	h2_conn_put(h, ack, sizeof(ack));
	if (!h->has_failed)
		h2_stream_wake_blocked(h);
}

/* --- frames of a few bytes --- */

static void
on_window_update(struct h2_conn *h, uint32_t by)
{
	struct h2_stream *st = h2_stream_find(h, h->frame.stream);

	if (h->frame.stream) {
		if (st)
			h2_stream_on_window(st, by);
		return;
	}
	h->send_window += by;
	if (h->send_window > H2_MAX31)
		h2_conn_fail(h, H2_FLOW_CONTROL_ERROR);
	else
		h2_stream_wake_blocked(h);
}

static void
on_ping(struct h2_conn *h, const uint8_t *payload)
{
	uint8_t ack[H2_HEADER_LEN + H2_PING_LEN];

	if (h->frame.flags & H2_ACK) {
		h2_conn_on_pong(h, payload);
		return;
	}
	(void)h2_put_ping(ack, H2_ACK, payload);
	h2_conn_put(h, ack, sizeof(ack));
}

/* Handles GOAWAY: streams above the last id were not processed (6.8), and may be tried again. */
static void
on_goaway(struct h2_conn *h, uint32_t last)
{
	counter_add(&h->stat->goaway_rcvd, 1);
	h->goaway_in = 1;
	if (h->is_client)
		h2_stream_report_resets(h, last, H2_REFUSED_STREAM, 1);
	h->user->on_goaway(h->arg);
}

static void
on_rst_stream(struct h2_conn *h, uint32_t code)
{
	struct h2_stream *st = h2_stream_find(h, h->frame.stream);

	counter_add(&h->stat->rst_stream_rcvd, 1);
	h->resets -= h->resets != 0;
	if (!st)
		return;
	if (!st->tx_head)
		h2_conn_glitch(h);
	h2_stream_on_rst(st, code);
}

/* Uses the payload of a frame that consists of fixed fields only. */
static void
on_fields(struct h2_conn *h)
{
	const uint8_t *p = h->hold;

	switch (h->frame.type) {
	case H2_RST_STREAM:
		on_rst_stream(h, h2_get32(p));
		break;
	case H2_PING:
		on_ping(h, p);
		break;
	case H2_GOAWAY:
		on_goaway(h, h2_get32(p) & H2_MAX31);
		break;
	case H2_WINDOW_UPDATE:
		on_window_update(h, h2_get32(p) & H2_MAX31);
		break;
	case H2_PRIORITY:
		/* Priorities are not used (5.3.2). */
		h2_conn_glitch(h);
		break;
	default:
		break;
	}
}

/* --- a frame --- */

/* Returns the facts that the rules need. A stream that the peer may not open counts as idle. */
static struct h2_known
known_of(const struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;

	return (struct h2_known){
		.max_len = H2_FRAME_MIN_MAX,
		.block = h->block_stream,
		.is_first = !h->has_settings,
		.is_client = h->is_client,
		.may_open = (uint8_t)opens_stream(h, f),
		.state = h->block_stream ? H2_OPEN : h2_stream_state(h, f->stream),
	};
}

/* Ends the connection, or resets the stream of a frame without a block, as a verdict says. */
static void
obey_verdict(struct h2_conn *h, struct h2_verdict v)
{
	h->verdict = v;
	if (v.action == H2_ACT_CONN)
		h2_conn_fail(h, (enum h2_code)v.code);
	else if (v.action == H2_ACT_STREAM && h->frame.type != H2_HEADERS) {
		counter_add(&h->stat->stream_errors, 1);
		h2_stream_refuse(h, h->frame.stream, (enum h2_code)v.code);
	}
}

/* Decides about a frame by its header. */
static void
begin_frame(struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;
	struct h2_known w = known_of(h);

	h->waits = (uint8_t)wait_reason(h);
	if (h->waits)
		return;
	h->frames -= h->frames != 0;
	h->n_hold = 0;
	h->left = f->len;
	h->padding = 0;
	h->phase = h2_prefix_len(f) ? H2_PHASE_PREFIX : H2_PHASE_PAYLOAD;
	obey_verdict(h, h2_check_frame(f, &w));
	if (h->has_failed)
		return;
	h2_stream_note_end(h);
	if (f->type == H2_DATA) {
		begin_data(h);
		if (!h->has_failed && h->verdict.code == H2_FLOW_CONTROL_ERROR)
			obey_verdict(h, h->verdict);
	} else if (f->type == H2_HEADERS) {
		begin_block(h);
	} else if (f->type == H2_CONTINUATION) {
		count_continuation(h);
	} else if (h->verdict.action != H2_ACCEPT) {
		/* Nothing of it is used; it may be shorter than it should be. */
		h->phase = H2_PHASE_PAYLOAD;
	}
}

/* Uses the fields in front of a payload, which are complete. */
static void
end_prefix(struct h2_conn *h)
{
	const struct h2_frame *f = &h->frame;
	struct h2_known w = known_of(h);
	uint32_t len = h2_prefix_len(f);
	struct h2_verdict v;

	w.state = f->type == H2_HEADERS ? H2_OPEN : w.state;
	h->left -= len;
	h->phase = H2_PHASE_PAYLOAD;
	v = h2_check_payload(f, h->hold, &w);
	if (v.action != H2_ACCEPT && (h->verdict.action == H2_ACCEPT || v.action == H2_ACT_CONN))
		obey_verdict(h, v);
	if (h->has_failed)
		return;
	if (f->type == H2_HEADERS && v.action == H2_ACT_STREAM && !h->block_dropped) {
		h->block_dropped = 1;
		h->block_code = v.code;
	}
	if ((f->type == H2_DATA || f->type == H2_HEADERS) && (f->flags & H2_PADDED))
		h->padding = h->hold[0];
	if (f->type == H2_DATA)
		h2_conn_consumed(h, 1u + h->padding);
	if (h->verdict.action == H2_ACCEPT)
		on_fields(h);
	h->n_hold = 0;
}

/* Bytes of a payload before the padding. */
static void
on_payload(struct h2_conn *h, const uint8_t *p, size_t n)
{
	h->left -= (uint32_t)n;
	switch (h->frame.type) {
	case H2_DATA:
		on_data_bytes(h, p, n);
		break;
	case H2_HEADERS:
	case H2_CONTINUATION:
		on_block_bytes(h, p, n);
		break;
	case H2_SETTINGS:
		on_settings_bytes(h, p, n);
		break;
	default:
		break;
	}
}

static void
end_frame(struct h2_conn *h)
{
	h->phase = H2_PHASE_HEADER;
	h->n_hold = 0;
	switch (h->frame.type) {
	case H2_DATA:
		end_data(h);
		break;
	case H2_HEADERS:
	case H2_CONTINUATION:
		end_block_frame(h);
		break;
	case H2_SETTINGS:
		end_settings(h);
		break;
	default:
		break;
	}
}

/* --- bytes --- */

/* Moves bytes to hold until it has `want`: their number. */
static size_t
fill_hold(struct h2_conn *h, const uint8_t *p, size_t n, size_t want)
{
	size_t len = MIN(n, want - h->n_hold);

	if (len)
		memcpy(h->hold + h->n_hold, p, len);
	h->n_hold += (uint8_t)len;
	return len;
}

static size_t
match_preface(struct h2_conn *h, const uint8_t *p, size_t n)
{
	size_t used = fill_hold(h, p, n, H2_PREFACE_LEN);

	if (memcmp(h->hold, H2_PREFACE, h->n_hold) != 0)
		h2_conn_fail(h, H2_PROTOCOL_ERROR);
	else if (h->n_hold == H2_PREFACE_LEN) {
		h->phase = H2_PHASE_HEADER;
		h->n_hold = 0;
	}
	return used;
}

/* Uses bytes of the payload, or of the padding behind it. */
static size_t
use_payload(struct h2_conn *h, const uint8_t *p, size_t n)
{
	size_t len = MIN(n, h->left > h->padding ? h->left - h->padding : h->left);

	if (h->left > h->padding) {
		on_payload(h, p, len);
	} else {
		h->left -= (uint32_t)len;
		h->padding -= (uint8_t)len;
	}
	return len;
}

/* One step: the number of bytes that it has used. *more: another one is possible. */
static size_t
input_step(struct h2_conn *h, const uint8_t *p, size_t n, int *more)
{
	size_t used = 0, want;

	switch ((enum h2_phase)h->phase) {
	case H2_PHASE_PREFACE:
		used = match_preface(h, p, n);
		*more = h->phase != H2_PHASE_PREFACE;
		break;
	case H2_PHASE_HEADER:
		used = fill_hold(h, p, n, H2_HEADER_LEN);
		*more = h->n_hold == H2_HEADER_LEN;
		if (*more) {
			h2_get_header(h->hold, &h->frame);
			h->phase = H2_PHASE_READY;
		}
		break;
	case H2_PHASE_READY:
		begin_frame(h);
		break;
	case H2_PHASE_PREFIX:
		want = h2_prefix_len(&h->frame);
		used = fill_hold(h, p, n, want);
		*more = h->n_hold == want;
		if (*more)
			end_prefix(h);
		break;
	case H2_PHASE_PAYLOAD:
		used = h->left ? use_payload(h, p, n) : 0;
		*more = used || !h->left;
		if (!h->left && !h->has_failed)
			end_frame(h);
		break;
	}
	return used;
}

/* Uses bytes as far as nothing has to wait: their number. */
static size_t
use_input(struct h2_conn *h, const uint8_t *p, size_t n)
{
	size_t at = 0;
	int more = 1;

	while (more && !h->has_failed && !h->waits)
		at += input_step(h, p + at, n - at, &more);
	return at;
}

/* Reports a failure to the user, once. */
static void
report_failure(struct h2_conn *h)
{
	if (h->is_reported)
		return;
	h->is_reported = 1;
	h2_stream_report_resets(h, 0, h->goaway_code, 0);
	h->user->on_goaway(h->arg);
}

static void
begin_input(struct h2_conn *h)
{
	h->is_busy = 1;
	h->frames = h->cfg->max_frames;
	h->resets = h->cfg->max_resets;
}

/* Keeps input that has to wait: 0 or -1, it has failed. */
static int
end_input(struct h2_conn *h, const uint8_t *p, size_t n)
{
	if (!h->has_failed && n && h2_bytes_add(&h->rest, &h->shared->in, p, n) < 0)
		h2_conn_fail(h, H2_INTERNAL_ERROR);
	h->is_busy = 0;
	if (h->has_failed)
		report_failure(h);
	else if (h->waits == H2_WAIT_TURN)
		h->user->on_continue(h->arg);
	return h->has_failed ? -1 : 0;
}

int
h2_conn_input(struct h2_conn *h, const uint8_t *p, size_t n)
{
	size_t used;

	begin_input(h);
	used = h->waits ? 0 : use_input(h, p, n);
	return end_input(h, p + used, n - used);
}

int
h2_conn_continue(struct h2_conn *h)
{
	struct str s;
	size_t used;

	h->waits = H2_WAIT_NOT;
	begin_input(h);
	do {
		s = h2_bytes_first(&h->rest);
		used = use_input(h, (const uint8_t *)s.p, s.len);
		h2_bytes_drop(&h->rest, &h->shared->in, used);
	} while (used && h->rest.len && !h->has_failed && !h->waits);
	return end_input(h, NULL, 0);
}

void
h2_conn_sent(struct h2_conn *h, size_t n)
{
	h2_bytes_drop(&h->out, &h->shared->out, n);
	h->out_sent += n;
	if (h->has_failed)
		return;
	if (h->out.len < H2_OUT_BODIES)
		h2_stream_wake_blocked(h);
	if (h->out.len < H2_OUT_BODIES)
		h2_conn_resume(h, H2_WAIT_OUT);
}
