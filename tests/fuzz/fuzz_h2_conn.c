/* Connections of HTTP/2: the first byte chooses the role and what the user does, the others are
 * received. The user is called with the same however they are cut, and memory is given back. */
#include "fuzz/head.h"
#include "unit/h2/h2_rig.h"

static struct rig whole, cut;

static void
open_stream(struct rig *r)
{
	struct http_field field[1];
	struct http_head req;

	http_head_init(&req, HTTP_REQUEST, field, 1);
	req.method_text = STR("GET");
	req.method = HTTP_GET;
	req.target = STR("http://a/");
	hold(h2_conn_open(&r->h, &rig_new_stream(r)->st, &req, 0) == 0);
}

/* Answers all streams. */
static void
answer_streams(struct rig *r)
{
	struct http_head res;

	http_head_init(&res, HTTP_RESPONSE, NULL, 0);
	res.status = 200;
	for (unsigned int i = 0; i < RIG_STREAMS && !r->h.is_client; i++)
		if (r->stream[i].is_used) {
			struct h2_stream *st = &r->stream[i].st;

			if (h2_stream_send_head(st, &res, 0) == 0)
				(void)h2_stream_send(st, "hello", 5, i % 2);
			rig_release(st);
		}
}

static void
receive_all(struct rig *r, unsigned int choice, const uint8_t *p, size_t n, size_t step)
{
	static const char greeting[] = H2_PREFACE "\0\0\0\4\0\0\0\0\0";
	size_t skip = choice & 1 ? H2_PREFACE_LEN : 0;

	rig_prepare(r);
	r->holds_data = choice >> 1 & 1;
	r->keeps_reset = choice >> 2 & 1;
	r->refuses = choice >> 3 & 1 ? H2_REFUSED_STREAM : 0;
	r->cfg.max_streams = 1 + (choice >> 4 & 3);
	r->cfg.max_frames = choice >> 6;
	hold(rig_begin(r, choice & 1) == 0);
	rig_feed(r, (const uint8_t *)greeting + skip, sizeof(greeting) - 1 - skip, 100);
	if (choice & 1)
		open_stream(r);
	rig_feed(r, p, n, step);
	hold(r->h.n_open <= r->h.n_attached);
	hold(r->h.n_attached <= r->cfg.max_streams);
	hold(r->h.out.len < 2 * 65536);
}

static void
end_rig(struct rig *r)
{
	answer_streams(r);
	hold(r->h.n_attached == 0 || r->h.is_client);
	rig_end(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int choice = size ? data[0] : 0;
	const uint8_t *p = data + (size != 0);
	size_t n = size - (size != 0);

	receive_all(&whole, choice, p, n, n ? n : 1);
	receive_all(&cut, choice, p, n, 1 + choice % 5);
	hold(whole.h.has_failed == cut.h.has_failed);
	hold(whole.h.glitches == cut.h.glitches);
	hold(strcmp(whole.log, cut.log) == 0);
	end_rig(&whole);
	end_rig(&cut);
	return 0;
}
