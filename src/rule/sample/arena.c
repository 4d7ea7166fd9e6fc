/* Memory for the texts of one evaluation, on the worker that owns the arena. Nothing is written
 * beyond cap. */
#include "rule/sample/arena.h"

char *
arena_get(struct arena *a, size_t n)
{
	char *p;

	if (n > a->cap - a->used) {
		a->refused++;
		return NULL;
	}
	p = a->p + a->used;
	a->used += n;
	return p;
}

struct str
arena_copy(struct arena *a, struct str s)
{
	char *p = arena_get(a, s.len);

	if (!p)
		return (struct str){ NULL, 0 };
	if (s.len > 0)
		memcpy(p, s.p, s.len);
	return (struct str){ p, s.len };
}
