/* The order of waiting sessions. Under the backend's lock. A session is in the heap if it has a
 * priority, else in the list. */
#include "proxy/model/stream_queue.h"

#include "proxy/model/session.h"

static int
has_priority(const struct stream *s)
{
	return s->prio_class != 0 || s->prio_offset != 0;
}

void
stream_queue_init(struct stream_queue *q)
{
	list_init(&q->fifo);
	q->prioritized = (struct heap){ 0 };
}

int
stream_queue_is_empty(const struct stream_queue *q)
{
	return list_is_empty(&q->fifo) && !q->prioritized.first;
}

/* Ids distinguish sessions that came in the same millisecond. */
int
stream_queue_is_before(const struct stream *a, const struct stream *b)
{
	int64_t since_a = (int64_t)a->waits_since_ms + a->prio_offset;
	int64_t since_b = (int64_t)b->waits_since_ms + b->prio_offset;

	if (a->prio_class != b->prio_class)
		return a->prio_class < b->prio_class;
	return since_a != since_b ? since_a < since_b : a->id < b->id;
}

static const struct stream *
node_session(const struct heap_node *n)
{
	return container_of(n, const struct stream, queue_node);
}

static int
node_is_before(const struct heap_node *a, const struct heap_node *b)
{
	return stream_queue_is_before(node_session(a), node_session(b));
}

struct stream *
stream_queue_first_prioritized(const struct stream_queue *q)
{
	struct heap_node *first = q->prioritized.first;

	return first ? container_of(first, struct stream, queue_node) : NULL;
}

struct stream *
stream_queue_first(const struct stream_queue *q)
{
	struct stream *prioritized = stream_queue_first_prioritized(q);
	struct stream *oldest = list_is_empty(&q->fifo)
		? NULL
		: list_first(&q->fifo, struct stream, queue_link);

	if (!oldest || !prioritized)
		return oldest ? oldest : prioritized;
	return stream_queue_is_before(prioritized, oldest) ? prioritized : oldest;
}

void
stream_queue_add(struct stream_queue *q, struct stream *s)
{
	if (has_priority(s))
		heap_add(&q->prioritized, &s->queue_node, node_is_before);
	else
		list_append(&q->fifo, &s->queue_link);
}

void
stream_queue_remove(struct stream_queue *q, struct stream *s)
{
	if (heap_has(&s->queue_node))
		heap_remove(&q->prioritized, &s->queue_node, node_is_before);
	else
		list_remove(&s->queue_link);
}
