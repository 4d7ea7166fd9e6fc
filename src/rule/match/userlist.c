/* Users and groups. Main thread while the configuration is read; only read after that, by all
 * workers. */
#include "rule/match/userlist.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* --- passwords --- */

/* Constant time: does not stop at a difference. */
static int
hashes_are_equal(const char *a, const char *b, size_t n)
{
	volatile unsigned char differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

/*
 * The hash of text with the settings at the start of `hash`; NULL: not supported by libcrypt. The
 * work area is large but fits on a thread's stack, and libcrypt wipes it.
 */
static const char *
make_hash(const char *text, const char *hash, struct crypt_data *room)
{
	const char *made;

	room->initialized = 0;
	made = crypt_r(text, hash, room);
	return made && made[0] != '*' ? made : NULL;
}

/*
 * Settings without a hash match no password, nor does a truncated hash. The traditional method may
 * continue with 11 more characters for each 8 of the password.
 */
static int
hash_is_whole(const char *hash, const char *made)
{
	size_t is = strlen(hash), due = strlen(made);

	if (hash[0] == '$' || hash[0] == '_')
		return is == due;
	return is >= due && (is - due) % 11 == 0;
}

const char *
password_hash_fault(const char *hash)
{
	struct crypt_data room;
	const char *made;

	if (crypt_checksalt(hash) == CRYPT_SALT_INVALID)
		return "it is no hash of crypt(3)";
	made = make_hash("", hash, &room);
	if (!made)
		return "crypt(3) of this system does not support its method";
	return hash_is_whole(hash, made) ? NULL : "it is not whole";
}

/* True if the password matches the hash. The time does not depend on how much of it is correct. */
static int
password_has_hash(struct str said, const char *hash)
{
	char text[PASSWORD_MAX + 1];
	struct crypt_data room;
	const char *made;
	size_t n;
	int is;

	if (said.len > PASSWORD_MAX || memchr(said.p, '\0', said.len))
		return 0;
	memcpy(text, said.p, said.len);
	text[said.len] = '\0';
	made = make_hash(text, hash, &room);
	explicit_bzero(text, sizeof(text));
	if (!made)
		return 0;
	n = strlen(hash);
	is = strlen(made) == n && hashes_are_equal(made, hash, n);
	explicit_bzero(&room, sizeof(room));
	return is;
}

/* The number of steps depends on the given text, not on the password. */
int
password_is_text(struct str said, struct str text)
{
	volatile unsigned char differs = said.len != text.len;

	for (size_t i = 0; i < said.len; i++)
		differs |= (unsigned char)(said.p[i] ^ (text.len ? text.p[i % text.len] : 0));
	return !differs;
}

/* --- userlists --- */

void
userlists_init(struct userlists *l)
{
	memset(l, 0, sizeof(*l));
	list_init(&l->all);
}

static void
free_user(struct user *u)
{
	list_remove(&u->link);
	if (u->secret)
		explicit_bzero(u->secret, strlen(u->secret));
	mem_free(u->secret);
	mem_free(u->group);
	mem_free(u->name);
	mem_free(u);
}

static void
free_group(struct user_group *g)
{
	list_remove(&g->link);
	mem_free(g->name);
	mem_free(g);
}

static void
free_tie(struct user_tie *t)
{
	list_remove(&t->link);
	mem_free(t->user);
	mem_free(t->group);
	mem_free(t);
}

static void
free_list(struct userlist *l)
{
	list_remove(&l->link);
	list_each_safe(it, &l->ties) {
		free_tie(list_entry(it, struct user_tie, link));
	}
	list_each_safe(it, &l->users) {
		free_user(list_entry(it, struct user, link));
	}
	list_each_safe(it, &l->groups) {
		free_group(list_entry(it, struct user_group, link));
	}
	name_index_fini(&l->user_names);
	name_index_fini(&l->group_names);
	mem_free(l->by_name);
	mem_free(l->name);
	mem_free(l);
}

void
userlists_fini(struct userlists *l)
{
	list_each_safe(it, &l->all) {
		free_list(list_entry(it, struct userlist, link));
	}
	name_index_fini(&l->by_name);
}

/* --- while sections are read --- */

/* A list owns its items even if the index has no room for their names. */

struct userlist *
userlists_find(const struct userlists *l, const char *name)
{
	return name_index_find(&l->by_name, name);
}

struct userlist *
userlists_add(struct userlists *all, const char *name)
{
	struct userlist *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	list_init(&l->link);
	list_init(&l->users);
	list_init(&l->groups);
	list_init(&l->ties);
	l->name = mem_strdup(name);
	if (!l->name) {
		free_list(l);
		return NULL;
	}
	list_append(&all->all, &l->link);
	return name_index_add(&all->by_name, l->name, l) < 0 ? NULL : l;
}

struct user *
userlist_add_user(struct userlist *l, const char *name)
{
	struct user *u = mem_zalloc(sizeof(*u));

	if (!u)
		return NULL;
	list_init(&u->link);
	u->name = mem_strdup(name);
	if (!u->name) {
		free_user(u);
		return NULL;
	}
	list_append(&l->users, &u->link);
	l->n++;
	return name_index_add(&l->user_names, u->name, u) < 0 ? NULL : u;
}

struct user_group *
userlist_add_group(struct userlist *l, const char *name)
{
	struct user_group *g = mem_zalloc(sizeof(*g));

	if (!g)
		return NULL;
	list_init(&g->link);
	g->name = mem_strdup(name);
	if (!g->name) {
		free_group(g);
		return NULL;
	}
	list_append(&l->groups, &g->link);
	return name_index_add(&l->group_names, g->name, g) < 0 ? NULL : g;
}

struct user_tie *
userlist_tie(struct userlist *l, const char *user, const char *group)
{
	struct user_tie *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	list_init(&t->link);
	t->user = mem_strdup(user);
	t->group = mem_strdup(group);
	if (!t->user || !t->group) {
		free_tie(t);
		return NULL;
	}
	list_append(&l->ties, &t->link);
	return t;
}

struct user *
userlist_find_user(const struct userlist *l, const char *name)
{
	return name_index_find(&l->user_names, name);
}

const struct user_group *
userlist_find_group(const struct userlist *l, const char *name)
{
	return name_index_find(&l->group_names, name);
}

/* --- the section is over --- */

static int
compare_users(const void *a, const void *b)
{
	const struct user *const *u = a, *const *v = b;

	return strcmp((*u)->name, (*v)->name);
}

static int
sort_users(struct userlist *l)
{
	unsigned int n = 0;

	l->by_name = mem_alloc((l->n + 1) * sizeof(struct user *));
	if (!l->by_name)
		return -ERR_NOMEM;
	list_each(it, &l->users) {
		l->by_name[n++] = list_entry(it, struct user, link);
	}
	qsort(l->by_name, n, sizeof(struct user *), compare_users);
	while (n-- > 0)
		l->by_name[n]->place = n;
	return 0;
}

/* The array doubles when it is full, at each power of two. */
static int
add_to_group(struct user *u, const struct user_group *g)
{
	if ((u->n_groups & (u->n_groups - 1)) == 0) {
		const struct user_group **grown = mem_resize(u->group,
			u->n_groups ? 2 * (size_t)u->n_groups : 1, sizeof(struct user_group *));

		if (!grown)
			return -ERR_NOMEM;
		u->group = grown;
	}
	u->group[u->n_groups++] = g;
	return 0;
}

static int
resolve_tie(const struct userlist *l, const struct user_tie *t, struct cfg_diag *d)
{
	struct user *u = userlist_find_user(l, t->user);
	const struct user_group *g = userlist_find_group(l, t->group);

	if (u && g)
		return add_to_group(u, g);
	if (t->is_of_group)
		cfg_diag_add(d, CFG_ALERT, &t->where,
			"userlist '%s': no such user '%s' specified in group '%s'.", l->name,
			t->user, t->group);
	else
		cfg_diag_add(d, CFG_ALERT, &t->where,
			"userlist '%s': no such group '%s' specified in user '%s'.", l->name,
			t->group, t->user);
	return -ERR_UNKNOWN;
}

static int
compare_groups(const void *a, const void *b)
{
	const struct user_group *const *g = a, *const *h = b;

	return strcmp((*g)->name, (*h)->name);
}

/* A group may be named in the user's line and in its own. */
static void
drop_double_groups(struct user *u)
{
	unsigned int kept = 0;

	if (u->n_groups < 2)
		return;
	qsort(u->group, u->n_groups, sizeof(struct user_group *), compare_groups);
	for (unsigned int i = 1; i < u->n_groups; i++)
		if (u->group[i] != u->group[kept])
			u->group[++kept] = u->group[i];
	u->n_groups = kept + 1;
}

int
userlist_finish(struct userlist *l, struct cfg_diag *d)
{
	int rc = sort_users(l), bad = 0;

	list_each_safe(it, &l->ties) {
		struct user_tie *t = list_entry(it, struct user_tie, link);
		int r = rc == -ERR_NOMEM ? rc : resolve_tie(l, t, d);

		if (r < 0)
			bad = 1;
		if (r == -ERR_NOMEM)
			rc = r;
		free_tie(t);
	}
	list_each(it, &l->users) {
		drop_double_groups(list_entry(it, struct user, link));
	}
	if (rc == -ERR_NOMEM)
		cfg_diag_add(d, CFG_ALERT, NULL, "userlist '%s': %s.", l->name, err_text(rc));
	return rc < 0 || bad ? -1 : 0;
}

/* --- asked --- */

static const struct user *
find_by_name(const struct userlist *l, struct str name)
{
	unsigned int from = 0, to = l->n;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;
		const struct user *u = l->by_name[mid];
		int d = strncmp(u->name, name.p, name.len);

		if (d == 0 && !u->name[name.len])
			return u;
		if (d < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

const struct user *
userlist_admit(const struct userlist *l, struct str name, struct str password)
{
	const struct user *u;

	/* strncmp() would end at a NUL. */
	if (name.len && memchr(name.p, '\0', name.len))
		return NULL;
	u = find_by_name(l, name);
	if (!u)
		return NULL;
	switch (u->kind) {
	case USER_TEXT:
		return password_is_text(password, str_of(u->secret)) ? u : NULL;
	case USER_HASH:
		return password_has_hash(password, u->secret) ? u : NULL;
	case USER_LOCKED:
		break;
	}
	return NULL;
}
