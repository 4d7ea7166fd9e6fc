/* Fetches about the user of a client, by a userlist (manual 7.3.6; RFC 7617). */
#include "proxy/sample/fetch.h"
#include "proxy/model/proxies.h"
#include "rule/sample/fetch.h"

static int
check_list(struct rule_args *a, void *root, const char **why)
{
	const struct proxies *ps = root;

	a->arg[0].ref = userlists_find(&ps->userlists, a->arg[0].text.p);
	*why = "there is no such userlist";
	return a->arg[0].ref ? 0 : -1;
}

static int
check_group(const struct rule_args *a, struct str text, const char **why)
{
	*why = "the userlist has no such group";
	return userlist_find_group(a->arg[0].ref, text.p) ? 0 : -1;
}

/* The authenticated user. 0: no credentials; *user NULL: they are wrong. */
static int
admit_user(const struct rule_args *a, struct sample_ctx *cx, struct sample *s,
	const struct user **user)
{
	struct str name, pass;

	if (!rule_basic_auth(cx, s, &name, &pass))
		return 0;
	*user = userlist_admit(a->arg[0].ref, name, pass);
	return 1;
}

static int
fetch_auth(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct user *user;

	if (!admit_user(a, cx, s, &user))
		return 0;
	sample_set_bool(s, user != NULL);
	return 1;
}

static int
fetch_user(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct user *user;

	if (!admit_user(a, cx, s, &user) || !user)
		return 0;
	sample_set_str(s, str_of(user->name));
	return 1;
}

/* Groups one after the other. The password is checked for the first one only. */
static int
fetch_groups(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct userlist *l = a->arg[0].ref;
	struct sample_cursor *c = &cx->cursor;
	const struct user *user;

	if (cx->nth == 0) {
		if (!admit_user(a, cx, s, &user) || !user || user->n_groups == 0)
			return 0;
		c->from = user->place;
		c->left = user->n_groups;
	} else {
		user = l->by_name[c->from];
	}
	sample_set_str(s, str_of(user->group[--c->left]->name));
	s->has_more = c->left > 0;
	return 1;
}

#define COST " Asking costs a hash of crypt(3) where the password is one."

const struct rule_fetch userlist_fetches[] = {
	{ .name = "http_auth",
		.needs = SAMPLE_AT_REQ,
		.arg = { ARG_STR },
		.min = 1,
		.syntax = "<userlist>",
		.out = SAMPLE_BOOL,
		.fetch = fetch_auth,
		.check = check_list,
		.doc = "True if user and password of the scheme Basic are in that list." COST },
	{ .name = "http_auth_group",
		.needs = SAMPLE_AT_REQ,
		.arg = { ARG_STR },
		.min = 1,
		.syntax = "<userlist>",
		.out = SAMPLE_STR,
		.fetch = fetch_user,
		.check = check_list,
		.doc = "The user if the password is correct. In an ACL: the user's groups." COST,
		.acl = "http_auth_groups" },
	{ .name = "http_auth_groups",
		.needs = SAMPLE_AT_REQ,
		.arg = { ARG_STR },
		.min = 1,
		.syntax = "<userlist>",
		.out = SAMPLE_STR,
		.fetch = fetch_groups,
		.check = check_list,
		.check_pattern = check_group,
		.doc = "The user's groups if the password is correct." COST,
		.match = "str" },
	{ .name = NULL },
};
