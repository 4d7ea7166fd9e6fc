/* Values of unix sockets of bind lines, and `unix-bind`. Start-up only. */
#include "net/bind_unix.h"

#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "cfg/ctx.h"

#define MODE_MAX 07777

/* --- values --- */

int
bind_unix_mode(struct cfg_ctx *ctx, int i, mode_t *out)
{
	const char *s = cfg_arg(ctx, i);
	unsigned int mode = 0;

	for (const char *p = s; *p; p++) {
		mode = mode * 8 + (unsigned int)(*p - '0');
		if (*p < '0' || *p > '7' || mode > MODE_MAX)
			mode = MODE_MAX + 1;
	}
	if (mode == 0 || mode > MODE_MAX)
		return cfg_error(
			ctx, i, "'mode' : '%.40s' is not an octal number (1..%o expected).", s,
				MODE_MAX);
	*out = (mode_t)mode;
	return 0;
}

int
bind_unix_id(struct cfg_ctx *ctx, int i, id_t *out)
{
	int64_t id;

	if (cfg_arg_int64(ctx, i, 0, UINT32_MAX - 1, &id))
		return -1;
	*out = (id_t)id;
	return 0;
}

int
bind_unix_user(struct cfg_ctx *ctx, int i, uid_t *out)
{
	if (names_user(cfg_arg(ctx, i), out) < 0)
		return cfg_error(ctx, i, "'user' : unknown user '%.60s'.", cfg_arg(ctx, i));
	return 0;
}

int
bind_unix_group(struct cfg_ctx *ctx, int i, gid_t *out)
{
	if (names_group(cfg_arg(ctx, i), out) < 0)
		return cfg_error(ctx, i, "'group' : unknown group '%.60s'.", cfg_arg(ctx, i));
	return 0;
}

/* --- unix-bind --- */

void
bind_unix_init(struct bind_unix *u)
{
	*u = (struct bind_unix){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
}

void
bind_unix_fini(struct bind_unix *u)
{
	mem_free(u->prefix);
	u->prefix = NULL;
}

static int
parse_setting(struct cfg_ctx *ctx, int i, struct bind_unix *u)
{
	const char *name = cfg_arg(ctx, i);

	if (strcmp(name, "prefix") == 0)
		return cfg_arg_dup(ctx, i + 1, &u->prefix);
	if (strcmp(name, "mode") == 0)
		return bind_unix_mode(ctx, i + 1, &u->mode);
	if (strcmp(name, "user") == 0)
		return bind_unix_user(ctx, i + 1, &u->uid);
	if (strcmp(name, "uid") == 0)
		return bind_unix_id(ctx, i + 1, &u->uid);
	if (strcmp(name, "group") == 0)
		return bind_unix_group(ctx, i + 1, &u->gid);
	if (strcmp(name, "gid") == 0)
		return bind_unix_id(ctx, i + 1, &u->gid);
	return cfg_error(ctx, i,
		"'unix-bind' : unknown setting '%.60s'; there are prefix, mode, user, uid, group "
		"and gid.",
		name);
}

int
bind_unix_parse(struct cfg_ctx *ctx, struct bind_unix *u)
{
	for (int i = 0; i < ctx->argc; i += 2) {
		if (i + 1 == ctx->argc)
			return cfg_error(ctx, i, "'unix-bind' : '%.60s' expects a value.",
				cfg_arg(ctx, i));
		if (parse_setting(ctx, i, u))
			return -1;
	}
	return 0;
}
