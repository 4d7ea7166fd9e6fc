/*
 * A frame of an agent without its length. All that is read lies inside it, and what is written from
 * its actions can be read again.
 */
#include <string.h>

#include "fuzz/head.h"
#include "spop/spop.h"

static char room[65536];

static int
lies_in(struct str text, const struct spop_in *in)
{
	const uint8_t *p = (const uint8_t *)text.p;

	return !text.len || (p >= in->p && text.len <= (size_t)(in->end - p));
}

/* Writes the actions again, and reads them. */
static void
read_again(const struct sbuf *b, size_t n)
{
	const uint8_t *p = (const uint8_t *)b->p;
	struct spop_in in = { p, p + b->len };
	struct spop_action a;

	while (n--)
		hold(spop_next_action(&in, &a) == 1);
	hold(in.p == in.end);
}

static void
read_actions(const struct spop_frame *f)
{
	struct spop_in in = f->payload;
	struct spop_action a;
	struct sbuf b;
	size_t n = 0;
	int r;

	sbuf_init_fixed(&b, room, sizeof(room));
	while ((r = spop_next_action(&in, &a)) > 0) {
		const char head[] = { (char)(1 + a.is_unset), (char)(3 - a.is_unset),
			(char)a.scope };

		hold(lies_in(a.name, &f->payload) && a.name.len);
		hold(a.is_unset || lies_in(a.value.text, &f->payload));
		sbuf_add(&b, head, sizeof(head));
		spop_put_text(&b, a.name);
		if (!a.is_unset)
			spop_put_value(&b, &a.value);
		n++;
	}
	hold((r == 0) == spop_actions_are_valid(f->payload));
	if (!b.failed)
		read_again(&b, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spop_agent agent = { 0 };
	struct spop_frame f;
	struct str text = { NULL, 0 };
	uint32_t code;

	if (spop_read_frame(data, size, &f) != SPOP_OK)
		return 0;
	hold(f.payload.p <= f.payload.end && f.payload.end == data + size);
	if (spop_read_hello(&f, 16380, &agent) == SPOP_OK)
		hold(agent.max_frame >= SPOP_FRAME_MIN && agent.max_frame <= 16380);
	if (spop_read_disconnect(&f, &code, &text) == SPOP_OK)
		hold(lies_in(text, &f.payload));
	read_actions(&f);
	return 0;
}
