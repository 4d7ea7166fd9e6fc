/* The rules of received frames: functions made from h2/h2_rule.tbl.h. Pure. */
#include "h2/h2_frame.h"

#include "base/compiler.h"

#define BIT(type) (1u << (type))
#define OF_STREAM \
	(BIT(H2_DATA) | BIT(H2_HEADERS) | BIT(H2_PRIORITY) | BIT(H2_RST_STREAM) | \
		BIT_WINDOW(f) | BIT(H2_CONTINUATION))
#define OF_CONNECTION (BIT(H2_SETTINGS) | BIT(H2_PING) | BIT(H2_GOAWAY))
/* WINDOW_UPDATE is a frame of a stream if it names one. */
#define BIT_WINDOW(f) ((f)->stream ? BIT(H2_WINDOW_UPDATE) : 0u)

static inline unsigned int
frame_bit(const struct h2_frame *f)
{
	return f->type < H2_TYPES ? BIT(f->type) : 0;
}

/* True if a frame other than PRIORITY has the length that its type and flags require. */
static int
size_fits(const struct h2_frame *f)
{
	uint32_t n = h2_prefix_len(f);

	switch (f->type) {
	case H2_RST_STREAM:
	case H2_PING:
	case H2_WINDOW_UPDATE:
		return f->len == n;
	case H2_SETTINGS:
		return f->flags & H2_ACK ? f->len == 0 : f->len % H2_SETTING_LEN == 0;
	case H2_PRIORITY:
		return 1;
	default:
		return f->len >= n;
	}
}

static uint32_t
padding_of(const struct h2_frame *f, const uint8_t *p)
{
	int may_pad = f->type == H2_DATA || f->type == H2_HEADERS;

	return may_pad && (f->flags & H2_PADDED) ? p[0] : 0;
}

/* Returns the stream that this one depends on. 0: the root, or the frame has no priority. */
static uint32_t
depends_on(const struct h2_frame *f, const uint8_t *p)
{
	if (f->type == H2_HEADERS && (f->flags & H2_PRIORITY_FLAG))
		return h2_get32(p + (f->flags & H2_PADDED ? 1 : 0)) & H2_MAX31;
	/* PRIORITY_LEN is checked before. */
	return f->type == H2_PRIORITY ? h2_get32(p) & H2_MAX31 : 0;
}

static const struct {
	const char *section, *text;
	uint8_t action, code;
} rules[H2_RULES] = {
#define H2_FRAME_RULE(id, section, action, code, text, condition) \
	[H2_RULE_##id] = { section, text, H2_ACT_##action, H2_##code },
#define H2_PAYLOAD_RULE H2_FRAME_RULE
#define H2_SETTING_RULE H2_FRAME_RULE
#include "h2/h2_rule.tbl.h"
#undef H2_SETTING_RULE
#undef H2_PAYLOAD_RULE
#undef H2_FRAME_RULE
};

const char *
h2_rule_section(enum h2_rule rule)
{
	return rules[rule].section;
}

const char *
h2_rule_text(enum h2_rule rule)
{
	return rules[rule].text;
}

const char *
h2_code_name(uint32_t code)
{
	static const char *const names[] = {
#define H2_CODE(name, value) [value] = #name,
#include "h2/h2_code.tbl.h"
#undef H2_CODE
	};

	return code < ARRAY_LEN(names) ? names[code] : NULL;
}

/* True if an error of this frame can be one of its stream: an idle one has nothing to reset. */
static int
has_stream(const struct h2_frame *f, const struct h2_known *w)
{
	return f->stream && (w->state != H2_IDLE || f->type == H2_HEADERS);
}

static struct h2_verdict
verdict_of(enum h2_rule rule, int of_stream)
{
	uint8_t action = rules[rule].action;

	if (action == H2_ACT_STREAM && !of_stream)
		action = H2_ACT_CONN;
	return (struct h2_verdict){ (uint8_t)rule, action, rules[rule].code };
}

#define H2_NO_RULE(...)

static enum h2_rule
frame_rule(const struct h2_frame *f, const struct h2_known *w)
{
#define H2_FRAME_RULE(id, section, action, code, text, condition) \
	if (condition) \
		return H2_RULE_##id;
#define H2_PAYLOAD_RULE H2_NO_RULE
#define H2_SETTING_RULE H2_NO_RULE
#include "h2/h2_rule.tbl.h"
#undef H2_SETTING_RULE
#undef H2_PAYLOAD_RULE
#undef H2_FRAME_RULE
	return H2_RULE_NONE;
}

struct h2_verdict
h2_check_frame(const struct h2_frame *f, const struct h2_known *w)
{
	return verdict_of(frame_rule(f, w), has_stream(f, w));
}

static enum h2_rule
payload_rule(const struct h2_frame *f, const uint8_t *p)
{
#define H2_FRAME_RULE H2_NO_RULE
#define H2_PAYLOAD_RULE(id, section, action, code, text, condition) \
	if (condition) \
		return H2_RULE_##id;
#define H2_SETTING_RULE H2_NO_RULE
#include "h2/h2_rule.tbl.h"
#undef H2_SETTING_RULE
#undef H2_PAYLOAD_RULE
#undef H2_FRAME_RULE
	return H2_RULE_NONE;
}

struct h2_verdict
h2_check_payload(const struct h2_frame *f, const uint8_t *p, const struct h2_known *w)
{
	return verdict_of(payload_rule(f, p), has_stream(f, w));
}

static enum h2_rule
setting_rule(uint32_t id, uint32_t value, const struct h2_known *w)
{
#define H2_FRAME_RULE H2_NO_RULE
#define H2_PAYLOAD_RULE H2_NO_RULE
#define H2_SETTING_RULE(rule, section, action, code, text, condition) \
	if (condition) \
		return H2_RULE_##rule;
#include "h2/h2_rule.tbl.h"
#undef H2_SETTING_RULE
#undef H2_PAYLOAD_RULE
#undef H2_FRAME_RULE
	return H2_RULE_NONE;
}

struct h2_verdict
h2_check_setting(uint32_t id, uint32_t value, const struct h2_known *w)
{
	return verdict_of(setting_rule(id, value, w), 0);
}
