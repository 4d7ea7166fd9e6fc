/* The conditions of set-var. Parsed on the main thread, evaluated by workers. */
#include "rule/sample/var_cond.h"

#include "base/compiler.h"

enum {
	IF_EXISTS = 1,
	IF_NOT_EXISTS = 2,
	IF_EMPTY = 4,
	IF_NOT_EMPTY = 8,
	IF_SET = 16,
	IF_NOT_SET = 32,
	IF_GT = 64,
	IF_LT = 128
};

unsigned int
var_cond_parse(struct str word)
{
	static const struct {
		struct str word;
		unsigned int bit;
	} all[] = {
		{ STR("ifexists"), IF_EXISTS },
		{ STR("ifnotexists"), IF_NOT_EXISTS },
		{ STR("ifempty"), IF_EMPTY },
		{ STR("ifnotempty"), IF_NOT_EMPTY },
		{ STR("ifset"), IF_SET },
		{ STR("ifnotset"), IF_NOT_SET },
		{ STR("ifgt"), IF_GT },
		{ STR("iflt"), IF_LT },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (str_is(all[i].word, word))
			return all[i].bit;
	return 0;
}

int
var_cond_hold(unsigned int when, const struct sample_ctx *cx, struct var_name name,
	const struct sample *s)
{
	struct sample old = { .type = SAMPLE_STR };
	int set, exists, empty, numbers;

	if (!when)
		return 1;
	set = var_find(cx, name, &old);
	/* Variables of scope proc exist when they are named in the configuration. */
	exists = set || name.scope == VAR_PROC;
	empty = (s->type == SAMPLE_STR || s->type == SAMPLE_BIN) && s->u.str.len == 0;
	/* Other types have no order: both ifgt and iflt are true then. */
	numbers = set && old.type == SAMPLE_SINT && s->type == SAMPLE_SINT;
	return !((when & IF_EXISTS && !exists) || (when & IF_NOT_EXISTS && exists) ||
		(when & IF_EMPTY && !empty) || (when & IF_NOT_EMPTY && empty) ||
		(when & IF_SET && !set) || (when & IF_NOT_SET && set) ||
		(when & IF_GT && numbers && old.u.sint <= s->u.sint) ||
		(when & IF_LT && numbers && old.u.sint >= s->u.sint));
}
