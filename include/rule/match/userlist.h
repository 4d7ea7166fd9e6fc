/*
 * Who may do what: sections userlist (manual 3.4), users with passwords and groups of them. Filled
 * in while a section is read, afterwards only looked at, by all workers.
 */
#ifndef TACIT_RULE_MATCH_USERLIST_H
#define TACIT_RULE_MATCH_USERLIST_H

#include "base/list.h"
#include "base/name_index.h"
#include "cfg/diag.h"
#include "rule/match/password.h"

#define USERLIST_NAME_MAX 255 /* bytes of one in a list of names */

enum user_secret {
	USER_LOCKED, /* no password was given: nobody is him */
	USER_TEXT,   /* insecure-password */
	USER_HASH    /* password */
};

struct user_group {
	struct list link;
	char *name;
};

struct user {
	struct list link;
	char *name;
	enum user_secret kind;
	char *secret;
	const struct user_group **group; /* that he belongs to, once finished */
	unsigned int n_groups;
	unsigned int place;      /* in by_name, once finished */
};

/* "user u groups g", "group g users u": found out when the section is over. */
struct user_tie {
	struct list link;
	char *user, *group;
	int is_of_group;         /* said in the line of the group */
	struct cfg_where where;
};

struct userlist {
	struct list link;        /* in userlists.all */
	char *name;
	struct list users, groups, ties; /* in order; ties until it is finished */
	struct name_index user_names, group_names;
	unsigned int n;
	struct user **by_name;   /* once finished */
};

struct userlists {
	struct list all;
	struct name_index by_name;
};

void userlists_init(struct userlists *l);
void userlists_fini(struct userlists *l);
/* NULL: there is none. */
struct userlist *userlists_find(const struct userlists *l, const char *name);
/* These copy their texts; NULL when memory is out. */
struct userlist *userlists_add(struct userlists *l, const char *name) must_check;
struct user *userlist_add_user(struct userlist *l, const char *name) must_check;
struct user_group *userlist_add_group(struct userlist *l, const char *name) must_check;
struct user_tie *userlist_tie(struct userlist *l, const char *user, const char *group) must_check;
/* While it is read: from the first to the last. */
struct user *userlist_find_user(const struct userlist *l, const char *name);
const struct user_group *userlist_find_group(const struct userlist *l, const char *name);
/* The section is over: 0, or -1 after errors. */
int userlist_finish(struct userlist *l, struct cfg_diag *d) must_check;

/*
 * The user who has that name and that password, or NULL. Whether there is such a user can be told
 * by how long it takes, as with HAProxy; what of the password is right cannot.
 */
const struct user *userlist_admit(const struct userlist *l, struct str name, struct str password);

#endif
