/* The lines that a diagnostic concerns. Invariant: sorted by file and line, each line once. */
#include "cfg/places.h"

#include <string.h>

#include "base/array.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cfg/diag.h"

void
cfg_places_fini(struct cfg_places *p)
{
	mem_free(p->at);
	memset(p, 0, sizeof(*p));
}

static int
comes_before(const struct cfg_where *a, const struct cfg_where *b)
{
	return a->file != b->file ? a->file->number < b->file->number : a->line < b->line;
}

/* The index of the first place not before `where`. */
static unsigned int
lower_bound(const struct cfg_places *p, const struct cfg_where *where)
{
	unsigned int lo = 0, hi = p->n;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (comes_before(&p->at[mid], where))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int
is_at(const struct cfg_places *p, unsigned int i, const struct cfg_where *where)
{
	return i < p->n && p->at[i].file == where->file && p->at[i].line == where->line;
}

void
cfg_places_add(struct cfg_places *p, const struct cfg_where *where)
{
	unsigned int i = lower_bound(p, where);
	struct cfg_where *grown;

	if (is_at(p, i, where) || p->n == CFG_PLACES_MAX)
		return;
	grown = array_grow(p->at, p->n, &p->cap, sizeof(*grown));
	if (!grown)
		return;
	p->at = grown;
	memmove(p->at + i + 1, p->at + i, (p->n - i) * sizeof(*p->at));
	p->at[i] = *where;
	p->n++;
}

int
cfg_places_has(const struct cfg_places *p, const struct cfg_where *where)
{
	return is_at(p, lower_bound(p, where), where);
}
