/* Groups of peers: tables, peers, and the search for one that sends its entries. */
#include "peers/peer_group.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "peers_int.h"
#include "table/table_file.h"
#include "table/table_follow.h"
#include "table/table_log.h"

struct peer_group *
peer_group_new(const char *name, const char *local)
{
	struct peer_group *g = mem_zalloc(sizeof(*g));

	if (!g)
		return NULL;
	g->name = mem_strdup(name);
	g->local = mem_strdup(local);
	if (g->name && g->local)
		return g;
	peer_group_free(g);
	return NULL;
}

void
peer_group_free(struct peer_group *g)
{
	if (!g)
		return;
	for (unsigned int i = 0; i < g->n_tables; i++) {
		mem_free(g->table[i].name);
		mem_free(g->table[i].returned);
	}
	for (unsigned int i = 0; i < g->n_peers; i++)
		mem_free(g->peer[i].cursor);
	mem_free(g->table);
	mem_free(g->peer);
	mem_free(g->name);
	mem_free(g->local);
	mem_free(g);
}

/* Behind the names of tables that add up, in messages. */
static const char sum_suffix[] = " aggregate", returned_suffix[] = " aggregate returned";

/* NULL when memory is out. */
static char *
suffixed_name(const char *name, const char *suffix)
{
	size_t n = strlen(name) + strlen(suffix) + 1;
	char *out = mem_alloc(n);

	if (out)
		(void)snprintf(out, n, "%s%s", name, suffix);
	return out;
}

int
peer_group_add_table(struct peer_group *g, struct table *t, const char *name)
{
	struct peer_table *table = mem_resize(g->table, g->n_tables + 1, sizeof(*table));

	if (!table)
		return -ERR_NOMEM;
	g->table = table;
	table += g->n_tables;
	*table = (struct peer_table){ .table = t, .adds_up = table_parts(t) != 0 };
	table->name = suffixed_name(name, table->adds_up ? sum_suffix : "");
	table->returned = table->adds_up ? suffixed_name(name, returned_suffix) : NULL;
	g->adds_up |= table->adds_up;
	if (!table->name || (table->adds_up && !table->returned)) {
		mem_free(table->name);
		return -ERR_NOMEM;
	}
	table->seed = XXH64(table->name, strlen(table->name), 0);
	g->n_tables++;
	return 0;
}

int
peer_group_add_peer(struct peer_group *g, const char *name, unsigned int shard)
{
	struct peer *p = mem_resize(g->peer, g->n_peers + 1, sizeof(*p));

	if (!p)
		return -ERR_NOMEM;
	g->peer = p;
	p += g->n_peers++;
	*p = (struct peer){ .minor = 1, .wants_sums = 1, .shard = shard };
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	return 0;
}

static void
begin_cursor(struct peer_cursor *c, struct table *t, const char *peer)
{
	c->mark = table_file_mark(t, peer);
	c->taught = table_log_first(t);
	note_acked(c, c->taught);
}

int
peer_group_start(struct peer_group *g, uint64_t now_ms)
{
	for (unsigned int i = 0; i < g->n_peers; i++) {
		struct peer *p = &g->peer[i];

		p->group = g;
		p->cursor = mem_zalloc(MAX(g->n_tables, 1u) * sizeof(*p->cursor));
		if (!p->cursor)
			return -ERR_NOMEM;
		for (unsigned int j = 0; j < g->n_tables; j++)
			begin_cursor(&p->cursor[j], g->table[j].table, p->name);
	}
	for (unsigned int i = 0; i < g->n_tables; i++)
		g->table[i].mark = table_file_mark(g->table[i].table, TABLE_MARK_COMPLETE);
	g->resync = PEER_RESYNC_WANTED;
	if (!g->n_peers)
		end_resync(g);
	g->resync_ms = now_ms + PEER_RESYNC_MS;
	return 0;
}

void
peer_group_resume(struct peer_group *g, const struct memfile_view *v)
{
	int is_complete = 1;

	for (unsigned int i = 0; i < g->n_tables; i++) {
		struct table *t = g->table[i].table;
		uint64_t end = table_log_end(t);

		is_complete &= table_is_restored(t) &&
			table_follow_mark(t, v, TABLE_MARK_COMPLETE) == 1;
		for (unsigned int j = 0; j < g->n_peers; j++) {
			struct peer_cursor *c = &g->peer[j].cursor[i];
			uint64_t acked = table_follow_mark(t, v, g->peer[j].name);

			/* A peer that is new in the group asks for all entries. */
			note_acked(c, acked ? MIN(acked, end) : end);
			c->taught = c->acked;
		}
	}
	if (!is_complete)
		return;
	end_resync(g);
	g->has_own = 1;
}

uint64_t
peer_group_tick(struct peer_group *g, uint64_t now_ms)
{
	if (g->resync != PEER_RESYNC_DONE && now_ms >= g->resync_ms) {
		if (g->resync == PEER_RESYNC_ASKED)
			ask_another(g, now_ms);
		else
			end_resync(g);
	}
	return g->resync == PEER_RESYNC_DONE ? UINT64_MAX : g->resync_ms;
}
