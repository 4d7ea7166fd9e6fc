/* Messages to peers: control messages, what is taught, and what has changed. */
#include "peers/peer_out.h"

#include <xxhash.h>

#include "peers_int.h"
#include "table/table_log.h"

/* Changes that are collected from a table at once. */
#define COLLECT_MOST 1024u
/* The same before a lesson, which has them all. */
#define COLLECT_LESSON 65536u
/* An entry that was touched longer ago is sent with the time that it has left. */
#define OLD_MS 1000u
/* Slots that are examined at once, and changes that are passed over. */
#define SKIP_MOST 4096u
/* Begins a message of class 10 behind the longest head; end_message() writes the head. */
static struct wire_out
begin_message(const struct peer_session *s)
{
	return (struct wire_out){ s->out + s->out_len + HEAD_MAX, s->out + PEER_BUFFER, 0 };
}

static void
end_message(struct peer_session *s, unsigned int type, const struct wire_out *w)
{
	uint8_t *body = s->out + s->out_len + HEAD_MAX, head[HEAD_MAX];
	size_t n = (size_t)(w->p - body);
	struct wire_out h = { head, head + sizeof(head), 0 };
	const uint8_t kind[2] = { CLASS_TABLE, (uint8_t)type };

	assert(!w->failed);
	wire_put(&h, kind, sizeof(kind));
	wire_put_number(&h, n);
	memmove(s->out + s->out_len + (h.p - head), body, n);
	put_out(s, head, (size_t)(h.p - head));
	s->out_len += n;
}

/* Room for a definition and an entry of the table. */
static int
has_space(const struct peer_session *s, const struct peer_table *t)
{
	return out_room(s) >= 2 * (size_t)HEAD_MAX + strlen(t->name) +
		TABLE_DATA_TYPES * 3 * WIRE_NUMBER_MAX + table_wire_entry_max(t->table);
}

/* Names the table of the updates that follow. */
static void
define_table(struct peer_session *s, unsigned int i, int returned)
{
	const struct peer_table *t = &s->group->table[i];
	struct wire_out w;

	if (s->sending == t && s->sends_returned == returned)
		return;
	w = begin_message(s);
	table_wire_put_def(t->table, returned ? s->group->n_tables + i + 1 : i + 1,
		str_of(returned ? t->returned : t->name), s->last, &w);
	end_message(s, TABLE_DEFINE, &w);
	s->sending = t;
	s->sends_returned = returned;
	s->last_id = 0;
}

static void
put_acks(struct peer_session *s)
{
	for (unsigned int i = 0; i < s->group->n_tables; i++) {
		struct peer_cursor *c = &s->peer->cursor[i];
		struct wire_out w;

		if (!c->has_news || out_room(s) < 2 * HEAD_MAX + 4)
			continue;
		w = begin_message(s);
		wire_put_number(&w, c->remote_id);
		wire_put_u32(&w, c->got);
		end_message(s, TABLE_ACK, &w);
		c->has_news = 0;
	}
}

/* Collects what has changed, for all peers. True if there is more. */
static int
collect_changes(const struct peer_group *g, unsigned int most, const struct table_caller *by)
{
	int has_more = 0;

	for (unsigned int i = 0; i < g->n_tables; i++)
		has_more |= table_log_collect(g->table[i].table, most, by) == most;
	return has_more;
}

/* Begins to teach: all entries, and then what changes from now on. of_sums: of tables that add up,
 * else of the others. */
static void
begin_lesson(struct peer_session *s, int of_sums, const struct table_caller *by)
{
	(void)collect_changes(s->group, COLLECT_LESSON, by);
	s->lesson = (struct peer_lesson){ .is_on = 1, .of_sums = of_sums };
	for (unsigned int i = 0; i < s->group->n_tables; i++) {
		struct peer_cursor *c = &s->peer->cursor[i];

		if (s->group->table[i].adds_up != of_sums)
			continue;
		stop_search(c);
		c->next = c->taught = table_log_end(s->group->table[i].table);
		c->sent = c->taught - 1;
	}
}

/* True if the entry's key is in the shard of the peer. All processes of a group distribute keys in
 * the same way. */
static int
entry_is_for_peer(const struct peer_session *s, const struct peer_table *t,
	const struct table_entry *e)
{
	const struct table_conf *conf = table_conf_of(t->table);
	const unsigned char *key = table_entry_key(t->table, e);
	size_t n = conf->key_len;

	if (!s->group->shards || !s->peer->shard)
		return 1;
	if (conf->type == TABLE_STRING)
		n = strnlen((const char *)key, n);
	return XXH64(key, n, t->seed) % s->group->shards + 1 == s->peer->shard;
}

/* Sends an entry as change n: without the number if it is the next one, and with the time that it
 * has left if it was touched a while ago, which version 2.0 does not know. */
static void
put_update(struct peer_session *s, const struct peer_table *t, const struct table_entry *e,
	uint64_t n, const struct table_caller *by)
{
	int has_time = s->last > TABLE_WIRE_LAST_2_0 && table_conf_of(t->table)->expire_ms &&
		table_idle(t->table, e, by) > OLD_MS;
	int is_next = s->last_id && (uint32_t)n == s->last_id + 1;
	struct wire_out w = begin_message(s);

	if (!is_next)
		wire_put_u32(&w, (uint32_t)n);
	if (has_time)
		wire_put_u32(&w, table_expires_in(t->table, e, by));
	table_wire_put_entry(t->table, e, s->last, &s->sent, by, &w);
	end_message(s, has_time	 ? (is_next ? TABLE_NEXT_TIMED_UPDATE : TABLE_TIMED_UPDATE)
			: is_next ? TABLE_NEXT_UPDATE : TABLE_UPDATE, &w);
	s->last_id = (uint32_t)n;
}

/* The same of a table. */
static int
teach_table(struct peer_session *s, const struct peer_table *t, const struct table_caller *by)
{
	struct peer_lesson *l = &s->lesson;
	struct table_caller as = { .sys = by->sys, .now_ms = by->now_ms,
		.part = peer_part(s->peer), .returns = l->returns };
	unsigned int most = SKIP_MOST;
	struct table_entry *e;

	if (!has_space(s, t))
		return 1;
	define_table(s, l->table, l->returns);
	while (has_space(s, t)) {
		e = table_walk(t->table, &l->walk, &most, by);
		if (!e)
			return !most;
		if (entry_is_for_peer(s, t, e) &&
			(!t->adds_up || table_wire_is_own(t->table, e, &as)))
			put_update(s, t, e, s->peer->cursor[l->table].taught - 1, &as);
		table_unref(e);
	}
	return 1;
}

/* Teaches as much as there is room for. True if there is more. */
static int
teach_more(struct peer_session *s, const struct table_caller *by)
{
	struct peer_group *g = s->group;
	struct peer_lesson *l = &s->lesson;

	for (; l->table < g->n_tables; l->table++, l->walk = (struct table_walk){ 0 }) {
		const struct peer_table *t = &g->table[l->table];

		if (t->adds_up != l->of_sums || !table_is_for_peer(s, l->table))
			continue;
		if (teach_table(s, t, by))
			return 1;
		if (t->adds_up && s->peer_begins && !l->returns) {
			l->walk = (struct table_walk){ 0 };
			l->returns = 1;
			return 1;
		}
		l->returns = 0;
	}
	if (out_room(s) < 2)
		return 1;
	put_control(s, CLASS_CONTROL, l->of_sums ? SUM_FINISHED
			: g->resync == PEER_RESYNC_DONE ? RESYNC_FINISHED : RESYNC_PARTIAL);
	l->is_sent = 1;
	return 0;
}

/* Sends the entry of a change, its values as they are now, if it is for the peer. */
static void
push_change(struct peer_session *s, unsigned int i, uint64_t n, const struct table_caller *by)
{
	const struct peer_table *t = &s->group->table[i];
	struct peer_cursor *c = &s->peer->cursor[i];
	struct table_entry *e = table_log_entry(t->table, n, by);

	if (e && entry_is_for_peer(s, t, e)) {
		define_table(s, i, 0);
		put_update(s, t, e, n, by);
		c->sent = n;
	} else if (c->acked > c->sent) {
		/* Nothing before it is to be acknowledged. */
		note_acked(c, n + 1);
	}
	if (e)
		table_unref(e);
}

/* True if the peer has missed a change of the entry that is newer than what a peer has sent. */
static int
is_missed(const struct peer_session *s, unsigned int i, const struct table_entry *e)
{
	const struct peer_table *t = &s->group->table[i];

	return table_log_has_since(t->table, e, s->peer->cursor[i].next) &&
		entry_is_for_peer(s, t, e);
}

/* Takes the place that was found last: its entry, with a reference, if it is still to be sent. It
 * may have been removed since, or a peer has sent it. NULL: there is none. */
static struct table_entry *
take_found(const struct peer_session *s, unsigned int i, const struct table_caller *by)
{
	struct peer_cursor *c = &s->peer->cursor[i];
	struct table_walk walk = c->found;
	unsigned int most = 1;
	struct table_entry *e;

	if (!walk.slot)
		return NULL;
	c->found = (struct table_walk){ 0 };
	walk.slot--;
	e = table_walk(s->group->table[i].table, &walk, &most, by);
	if (!e || is_missed(s, i, e))
		return e;
	table_unref(e);
	return NULL;
}

/* Sends the entry that was found last as change n, if there is one. There is room. */
static void
send_found(struct peer_session *s, unsigned int i, uint64_t n, const struct table_caller *by)
{
	struct peer_cursor *c = &s->peer->cursor[i];
	struct table_entry *e = take_found(s, i, by);

	if (!e)
		return;
	define_table(s, i, 0);
	put_update(s, &s->group->table[i], e, n, by);
	c->sent = c->search_end - 1;
	table_unref(e);
}

/* All that was missed is found. The last entry has the number by which all are acknowledged. If it
 * is no longer to be sent, a later change acknowledges them. */
static void
end_search(struct peer_session *s, unsigned int i, const struct table_caller *by)
{
	struct peer_cursor *c = &s->peer->cursor[i];

	send_found(s, i, c->search_end - 1, by);
	if (c->acked > c->sent)
		note_acked(c, c->search_end);
	c->next = c->search_end;
	stop_search(c);
}

/* Sends the entries with changes that the log no longer has: what has changed here since the last
 * one that was sent, and nothing that a peer has changed since. True if there is more. */
static int
search_missed(struct peer_session *s, unsigned int i, const struct table_caller *by)
{
	const struct peer_table *t = &s->group->table[i];
	struct peer_cursor *c = &s->peer->cursor[i];
	unsigned int most = SKIP_MOST;

	while (has_space(s, t)) {
		struct table_entry *e = table_walk(t->table, &c->walk, &most, by);
		int is_found = e && is_missed(s, i, e);

		if (!e && !most)
			return 1;
		if (!e) {
			end_search(s, i, by);
			return 0;
		}
		/* No reference is held while the peer is waited for: others would see it. */
		table_unref(e);
		if (!is_found)
			continue;
		/* This number acknowledges nothing more. */
		send_found(s, i, c->next - 1, by);
		c->found = c->walk;
	}
	return 1;
}

/* Sends what has changed in a table as far as there is room. True if there is more. What changes
 * before the process has all entries waits: it would replace values that are not known yet. */
static int
push_table(struct peer_session *s, unsigned int i, const struct table_caller *by)
{
	const struct peer_table *t = &s->group->table[i];
	struct peer_cursor *c = &s->peer->cursor[i];
	unsigned int n = 0;

	if (!table_is_for_peer(s, i) || (!t->adds_up && s->group->resync != PEER_RESYNC_DONE))
		return 0;
	if (!c->search_end && c->next < table_log_first(t->table))
		c->search_end = table_log_end(t->table);
	if (c->search_end && search_missed(s, i, by))
		return 1;
	/* The log has forgotten more during the search. */
	if (c->next < table_log_first(t->table))
		return 1;
	while (c->next < table_log_end(t->table) && n++ < SKIP_MOST && has_space(s, t))
		push_change(s, i, c->next++, by);
	return c->next < table_log_end(t->table);
}

static int
push_all(struct peer_session *s, const struct table_caller *by)
{
	int has_more = collect_changes(s->group, COLLECT_MOST, by);

	for (unsigned int i = 0; i < s->group->n_tables; i++)
		has_more |= push_table(s, i, by);
	return has_more;
}

/* Announces the tables that add up, and asks for the counts that are missing: the peer if it has
 * announced one, too. HAProxy ignores tables that it does not know. */
static void
put_sum_controls(struct peer_session *s)
{
	struct peer_group *g = s->group;
	struct peer *p = s->peer;

	for (; s->announced < g->n_tables; s->announced++) {
		if (!g->table[s->announced].adds_up)
			continue;
		if (!has_space(s, &g->table[s->announced]))
			return;
		define_table(s, s->announced, 0);
	}
	if (!s->peer_adds_up || !p->wants_sums || s->sums_are_asked || out_room(s) < 4)
		return;
	if (!p->knows_us)
		put_control(s, CLASS_CONTROL, SUM_BEGIN);
	put_control(s, CLASS_CONTROL, SUM_REQUEST);
	s->sums_are_asked = 1;
}

/* Control messages that are due. */
static void
put_controls(struct peer_session *s, const struct table_caller *by)
{
	struct peer_group *g = s->group;

	if (g->resync == PEER_RESYNC_WANTED && !s->peer->was_asked && out_room(s) >= 2) {
		put_control(s, CLASS_CONTROL, RESYNC_REQUEST);
		g->resync = PEER_RESYNC_ASKED;
		g->asked = s->peer;
		g->resync_ms = by->now_ms + PEER_RESYNC_MS;
		s->peer->was_asked = 1;
		s->is_taught = 1;
	}
	for (; s->confirms && out_room(s) >= 2; s->confirms--)
		put_control(s, CLASS_CONTROL, RESYNC_CONFIRM);
	for (; s->sum_confirms && out_room(s) >= 2; s->sum_confirms--)
		put_control(s, CLASS_CONTROL, SUM_CONFIRM);
	if (g->adds_up)
		put_sum_controls(s);
	put_acks(s);
	if (!s->out_len && by->now_ms >= s->sent_ms + PEER_HEARTBEAT_MS) {
		put_control(s, CLASS_CONTROL, HEARTBEAT);
		s->peer->tx_heartbeats++;
	}
}

/* Ends a session whose peer is silent. */
static void
check_silence(struct peer_session *s, const struct table_caller *by)
{
	unsigned int bound = s->state == PEER_UP ? PEER_SILENCE_MS : PEER_HELLO_MS;

	if (by->now_ms < s->heard_ms + bound)
		return;
	if (s->state == PEER_UP)
		s->peer->silences++;
	s->state = PEER_ENDING;
	s->out_at = s->out_len = 0;
}

/* Moves what was not sent to the start of the buffer. */
static void
compact_output(struct peer_session *s)
{
	memmove(s->out, s->out + s->out_at, s->out_len - s->out_at);
	s->out_len -= s->out_at;
	s->out_at = 0;
}

int
peer_session_fill(struct peer_session *s, const struct table_caller *by)
{
	check_silence(s, by);
	if (s->state != PEER_UP)
		return 0;
	if (s->out_at)
		compact_output(s);
	put_controls(s, by);
	if (!s->lesson.is_on &&
		(s->peer->needs_teaching || (s->peer->needs_sums && may_send_sums(s))))
		begin_lesson(s, !s->peer->needs_teaching, by);
	if (s->lesson.is_on && !s->lesson.is_sent)
		return teach_more(s, by);
	return push_all(s, by);
}
