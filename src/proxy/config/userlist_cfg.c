/* The section userlist. Main thread, while the configuration is read; a list is complete when
 * its section ends. */
#include "proxy/config/userlist_cfg.h"

#include <string.h>

#include "cfg/ctx.h"
#include "proxy/model/proxies.h"

/* --- the section --- */

static int
begin_userlist(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;

	if (userlists_find(&ps->userlists, ctx->name))
		return cfg_error(ctx, 0, "userlist '%s' already exists.", ctx->name);
	ctx->obj = userlists_add(&ps->userlists, ctx->name);
	return ctx->obj ? 0 : cfg_nomem(ctx);
}

static int
end_userlist(struct cfg_ctx *ctx)
{
	return userlist_finish(ctx->obj, ctx->diag);
}

/* --- users and groups --- */

/* The names in argument i, "a,b,c", each tied to `to`, a group or a user. */
static int
tie_each(struct cfg_ctx *ctx, int i, const char *to, int is_group)
{
	char name[USERLIST_NAME_MAX + 1];
	const char *p = cfg_arg(ctx, i);

	if (!*p)
		return cfg_error(ctx, i, "'%s' : '%s' expects names separated by commas.",
			cfg_kw_name(ctx), cfg_arg(ctx, i - 1));
	for (;;) {
		size_t n = strcspn(p, ",");
		struct user_tie *t;

		if (n == 0 || n > USERLIST_NAME_MAX)
			return cfg_error(ctx, i, "'%s' : '%s' %s.", cfg_kw_name(ctx),
				cfg_arg(ctx, i),
				n ? "contains a name that is too long" : "contains an empty name");
		memcpy(name, p, n);
		name[n] = '\0';
		t = userlist_tie(ctx->obj, is_group ? name : to, is_group ? to : name);
		if (!t)
			return cfg_nomem(ctx);
		t->is_of_group = is_group;
		t->where = cfg_arg_where(ctx, i);
		if (!p[n])
			return 0;
		p += n + 1;
	}
}

static int
parse_userlist_group(struct cfg_ctx *ctx)
{
	const char *name = cfg_arg(ctx, 0);

	if (!*name)
		return cfg_error(ctx, 0, "'group' expects a name.");
	if (userlist_find_group(ctx->obj, name))
		return cfg_error(ctx, 0, "group '%s' already exists in userlist '%s'.", name,
			ctx->name);
	if (!userlist_add_group(ctx->obj, name))
		return cfg_nomem(ctx);
	if (ctx->argc < 2)
		return 0;
	if (strcmp(cfg_arg(ctx, 1), "users") != 0)
		return cfg_error(ctx, 1, "'group' only supports 'users' option.");
	return tie_each(ctx, 2, name, 1);
}

static int
take_secret(struct cfg_ctx *ctx, int i, struct user *u, enum user_secret kind)
{
	const char *fault = NULL;

	if (u->kind != USER_LOCKED)
		return cfg_error(ctx, i, "'user' : only one password is allowed.");
	if (i + 1 >= ctx->argc)
		return cfg_error(ctx, ctx->argc, "'user' : '%s' expects a password.",
			cfg_arg(ctx, i));
	if (kind == USER_HASH)
		fault = password_hash_fault(cfg_arg(ctx, i + 1));
	if (fault)
		return cfg_error(ctx, i + 1, "user '%s' : no password can match this hash: %s.",
			u->name, fault);
	if (cfg_arg_dup(ctx, i + 1, &u->secret) < 0)
		return -1;
	u->kind = kind;
	return 0;
}

static int
parse_userlist_user(struct cfg_ctx *ctx)
{
	const char *name = cfg_arg(ctx, 0);
	struct user *u;
	int rc = 0;

	if (!*name)
		return cfg_error(ctx, 0, "'user' expects a name.");
	if (userlist_find_user(ctx->obj, name))
		return cfg_error(ctx, 0, "user '%s' already exists in userlist '%s'.", name,
			ctx->name);
	u = userlist_add_user(ctx->obj, name);
	if (!u)
		return cfg_nomem(ctx);
	for (int i = 1; rc == 0 && i < ctx->argc; i += 2) {
		const char *word = cfg_arg(ctx, i);

		if (strcmp(word, "password") == 0)
			rc = take_secret(ctx, i, u, USER_HASH);
		else if (strcmp(word, "insecure-password") == 0)
			rc = take_secret(ctx, i, u, USER_TEXT);
		else if (strcmp(word, "groups") == 0)
			rc = tie_each(ctx, i + 1, name, 0);
		else
			rc = cfg_error(ctx, i,
				"'user' only supports 'password', 'insecure-password' and 'groups' "
				"options.");
	}
	if (rc == 0 && u->kind == USER_LOCKED)
		cfg_warn(ctx, 0, "user '%s' has no password and cannot be authenticated.", name);
	return rc;
}

static const struct cfg_section sections[] = {
	{ .name = "userlist",
		.bit = CFG_USERLIST,
		.flags = CFG_SEC_NAMED,
		.begin = begin_userlist,
		.end = end_userlist,
		.doc = "Users with their passwords, and groups of users, for http_auth()." },
	{ 0 },
};

static const struct cfg_kw kws[] = {
	{ .name = "group",
		.dflt = "none",
		.sections = CFG_USERLIST,
		.min = 1,
		.max = 3,
		.parse = parse_userlist_group,
		.syntax = "<name> [users <user>[,<user>]...]",
		.doc = "A group and its users." },
	{ .name = "user",
		.dflt = "none",
		.example = "user anna password $5$tacit$h6Zt... groups admins",
		.sections = CFG_USERLIST,
		.min = 1,
		.max = 5,
		.parse = parse_userlist_user,
		.syntax = "<name> [password <hash> | insecure-password <text>] "
			  "[groups <group>[,<group>]...]",
		.doc = "A user. The hash is one of crypt(3), as mkpasswd and openssl passwd write "
			"it. Each authenticated request hashes the password once; the worker "
			"serves no other connection meanwhile." },
	{ 0 },
};

const struct cfg_module userlist_cfg_module = {
	.name = "userlist",
	.kws = kws,
	.sections = sections,
};
