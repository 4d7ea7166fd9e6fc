/* The sets of the version that was prepared last. First worker; others do not see them. */
#include "rule/match/pattern_coming.h"

#include "base/mem.h"

void
pattern_coming_end(struct pattern_ref *ref)
{
	for (unsigned int i = 0; ref->coming.set && i < ref->n_feeds; i++)
		pattern_set_forget(&ref->coming.set[i]);
	mem_free(ref->coming.set);
	ref->coming.set = NULL;
}

void
pattern_coming_begin(struct pattern_ref *ref, uint32_t version)
{
	pattern_coming_end(ref);
	/* The sets of a line may have patterns of others. */
	if (!ref->path || !ref->n_feeds)
		return;
	ref->coming.set = mem_zalloc(ref->n_feeds * sizeof(*ref->coming.set));
	if (!ref->coming.set)
		return;
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		pattern_set_init_like(&ref->coming.set[i], ref->feed[i]->set);
	ref->coming.version = version;
	ref->coming.after = ref->last_id;
}
