/* Compares expressions with the results of HAProxy, with every amount of space for texts. */
#ifndef TACIT_TEST_RULE_CONV_RIG_H
#define TACIT_TEST_RULE_CONV_RIG_H

#include "unit/rule/expr_rig.h"
#include "unit/test.h"

#define RIG_FILL 0xa5 /* fills the memory after the available space */

struct oracle_row {
	const char *expr, *result;
	size_t result_len;
};

#define ORACLE(expr, result) { expr, result, sizeof(result) - 1 },

static inline void
rig_set_var(struct expr_rig *r, const char *name, struct sample s)
{
	struct var_name n;
	const char *why;

	assert_int_equal(var_name_parse(str_of(name), &n, &why), 0);
	assert_int_equal(var_store(&r->cx, n, &s), 0);
}

/* The variables used by the rows. */
static inline void
rig_set_vars(struct expr_rig *r)
{
	static const char *const texts[][2] = { { "txn.str", "str" }, { "txn.t12", "12" },
		{ "txn.key", "a2V5" }, { "txn.bad", "!!" }, { "txn.v", "VAL" } };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		rig_set_var(r, texts[i][0],
			(struct sample){ .type = SAMPLE_STR, .u.str = str_of(texts[i][1]) });
	rig_set_var(r, "txn.n", (struct sample){ .type = SAMPLE_SINT, .u.sint = 10 });
	rig_set_var(r, "txn.zero", (struct sample){ .type = SAMPLE_SINT, .u.sint = 0 });
}

/*
 * Each row has HAProxy's result; with less space than it needs there is no result, which is
 * counted, and never a wrong one.
 */
static inline void
rig_check_rows(const struct oracle_row *row, size_t n)
{
	static struct expr_rig r;

	for (size_t i = 0; i < n; i++) {
		size_t cap = 0;
		const char *got;

		for (;; cap++) {
			rig_init(&r);
			rig_set_vars(&r);
			r.arena.cap = MIN(cap, (size_t)RIG_ARENA);
			memset(r.mem + r.arena.cap, RIG_FILL, sizeof(r.mem) - r.arena.cap);
			got = rig_eval(&r, row[i].expr);
			for (size_t k = r.arena.cap; k < MIN(r.arena.cap + 256, sizeof(r.mem)); k++)
				assert_int_equal((unsigned char)r.mem[k], RIG_FILL);
			if (!r.arena.refused || cap == RIG_ARENA)
				break;
			assert_true(strcmp(got, "(none)") == 0 || strcmp(got, "(no room)") == 0 ||
				strcmp(got, row[i].result) == 0);
			rig_fini(&r);
		}
		if (strcmp(got, row[i].result) != 0)
			fail_msg("%s: %s, HAProxy: %s", row[i].expr, got, row[i].result);
		rig_fini(&r);
	}
}

#endif
