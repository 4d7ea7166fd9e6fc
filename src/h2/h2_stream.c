/* Streams of a connection: bodies, windows, resets. Guards note what a callback releases. */
#include "h2/h2_stream.h"

#include <string.h>

#include "base/err.h"
#include "h2/h2_conn_int.h"
#include "h2/h2_stream_int.h"
#include "http/websocket.h"

#define BODY_UNKNOWN UINT64_MAX
#define NO_FRAME UINT64_MAX
/* Windows are given back in steps of so many bytes, or of half a window that is smaller. */
#define WINDOW_STEP 16384
#define PADDING_MAX 256 /* of a frame, with the byte that has its length */

/* --- the streams of a connection --- */

static struct h2_stream **
stream_bucket(struct h2_conn *h, uint32_t id)
{
	return &h->bucket[id / 2 % H2_BUCKETS];
}

struct h2_stream *
h2_stream_find(const struct h2_conn *h, uint32_t id)
{
	struct h2_stream *st = h->bucket[id / 2 % H2_BUCKETS];

	while (st && st->id != id)
		st = st->next;
	return st;
}

void
h2_stream_attach(struct h2_stream *st, struct h2_conn *h, uint32_t id)
{
	struct h2_stream **bucket = stream_bucket(h, id);

	memset(st, 0, sizeof(*st));
	st->conn = h;
	st->id = id;
	st->next = *bucket;
	*bucket = st;
	list_init(&st->wait);
	st->body_left = BODY_UNKNOWN;
	st->last_frame = NO_FRAME;
	st->send_window = h->peer_window;
	st->recv_window = h->local_window;
	st->is_open = 1;
	h->n_attached++;
	h->n_open++;
	counter_add(&h->stat->open_streams, 1);
	counter_add(&h->stat->total_streams, 1);
}

/* The bytes of a stream that are still in the input. */
static size_t
direct_bytes(const struct h2_stream *st)
{
	return st->conn->reader == st ? st->conn->n_direct : 0;
}

size_t
h2_stream_readable(const struct h2_stream *st)
{
	return st->rx.len + direct_bytes(st);
}

/* Updates what a stream has of rxbuf: its room above the window that each stream has. */
static void
count_extra(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;
	int64_t extra = h2_stream_room(st) - h->local_window;

	extra = MAX(extra, 0);
	h->extra += extra - st->extra;
	st->extra = extra;
}

/* Updates the counters of the connection: bodies that arrive, open streams, and rxbuf. */
static void
settle_stream(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;

	count_extra(st);
	if (st->has_body && (st->rx_end || h2_stream_is_closed(st))) {
		st->has_body = 0;
		h->n_bodies--;
	}
	if (st->is_open && h2_stream_is_closed(st)) {
		st->is_open = 0;
		h->n_open--;
		counter_sub(&h->stat->open_streams, 1);
	}
}

/* The place of an id among those that await their end; n_ending: it is not there. */
static unsigned int
find_ending(const struct h2_conn *h, uint32_t id)
{
	unsigned int i = 0;

	while (i < h->n_ending && h->ending_ids[i] != id)
		i++;
	return i;
}

/* True if it was reset by us, or may have been; also while its end is awaited. */
static int
was_reset(const struct h2_conn *h, uint32_t id)
{
	for (unsigned int i = 0; i < H2_RESETS_KEPT; i++)
		if (h->reset_ids[i] == id)
			return 1;
	return id <= h->forgotten_id || find_ending(h, id) < h->n_ending;
}

enum h2_state
h2_stream_state(const struct h2_conn *h, uint32_t id)
{
	const struct h2_stream *st = h2_stream_find(h, id);

	if (!id || id % 2 == 0)
		return H2_IDLE;
	if (!st && (h->is_client ? id >= h->next_id : id > h->max_id))
		return H2_IDLE;
	if (!st)
		return was_reset(h, id) || (!h->is_client && id > h->last_id) ? H2_RESET
									      : H2_CLOSED;
	if (st->reset_out)
		return H2_RESET;
	if (st->reset_in || (st->rx_end && st->tx_end))
		return H2_CLOSED;
	if (st->rx_end)
		return H2_ENDED;
	if (!st->rx_head)
		return H2_HEADLESS;
	return st->is_tunnel ? H2_TUNNEL : H2_OPEN;
}

/* --- callbacks --- */

static void
guard_stream(struct h2_guard *g, struct h2_stream *st)
{
	g->st = st;
	g->up = st->conn->guards;
	st->conn->guards = g;
}

/* NULL: it was released in its callback. */
static struct h2_stream *
unguard_stream(struct h2_guard *g, struct h2_conn *h)
{
	h->guards = g->up;
	return g->st;
}

int
h2_stream_report_head(struct h2_stream *st, struct http_head *head, int end)
{
	struct h2_conn *h = st->conn;
	struct h2_guard g;
	int r;

	guard_stream(&g, st);
	r = h->user->on_head(st, head, end);
	st = unguard_stream(&g, h);
	if (st && r < 0)
		h2_stream_fail(st, H2_INTERNAL_ERROR);
	return st && r == 0 ? 0 : -1;
}

/* Reports the reset of a stream, once. */
static void
report_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	struct h2_conn *h = st->conn;

	if (st->is_reported)
		return;
	st->is_reported = 1;
	h->user->on_reset(st, code, unprocessed);
}

/* The next stream to be reported: a callback may have changed the lists. */
static struct h2_stream *
next_unreported(const struct h2_conn *h, uint32_t above)
{
	for (unsigned int i = 0; i < H2_BUCKETS; i++)
		for (struct h2_stream *st = h->bucket[i]; st; st = st->next)
			if (st->id > above && !st->is_reported)
				return st;
	return NULL;
}

void
h2_stream_report_resets(struct h2_conn *h, uint32_t above, uint32_t code, int unprocessed)
{
	struct h2_stream *st;

	while ((st = next_unreported(h, above))) {
		list_remove(&st->wait);
		st->reset_in = 1;
		settle_stream(st);
		report_reset(st, code, unprocessed);
	}
}

/* --- resets --- */

static void
put_rst(struct h2_conn *h, uint32_t id, enum h2_code code)
{
	uint8_t frame[H2_HEADER_LEN + H2_RST_LEN];

	if (h->has_failed)
		return;
	counter_add(&h->stat->rst_stream_resp, 1);
	h->resets -= h->resets != 0;
	(void)h2_put_rst(frame, id, code);
	h2_conn_put(h, frame, sizeof(frame));
}

/* Notes that frames of a stream without an object may still arrive. */
static void
note_reset(struct h2_conn *h, uint32_t id)
{
	uint32_t *at = &h->reset_ids[h->reset_at++ % H2_RESETS_KEPT];

	h->forgotten_id = MAX(h->forgotten_id, *at);
	*at = id;
}

static void
drop_ending(struct h2_conn *h, unsigned int i)
{
	h->n_ending--;
	memmove(h->ending_ids + i, h->ending_ids + i + 1,
		(h->n_ending - i) * sizeof(*h->ending_ids));
}

/* Resets the stream that has awaited its end for the longest time. */
static void
reset_ending(struct h2_conn *h)
{
	uint32_t id = h->ending_ids[0];

	drop_ending(h, 0);
	note_reset(h, id);
	put_rst(h, id, H2_CANCEL);
}

/* Leaves a stream to end by itself. */
static void
leave_to_end(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;

	if (h->n_ending == H2_ENDS_AWAITED)
		reset_ending(h);
	h->ending_ids[h->n_ending++] = st->id;
	st->rx_end = 1;
}

void
h2_stream_note_end(struct h2_conn *h)
{
	unsigned int i = find_ending(h, h->frame.stream);

	if (i < h->n_ending && h2_frame_ends_stream(&h->frame))
		drop_ending(h, i);
}

/* Drops what its user has not taken: its window is given back. */
static void
drop_body(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;
	size_t n = st->rx.len;

	h2_bytes_drop(&st->rx, &h->shared->in, n);
	if (n)
		h2_conn_consumed(h, n);
}

/* Sends RST_STREAM, unless one was sent or received. */
static void
send_reset(struct h2_stream *st, enum h2_code code)
{
	if (st->reset_in || st->reset_out)
		return;
	st->reset_out = 1;
	list_remove(&st->wait);
	drop_body(st);
	settle_stream(st);
	put_rst(st->conn, st->id, code);
}

void
h2_stream_reset(struct h2_stream *st, uint32_t code)
{
	st->is_reported = 1;
	send_reset(st, (enum h2_code)code);
}

void
h2_stream_fail(struct h2_stream *st, enum h2_code code)
{
	send_reset(st, code);
	report_reset(st, code, 0);
}

void
h2_stream_refuse(struct h2_conn *h, uint32_t id, enum h2_code code)
{
	struct h2_stream *st = h2_stream_find(h, id);

	if (st && !st->reset_in) {
		h2_stream_fail(st, code);
		return;
	}
	note_reset(h, id);
	put_rst(h, id, code);
}

/* --- receiving --- */

void
h2_stream_set_body(struct h2_stream *st, const struct http_head *head)
{
	if (head->framing == HTTP_BODY_LENGTH)
		st->body_left = head->length;
	else
		st->body_left = head->framing == HTTP_BODY_NONE ? 0 : BODY_UNKNOWN;
	st->is_tunnel = head->framing == HTTP_BODY_TUNNEL;
}

int
h2_stream_end_rx(struct h2_stream *st)
{
	if (st->body_left && st->body_left != BODY_UNKNOWN)
		return -1;
	st->rx_end = 1;
	settle_stream(st);
	return 0;
}

/* Calls on_data with bytes that are in the input; those that are not taken are copied. */
static void
report_data(struct h2_stream *st, const uint8_t *p, size_t n)
{
	struct h2_conn *h = st->conn;
	struct h2_guard g;

	h->reader = st;
	h->direct = p;
	h->n_direct = n;
	guard_stream(&g, st);
	h->user->on_data(st);
	st = unguard_stream(&g, h);
	p = h->direct;
	n = h->n_direct;
	h->reader = NULL;
	h->n_direct = 0;
	if (!n)
		return;
	if (st && !st->reset_out && !st->reset_in) {
		if (h2_bytes_add(&st->rx, &h->shared->in, p, n) == 0) {
			count_extra(st);
			return;
		}
		h2_stream_fail(st, H2_INTERNAL_ERROR);
	}
	h2_conn_consumed(h, n);
}

void
h2_stream_receive(struct h2_stream *st, const uint8_t *p, size_t n, int end)
{
	struct h2_conn *h = st->conn;
	int is_bad = st->body_left != BODY_UNKNOWN && n > st->body_left;

	if (!st->has_body && n && !end) {
		st->has_body = 1;
		h->n_bodies++;
	}
	if (!is_bad && st->body_left != BODY_UNKNOWN)
		st->body_left -= n;
	if (is_bad || (end && h2_stream_end_rx(st) < 0)) {
		counter_add(&h->stat->stream_errors, 1);
		h2_stream_fail(st, H2_PROTOCOL_ERROR);
		h2_conn_consumed(h, n);
		return;
	}
	report_data(st, p, n);
}

/* The window of a stream: its share of rxbuf, as far as others have left that. */
static int64_t
window_target(const struct h2_stream *st)
{
	const struct h2_conn *h = st->conn;
	int64_t left = (int64_t)h->cfg->rxbuf - (h->extra - st->extra);

	if (!h->has_ack || !h->n_bodies)
		return h->local_window;
	return MAX(MIN(h->cfg->rxbuf / h->n_bodies, left), h->local_window);
}

/* True if a stream needs no larger window: its last frame arrives, or what is left of its body fits
 * into the window, with padding. */
static int
has_enough(const struct h2_stream *st)
{
	const struct h2_conn *h = st->conn;
	int64_t window = h2_stream_room(st) - (int64_t)h2_stream_readable(st) - PADDING_MAX;

	if (st->rx_end || h2_stream_is_closed(st) || h->has_failed ||
		(h->frame.stream == st->id && h2_frame_ends_stream(&h->frame)))
		return 1;
	return window >= 0 && (uint64_t)window >= st->body_left;
}

/* Gives back what was taken, once that is a step; until then no stream gets more than its own
 * window, so that a short body costs no frame. */
static void
return_window(struct h2_stream *st)
{
	uint8_t frame[H2_HEADER_LEN + H2_WINDOW_LEN];
	int64_t target = window_target(st), room = h2_stream_room(st), known;

	count_extra(st);
	known = st->extra ? target : st->conn->local_window;
	if (known <= room || known - room < MIN(known / 2, WINDOW_STEP) || has_enough(st))
		return;
	(void)h2_put_window(frame, st->id, (uint32_t)(target - room));
	st->recv_window += target - room;
	count_extra(st);
	h2_conn_put(st->conn, frame, sizeof(frame));
}

size_t
h2_stream_take(struct h2_stream *st, void *buf, size_t len)
{
	struct h2_conn *h = st->conn;
	size_t n = h2_bytes_take(&st->rx, &h->shared->in, buf, len);
	size_t more = MIN(len - n, direct_bytes(st));

	if (more) {
		memcpy((char *)buf + n, h->direct, more);
		h->direct += more;
		h->n_direct -= more;
		n += more;
	}
	if (n)
		h2_conn_consumed(h, n);
	/* Without room for bytes: that of padding. */
	if (n || !len)
		return_window(st);
	return n;
}

/* --- sending --- */

static int
can_send_nothing(const struct h2_stream *st)
{
	return st->tx_end || h2_stream_is_closed(st) || st->conn->has_failed;
}

/* The place in the output behind which a stream has sent nothing; NO_FRAME is 0. */
static uint64_t
turn_of(const struct list *link)
{
	return list_entry(link, const struct h2_stream, wait)->last_frame + 1;
}

/* Waits for on_room, behind those that have waited longer since they sent something: a stream that
 * always has more must not be the first each time. */
static void
block_stream(struct h2_stream *st)
{
	struct list *blocked = &st->conn->blocked, *before;

	list_remove(&st->wait);
	before = blocked->prev;
	while (before != blocked && turn_of(before) > turn_of(&st->wait))
		before = before->prev;
	list_append(before->next, &st->wait);
}

/* True if a stream that waits can send: a head needs no window. */
static int
has_room(const struct h2_stream *st)
{
	const struct h2_conn *h = st->conn;

	if (st->tx_dropped)
		return 1;
	return h2_conn_room(h) > H2_HEADER_LEN &&
		(st->waits_head || (h->send_window > 0 && st->send_window > 0));
}

static void
wake_stream(struct h2_stream *st)
{
	if (list_is_empty(&st->wait) || !has_room(st))
		return;
	list_remove(&st->wait);
	st->waits_head = 0;
	st->conn->user->on_room(st);
}

void
h2_stream_wake_blocked(struct h2_conn *h)
{
	struct list todo;

	list_init(&todo);
	list_move_all(&h->blocked, &todo);
	while (!list_is_empty(&todo)) {
		struct h2_stream *st = list_first(&todo, struct h2_stream, wait);

		if (has_room(st))
			wake_stream(st);
		else
			block_stream(st);
	}
}

/* Adds this to the window of a stream: 0, or -1: it is beyond 2^31-1. */
static must_check int
open_window(struct h2_stream *st, int64_t by)
{
	st->send_window += by;
	return st->send_window > (int64_t)H2_MAX31 ? -1 : 0;
}

void
h2_stream_on_window(struct h2_stream *st, uint32_t by)
{
	if (open_window(st, by) < 0)
		h2_stream_fail(st, H2_FLOW_CONTROL_ERROR);
	else
		wake_stream(st);
}

/* NO_ERROR behind a complete response is no failure: the server does not need the rest of the
 * request (8.1). */
void
h2_stream_on_rst(struct h2_stream *st, uint32_t code)
{
	st->has_rst = 1;
	st->rst_code = code;
	if (st->conn->is_client && code == H2_NO_ERROR && st->rx_end) {
		st->tx_dropped = 1;
		st->reset_in = 1;
		settle_stream(st);
		wake_stream(st);
		return;
	}
	st->reset_in = 1;
	list_remove(&st->wait);
	settle_stream(st);
	report_reset(st, code, code == H2_REFUSED_STREAM);
}

int
h2_stream_open_all(struct h2_conn *h, int64_t send_by, int64_t recv_by)
{
	for (unsigned int i = 0; i < H2_BUCKETS; i++)
		for (struct h2_stream *st = h->bucket[i]; st; st = st->next) {
			st->recv_window += recv_by;
			/* The peer has sent, and we have taken, what is above a smaller window. */
			if (recv_by < 0)
				return_window(st);
			/* Nothing is sent any more in one that we have ended. */
			if (open_window(st, send_by) < 0 && !st->tx_end)
				return -1;
		}
	return 0;
}

size_t
h2_stream_may_send(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;
	size_t room = h2_conn_room(h);
	int64_t n = MIN(h->send_window, st->send_window);

	if (st->tx_dropped && !st->tx_end)
		return H2_OUT_BODIES;
	if (can_send_nothing(st))
		return 0;
	if (n <= 0 || room <= H2_HEADER_LEN) {
		block_stream(st);
		return 0;
	}
	return MIN(room - H2_HEADER_LEN, (size_t)n);
}

int
h2_stream_lacks_window(const struct h2_stream *st)
{
	return !list_is_empty(&st->wait) && !st->waits_head &&
		(st->send_window <= 0 || st->conn->send_window <= 0);
}

/* One frame of DATA; n is not more than fits. 0 or -1: no memory, the connection has failed. */
static must_check int
put_data(struct h2_stream *st, const void *p, size_t n, int end)
{
	struct h2_conn *h = st->conn;
	uint64_t place = h->out_sent + h->out.len;
	uint8_t *to = h2_bytes_extend(&h->out, &h->shared->out, H2_HEADER_LEN + n);

	if (!to) {
		h2_conn_fail(h, H2_INTERNAL_ERROR);
		return -1;
	}
	st->last_frame = place;
	(void)h2_put_header(to, (uint32_t)n, H2_DATA, end ? H2_END_STREAM : 0, st->id);
	if (n)
		memcpy(to + H2_HEADER_LEN, p, n);
	st->send_window -= (int64_t)n;
	h->send_window -= (int64_t)n;
	return 0;
}

static void
end_tx(struct h2_stream *st)
{
	st->tx_end = 1;
	settle_stream(st);
}

size_t
h2_stream_send(struct h2_stream *st, const void *buf, size_t len, int end)
{
	struct h2_conn *h = st->conn;
	size_t most = h2_stream_may_send(st), n = MIN(len, most), before = h->out.len, at = 0;

	if (st->tx_dropped)
		at = n;
	if (end && (!len || (st->tx_dropped && n == len)))
		h2_stream_end(st);
	while (at < n) {
		/* No peer may ask for smaller frames. */
		size_t piece = MIN(n - at, H2_FRAME_MIN_MAX);
		int is_last = end && at + piece == len;

		if (put_data(st, (const char *)buf + at, piece, is_last) < 0)
			return 0;
		at += piece;
		if (is_last)
			end_tx(st);
	}
	h2_conn_report_output(h, before);
	return at;
}

void
h2_stream_end(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;
	size_t before = h->out.len;

	if (can_send_nothing(st) || st->tx_dropped) {
		st->tx_end = 1;
		return;
	}
	if (!st->tx_head) {
		h2_stream_reset(st, H2_INTERNAL_ERROR);
		return;
	}
	if (st->last_frame != NO_FRAME && st->last_frame >= h->out_shown)
		*h2_bytes_at(&h->out, (size_t)(st->last_frame - h->out_sent) + 4) |= H2_END_STREAM;
	else if (put_data(st, NULL, 0, 1) < 0)
		return;
	end_tx(st);
	h2_conn_report_output(h, before);
}

/* The bytes that a head takes in the output at most. */
static size_t
head_bound(const struct http_head *head)
{
	return http_texts_size(head) + H2_BLOCK_EXTRA + (head->n + 8) * H2_FIELD_BOUND(0, 0);
}

int
h2_stream_send_head(struct h2_stream *st, const struct http_head *head, int end)
{
	struct h2_conn *h = st->conn;
	uint64_t place = h->out_sent + h->out.len;
	int r;

	if (st->tx_dropped)
		return 0;
	if (can_send_nothing(st))
		return -ERR_CLOSED;
	if (h->out.len && h2_conn_room(h) < head_bound(head)) {
		st->waits_head = 1;
		block_stream(st);
		return -ERR_FULL;
	}
	r = h2_conn_put_head(h, st->id, head, st->is_extended ? H2_HEAD_EXTENDED : 0u, end);
	if (r < 0)
		return r;
	st->last_frame = place;
	if (head->kind == HTTP_RESPONSE && (head->status >= 200 || head->status == 101))
		st->tx_head = 1;
	if (end)
		end_tx(st);
	return 0;
}

/* --- the beginning and the end --- */

int
h2_conn_open(struct h2_conn *h, struct h2_stream *st, const struct http_head *req, int end)
{
	int extended = websocket_is_wanted(req), r;
	uint64_t place = h->out_sent + h->out.len;

	if (h2_conn_is_used_up(h))
		return -ERR_CLOSED;
	if (h->n_open >= h2_conn_max_streams(h))
		return -ERR_FULL;
	if (extended && !h->may_extend)
		return -ERR_UNSUPPORTED;
	while (h->n_ending && h->n_open + h->n_ending >= h->peer_max_streams)
		reset_ending(h);
	/* The tunnel follows. */
	if (extended || req->method == HTTP_CONNECT)
		end = 0;
	r = h2_conn_put_head(h, h->next_id, req,
		(extended ? H2_HEAD_EXTENDED : 0u) | (h->is_tls ? H2_HEAD_TLS : 0u), end);
	if (r < 0)
		return r;
	h2_stream_attach(st, h, h->next_id);
	h->next_id += 2;
	st->method = (uint8_t)req->method;
	st->is_extended = (uint8_t)extended;
	st->tx_head = 1;
	st->last_frame = place;
	if (end)
		end_tx(st);
	return 0;
}

/* Chooses the code for a stream that its user leaves: a server that has answered needs no more of
 * the request (8.1). */
static enum h2_code
code_of_leaving(const struct h2_stream *st)
{
	return !st->conn->is_client && st->tx_end ? H2_NO_ERROR : H2_CANCEL;
}

/* True if a server has sent all of a response but END_STREAM: a frame that is on its way has it,
 * and a reset would call the request cancelled. */
static int
lacks_only_end(const struct h2_stream *st)
{
	return st->conn->is_client && st->rx_head && !st->body_left && st->tx_end &&
		!h2_stream_is_closed(st);
}

void
h2_stream_release(struct h2_stream *st)
{
	struct h2_conn *h = st->conn;
	struct h2_stream **at = stream_bucket(h, st->id);

	for (struct h2_guard *g = h->guards; g; g = g->up)
		if (g->st == st)
			g->st = NULL;
	if (h->reader == st)
		h->reader = NULL;
	st->is_reported = 1;
	if (lacks_only_end(st))
		leave_to_end(st);
	else if (!h2_stream_is_closed(st))
		send_reset(st, code_of_leaving(st));
	if (st->reset_out)
		note_reset(h, st->id);
	drop_body(st);
	settle_stream(st);
	list_remove(&st->wait);
	while (*at != st)
		at = &(*at)->next;
	*at = st->next;
	st->conn = NULL;
	h->n_attached--;
	h2_conn_resume(h, H2_WAIT_STREAMS);
}
