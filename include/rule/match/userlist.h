/*
 * Sections userlist (manual 3.4): users with passwords, and groups. Built while a section is read,
 * then read-only for all workers.
 */
#ifndef TACIT_RULE_MATCH_USERLIST_H
#define TACIT_RULE_MATCH_USERLIST_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"
#include "base/str.h"
#include "cfg/diag.h"

/*
 * Passwords of userlists (manual 3.4): a crypt(3) hash, or plain text. The hash is computed for
 * each check, on the worker itself: it is slow by design, from tens of microseconds to a second,
 * and the worker serves no other connection meanwhile.
 */
/* Maximum length of a password: libcrypt's limit. */
#define PASSWORD_MAX 511

/* The error in a hash, NULL: valid. It computes the hash, which may be slow. Static. */
const char *password_hash_fault(const char *hash);
/* The same for a plain text password. */
int password_is_text(struct str given, struct str text);

#define USERLIST_NAME_MAX 255 /* maximum length in a list of names */

enum user_secret {
	USER_LOCKED, /* no password: never authenticated */
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
	const struct user_group **group; /* the user's groups, once finished */
	unsigned int n_groups;
	unsigned int place;      /* index in by_name, once finished */
};

/* "user u groups g", "group g users u": resolved at the end of the section. */
struct user_tie {
	struct list link;
	char *user, *group;
	int is_of_group;         /* from the line of the group */
	struct cfg_where where;
};

struct userlist {
	struct list link;        /* in userlists.all */
	char *name;
	struct list users, groups, ties; /* in order; ties until finished */
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
/* NULL: none. */
struct userlist *userlists_find(const struct userlists *l, const char *name);
/* These copy their texts; NULL when memory is out. */
struct userlist *userlists_add(struct userlists *l, const char *name) must_check;
struct user *userlist_add_user(struct userlist *l, const char *name) must_check;
struct user_group *userlist_add_group(struct userlist *l, const char *name) must_check;
struct user_tie *userlist_tie(struct userlist *l, const char *user, const char *group) must_check;
/* While the section is read. */
struct user *userlist_find_user(const struct userlist *l, const char *name);
const struct user_group *userlist_find_group(const struct userlist *l, const char *name);
/* Ends the section: 0, or -1 after errors. */
int userlist_finish(struct userlist *l, struct cfg_diag *d) must_check;

/*
 * The user with this name and password, or NULL. The time shows whether the user exists, as in
 * HAProxy, but nothing about the password.
 */
const struct user *userlist_admit(const struct userlist *l, struct str name, struct str password);

#endif
