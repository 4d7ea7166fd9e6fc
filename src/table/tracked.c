/* Tracked entries. On the worker of the connection that has them; the entries are shared. */
#include "table/tracked.h"

#include "table_int.h"

static int
stores_type(const struct tracked *t, enum table_data type)
{
	return t->stores >> type & 1;
}

void
tracked_count(const struct tracked *t, enum table_data counter, enum table_data rate,
	const struct table_caller *by, uint64_t n)
{
	if (stores_type(t, counter))
		(void)table_add(t->table, t->entry, counter, 0, by, n);
	if (stores_type(t, rate))
		(void)table_add(t->table, t->entry, rate, 0, by, n);
}

void
tracked_begin(struct tracked *t, struct table *table, struct table_entry *entry,
	const struct table_caller *by)
{
	t->table = table;
	t->entry = entry;
	t->stores = table->stores;
	if (tracked_stores(t, TABLE_CONN_CNT, TABLE_CONN_RATE))
		tracked_count(t, TABLE_CONN_CNT, TABLE_CONN_RATE, by, 1);
	if (stores_type(t, TABLE_CONN_CUR))
		(void)table_add(table, entry, TABLE_CONN_CUR, 0, by, 1);
}

void
tracked_end(struct tracked *t, const struct table_caller *by)
{
	if (!t->table)
		return;
	if (stores_type(t, TABLE_CONN_CUR))
		(void)table_less(t->table, t->entry, TABLE_CONN_CUR);
	table_touch(t->table, t->entry, by);
	table_unref(t->entry);
	*t = (struct tracked){ .table = NULL };
}
