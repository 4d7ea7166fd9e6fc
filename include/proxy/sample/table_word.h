/* Words of expressions about stick tables, made of track.tbl.h; and keys of samples. */
#ifndef TACIT_PROXY_SAMPLE_TABLE_WORD_H
#define TACIT_PROXY_SAMPLE_TABLE_WORD_H

#include "proxy/model/table_sample.h"
#include "rule/sample/expr.h"

enum track_word {
#define TRACK_VALUE(id, name, conv, data, doc) TRACK_##id,
#define TRACK_ELEMENT(id, name, conv, data, doc) TRACK_##id,
#define TRACK_CHANGE(id, name, element, doc) TRACK_##id,
#define TRACK_CHANGE_AT(id, name, doc) TRACK_##id,
#include "proxy/sample/track.tbl.h"
#undef TRACK_VALUE
#undef TRACK_ELEMENT
#undef TRACK_CHANGE
#undef TRACK_CHANGE_AT
	/* Words of fetches only, or of converters only. */
	TRACK_KEY,
	TRACK_TRACKED,
	TRACK_TRACKERS,
	TRACK_UPDT_CONN_CNT,
	TRACK_EXPIRE,
	TRACK_IDLE,
	TRACK_SERVER_ID,
	TRACK_WORDS
};

static inline struct table_caller
table_caller_of(const struct sample_ctx *cx)
{
	return (struct table_caller){ .sys = cx->sys, .now_ms = cx->now_ms };
}

static inline enum sample_type
table_key_sample(const struct table *t)
{
	return table_sample_type(table_conf_of(t));
}

/* The key of a sample of that type. It lives as long as the sample. */
void table_key_of(const struct table *t, const struct sample *s, struct table_key *k);
/* The key that an expression has: 1, or 0: there is none; s->may_change then shows whether waiting
 * may help. */
int table_key_eval(const struct table *t, const struct rule_expr *e, struct sample_ctx *cx,
	struct sample *s, struct table_key *k);

/*
 * The result of a word about an entry, which may be NULL: 1, or 0: there is none. idx: of an array.
 * A word that changes something needs an entry.
 */
int table_word_result(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, struct sample *s);
/* True if it makes an entry where there is none. */
int table_word_makes(enum track_word w);
/* True if its first argument is a number of an array. */
int table_word_is_indexed(enum track_word w);
/* The number, 0 without one; TABLE_ELEMENTS_MAX, which no array has, if it is out of range. */
unsigned int table_word_index(const struct rule_args *a, enum track_word w);

/* For init: notes the proxy whose table is meant if argument i is missing. */
void table_arg_init(struct rule_args *a, unsigned int i, const struct rule_vocab *v);
/* For check: finds the table of argument i. 0, or -1 with *why. */
int table_arg_check(struct rule_args *a, unsigned int i, void *root, const char **why);

extern const struct rule_fetch track_fetches[];
extern const struct rule_conv table_convs[];

#endif
