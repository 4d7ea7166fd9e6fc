/* The reader of memory files. Any thread, one view each. No size that was verified is read from the
 * file again: its process may write on, and may be hostile. */
#include "base/memfile.h"

#include <limits.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"

/* Records that memfile_more() reads at most. */
#define MORE_RECORDS 1024

static int
refuse_file(const char **why, const char *text)
{
	*why = text;
	return -ERR_INVAL;
}

/* The names of the item belong to the view from now on. */
static int
add_item(struct memfile_view *v, const struct memfile_item *item)
{
	if ((v->n & (v->n - 1)) == 0) {
		struct memfile_item *more =
			mem_resize(v->item, v->n ? 2 * v->n : 1, sizeof(*more));

		if (!more) {
			mem_free(item->key);
			mem_free(item->alias);
			return -ERR_NOMEM;
		}
		v->item = more;
	}
	v->item[v->n++] = *item;
	return item->key && item->alias ? 0 : -ERR_NOMEM;
}

/* One record at `at`, with `left` bytes to the end of the file. Returns its size, or a negative
 * reason. */
static long
verify_record(struct memfile_view *v, const char *at, size_t left, const char **why)
{
	static const char damaged[] = "a record is damaged";
	struct memfile_record r;
	struct memfile_item item;

	if (left < sizeof(r))
		return refuse_file(why, damaged);
	memcpy(&r, at, sizeof(r));
	if (r.size > left || r.size % MEMFILE_ALIGN || r.start > r.size ||
		r.start % MEMFILE_ALIGN ||
		r.start < sizeof(r) + r.key_len + r.alias_len + 2u)
		return refuse_file(why, damaged);
	if (counter_read(&r.kind) == 0 || counter_read(&r.kind) >= MEMFILE_KINDS)
		return (long)r.size;
	item = (struct memfile_item){ .payload = at + r.start, .len = r.size - r.start,
		.kind = counter_read(&r.kind),
		.key = mem_strndup(at + sizeof(r), r.key_len),
		.alias = mem_strndup(at + sizeof(r) + r.key_len + 1u, r.alias_len) };
	return add_item(v, &item) ? -ERR_NOMEM : (long)r.size;
}

/* Makes items from `from` on found. */
static int
index_items(struct memfile_view *v, unsigned int from)
{
	int r = 0;

	if (!v->index)
		v->index = mem_zalloc(2 * MEMFILE_KINDS * sizeof(*v->index));
	if (!v->index)
		return -ERR_NOMEM;
	for (unsigned int i = from; i < v->n && !r; i++) {
		struct memfile_item *item = &v->item[i];

		r = item->alias[0] ? name_index_add(&v->index[MEMFILE_KINDS + item->kind],
					     item->alias, item)
				   : name_index_add(&v->index[item->kind], item->key, item);
	}
	return r;
}

static void
drop_index(struct memfile_view *v)
{
	for (unsigned int k = 0; v->index && k < 2 * MEMFILE_KINDS; k++)
		name_index_fini(&v->index[k]);
	mem_free(v->index);
	v->index = NULL;
}

/* Reads up to `most` records behind those that were read. 0 or a negative reason. */
static int
verify_records(struct memfile_view *v, uint64_t used, unsigned int most, const char **why)
{
	for (; v->pos < used && most; most--) {
		long n = verify_record(v, v->bytes + v->pos, used - v->pos, why);

		if (n >= 0 && n < (long)MEMFILE_ALIGN)
			n = refuse_file(why, "a record is damaged");
		if (n < 0)
			return (int)n;
		v->pos += (size_t)n;
	}
	return 0;
}

/* Copies the head: the bytes that are used. */
static uint64_t
copy_file_head(const struct memfile_view *v, struct memfile_head *head)
{
	uint64_t used;

	memcpy(head, v->bytes, sizeof(*head));
	used = counter_read(&head->used);
	/* The copy orders nothing: records are read after the length that covers them. */
	atomic_thread_fence(memory_order_acquire);
	return used;
}

int
memfile_more(struct memfile_view *v)
{
	const struct memfile_item *before = v->item;
	unsigned int from = v->n;
	struct memfile_head head;
	const char *why;
	uint64_t used;
	int r;

	used = v->index ? copy_file_head(v, &head) : 0;
	if (used <= v->pos || used > v->limit)
		return 0;
	r = verify_records(v, used, MORE_RECORDS, &why);
	if (r < 0)
		v->limit = 0;
	if (v->item != before) {
		drop_index(v);
		from = 0;
	}
	return index_items(v, from) < 0 ? -ERR_NOMEM : r;
}

int
memfile_read(struct memfile_view *v, const void *bytes, size_t size, uint32_t layout,
	const char **why)
{
	struct memfile_head head;
	uint64_t used;
	int r;

	*v = (struct memfile_view){ .bytes = bytes, .limit = size, .pos = MEMFILE_HEAD };
	if (size < MEMFILE_HEAD)
		return refuse_file(why, "it is too short");
	used = copy_file_head(v, &head);
	if (memcmp(head.magic, MEMFILE_MAGIC, sizeof(head.magic)) != 0)
		return refuse_file(why, "it is no memory file");
	if (head.version != MEMFILE_VERSION || head.layout != layout)
		return refuse_file(why, "another version of tacit has written it");
	if (used > size)
		return refuse_file(why, "it is truncated");
	v->generation = head.generation;
	r = verify_records(v, used, UINT_MAX, why);
	if (r == 0)
		r = index_items(v, 0);
	if (r)
		memfile_close(v);
	return r;
}

const struct memfile_item *
memfile_find(const struct memfile_view *v, uint32_t kind, const char *key, const char *alias)
{
	const struct memfile_item *item = NULL;

	if (!v->index)
		return NULL;
	if (alias[0])
		item = name_index_find(&v->index[MEMFILE_KINDS + kind], alias);
	return item ? item : name_index_find(&v->index[kind], key);
}

void
memfile_forget_names(struct memfile_view *v)
{
	for (unsigned int i = 0; i < v->n; i++) {
		mem_free(v->item[i].key);
		mem_free(v->item[i].alias);
	}
	drop_index(v);
	mem_free(v->item);
	v->item = NULL;
	v->n = 0;
}

void
memfile_close(struct memfile_view *v)
{
	memfile_forget_names(v);
	if (v->map)
		(void)sys_munmap(v->sys, (void *)(uintptr_t)v->map, v->size);
	memset(v, 0, sizeof(*v));
}
