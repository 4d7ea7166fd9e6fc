/* The list of modules and the look-up of their keywords and sections. Filled at start by the
 * main thread, only read after that. */
#include "cfg/registry.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"

void
cfg_registry_init(struct cfg_registry *reg)
{
	memset(reg, 0, sizeof(*reg));
}

void
cfg_registry_fini(struct cfg_registry *reg)
{
	mem_free(reg->kw);
	memset(reg, 0, sizeof(*reg));
}

/* Index of the first keyword with a name not below `name`. */
static unsigned int
kw_lower_bound(const struct cfg_registry *reg, const char *name)
{
	unsigned int lo = 0, hi = reg->nkw;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (strcmp(reg->kw[mid]->name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct cfg_kw *
cfg_registry_kw(const struct cfg_registry *reg, const char *name, unsigned int sections)
{
	for (unsigned int i = kw_lower_bound(reg, name); i < reg->nkw; i++) {
		if (strcmp(reg->kw[i]->name, name) != 0)
			break;
		if (reg->kw[i]->sections & sections)
			return reg->kw[i];
	}
	return NULL;
}

const struct cfg_section *
cfg_registry_section(const struct cfg_registry *reg, const char *name)
{
	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_section *s = reg->module[i]->sections; s && s->name; s++)
			if (strcmp(s->name, name) == 0)
				return s;
	return NULL;
}

static int
opt_is_named(const struct cfg_opt *o, const char *name)
{
	size_t n = strlen(o->name);

	return strncmp(name, o->name, n) == 0 &&
		(!name[n] || (o->in_parens && name[n] == '('));
}

const struct cfg_opt *
cfg_registry_opt(const struct cfg_registry *reg, enum cfg_opt_place place, const char *name)
{
	assert(place < CFG_OPT_PLACES);
	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_opt *o = reg->module[i]->opts[place]; o && o->name; o++)
			if (opt_is_named(o, name))
				return o;
	return NULL;
}

/* True if a keyword of the module is already registered, or occurs twice in it. */
static int
name_is_taken(const struct cfg_registry *reg, const struct cfg_module *m)
{
	for (const struct cfg_kw *k = m->kws; k && k->name; k++) {
		if (cfg_registry_kw(reg, k->name, k->sections))
			return 1;
		for (const struct cfg_kw *l = m->kws; l < k; l++)
			if ((l->sections & k->sections) && strcmp(l->name, k->name) == 0)
				return 1;
	}
	for (const struct cfg_section *s = m->sections; s && s->name; s++)
		if (cfg_registry_section(reg, s->name))
			return 1;
	for (unsigned int p = 0; p < CFG_OPT_PLACES; p++) {
		for (const struct cfg_opt *o = m->opts[p]; o && o->name; o++) {
			if (cfg_registry_opt(reg, (enum cfg_opt_place)p, o->name))
				return 1;
			for (const struct cfg_opt *l = m->opts[p]; l < o; l++)
				if (strcmp(l->name, o->name) == 0)
					return 1;
		}
	}
	return 0;
}

int
cfg_registry_add(struct cfg_registry *reg, const struct cfg_module *m)
{
	unsigned int n = 0;

	if (reg->nmodule == CFG_MODULES_MAX)
		return -ENOSPC;
	if (name_is_taken(reg, m))
		return -EEXIST;
	while (m->kws && m->kws[n].name)
		n++;
	if (reg->nkw + n > reg->kwcap) {
		unsigned int cap = reg->nkw + n + 128;
		const struct cfg_kw **kw = mem_resize(reg->kw, cap, sizeof(*kw));

		if (!kw)
			return -ENOMEM;
		reg->kw = kw;
		reg->kwcap = cap;
	}
	for (unsigned int k = 0; k < n; k++) {
		unsigned int i = kw_lower_bound(reg, m->kws[k].name);

		memmove(reg->kw + i + 1, reg->kw + i, (reg->nkw - i) * sizeof(*reg->kw));
		reg->kw[i] = &m->kws[k];
		reg->nkw++;
	}
	reg->module[reg->nmodule++] = m;
	return 0;
}
