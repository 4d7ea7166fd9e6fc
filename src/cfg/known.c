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
	"healthcheck", "http-errors", "listen", "log-forward", "log-profile", "mailers", "peers",
	"program", "resolvers", "ring", "traces", "userlist", NULL
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

const char *
cfg_known_section_why(const char *name)
{
	static const struct {
		const char *name, *why;
	} reasons[] = {
		{ "log-forward", "tacit receives no log messages: send them to a syslog daemon" },
	};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (strcmp(reasons[i].name, name) == 0)
			return reasons[i].why;
	return NULL;
}
