/* Words that read entries of stick tables. On the worker that evaluates them; entries are
 * shared. */
#include "proxy/sample/table_word.h"

#include <string.h>

#include "proxy/model/proxies.h"

/* --- keys --- */

void
table_key_of(const struct table *t, const struct sample *s, struct table_key *k)
{
	int r = -1;

	switch (table_conf_of(t)->type) {
	case TABLE_INTEGER:
		r = table_key_int(t, k, (uint32_t)s->u.sint);
		break;
	case TABLE_IPV4:
		r = table_key_ipv4(t, k, s->u.ipv4);
		break;
	case TABLE_IPV6:
		r = table_key_ipv6(t, k, &s->u.ipv6);
		break;
	case TABLE_STRING:
	case TABLE_BINARY:
		r = table_key_bytes(t, k, s->u.str.p, s->u.str.len);
		break;
	case TABLE_TYPES:
		break;
	}
	assert(r == 0);
	(void)r;
}

int
table_key_eval(const struct table *t, const struct rule_expr *e, struct sample_ctx *cx,
	struct sample *s, struct table_key *k)
{
	if (rule_expr_eval_as(e, cx, table_key_sample(t), s) != 1)
		return 0;
	table_key_of(t, s, k);
	return 1;
}

/* --- words --- */

enum word_kind { READS, READS_AT, CHANGES, CHANGES_AT };

static const struct {
	enum word_kind kind;
	unsigned int arg; /* enum table_data, or the element */
} words[] = {
#define TRACK_VALUE(id, name, conv, data, doc) [TRACK_##id] = { READS, TABLE_##data },
#define TRACK_ELEMENT(id, name, conv, data, doc) [TRACK_##id] = { READS_AT, TABLE_##data },
#define TRACK_CHANGE(id, name, element, doc) [TRACK_##id] = { CHANGES, element },
#define TRACK_CHANGE_AT(id, name, doc) [TRACK_##id] = { CHANGES_AT, 0 },
#include "proxy/sample/track.tbl.h"
#undef TRACK_VALUE
#undef TRACK_ELEMENT
#undef TRACK_CHANGE
#undef TRACK_CHANGE_AT
	[TRACK_UPDT_CONN_CNT] = { CHANGES, 0 },
	[TRACK_SERVER_ID] = { READS, TABLE_SERVER_ID },
	[TRACK_TRACKERS] = { READS, 0 },
	[TRACK_EXPIRE] = { READS, 0 },
	[TRACK_IDLE] = { READS, 0 },
};

int
table_word_makes(enum track_word w)
{
	return words[w].kind == CHANGES || words[w].kind == CHANGES_AT;
}

int
table_word_is_indexed(enum track_word w)
{
	return words[w].kind == READS_AT || words[w].kind == CHANGES_AT;
}

unsigned int
table_word_index(const struct rule_args *a, enum track_word w)
{
	int64_t idx = table_word_is_indexed(w) ? a->arg[0].num : 0;

	return idx >= 0 && idx < (int64_t)TABLE_ELEMENTS_MAX ? (unsigned int)idx
							     : TABLE_ELEMENTS_MAX;
}

/* Adds 1. An entry without it has 0, as in HAProxy. */
static int
increase_gpc(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, uint64_t *v)
{
	*v = 0;
	if (w == TRACK_INC_GPC)
		(void)table_inc_element(t, e, idx, by, 1, v);
	else
		(void)table_inc_gpc(t, e, idx, by, 1, v);
	return 0;
}

static int
clear_gpc(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, uint64_t *v)
{
	enum table_data data = w == TRACK_CLR_GPC ? TABLE_GPC
		: idx ? TABLE_GPC1 : TABLE_GPC0;

	return table_reset(t, e, data, w == TRACK_CLR_GPC ? idx : 0, by, v);
}

/* 0, or -1: the table does not store it. */
static int
change_entry(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, uint64_t *v)
{
	unsigned int element = words[w].kind == CHANGES_AT ? idx : words[w].arg;

	if (w == TRACK_UPDT_CONN_CNT) {
		if (table_add(t, e, TABLE_CONN_CNT, 0, by, 1) < 0)
			return -1;
		return table_read(t, e, TABLE_CONN_CNT, 0, by, v);
	}
	if (w == TRACK_INC_GPC || w == TRACK_INC_GPC0 || w == TRACK_INC_GPC1)
		return increase_gpc(w, element, t, e, by, v);
	return clear_gpc(w, element, t, e, by, v);
}

/* Reads an entry that is there. */
static int
read_entry(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, uint64_t *v)
{
	if (w == TRACK_TRACKERS)
		*v = table_refs(e);
	else if (w == TRACK_EXPIRE)
		*v = table_expires_in(t, e, by);
	else if (w == TRACK_IDLE)
		*v = table_idle(t, e, by);
	else
		return table_read(t, e, (enum table_data)words[w].arg,
			words[w].kind == READS_AT ? idx : 0, by, v);
	return 0;
}

int
table_word_result(enum track_word w, unsigned int idx, struct table *t, struct table_entry *e,
	const struct table_caller *by, struct sample *s)
{
	uint64_t v = 0;
	int r = 0;

	if (e)
		r = table_word_makes(w) ? change_entry(w, idx, t, e, by, &v)
					: read_entry(w, idx, t, e, by, &v);
	if (r < 0)
		return 0;
	if (w == TRACK_KBYTES_IN || w == TRACK_KBYTES_OUT)
		v >>= 10;
	sample_set_int(s, (int64_t)v);
	return 1;
}

/* --- arguments --- */

/* Its ref is the name until the table is found. */
void
table_arg_init(struct rule_args *a, unsigned int i, const struct rule_vocab *v)
{
	if (a->arg[i].type == ARG_END)
		a->arg[i].ref = (void *)(uintptr_t)v->section;
}

int
table_arg_check(struct rule_args *a, unsigned int i, void *root, const char **why)
{
	const char *name = a->arg[i].type == ARG_END ? a->arg[i].ref : a->arg[i].text.p;

	a->arg[i].ref = name ? proxies_find_table(root, name) : NULL;
	*why = a->arg[i].type == ARG_END ? "this section has no stick-table: name one"
					 : "there is no such stick-table";
	a->bad = i;
	return a->arg[i].ref ? 0 : -1;
}
