/* Files of CAs and revocation lists at run time (management manual 9.3), in HAProxy's words. On
 * the first worker; the others are paused for the moment of a change only. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_tls_int.h"
#include "base/err.h"
#include "base/mem.h"
#include "tls/ca.h"
#include "tls/conn_info.h"

/* The words of commands for the two kinds. */
static const struct ca_words {
	const char *kind;     /* "CA" */
	const char *command;  /* "ca-file" */
} words[TLS_CA_KINDS] = {
	[TLS_CA_FILE] = { "CA", "ca-file" },
	[TLS_CRL_FILE] = { "CRL", "crl-file" },
};

static struct tls_ca_files *
files_of(const struct admin_conn *c)
{
	return &admin_tls_conf(c)->cas;
}

static struct tls_ca_change *
change_of(const struct admin_conn *c, enum tls_ca_kind kind)
{
	return &files_of(c)->change[kind];
}

/* --- show --- */

/* A copy is shown, since the file may be changed or removed meanwhile. */
struct ca_walk {
	struct tls_ca *ca;
	int at, end;          /* certificate or list */
	int revoked;          /* of the list; -1: its head comes next */
};

enum { REVOKED_AT_ONCE = 64 };

static int
show_next(struct admin_conn *c, void *state)
{
	struct ca_walk *w = state;

	if (w->revoked >= 0) {
		int n = tls_crl_show_revoked(w->ca, w->at, w->revoked, REVOKED_AT_ONCE, &c->out);

		w->revoked += n;
		if (n < REVOKED_AT_ONCE) {
			w->revoked = -1;
			w->at++;
		}
		return 1;
	}
	if (w->at >= w->end || !tls_ca_show(w->ca, w->at, &c->out))
		return 0;
	if (w->ca->kind == TLS_CRL_FILE)
		w->revoked = 0;
	else
		w->at++;
	return 1;
}

static void
end_show(void *state)
{
	const struct ca_walk *w = state;

	tls_ca_free(w->ca);
}

/* index 0: all. */
static void
show_ca_file(struct admin_conn *c, const struct tls_ca *ca, int is_change, int index)
{
	struct ca_walk w = { .at = MAX(index - 1, 0), .end = index ? index : INT32_MAX,
		.revoked = -1 };

	/* As HAProxy does: a file without CAs has no answer. */
	if (ca->kind == TLS_CA_FILE && tls_ca_count(ca) <= w.at)
		return;
	sbuf_addf(&c->out, "Filename: %s%s\nStatus: %s\n", is_change ? "*" : "", ca->name,
		tls_ca_count(ca) == 0     ? "Empty"
			: !is_change && ca->uses ? "Used"
						 : "Unused");
	w.ca = tls_ca_copy(ca);
	if (!w.ca) {
		c->out.failed = 1;
		return;
	}
	admin_walk_with_end(c, show_next, end_show, &w, sizeof(w));
}

static const struct tls_ca *
find_shown(struct admin_conn *c, enum tls_ca_kind kind, const char *name)
{
	const struct tls_ca_change *change = change_of(c, kind);

	if (name[0] != '*')
		return tls_ca_find(files_of(c), kind, name);
	return change->file && strcmp(change->file->name, name + 1) == 0 ? change->made : NULL;
}

/* <file>[:<index>] */
static void
show_ca_named(struct admin_conn *c, enum tls_ca_kind kind, char *name)
{
	const struct tls_ca *ca = find_shown(c, kind, name);
	char *colon = ca ? NULL : strrchr(name, ':'), *end;
	long index = 0;

	if (colon) {
		index = strtol(colon + 1, &end, 10);
		if (end == colon + 1 || *end || index <= 0 || index > INT32_MAX) {
			admin_severity(c, ADMIN_ERR);
			sbuf_addf(&c->out, "wrong %s index after colons in '%s'!",
				words[kind].kind, name);
			return;
		}
		*colon = '\0';
		ca = find_shown(c, kind, name);
	}
	if (ca)
		show_ca_file(c, ca, name[0] == '*', (int)index);
	else
		admin_msg(c, ADMIN_ERR, "Can't display the %s file : Not found!", words[kind].kind);
}

static void
show_ca_line(struct admin_conn *c, const struct tls_ca *ca, const char *mark)
{
	sbuf_addf(&c->out, "%s%s", mark, ca->name);
	if (ca->kind == TLS_CA_FILE)
		sbuf_addf(&c->out, " - %d certificate(s)", tls_ca_count(ca));
	sbuf_addc(&c->out, '\n');
}

static void
show_ca(struct admin_conn *c, enum tls_ca_kind kind, int argc, char **argv)
{
	const struct tls_ca_change *change = change_of(c, kind);

	if (argc > 0) {
		show_ca_named(c, kind, argv[0]);
		return;
	}
	if (change->file) {
		sbuf_adds(&c->out, "# transaction\n");
		show_ca_line(c, change->made, "*");
	}
	sbuf_adds(&c->out, "# filename\n");
	list_each(it, &files_of(c)->all) {
		const struct tls_ca *ca = list_entry(it, const struct tls_ca, link);

		if (ca->kind == kind)
			show_ca_line(c, ca, "");
	}
}

/* --- a transaction --- */

static void
end_ca_change(struct tls_ca_change *change)
{
	tls_ca_free(change->made);
	change->made = NULL;
	change->file = NULL;
}

/* Makes the file out of the payload, alone or beside the present contents. NULL: it is not
 * valid. */
static struct tls_ca *
make_changed_ca(struct admin_conn *c, struct tls_ca *ca, int adds)
{
	const struct tls_ca_change *change = change_of(c, ca->kind);
	const struct tls_ca *from = change->made ? change->made : ca;
	struct tls_ca *made = adds ? tls_ca_copy(from) : tls_ca_new(ca->kind, ca->name);
	char why[TLS_WHY_MAX];

	if (made && tls_ca_add(made, c->payload, strlen(c->payload), why) == 0)
		return made;
	tls_ca_free(made);
	return NULL;
}

static void
put_ca_change(struct admin_conn *c, struct tls_ca *ca, int adds)
{
	struct tls_ca_change *change = change_of(c, ca->kind);
	struct tls_ca *made = make_changed_ca(c, ca, adds);
	int is_new = !change->file;

	if (!made) {
		admin_msg(c, ADMIN_ERR, "Invalid payload\nCan't update %s!", ca->name);
		return;
	}
	tls_ca_free(change->made);
	change->made = made;
	change->file = ca;
	admin_msg(c, ADMIN_NOTICE, "transaction %s for %s %s!", is_new ? "created" : "updated",
		words[ca->kind].kind, ca->name);
}

static void
set_ca(struct admin_conn *c, enum tls_ca_kind kind, int adds, int argc, char **argv)
{
	const struct tls_ca_change *change = change_of(c, kind);
	struct tls_ca *ca;

	if (argc < 1 || !c->payload) {
		/* HAProxy's words, to the letter. */
		admin_msg(c, ADMIN_ERR, "'%s ssl %s expects a filename and %ss as a payload",
			adds ? "add" : "set", words[kind].command, words[kind].kind);
		return;
	}
	ca = tls_ca_find(files_of(c), kind, argv[0]);
	if (change->file && (!ca || change->file != ca))
		admin_msg(c, ADMIN_ERR,
			"The ongoing transaction is about '%s' but you are trying to set '%s'\n"
			"Can't update %s!",
			change->file->name, argv[0], argv[0]);
	else if (!ca)
		admin_msg(c, ADMIN_ERR,
			"Can't replace a %s file which is not referenced by the configuration!\n"
			"Can't update %s!",
			words[kind].kind, argv[0]);
	else
		put_ca_change(c, ca, adds);
}

/* Puts the new content in place, and takes it out again if it cannot be used. */
static void
commit_ca_change(struct admin_conn *c, struct tls_ca_change *change)
{
	struct tls_change all = { .ca = change->file };
	char why[TLS_WHY_MAX];
	unsigned int uses;

	tls_ca_exchange(change->file, change->made);
	if (admin_tls_apply(c, &all, &uses, why) < 0) {
		tls_ca_exchange(change->file, change->made);
		admin_msg(c, ADMIN_ERR, "%s.\nCan't commit %s!", why, change->file->name);
		return;
	}
	admin_severity(c, ADMIN_NOTICE);
	sbuf_addf(&c->out, "Committing %s", change->file->name);
	admin_tls_dots(c, uses);
	sbuf_adds(&c->out, "\nSuccess!\n");
	end_ca_change(change);
}

static void
commit_ca(struct admin_conn *c, enum tls_ca_kind kind, int argc, char **argv)
{
	struct tls_ca_change *change = change_of(c, kind);

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "'commit ssl ca-file expects a filename");
	else if (!change->file)
		admin_msg(c, ADMIN_ERR, "No ongoing transaction! !\nCan't commit %s!", argv[0]);
	else if (strcmp(change->file->name, argv[0]) != 0)
		admin_msg(c, ADMIN_ERR,
			"The ongoing transaction is about '%s' but you are trying to set '%s'\n"
			"Can't commit %s!",
			change->file->name, argv[0], argv[0]);
	else
		commit_ca_change(c, change);
}

static void
abort_ca(struct admin_conn *c, enum tls_ca_kind kind, int argc, char **argv)
{
	struct tls_ca_change *change = change_of(c, kind);

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "'abort ssl %s' expects a filename", words[kind].command);
	} else if (!change->file) {
		admin_msg(c, ADMIN_ERR, "No ongoing transaction!");
	} else if (strcmp(change->file->name, argv[0]) != 0) {
		admin_msg(c, ADMIN_ERR,
			"The ongoing transaction is about '%s' but you are trying to abort a "
			"transaction for '%s'",
			change->file->name, argv[0]);
	} else {
		end_ca_change(change);
		admin_msg(c, ADMIN_NOTICE, "Transaction aborted for certificate '%s'!", argv[0]);
	}
}

/* --- new and del --- */

/* HAProxy has one name space for both kinds. */
static void
add_new_ca(struct admin_conn *c, enum tls_ca_kind kind, int argc, char **argv)
{
	struct tls_ca_files *f = files_of(c);
	struct tls_ca *made;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "'new ssl %s' expects a filename", words[kind].command);
		return;
	}
	if (tls_ca_find(f, TLS_CA_FILE, argv[0]) || tls_ca_find(f, TLS_CRL_FILE, argv[0])) {
		admin_msg(c, ADMIN_ERR, "%s file '%s' already exists!", words[kind].kind, argv[0]);
		return;
	}
	made = tls_ca_new(kind, argv[0]);
	if (!made) {
		admin_msg(c, ADMIN_ERR, "Out of memory.");
		return;
	}
	tls_ca_insert(f, made);
	admin_msg(c, ADMIN_NOTICE, "New %s file created '%s'!", words[kind].kind, argv[0]);
}

static void
delete_ca(struct admin_conn *c, enum tls_ca_kind kind, int argc, char **argv)
{
	struct tls_ca *ca = argc > 0 ? tls_ca_find(files_of(c), kind, argv[0]) : NULL;
	const char *is = words[kind].kind;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "'del ssl %s' expects a %s file name", words[kind].command,
			is);
	} else if (!ca) {
		admin_msg(c, ADMIN_ERR,
			"Can't remove the %s file: %s file '%s' doesn't exist!\n", is, is, argv[0]);
	} else if (ca->uses) {
		admin_msg(c, ADMIN_ERR,
			"Can't remove the %s file: %s file '%s' in use, can't be deleted!\n", is,
			is, argv[0]);
	} else {
		if (change_of(c, kind)->file == ca)
			end_ca_change(change_of(c, kind));
		tls_ca_free(ca);
		admin_msg(c, ADMIN_NOTICE, "%s file '%s' deleted!", is, argv[0]);
	}
}

#define COMMAND(verb, name, call)                                                    \
	void admin_cmd_##verb##_ssl_##name(struct admin_conn *c, int argc, char **argv) \
	{                                                                            \
		call;                                                                \
	}

COMMAND(show, ca_file, show_ca(c, TLS_CA_FILE, argc, argv))
COMMAND(show, crl_file, show_ca(c, TLS_CRL_FILE, argc, argv))
COMMAND(set, ca_file, set_ca(c, TLS_CA_FILE, 0, argc, argv))
COMMAND(set, crl_file, set_ca(c, TLS_CRL_FILE, 0, argc, argv))
COMMAND(add, ca_file, set_ca(c, TLS_CA_FILE, 1, argc, argv))
COMMAND(commit, ca_file, commit_ca(c, TLS_CA_FILE, argc, argv))
COMMAND(commit, crl_file, commit_ca(c, TLS_CRL_FILE, argc, argv))
COMMAND(abort, ca_file, abort_ca(c, TLS_CA_FILE, argc, argv))
COMMAND(abort, crl_file, abort_ca(c, TLS_CRL_FILE, argc, argv))
COMMAND(new, ca_file, add_new_ca(c, TLS_CA_FILE, argc, argv))
COMMAND(new, crl_file, add_new_ca(c, TLS_CRL_FILE, argc, argv))
COMMAND(del, ca_file, delete_ca(c, TLS_CA_FILE, argc, argv))
COMMAND(del, crl_file, delete_ca(c, TLS_CRL_FILE, argc, argv))
