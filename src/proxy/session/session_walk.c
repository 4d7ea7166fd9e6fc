/* Walks over sessions. Runs on the engine's worker; sessions are listed in the order of their
 * numbers (session_new), and one that leaves the list moves the cursors that stand at it. */
#include "proxy/session/session_walk.h"

static struct list *
find_next_session(const struct engine *e, uint64_t after)
{
	struct list *at = e->streams.next;

	while (at != &e->streams && list_entry(at, struct stream, link)->id <= after)
		at = at->next;
	return at;
}

int
engine_walk(struct engine *e, struct session_walk *w)
{
	struct list *at = w->after ? cursors_take(&e->walks, w->after) : NULL;
	unsigned int looks = 0, calls = 0;

	if (!at)
		at = find_next_session(e, w->after);
	while (at != &e->streams && looks < w->max_looks && calls < w->max) {
		struct stream *s = list_entry(at, struct stream, link);

		at = at->next;
		w->after = s->id;
		looks++;
		if (!w->pick(s, w->pick_arg))
			continue;
		calls++;
		w->fn(s, w->fn_arg);
	}
	if (at == &e->streams)
		return 0;
	cursors_put(&e->walks, w->after, at);
	return 1;
}
