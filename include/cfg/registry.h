#ifndef TACIT_CFG_REGISTRY_H
#define TACIT_CFG_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

/*
 * The keywords of the configuration language. Each owner keeps its own table
 * beside its code and app/config/modules.c registers the modules one by one:
 *
 *	static int
 *	parse_retries(struct cfg_ctx *ctx)
 *	{
 *		struct proxy_conf *px = ctx->obj;
 *		return cfg_arg_int(ctx, 0, 0, 100, &px->retries);
 *	}
 *
 *	static int
 *	parse_bind(struct cfg_ctx *ctx)		// bind <addr> [<option> [<arg>]]...
 *	{
 *		struct listener_conf *l = ...(cfg_arg(ctx, 0));
 *		return cfg_parse_opts(ctx, CFG_OPT_BIND, 1, l);
 *	}
 *
 *	static int
 *	opt_backlog(struct cfg_ctx *ctx, void *obj)	// ctx shows only this option's words
 *	{
 *		struct listener_conf *l = obj;
 *		return cfg_arg_int(ctx, 0, 1, 65535, &l->backlog);
 *	}
 *
 *	static const struct cfg_kw kws[] = {
 *		{ .name = "retries", .sections = CFG_BE, .min = 1, .max = 1,
 *		  .parse = parse_retries, .syntax = "<number>",
 *		  .doc = "Attempts to connect before giving up." },
 *		{ .name = "bind", .sections = CFG_FRONTEND | CFG_LISTEN, .min = 1, .max = CFG_ANY,
 *		  .parse = parse_bind, .syntax = "<address> [<option>...]", .doc = "..." },
 *		{ .name = "option tcpka", .sections = CFG_PROXIES, .flags = CFG_KW_NO,
 *		  .parse = parse_flag, .arg = PX_TCPKA, .doc = "..." },
 *		{ .name = "option contstats", .sections = CFG_FE, .class = CFG_HINT,
 *		  .flags = CFG_KW_NO, .doc = "Counters are always continuous." },
 *		{ 0 }
 *	};
 *	static const struct cfg_opt bind_opts[] = {
 *		{ .name = "backlog", .min = 1, .max = 1, .parse = opt_backlog,
 *		  .syntax = "<n>", .doc = "..." },
 *		{ 0 }
 *	};
 *	const struct cfg_module listen_cfg_module = {
 *		.name = "listen", .kws = kws, .opts = { [CFG_OPT_BIND] = bind_opts },
 *	};
 *
 * The helpers that parse functions use are in cfg/ctx.h.
 */

struct cfg_ctx;
struct cfg_enum;

/* Sections that may contain a keyword. */
enum {
	CFG_GLOBAL = 1 << 0,
	CFG_DEFAULTS = 1 << 1,
	CFG_FRONTEND = 1 << 2,
	CFG_BACKEND = 1 << 3,
	CFG_LISTEN = 1 << 4,
	CFG_HTTP_ERRORS = 1 << 5,
	CFG_USERLIST = 1 << 6,
	CFG_RESOLVERS = 1 << 7,
	CFG_RING = 1 << 8,
	CFG_CRT_STORE = 1 << 9,
	CFG_LOG_PROFILE = 1 << 10,
	CFG_PEERS = 1 << 11,
	CFG_CACHE = 1 << 12,
	/* Sections of the file that `filter spoe` names. */
	CFG_SPOE_AGENT = 1 << 13,
	CFG_SPOE_MESSAGE = 1 << 14,
	CFG_SPOE_GROUP = 1 << 15,
	CFG_MAILERS = 1 << 16,

	CFG_FE = CFG_DEFAULTS | CFG_FRONTEND | CFG_LISTEN,
	CFG_BE = CFG_DEFAULTS | CFG_BACKEND | CFG_LISTEN,
	CFG_PROXIES = CFG_FE | CFG_BE,
};

enum cfg_class {
	CFG_IMPLEMENTED = 0,
	CFG_HINT,		/* accepted without effect; a notice gives the reason (.doc) */
	CFG_UNSUPPORTED,	/* an error; .doc is the reason, if given */
};

enum {
	CFG_KW_NO = 1 << 0,	/* may be preceded by "no" and "default" */
	/* In a frontend or backend that it does not apply to it is an error; the default is
	 * HAProxy's warning "ignored because frontend 'x' has no backend capability". */
	CFG_KW_STRICT = 1 << 1,
	CFG_KW_QUIET = 1 << 2,	/* a CFG_HINT whose notice is shown only with -dD */
	CFG_KW_FIRST = 1 << 3,	/* with `once`: the first one is kept */
	/* A global keyword for measurements only; the manual page lists these separately. */
	CFG_KW_SWITCH = 1 << 4,
};

#define CFG_ANY (-1)		/* no upper limit on the number of arguments */

struct cfg_kw {
	const char *name;	/* up to three words with single blanks; NULL ends a table */
	unsigned int sections;
	unsigned int flags;
	short min, max;		/* arguments after the name; checked before parse() */
	enum cfg_class class;
	/* 0, or -1 after cfg_error(). Not called for CFG_HINT and CFG_UNSUPPORTED. */
	int (*parse)(struct cfg_ctx *ctx);
	const char *syntax;	/* the arguments, for messages and -dK; may be NULL */
	const char *doc;	/* text for the man page, or the reason; may be NULL */
	/* For the man page: what counts without the line (of a flag it is derived), the words that
	 * may be arguments, and lines of an example. */
	const char *dflt;
	const struct cfg_enum *values;
	const char *example;
	/* Name of a setting that a section has once; keywords may share it. A second line replaces
	 * the first one, with a warning. NULL: the keyword may be repeated. */
	const char *once;
	intptr_t arg;		/* for the owner: ctx->kw->arg */
};

/* Lines that have their own options. */
enum cfg_opt_place { CFG_OPT_BIND, CFG_OPT_SERVER, CFG_OPT_PLACES };

struct cfg_opt {
	const char *name;
	short min, max;		/* arguments; max > min: parse() calls cfg_take() with its count */
	enum cfg_class class;
	int (*parse)(struct cfg_ctx *ctx, void *obj);
	const char *syntax;
	const char *doc;
	const char *dflt;			/* these as in struct cfg_kw */
	const struct cfg_enum *values;
	const char *example;
	intptr_t arg;		/* for the owner: ctx->opt->arg */
	int in_parens;		/* something in parentheses follows the name: cfg_opt_parens() */
	int only_at_start;	/* not for a server that is added at run time */
};

enum {
	CFG_SEC_NAMED = 1 << 0,		/* a name is required: frontend, backend, listen */
	CFG_SEC_OPTNAME = 1 << 1,	/* a name is optional: defaults */
	CFG_SEC_FROM = 1 << 2,		/* inherits from the last defaults, or "from <name>" */
	CFG_SEC_DEFAULTS = 1 << 3,	/* its object holds defaults for other sections */
};

/* A section. begin() sets ctx->obj (NULL is allowed); ctx->name is the section's name or "",
 * ctx->from the object of the defaults section that it inherits from, or NULL. If begin() returns
 * non-zero the section's lines are skipped and end() is not called. */
struct cfg_section {
	const char *name;
	unsigned int bit;
	unsigned int flags;
	int (*begin)(struct cfg_ctx *ctx);
	int (*end)(struct cfg_ctx *ctx);	/* may be NULL */
	const char *doc;	/* for the man page; may be NULL */
};

struct cfg_module {
	const char *name;
	const struct cfg_kw *kws;		/* each table may be NULL */
	const struct cfg_section *sections;
	const struct cfg_opt *opts[CFG_OPT_PLACES];
};

enum { CFG_MODULES_MAX = 64, CFG_KW_WORDS_MAX = 3 };

struct cfg_registry {
	const struct cfg_module *module[CFG_MODULES_MAX];
	unsigned int nmodule;
	const struct cfg_kw **kw;		/* sorted by name */
	unsigned int nkw, kwcap;
};

void cfg_registry_init(struct cfg_registry *reg);
void cfg_registry_fini(struct cfg_registry *reg);

/* Registers a module's tables (borrowed, static). 0, -ENOMEM, -ENOSPC, or -EEXIST when a keyword or
 * option is already registered for one of its sections. */
int cfg_registry_add(struct cfg_registry *reg, const struct cfg_module *m);

const struct cfg_section *cfg_registry_section(const struct cfg_registry *reg, const char *name);
/* The keyword with this exact name in one of `sections`, or NULL. */
const struct cfg_kw *cfg_registry_kw(const struct cfg_registry *reg, const char *name,
				     unsigned int sections);
/* name may end with parentheses, if the option takes them. */
const struct cfg_opt *cfg_registry_opt(const struct cfg_registry *reg, enum cfg_opt_place place,
				       const char *name);

#endif
