/* Requests to the helper of external checks: what is written is read, and nothing else is. */
#include "proxy/check/external_msg.h"

#include <string.h>

#include "base/err.h"
#include "unit/test.h"

static char msg[EXTERNAL_REQUEST_MAX];

static size_t
write_run(uint32_t id, unsigned int n_args, unsigned int n_env)
{
	struct sbuf out;

	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_msg_begin(&out, EXTERNAL_RUN, id, n_args, n_env);
	for (unsigned int i = 0; i < n_args; i++)
		external_msg_add(&out, "arg%u", i);
	for (unsigned int i = 0; i < n_env; i++)
		external_msg_add(&out, "E%u=%s", i, i % 2 ? "" : "a b");
	assert_false(out.failed);
	return out.len;
}

static void
test_whole(void **state)
{
	struct external_request q;
	size_t len = write_run(77, EXTERNAL_ARGS_MAX, EXTERNAL_ENV_MAX);

	(void)state;
	assert_int_equal(external_msg_read(msg, len, &q), 0);
	assert_int_equal(q.kind, EXTERNAL_RUN);
	assert_int_equal(q.id, 77);
	assert_string_equal(q.args[0], "arg0");
	assert_string_equal(q.args[EXTERNAL_ARGS_MAX - 1], "arg7");
	assert_null(q.args[EXTERNAL_ARGS_MAX]);
	assert_string_equal(q.env[0], "E0=a b");
	assert_string_equal(q.env[1], "E1=");
	assert_null(q.env[EXTERNAL_ENV_MAX]);
}

static void
test_kill(void **state)
{
	struct external_request q;
	struct sbuf out;

	(void)state;
	sbuf_init_fixed(&out, msg, sizeof(msg));
	external_msg_begin(&out, EXTERNAL_KILL, UINT32_MAX, 0, 0);
	assert_int_equal(external_msg_read(msg, out.len, &q), 0);
	assert_int_equal(q.kind, EXTERNAL_KILL);
	assert_int_equal(q.id, UINT32_MAX);
	assert_null(q.args[0]);
	assert_null(q.env[0]);
}

/* Every length but the right one. */
static void
test_cut(void **state)
{
	struct external_request q;
	size_t len = write_run(1, 2, 3);

	(void)state;
	for (size_t n = 0; n < len; n++)
		assert_int_equal(external_msg_read(msg, n, &q), -ERR_SYNTAX);
	assert_int_equal(external_msg_read(msg, len, &q), 0);
	msg[len] = '\0';
	assert_int_equal(external_msg_read(msg, len + 1, &q), -ERR_SYNTAX);
}

static void
test_bad_heads(void **state)
{
	static const struct external_request_head bad[] = {
		{ EXTERNAL_KILL + 1, 1, 0, 0 },
		{ EXTERNAL_RUN, 1, 0, 0 },
		{ EXTERNAL_KILL, 1, 1, 0 },
		{ EXTERNAL_RUN, 1, EXTERNAL_ARGS_MAX + 1, 0 },
		{ EXTERNAL_RUN, 1, UINT32_MAX, 0 },
		{ EXTERNAL_RUN, 1, 1, EXTERNAL_ENV_MAX + 1 },
	};
	struct external_request q;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		memset(msg, 0, sizeof(msg));
		memcpy(msg, &bad[i], sizeof(bad[i]));
		assert_int_equal(external_msg_read(msg, sizeof(bad[i]) + 64, &q), -ERR_SYNTAX);
		assert_int_equal(external_msg_read(msg, sizeof(bad[i]), &q), -ERR_SYNTAX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bad_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
