/* Tables of HAProxy's names, and their look-up. Constant data. */
#include "cfg/known.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

const struct cfg_known_kw cfg_known_kws[] = {
#define KNOWN_KW(name, sections, fix) { name, sections, NULL, fix },
#define REMOVED_KW(name, sections, version, fix) { name, sections, version, fix },
#include "cfg/known_kws.tbl.h"
#undef KNOWN_KW
#undef REMOVED_KW
	{ NULL, 0, NULL, NULL }
};

#define KNOWN_SERVER(name, args)
static const struct cfg_known_opt bind_opts[] = {
#define KNOWN_BIND(name, args) { name, args },
#include "cfg/known_opts.tbl.h"
#undef KNOWN_BIND
	{ NULL, 0 }
};
#undef KNOWN_SERVER

#define KNOWN_BIND(name, args)
static const struct cfg_known_opt server_opts[] = {
#define KNOWN_SERVER(name, args) { name, args },
#include "cfg/known_opts.tbl.h"
#undef KNOWN_SERVER
	{ NULL, 0 }
};
#undef KNOWN_BIND

const struct cfg_known_opt *const cfg_known_opts[CFG_OPT_PLACES] = {
	[CFG_OPT_BIND] = bind_opts,
	[CFG_OPT_SERVER] = server_opts,
};

const char *const cfg_known_sections[] = {
	"acme", "backend", "cache", "crt-store", "defaults", "fcgi-app", "frontend", "global",
	"healthcheck", "http-errors", "listen", "log-forward", "log-profile", "mailers",
	"namespace_list", "peers", "program", "resolvers", "ring", "traces", "userlist", NULL
};

/* The table is sorted; most lines search it twice. */
const struct cfg_known_kw *
cfg_known_kw(const char *name)
{
	size_t lo = 0, hi = ARRAY_LEN(cfg_known_kws) - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(cfg_known_kws[mid].name, name);

		if (d == 0)
			return &cfg_known_kws[mid];
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct cfg_known_opt *
cfg_known_opt(enum cfg_opt_place place, const char *name)
{
	for (const struct cfg_known_opt *o = cfg_known_opts[place]; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

int
cfg_known_is_section(const char *name)
{
	for (const char *const *s = cfg_known_sections; *s; s++)
		if (strcmp(*s, name) == 0)
			return 1;
	return 0;
}

/* The texts of features, each with the names that belong to it; then names of their own. */
#define MISSING_WORD(id, word)
#define MISSING(id, name, instead) static const char feature_##id[] = instead;
#include "cfg/missing.tbl.h"
#undef MISSING
#undef MISSING_WORD

struct instead {
	const char *name, *text;
};

#define MISSING_WORD(id, word) { word, feature_##id },
#define MISSING(id, name, instead)
static const struct instead of_features[] = {
#include "cfg/missing.tbl.h"
	{ NULL, NULL }
};
#undef MISSING
#undef MISSING_WORD

#define INSTEAD(name, text) { name, text },
static const struct instead of_names[] = {
#include "cfg/instead.tbl.h"
	{ NULL, NULL }
};
#undef INSTEAD

static const char *
find_instead(const struct instead *t, const char *name)
{
	for (; t->name; t++) {
		size_t n = strcspn(t->name, "*");

		if (strncmp(t->name, name, n) == 0 && (t->name[n] == '*' || !name[n]))
			return t->text;
	}
	return NULL;
}

const char *
cfg_known_instead(const char *name)
{
	return find_instead(of_names, name);
}

const char *
cfg_known_advice(const char *name)
{
	const char *text = find_instead(of_names, name);

	return text ? text : find_instead(of_features, name);
}
