/* Stick rules. On the stream's worker; the entries are shared. */
#include "proxy/http1/stick.h"

#include <string.h>

#include "base/mem.h"

#include "proxy/model/server_list.h"
#include "proxy/sample/table_word.h"
#include "rule/match/cond.h"

static int
stick_applies(const struct stick_rule *r, struct sample_ctx *cx)
{
	cx->where = &r->where;
	return !r->cond || rule_cond_eval(r->cond, cx) == RULE_YES;
}

/* --- the server of an entry --- */

/* The text that names a server in this table: its name, or its address. */
static const char *
server_key(const struct table *t, const struct server *srv, char room[ADDR_TEXT])
{
	struct addr a;

	if (!table_conf_of(t)->key_by_addr)
		return srv->name;
	(void)addr_cell_get(&srv->addr, &a);
	return addr_text(&a, room);
}

static int
server_has_key(const struct table *t, const struct server *srv, const char *key)
{
	char room[ADDR_TEXT];

	return strcmp(server_key(t, srv, room), key) == 0;
}

/* Returns the server that an entry stores, by its key or else by its number; NULL: there is no such
 * server. */
static struct server *
find_stored_server(const struct stream *s, struct table *t, struct table_entry *e)
{
	struct table_caller by = stream_table_caller(s);
	const char *key = table_server_key(t, e);
	uint64_t id = 0;

	(void)table_read(t, e, TABLE_SERVER_ID, 0, &by, &id);
	list_each(it, &s->be->servers) {
		struct server *srv = list_entry(it, struct server, link);

		if (key ? server_has_key(t, srv, key) : (uint64_t)srv->id == id)
			return srv;
	}
	return NULL;
}

/* --- the request --- */

static void
match_entry(struct stream *s, struct table *t, struct table_entry *e)
{
	struct table_caller by = stream_table_caller(s);
	struct server *srv = find_stored_server(s, t, e);

	table_touch(t, e, &by);
	if (srv && (server_is_running(srv) || s->forced || (s->be->options & OPT_PERSIST)))
		s->bound = srv;
}

/* True if another key of this table is noted, or there are too many. */
static int
has_enough_notes(const struct stream_extras *x, const struct table *t)
{
	unsigned int n = 0;

	for (const struct stick_note *it = x ? x->notes : NULL; it; it = it->next, n++)
		if (it->table == t)
			return 1;
	return n >= STICK_STORES_MAX;
}

/* A rule that stores does not even match where another one of its table stores: as in HAProxy. */
static int
stick_is_left_out(const struct stream *s, const struct stick_rule *r)
{
	return (r->what & STICK_STORE) && has_enough_notes(s->extras, r->table);
}

/* Notes the key; without memory it is not stored. */
static void
note_store(struct stream *s, struct table *t, const struct table_key *k)
{
	struct stream_extras *x = stream_extras_get(s);
	struct stick_note *n;
	int is_own = k->bytes == k->own;

	if (!x)
		return;
	n = mem_alloc(sizeof(*n) + (is_own ? 0 : k->len));
	if (!n)
		return;
	n->next = x->notes;
	n->table = t;
	n->key = *k;
	n->key.bytes = is_own ? n->key.own : n->bytes;
	if (!is_own)
		memcpy(n->bytes, k->bytes, k->len);
	x->notes = n;
}

static void
apply_stick(struct stream *s, const struct stick_rule *r, struct sample_ctx *cx)
{
	struct table_caller by = stream_table_caller(s);
	size_t mark = arena_mark(cx->arena);
	struct table_entry *e;
	struct table_key k;
	struct sample key;

	if (table_key_eval(r->table, r->expr, cx, &key, &k)) {
		e = (r->what & STICK_MATCH) && !s->bound ? table_find(r->table, &k, &by) : NULL;
		if (e) {
			match_entry(s, r->table, e);
			table_unref(e);
		}
		if (r->what & STICK_STORE)
			note_store(s, r->table, &k);
	}
	arena_release(cx->arena, mark);
}

void
stick_choose(struct stream *s, struct sample_ctx *cx)
{
	/* The server may be chosen again. */
	if (s->extras)
		stream_drop_notes(s);
	list_each(it, &s->be->persist.sticks) {
		const struct stick_rule *r = list_entry(it, const struct stick_rule, link);

		if ((r->what & (STICK_MATCH | STICK_STORE)) && !stick_is_left_out(s, r) &&
			stick_applies(r, cx))
			apply_stick(s, r, cx);
	}
}

/* --- the server has responded --- */

/* Stores it for this key, if the table has room. */
static void
store_server(struct stream *s, struct table *t, const struct table_key *k)
{
	struct table_caller by = stream_table_caller(s);
	struct table_entry *e = table_get(t, k, &by);
	char room[ADDR_TEXT];

	if (!e)
		return;
	(void)table_set(t, e, TABLE_SERVER_ID, 0, &by, (uint64_t)s->srv->id);
	/* Without memory for it the number is enough. */
	(void)table_set_server_key(t, e, server_key(t, s->srv, room), &by);
	table_unref(e);
}

static void
store_of_response(struct stream *s, const struct stick_rule *r, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	struct table_key k;
	struct sample key;

	if (table_key_eval(r->table, r->expr, cx, &key, &k))
		store_server(s, r->table, &k);
	arena_release(cx->arena, mark);
}

/* Stores the server for the first key of each table. */
static void
run_response_sticks(struct stream *s, struct sample_ctx *cx)
{
	const struct table *done[STICK_STORES_MAX];
	unsigned int n = 0;

	list_each(it, &s->be->persist.sticks) {
		const struct stick_rule *r = list_entry(it, const struct stick_rule, link);
		unsigned int i = 0;

		if (!(r->what & STICK_STORE_RESPONSE) || n == STICK_STORES_MAX ||
			!stick_applies(r, cx))
			continue;
		while (i < n && done[i] != r->table)
			i++;
		if (i < n)
			continue;
		done[n++] = r->table;
		store_of_response(s, r, cx);
	}
}

void
stick_store(struct stream *s, struct sample_ctx *cx)
{
	const struct stick_note *n = s->extras ? s->extras->notes : NULL;

	if (!s->srv->conf.non_stick && !s->srv->is_dispatch) {
		run_response_sticks(s, cx);
		for (; n; n = n->next)
			store_server(s, n->table, &n->key);
	}
	if (s->extras)
		stream_drop_notes(s);
}
