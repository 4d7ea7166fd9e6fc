/* One row of frames for each rule of h2_rule.tbl.h, frames that no rule is against, and writers. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "h2/h2_frame.h"
#include "unit/test.h"

#define MAX_LEN 16384

/* Frames as they are received; ok: no rule applies. */
static const struct frame_row {
	struct h2_frame f;
	struct h2_known w;
	uint8_t rule, action, code;
	uint8_t payload[8];
} rows[] = {
#define AT(s) { .max_len = MAX_LEN, .state = H2_##s }
#define OPENS { .max_len = MAX_LEN, .state = H2_IDLE, .may_open = 1 }
#define BLOCK(n) { .max_len = MAX_LEN, .state = H2_OPEN, .block = n }
#define IS_FIRST { .max_len = MAX_LEN, .is_first = 1 }
#define CONN(id, code) H2_RULE_##id, H2_ACT_CONN, H2_##code
#define STREAM(id, code) H2_RULE_##id, H2_ACT_STREAM, H2_##code
#define IGNORE(id) H2_RULE_##id, H2_ACT_IGNORE, 0
#define OK H2_RULE_NONE, H2_ACCEPT, 0
	/* 4.2 */
	{ { MAX_LEN, 1, H2_DATA, 0 }, AT(OPEN), OK, { 0 } },
	{ { MAX_LEN + 1, 1, H2_DATA, 0 }, AT(OPEN), CONN(LENGTH, FRAME_SIZE_ERROR), { 0 } },
	{ { MAX_LEN + 1, 0, 0x77, 0 }, AT(IDLE), CONN(LENGTH, FRAME_SIZE_ERROR), { 0 } },
	/* 3.4 */
	{ { 0, 0, H2_SETTINGS, 0 }, IS_FIRST, OK, { 0 } },
	{ { 0, 0, H2_SETTINGS, H2_ACK }, IS_FIRST, CONN(FIRST, PROTOCOL_ERROR), { 0 } },
	{ { 8, 0, H2_PING, 0 }, IS_FIRST, CONN(FIRST, PROTOCOL_ERROR), { 0 } },
	/* 6.10 */
	{ { 5, 1, H2_CONTINUATION, 0 }, BLOCK(1), OK, { 0 } },
	{ { 5, 3, H2_CONTINUATION, 0 }, BLOCK(1), CONN(BLOCK_CUT, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, BLOCK(1), CONN(BLOCK_CUT, PROTOCOL_ERROR), { 0 } },
	{ { 5, 0, 0x77, 0 }, BLOCK(1), CONN(BLOCK_CUT, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_CONTINUATION, 0 }, AT(OPEN), CONN(NO_BLOCK, PROTOCOL_ERROR), { 0 } },
	/* 8.4 */
	{ { 5, 1, H2_PUSH_PROMISE, 0 }, AT(OPEN), CONN(PUSH, PROTOCOL_ERROR), { 0 } },
	/* Stream 0 and others (6.1 to 6.10) */
	{ { 5, 0, H2_DATA, 0 }, AT(IDLE), CONN(NO_STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 5, 0, H2_HEADERS, 0 }, AT(IDLE), CONN(NO_STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 5, 0, H2_PRIORITY, 0 }, AT(IDLE), CONN(NO_STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 4, 0, H2_RST_STREAM, 0 }, AT(IDLE), CONN(NO_STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 0, 1, H2_SETTINGS, 0 }, AT(OPEN), CONN(STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 8, 1, H2_PING, 0 }, AT(OPEN), CONN(STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 8, 1, H2_GOAWAY, 0 }, AT(OPEN), CONN(STREAM, PROTOCOL_ERROR), { 0 } },
	{ { 4, 0, H2_WINDOW_UPDATE, 0 }, AT(IDLE), OK, { 0, 0, 0, 1 } },
	/* Sizes */
	{ { 3, 1, H2_RST_STREAM, 0 }, AT(OPEN), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 5, 0, H2_SETTINGS, 0 }, AT(IDLE), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 6, 0, H2_SETTINGS, H2_ACK }, AT(IDLE), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 12, 0, H2_SETTINGS, 0 }, AT(IDLE), OK, { 0 } },
	{ { 7, 0, H2_PING, 0 }, AT(IDLE), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 7, 0, H2_GOAWAY, 0 }, AT(IDLE), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 9, 0, H2_GOAWAY, 0 }, AT(IDLE), OK, { 0 } },
	{ { 5, 0, H2_WINDOW_UPDATE, 0 }, AT(IDLE), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 0, 1, H2_DATA, H2_PADDED }, AT(OPEN), CONN(SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 5, 1, H2_HEADERS, H2_PADDED | H2_PRIORITY_FLAG }, OPENS, CONN(SIZE, FRAME_SIZE_ERROR),
		{ 0 } },
	{ { 4, 1, H2_PRIORITY, 0 }, AT(OPEN), STREAM(PRIORITY_SIZE, FRAME_SIZE_ERROR), { 0 } },
	{ { 4, 1, H2_PRIORITY, 0 }, AT(IDLE), CONN(PRIORITY_SIZE, FRAME_SIZE_ERROR), { 0 } },
	/* 5.1 and 5.1.1 */
	{ { 5, 1, H2_DATA, 0 }, AT(IDLE), CONN(IDLE, PROTOCOL_ERROR), { 0 } },
	{ { 4, 1, H2_RST_STREAM, 0 }, AT(IDLE), CONN(IDLE, PROTOCOL_ERROR), { 0 } },
	{ { 4, 1, H2_WINDOW_UPDATE, 0 }, AT(IDLE), CONN(IDLE, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_PRIORITY, 0 }, AT(IDLE), OK, { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, OPENS, OK, { 0 } },
	{ { 5, 2, H2_HEADERS, 0 }, AT(IDLE), CONN(OPENS, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_DATA, 0 }, AT(RESET), IGNORE(LATE), { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, AT(RESET), IGNORE(LATE), { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, AT(CLOSED), CONN(CLOSED_HEADERS, STREAM_CLOSED), { 0 } },
	{ { 5, 1, H2_DATA, 0 }, AT(CLOSED), STREAM(CLOSED_DATA, STREAM_CLOSED), { 0 } },
	{ { 4, 1, H2_WINDOW_UPDATE, 0 }, AT(CLOSED), IGNORE(CLOSED), { 0 } },
	{ { 4, 1, H2_RST_STREAM, 0 }, AT(CLOSED), IGNORE(CLOSED), { 0 } },
	{ { 5, 1, H2_PRIORITY, 0 }, AT(CLOSED), IGNORE(CLOSED), { 0 } },
	{ { 5, 1, H2_DATA, 0 }, AT(ENDED), STREAM(ENDED, STREAM_CLOSED), { 0 } },
	{ { 5, 1, H2_HEADERS, H2_END_STREAM }, AT(ENDED), STREAM(ENDED, STREAM_CLOSED), { 0 } },
	{ { 4, 1, H2_WINDOW_UPDATE, 0 }, AT(ENDED), OK, { 0, 0, 0, 1 } },
	{ { 4, 1, H2_RST_STREAM, 0 }, AT(ENDED), OK, { 0 } },
	/* 8.1 */
	{ { 5, 1, H2_DATA, 0 }, AT(HEADLESS), STREAM(EARLY_DATA, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, AT(HEADLESS), OK, { 0 } },
	{ { 5, 1, H2_HEADERS, 0 }, AT(OPEN), STREAM(TRAILERS, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_HEADERS, H2_END_STREAM }, AT(OPEN), OK, { 0 } },
	/* 8.5 */
	{ { 5, 1, H2_HEADERS, H2_END_STREAM }, AT(TUNNEL), STREAM(TUNNEL, PROTOCOL_ERROR), { 0 } },
	{ { 5, 1, H2_DATA, 0 }, AT(TUNNEL), OK, { 0 } },
	/* Unknown types and flags (5.5) */
	{ { 5, 1, 0x77, 0xff }, AT(IDLE), OK, { 0 } },
	{ { 5, 1, H2_DATA, 0x40 }, AT(OPEN), OK, { 0 } },
	/* Payloads: 6.1, 6.2 */
	{ { 5, 1, H2_DATA, H2_PADDED }, AT(OPEN), OK, { 4 } },
	{ { 5, 1, H2_DATA, H2_PADDED }, AT(OPEN), CONN(PADDING, PROTOCOL_ERROR), { 5 } },
	{ { 9, 1, H2_HEADERS, H2_PADDED | H2_PRIORITY_FLAG }, OPENS, OK, { 3, 0, 0, 0, 3 } },
	{ { 9, 1, H2_HEADERS, H2_PADDED | H2_PRIORITY_FLAG }, OPENS, CONN(PADDING, PROTOCOL_ERROR),
		{ 4, 0, 0, 0, 3 } },
	/* 5.3.1 of RFC 7540; the exclusive bit does not count */
	{ { 9, 1, H2_HEADERS, H2_PADDED | H2_PRIORITY_FLAG }, OPENS,
		STREAM(DEPENDS, PROTOCOL_ERROR), { 0, 0x80, 0, 0, 1 } },
	{ { 5, 1, H2_PRIORITY, 0 }, AT(OPEN), STREAM(DEPENDS, PROTOCOL_ERROR), { 0, 0, 0, 1 } },
	{ { 5, 1, H2_PRIORITY, 0 }, AT(IDLE), CONN(DEPENDS, PROTOCOL_ERROR), { 0, 0, 0, 1 } },
	{ { 5, 1, H2_PRIORITY, 0 }, AT(OPEN), OK, { 0, 0, 0, 0 } },
	/* 6.9 */
	{ { 4, 1, H2_WINDOW_UPDATE, 0 }, AT(OPEN), STREAM(NO_INCREMENT, PROTOCOL_ERROR), { 0 } },
	{ { 4, 0, H2_WINDOW_UPDATE, 0 }, AT(IDLE), CONN(NO_INCREMENT, PROTOCOL_ERROR), { 0 } },
	{ { 4, 0, H2_WINDOW_UPDATE, 0 }, AT(IDLE), CONN(NO_INCREMENT, PROTOCOL_ERROR), { 0x80 } },
};

static unsigned char seen[H2_RULES];

static void
assert_verdict(struct h2_verdict v, unsigned int rule, unsigned int action, unsigned int code,
	size_t row)
{
	if (v.rule != rule || v.action != action || v.code != code)
		fail_msg("row %zu: %u %u %u, expected %u %u %u: %s", row, v.rule, v.action, v.code,
			rule, action, code, h2_rule_text((enum h2_rule)rule));
	seen[v.rule] = 1;
}

static void
frames_meet_rules(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct frame_row *r = &rows[i];
		struct h2_verdict v = h2_check_frame(&r->f, &r->w);

		if (v.action == H2_ACCEPT)
			v = h2_check_payload(&r->f, r->payload, &r->w);
		assert_verdict(v, r->rule, r->action, r->code, i);
	}
}

static void
settings_meet_rules(void **st)
{
	static const struct {
		uint32_t id, value;
		uint8_t rule, action, code, is_client;
	} settings[] = {
		{ H2_S_ENABLE_PUSH, 0, OK, 1 },
		{ H2_S_ENABLE_PUSH, 1, OK, 0 },
		{ H2_S_ENABLE_PUSH, 2, CONN(ENABLE_PUSH, PROTOCOL_ERROR), 0 },
		{ H2_S_ENABLE_PUSH, 1, CONN(SERVER_PUSH, PROTOCOL_ERROR), 1 },
		{ H2_S_INITIAL_WINDOW_SIZE, H2_MAX31, OK, 0 },
		{ H2_S_INITIAL_WINDOW_SIZE, H2_MAX31 + 1u, CONN(WINDOW, FLOW_CONTROL_ERROR), 0 },
		{ H2_S_MAX_FRAME_SIZE, 16383, CONN(MAX_FRAME, PROTOCOL_ERROR), 0 },
		{ H2_S_MAX_FRAME_SIZE, 16384, OK, 0 },
		{ H2_S_MAX_FRAME_SIZE, 16777215, OK, 0 },
		{ H2_S_MAX_FRAME_SIZE, 16777216, CONN(MAX_FRAME, PROTOCOL_ERROR), 0 },
		{ H2_S_ENABLE_CONNECT_PROTOCOL, 1, OK, 0 },
		{ H2_S_ENABLE_CONNECT_PROTOCOL, 2, CONN(CONNECT, PROTOCOL_ERROR), 0 },
		{ H2_S_HEADER_TABLE_SIZE, UINT32_MAX, OK, 0 },
		{ H2_S_MAX_CONCURRENT_STREAMS, UINT32_MAX, OK, 0 },
		{ 0xabcd, UINT32_MAX, OK, 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		struct h2_known w = { .is_client = settings[i].is_client };

		assert_verdict(h2_check_setting(settings[i].id, settings[i].value, &w),
			settings[i].rule, settings[i].action, settings[i].code, i);
	}
}

/* Each rule was met above, and has a section and a text. */
static void
rules_are_covered(void **st)
{
	(void)st;
	for (unsigned int i = 1; i < H2_RULES; i++) {
		assert_non_null(h2_rule_section((enum h2_rule)i));
		if (!seen[i])
			fail_msg("no row meets: %s", h2_rule_text((enum h2_rule)i));
	}
	assert_string_equal(h2_code_name(H2_HTTP_1_1_REQUIRED), "HTTP_1_1_REQUIRED");
	assert_null(h2_code_name(14));
}

/* The writers, byte by byte. */
static void
writers_write_frames(void **st)
{
	static const uint8_t opaque[H2_PING_LEN] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct h2_frame f;
	uint8_t p[32];

	(void)st;
	assert_int_equal(h2_put_header(p, 0x123456, H2_DATA, H2_END_STREAM, H2_MAX31), 9);
	assert_memory_equal(p, "\x12\x34\x56\x00\x01\x7f\xff\xff\xff", 9);
	p[5] = 0xff;
	h2_get_header(p, &f);
	assert_int_equal(f.len, 0x123456);
	assert_int_equal(f.stream, H2_MAX31);
	assert_int_equal(f.flags, H2_END_STREAM);
	assert_int_equal(h2_put_rst(p, 5, H2_CANCEL), 13);
	assert_memory_equal(p, "\0\0\x04\x03\0\0\0\0\x05\0\0\0\x08", 13);
	assert_int_equal(h2_put_window(p, 5, 0x10000), 13);
	assert_memory_equal(p, "\0\0\x04\x08\0\0\0\0\x05\0\x01\0\0", 13);
	assert_int_equal(h2_put_setting(p, H2_S_MAX_FRAME_SIZE, 16384), 6);
	assert_memory_equal(p, "\0\x05\0\0\x40\0", 6);
	assert_int_equal(h2_put_settings_ack(p), 9);
	assert_memory_equal(p, "\0\0\0\x04\x01\0\0\0\0", 9);
	assert_int_equal(h2_put_ping(p, H2_ACK, opaque), 17);
	assert_memory_equal(p, "\0\0\x08\x06\x01\0\0\0\0\1\2\3\4\5\6\7\x08", 17);
	assert_int_equal(h2_put_goaway(p, 7, H2_NO_ERROR), 17);
	assert_memory_equal(p, "\0\0\x08\x07\0\0\0\0\0\0\0\0\x07\0\0\0\0", 17);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_meet_rules),
		cmocka_unit_test(settings_meet_rules),
		cmocka_unit_test(rules_are_covered),
		cmocka_unit_test(writers_write_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
