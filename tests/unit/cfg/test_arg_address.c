#include "cfg/arg_address.h"

#include <string.h>

#include "cfg/ctx.h"
#include "cfg/env.h"
#include "cfg/lexer.h"
#include "unit/test.h"

struct world {
	struct cfg_env env;
	struct cfg_diag diag;
};

/* The address as a line has it. NULL: refused. */
static const char *
address(struct world *w, const char *text, char buf[CFG_ADDRESS_MAX])
{
	struct cfg_word word = { .text = text, .col = 1 };
	struct cfg_ctx ctx = {
		.word = &word,
		.nword = 1,
		.argc = 1,
		.env = &w->env,
		.diag = &w->diag,
	};

	return cfg_arg_address(&ctx, 0, buf);
}

static void
world_open(struct world *w)
{
	cfg_env_init(&w->env);
	cfg_diag_init(&w->diag, 0);
	assert_int_equal(cfg_env_set(&w->env, "PORT", "80"), 0);
	assert_int_equal(cfg_env_set(&w->env, "_H2", "h"), 0);
	assert_int_equal(cfg_env_set(&w->env, "EMPTY", ""), 0);
}

static void
world_close(struct world *w)
{
	cfg_diag_fini(&w->diag);
	cfg_env_fini(&w->env);
}

static void
variables_are_expanded_in_addresses(void **state)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{ ":$PORT", ":80" },
		{ "${_H2}:${PORT}", "h:80" },
		{ "$_H2$PORT", "h80" },
		{ ":$PORT.1", ":80.1" },
		{ ":8$PORT", ":880" },
		{ ":${PORT}0", ":800" },
		{ ":$PORT0", ":" },
		{ "$NOT:$EMPTY", ":" },
		/* no variables */
		{ ":80", ":80" },
		{ "", "" },
		{ ":$", ":$" },
		{ ":$8", ":$8" },
		{ ":${PORT", ":${PORT" },
		{ ":${}", ":${}" },
		{ ":${PORT-81}", ":${PORT-81}" },
		{ "$$PORT", "$80" },
	};
	char buf[CFG_ADDRESS_MAX];
	struct world w;

	(void)state;
	world_open(&w);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(address(&w, t[i].text, buf), t[i].want);
	assert_int_equal(w.diag.count[CFG_ALERT], 0);
	world_close(&w);
}

static void
addresses_are_bounded(void **state)
{
	char text[CFG_VAR_MAX + 4], value[CFG_ADDRESS_MAX], buf[CFG_ADDRESS_MAX];
	struct world w;

	(void)state;
	world_open(&w);
	memset(value, 'x', sizeof(value));
	value[CFG_ADDRESS_MAX - 1] = '\0';
	assert_int_equal(cfg_env_set(&w.env, "LONG", value), 0);
	assert_string_equal(address(&w, "$LONG", buf), value);
	assert_null(address(&w, "$LONG:", buf));
	assert_int_equal(w.diag.count[CFG_ALERT], 1);
	/* a name that is too long is no variable */
	memset(text, 'A', sizeof(text));
	text[0] = '$';
	text[CFG_VAR_MAX + 2] = '\0';
	assert_string_equal(address(&w, text, buf), text);
	text[CFG_VAR_MAX + 1] = '\0';
	assert_string_equal(address(&w, text, buf), "");
	world_close(&w);
}

/* Lines of the admin socket have none. */
static void
without_an_environment_nothing_is_expanded(void **state)
{
	struct cfg_word word = { .text = "$PORT", .col = 1 };
	struct cfg_ctx ctx = { .word = &word, .nword = 1, .argc = 1 };
	char buf[CFG_ADDRESS_MAX];

	(void)state;
	assert_ptr_equal(cfg_arg_address(&ctx, 0, buf), word.text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_expanded_in_addresses),
		cmocka_unit_test(addresses_are_bounded),
		cmocka_unit_test(without_an_environment_nothing_is_expanded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
