/* Frames of SPOP: what is written, what is read, and what is refused. */
#include <string.h>

#include "base/mem.h"
#include "spop/spop.h"
#include "unit/test.h"

static char room[4096];

static struct sbuf
fresh(void)
{
	struct sbuf b;

	sbuf_init_fixed(&b, room, sizeof(room));
	return b;
}

static const uint8_t *
bytes_of(const struct sbuf *b)
{
	return (const uint8_t *)b->p;
}

static enum spop_status
read_whole(const struct sbuf *b, struct spop_frame *f)
{
	return spop_read_frame(bytes_of(b) + SPOP_LENGTH, b->len - SPOP_LENGTH, f);
}

/* The borders in the protocol's table. */
static void
test_numbers_take_the_bytes_of_the_table(void **state)
{
	static const struct {
		uint64_t n;
		size_t len;
	} rows[] = { { 0, 1 }, { 239, 1 }, { 240, 2 }, { 2287, 2 }, { 2288, 3 }, { 264431, 3 },
		{ 264432, 4 }, { 33818863, 4 }, { 33818864, 5 }, { 4328786159u, 5 },
		{ 4328786160u, 6 }, { UINT64_MAX, 10 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sbuf b = fresh();
		struct spop_frame f;
		size_t at = spop_begin_frame(&b, SPOP_ACK, rows[i].n, 7);

		spop_end_frame(&b, at);
		assert_int_equal(b.len, SPOP_LENGTH + 5 + rows[i].len + 1);
		assert_int_equal(spop_length(bytes_of(&b)), b.len - SPOP_LENGTH);
		assert_int_equal(read_whole(&b, &f), SPOP_OK);
		assert_int_equal(f.type, SPOP_ACK);
		assert_true(f.stream_id == rows[i].n);
		assert_true(f.frame_id == 7);
		assert_true(f.payload.p == f.payload.end);
	}
}

static void
test_a_number_of_more_than_64_bits_is_refused(void **state)
{
	uint8_t frame[32] = { SPOP_ACK, 0, 0, 0, 1 };
	struct spop_frame f;

	(void)state;
	memset(frame + 5, 0xff, 20);
	frame[25] = 0;
	assert_int_equal(spop_read_frame(frame, 27, &f), SPOP_INVALID);
	/* One more than 2^64 - 1. */
	memcpy(frame + 5, "\xff\xf0\xfe\xfe\xfe\xfe\xfe\xfe\xfe\x0f\x01", 11);
	assert_int_equal(spop_read_frame(frame, 16, &f), SPOP_INVALID);
}

static void
test_a_hello_has_the_bytes_of_haproxy(void **state)
{
	static const char want[] =
		"\0\0\0\x51\x01\0\0\0\x01\0\0"
		"\x12supported-versions\x08\x03"
		"2.0\x0emax-frame-size\x03\xfc\xf0\x06"
		"\x0c"
		"capabilities\x08\x10pipelining,async";
	const struct spop_hello h = { .max_frame = 16380, .capabilities = STR("pipelining,async") };
	struct sbuf b = fresh();

	(void)state;
	spop_put_hello(&b, &h);
	assert_int_equal(b.len, sizeof(want) - 1);
	assert_memory_equal(b.p, want, b.len);
}

/* --- AGENT-HELLO --- */

struct items {
	const char *version, *capabilities;
	int64_t max_frame;
};

static enum spop_status
read_items(const struct items *it, struct spop_agent *out)
{
	struct sbuf b = fresh();
	struct spop_value v = { .type = SPOP_STRING };
	struct spop_frame f;
	size_t at = spop_begin_frame(&b, SPOP_AGENT_HELLO, 0, 0);

	if (it->version) {
		v.text = str_of(it->version);
		spop_put_text(&b, STR("version"));
		spop_put_value(&b, &v);
	}
	spop_put_text(&b, STR("unknown"));
	spop_put_value(&b, &v);
	if (it->capabilities) {
		v.text = str_of(it->capabilities);
		spop_put_text(&b, STR("capabilities"));
		spop_put_value(&b, &v);
	}
	v = (struct spop_value){ .type = SPOP_UINT32, .n = it->max_frame };
	spop_put_text(&b, STR("max-frame-size"));
	spop_put_value(&b, &v);
	spop_end_frame(&b, at);
	assert_int_equal(read_whole(&b, &f), SPOP_OK);
	return spop_read_hello(&f, 16380, out);
}

static void
test_a_hello_of_an_agent_is_checked(void **state)
{
	static const struct {
		struct items items;
		enum spop_status status;
		int pipelines, is_async;
	} rows[] = {
		{ { "2.0", "pipelining, async ", 16380 }, SPOP_OK, 1, 1 },
		{ { " 2.0", "", 256 }, SPOP_OK, 0, 0 },
		{ { "2.0", "fragmentation,pipelining", 4096 }, SPOP_OK, 1, 0 },
		{ { NULL, "", 4096 }, SPOP_NO_VERSION, 0, 0 },
		{ { "1.0", "", 4096 }, SPOP_BAD_VERSION, 0, 0 },
		{ { "2.0", "", 255 }, SPOP_BAD_FRAME_SIZE, 0, 0 },
		{ { "2.0", "", 16381 }, SPOP_BAD_FRAME_SIZE, 0, 0 },
		{ { "2.0", "", -1 }, SPOP_BAD_FRAME_SIZE, 0, 0 },
		{ { "2.0", "", 0 }, SPOP_NO_FRAME_SIZE, 0, 0 },
		{ { "2.0", NULL, 4096 }, SPOP_OK, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct spop_agent a = { 0 };

		assert_int_equal(read_items(&rows[i].items, &a), rows[i].status);
		assert_int_equal(a.pipelines, rows[i].pipelines);
		assert_int_equal(a.is_async, rows[i].is_async);
	}
}

/* --- frames --- */

static void
test_flags_are_checked(void **state)
{
	static const struct {
		uint8_t type, flags;
		enum spop_status status;
	} rows[] = { { SPOP_ACK, 1, SPOP_OK }, { SPOP_ACK, 0, SPOP_FRAGMENTED },
		{ 0, 1, SPOP_FRAGMENTED }, { SPOP_ACK, 3, SPOP_INVALID },
		{ SPOP_ACK, 5, SPOP_INVALID }, { 77, 1, SPOP_OK } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const uint8_t frame[] = { rows[i].type, 0, 0, 0, rows[i].flags, 1, 2 };
		struct spop_frame f;

		assert_int_equal(spop_read_frame(frame, sizeof(frame), &f), rows[i].status);
		assert_int_equal(spop_read_frame(frame, sizeof(frame) - 1, &f), SPOP_INVALID);
	}
}

static void
test_a_disconnect_is_read(void **state)
{
	struct sbuf b = fresh();
	struct spop_frame f;
	struct str text;
	uint32_t code;

	(void)state;
	spop_put_disconnect(&b, SPOP_TOO_BIG);
	assert_int_equal(read_whole(&b, &f), SPOP_OK);
	assert_int_equal(spop_read_disconnect(&f, &code, &text), SPOP_OK);
	assert_int_equal(code, SPOP_TOO_BIG);
	assert_true(str_is(text, STR("frame is too big")));
	f.payload.end--;
	assert_int_equal(spop_read_disconnect(&f, &code, &text), SPOP_INVALID);
}

/* --- actions --- */

static void
put_set(struct sbuf *b, enum spop_scope scope, const char *name, const struct spop_value *v)
{
	const char head[] = { 1, 3, (char)scope };

	sbuf_add(b, head, sizeof(head));
	spop_put_text(b, str_of(name));
	spop_put_value(b, v);
}

static void
test_values_come_back(void **state)
{
	const struct spop_value values[] = { { .type = SPOP_NULL },
		{ .type = SPOP_BOOL, .n = 1 }, { .type = SPOP_BOOL },
		{ .type = SPOP_INT32, .n = -1 }, { .type = SPOP_UINT32, .n = 300 },
		{ .type = SPOP_INT64, .n = INT64_MIN }, { .type = SPOP_UINT64, .n = INT64_MAX },
		{ .type = SPOP_IPV4, .ip = { 192, 0, 2, 1 } },
		{ .type = SPOP_IPV6, .ip = { 0x20, 1, [15] = 9 } },
		{ .type = SPOP_STRING, .text = STR("") },
		{ .type = SPOP_BINARY, .text = STR("a\0b") } };
	struct sbuf b = fresh();
	struct spop_action a;
	struct spop_in in;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		put_set(&b, SPOP_TXN, "x", &values[i]);
	sbuf_add(&b, "\2\2\1\1y", 5);
	in = (struct spop_in){ bytes_of(&b), bytes_of(&b) + b.len };
	assert_true(spop_actions_are_valid(in));
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		assert_int_equal(spop_next_action(&in, &a), 1);
		assert_int_equal(a.is_unset, 0);
		assert_int_equal(a.scope, SPOP_TXN);
		assert_true(str_is(a.name, STR("x")));
		assert_int_equal(a.value.type, values[i].type);
		assert_true(a.value.n == values[i].n);
		assert_memory_equal(a.value.ip, values[i].ip, 16);
		assert_true(str_is(a.value.text, values[i].text));
	}
	assert_int_equal(spop_next_action(&in, &a), 1);
	assert_int_equal(a.is_unset, 1);
	assert_int_equal(a.scope, SPOP_SESS);
	assert_int_equal(spop_next_action(&in, &a), 0);
}

/* However many bytes are missing it is noticed. */
static void
test_a_truncated_action_is_refused(void **state)
{
	const struct spop_value v = { .type = SPOP_STRING, .text = STR("value") };
	struct sbuf b = fresh();

	(void)state;
	put_set(&b, SPOP_RES, "name", &v);
	for (size_t n = 1; n < b.len; n++) {
		struct spop_in in = { bytes_of(&b), bytes_of(&b) + n };

		assert_false(spop_actions_are_valid(in));
	}
}

static void
test_actions_that_do_not_exist_are_refused(void **state)
{
	static const struct str rows[] = { STR("\3\3\0\1x\0"), STR("\0\3\0\1x\0"),
		STR("\1\2\0\1x\0"),
		STR("\2\3\0\1x"), STR("\1\3\5\1x\0"), STR("\1\3\0\0\0"), STR("\1\3\0\1x\012"),
		STR("\1\3\0\1x\0\1") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const uint8_t *p = (const uint8_t *)rows[i].p;

		assert_false(spop_actions_are_valid((struct spop_in){ p, p + rows[i].len }));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_take_the_bytes_of_the_table),
		cmocka_unit_test(test_a_number_of_more_than_64_bits_is_refused),
		cmocka_unit_test(test_a_hello_has_the_bytes_of_haproxy),
		cmocka_unit_test(test_a_hello_of_an_agent_is_checked),
		cmocka_unit_test(test_flags_are_checked),
		cmocka_unit_test(test_a_disconnect_is_read),
		cmocka_unit_test(test_values_come_back),
		cmocka_unit_test(test_a_truncated_action_is_refused),
		cmocka_unit_test(test_actions_that_do_not_exist_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
