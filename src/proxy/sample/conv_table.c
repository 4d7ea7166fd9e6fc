/* Converters that look a sample up in a stick table (manual 7.3.1). On the worker that evaluates
 * them; entries are shared. */
#include "proxy/sample/table_word.h"

/* The table's argument follows the index of an array. */
static unsigned int
conv_table_place(const struct rule_args *a)
{
	return (unsigned int)table_word_is_indexed((enum track_word)a->kind);
}

static int
init_table(struct rule_args *a, const struct rule_vocab *v, const char **why unused)
{
	table_arg_init(a, conv_table_place(a), v);
	return 0;
}

static int
check_table(struct rule_args *a, void *root, const char **why)
{
	return table_arg_check(a, conv_table_place(a), root, why);
}

/* Looks the sample up, and makes its entry where makes is set. 0 with *e, which is NULL if there is
 * none, or -1: the sample is no key. */
static int
find_of_sample(struct table *t, struct sample_ctx *cx, struct sample *s, int makes,
	const struct table_caller *by, struct table_entry **e)
{
	struct table_key k;

	if (sample_cast(s, table_key_sample(t), cx->arena) < 0)
		return -1;
	table_key_of(t, s, &k);
	*e = makes ? table_get(t, &k, by) : table_find(t, &k, by);
	return 0;
}

static int
conv_table_word(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	enum track_word w = (enum track_word)a->kind;
	struct table *t = a->arg[conv_table_place(a)].ref;
	struct table_caller by = table_caller_of(cx);
	struct table_entry *e;
	int found;

	if (find_of_sample(t, cx, s, table_word_makes(w), &by, &e) < 0)
		return 0;
	found = table_word_result(w, table_word_index(a, w), t, e, &by, s);
	/* The reference of this look-up is none of those that are shown. */
	if (e)
		table_unref(e);
	return found;
}

/* table_expire, table_idle: without an entry the default that was given. */
static int
conv_time_left(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct table *t = a->arg[0].ref;
	struct table_caller by = table_caller_of(cx);
	struct table_entry *e;

	if (find_of_sample(t, cx, s, 0, &by, &e) < 0)
		return 0;
	if (!e) {
		sample_set_int(s, a->arg[1].num);
		return a->arg[1].type != ARG_END;
	}
	(void)table_word_result((enum track_word)a->kind, 0, t, e, &by, s);
	table_unref(e);
	return 1;
}

static int
conv_in_table(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct table *t = a->arg[0].ref;
	struct table_caller by = table_caller_of(cx);
	struct table_entry *e;

	if (find_of_sample(t, cx, s, 0, &by, &e) < 0)
		return 0;
	if (e)
		table_unref(e);
	sample_set_bool(s, e != NULL);
	return 1;
}

#define CONV(n, w, help)                                                                        \
	{ .name = n, .arg = { ARG_TABLE }, .in = SAMPLE_ANY, .out = SAMPLE_SINT,               \
		.conv = conv_table_word, .init = init_table, .check = check_table, .kind = w,  \
		.syntax = "[<table>]", .doc = help }
#define CONV_AT(n, w, help)                                                                    \
	{ .name = n, .arg = { ARG_INT, ARG_TABLE }, .min = 1, .in = SAMPLE_ANY,                \
		.out = SAMPLE_SINT, .conv = conv_table_word, .init = init_table,               \
		.check = check_table, .kind = w, .syntax = "<idx>[,<table>]", .doc = help }
#define CONV_TIME(n, w, help)                                                                  \
	{ .name = n, .arg = { ARG_TABLE, ARG_INT }, .in = SAMPLE_ANY, .out = SAMPLE_SINT,      \
		.conv = conv_time_left, .init = init_table, .check = check_table, .kind = w,   \
		.syntax = "[<table>][,<default>]", .doc = help }
#define TRACK_VALUE(id, n, name_here, data, help)                                              \
	CONV("table_" name_here, TRACK_##id, "As sc_" n ", of the entry of the sample."),
#define TRACK_ELEMENT(id, n, name_here, data, help)                                            \
	CONV_AT("table_" name_here, TRACK_##id, "As sc_" n ", of the entry of the sample."),
#define TRACK_CHANGE(id, n, element, help) TRACK_VALUE(id, n, n, 0, help)
#define TRACK_CHANGE_AT(id, n, help) TRACK_ELEMENT(id, n, n, 0, help)

const struct rule_conv table_convs[] = {
#include "proxy/sample/track.tbl.h"
#undef TRACK_VALUE
#undef TRACK_ELEMENT
#undef TRACK_CHANGE
#undef TRACK_CHANGE_AT
	{ .name = "in_table", .arg = { ARG_TABLE }, .in = SAMPLE_ANY, .out = SAMPLE_BOOL,
		.conv = conv_in_table, .init = init_table, .check = check_table,
		.syntax = "[<table>]", .doc = "True if the table has an entry of the sample." },
	CONV("table_server_id", TRACK_SERVER_ID,
		"The number of the server that stick rules have stored."),
	CONV("table_trackers", TRACK_TRACKERS, "As sc_trackers, of the entry of the sample."),
	CONV_TIME("table_expire", TRACK_EXPIRE,
		"Milliseconds until the entry expires, or the default if there is none."),
	CONV_TIME("table_idle", TRACK_IDLE,
		"Milliseconds since the entry was touched, or the default if there is none."),
	{ .name = NULL },
};
