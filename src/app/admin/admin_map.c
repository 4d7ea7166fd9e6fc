/* Maps and ACLs at run time (management manual 9.3): changed, replaced, and the commands. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_map_int.h"
#include "base/err.h"
#include "rule/match/pattern_version.h"

/* In one step. */
#define ENTRIES_SWEPT 16

static void
report_unknown_map(const struct admin_map_asked *q)
{
	admin_msg(q->c, ADMIN_ERR, "Unknown %s identifier. Please use #<id> or <file>.",
		q->is_map ? "map" : "ACL");
}

const char *
admin_map_kind(const struct admin_map_asked *q)
{
	return q->is_map ? "map" : "ACL";
}

int
admin_map_version(struct admin_map_asked *q)
{
	char *end;
	unsigned long long v;

	if (q->argc < 1 || q->argv[0][0] != '@')
		return 0;
	v = strtoull(q->argv[0] + 1, &end, 10);
	if (q->argv[0][1] < '0' || q->argv[0][1] > '9' || *end || v > UINT32_MAX) {
		admin_msg(q->c, ADMIN_ERR, "Invalid version number.");
		return -1;
	}
	q->has_version = 1;
	q->version = (uint32_t)v;
	q->argc--;
	q->argv++;
	return 0;
}

static int
take_ref(struct admin_map_asked *q, int either)
{
	const struct pattern_files *f = &q->c->admin->process->cfg->proxies.files;

	q->ref = q->argc > 0 ? pattern_files_find(f, q->argv[0]) : NULL;
	if (!q->ref || !(either || (q->is_map ? q->ref->is_map : q->ref->is_acl))) {
		report_unknown_map(q);
		return -1;
	}
	if (!q->has_version)
		q->version = q->ref->version;
	q->argc--;
	q->argv++;
	return 0;
}

int
admin_map_ref(struct admin_map_asked *q)
{
	return take_ref(q, 0);
}

int
admin_map_ref_either(struct admin_map_asked *q)
{
	return take_ref(q, 1);
}

/* --- add --- */

static int
add_one(const struct admin_map_asked *q, struct str key, struct str value)
{
	struct rule_err why = { 0 };

	if (pattern_ref_add(q->ref, q->version, key, value, &why) == 0)
		return 0;
	admin_msg(q->c, ADMIN_ERR, "%s.", why.text);
	return -1;
}

/* A key and a value per line; values may contain blanks. Entries before an invalid line are
 * kept. */
static void
add_payload(const struct admin_map_asked *q, char *line)
{
	char *next, *key, *value;

	for (; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (!*line)
			continue;
		key = line + strspn(line, " \t");
		value = key + strcspn(key, " \t");
		if (*value)
			*value++ = '\0';
		value += strspn(value, " \t");
		if (!*value) {
			admin_msg(q->c, ADMIN_ERR, "Missing value for key '%s'.", key);
			return;
		}
		if (add_one(q, str_of(key), str_of(value)) < 0)
			return;
	}
}

static void
map_cmd_add(struct admin_map_asked *q)
{
	char *payload = q->is_map ? q->c->payload : NULL;
	int words = q->is_map ? 3 : 2;

	if (admin_map_version(q) < 0)
		return;
	if (payload ? q->argc < 1 : q->argc < words) {
		admin_msg(q->c, ADMIN_ERR,
			q->is_map
				? "'add map' expects three parameters (map identifier, key and "
				  "value) or one parameter (map identifier) and a payload"
				: "'add acl' expects two parameters: ACL identifier and pattern.");
		return;
	}
	if (admin_map_ref_either(q) < 0)
		return;
	if (!pattern_ref_has_version(q->ref, q->version))
		admin_msg(q->c, ADMIN_ERR,
			"Version number in the future, please use 'prepare %s' before.",
			q->is_map ? "map" : "acl");
	else if (payload)
		add_payload(q, payload);
	else if (!q->is_map && q->ref->is_map)
		admin_msg(q->c, ADMIN_ERR,
			"This ACL is shared with a map containing samples. You must use the "
			"command 'add map' to add values.");
	else
		(void)add_one(q, str_of(q->argv[0]),
			q->is_map ? str_of(q->argv[1]) : (struct str){ NULL, 0 });
}

/* --- set, del --- */

/* "#<ref>" as shown by `show`. 0: it is a key. */
static int
take_entry_id(const char *text, uint64_t *id)
{
	char *end;

	if (text[0] != '#')
		return 0;
	*id = strtoull(text + 1, &end, 16);
	if (!text[1] || *end)
		*id = 0;
	return 1;
}

/*
 * Pauses the workers; *e is the entry that `text` names as "#<ref>", or NULL. Finding it is slow,
 * so if no rule changes entries the workers are paused afterwards. 0: `text` is a key.
 */
static int
stop_for_entry(const struct admin_map_asked *q, const char *text, struct pattern_entry **e)
{
	uint64_t id;
	int by_id = take_entry_id(text, &id);

	*e = NULL;
	if (by_id && !q->ref->is_live)
		*e = pattern_ref_by_id(q->ref, id);
	admin_stop_workers(q->c);
	if (by_id && q->ref->is_live)
		*e = pattern_ref_by_id(q->ref, id);
	return by_id;
}

static void
map_cmd_set(struct admin_map_asked *q)
{
	struct rule_err why = { 0 };
	struct pattern_entry *e;
	int by_id, rc;

	if (q->argc != 3) {
		admin_msg(q->c, ADMIN_ERR,
			"'set map' expects three parameters: map identifier, key and value.");
		return;
	}
	if (admin_map_ref_either(q) < 0)
		return;
	by_id = stop_for_entry(q, q->argv[0], &e);
	if (!by_id)
		rc = pattern_ref_set(q->ref, str_of(q->argv[0]), str_of(q->argv[1]), &why);
	else if (e)
		rc = pattern_ref_set_entry(q->ref, e, str_of(q->argv[1]), &why) < 0 ? -1 : 1;
	else
		rc = 0;
	admin_resume_workers(q->c);
	if (rc < 0)
		admin_msg(q->c, ADMIN_ERR, "%s.", why.text);
	else if (rc == 0)
		admin_msg(
			q->c, ADMIN_ERR, by_id ? "key or pattern not found." : "entry not found.");
}

static void
map_cmd_del(struct admin_map_asked *q)
{
	struct pattern_entry *e;
	unsigned int n = 0;

	if (q->argc < 2) {
		admin_msg(q->c, ADMIN_ERR,
			"This command expects two parameters: %s identifier and key.",
			admin_map_kind(q));
		return;
	}
	if (admin_map_ref(q) < 0)
		return;
	if (!stop_for_entry(q, q->argv[0], &e)) {
		n = pattern_ref_del(q->ref, str_of(q->argv[0]));
	} else if (e) {
		pattern_ref_del_entry(q->ref, e);
		n = 1;
	}
	admin_resume_workers(q->c);
	if (!n)
		admin_msg(q->c, ADMIN_ERR, "Key not found.");
}

/* --- versions --- */

struct sweep_walk {
	struct pattern_ref *ref;
	struct pattern_change change;
};

static int
sweep_entries(struct admin_conn *c, void *state)
{
	struct sweep_walk *w = state;
	struct sys *sys = c->admin->worker->sys;
	int has_more;

	if (w->ref->is_live)
		shared_lock_take(&w->ref->lock, sys);
	has_more = pattern_version_sweep(w->ref, &w->change, ENTRIES_SWEPT);
	if (w->ref->is_live)
		shared_lock_drop(&w->ref->lock);
	return has_more;
}

/*
 * Clears or commits the entries of a version. Workers are paused for the swap, and during the plan
 * too if rules change entries.
 */
static int
replace_version(struct admin_map_asked *q, int clears)
{
	struct sweep_walk w = { .ref = q->ref };
	int rc;

	if (q->ref->is_live)
		admin_stop_workers(q->c);
	rc = pattern_version_plan(q->ref, q->version, clears, &w.change);
	if (!q->ref->is_live)
		admin_stop_workers(q->c);
	if (rc == 0)
		pattern_version_apply(q->ref, &w.change);
	admin_resume_workers(q->c);
	if (rc < 0)
		return rc;
	pattern_version_forget(q->ref, &w.change);
	admin_walk(q->c, sweep_entries, &w, sizeof(w));
	return 0;
}

static void
map_cmd_clear(struct admin_map_asked *q)
{
	if (admin_map_version(q) < 0)
		return;
	if (q->argc < 1)
		admin_msg(q->c, ADMIN_ERR, "Missing %s identifier.", admin_map_kind(q));
	else if (admin_map_ref(q) == 0 && replace_version(q, 1) < 0)
		admin_msg(q->c, ADMIN_ERR, "Out of memory.");
}

static void
map_cmd_prepare(struct admin_map_asked *q)
{
	if (admin_map_ref(q) == 0)
		admin_msg(q->c, ADMIN_INFO, "New version created: %u",
			pattern_version_prepare(q->ref));
}

static void
map_cmd_commit(struct admin_map_asked *q)
{
	int rc;

	if (admin_map_version(q) < 0)
		return;
	if (!q->has_version) {
		admin_msg(q->c, ADMIN_ERR, "Missing version number.");
		return;
	}
	if (q->argc < 1) {
		admin_msg(q->c, ADMIN_ERR, "Missing %s identifier.", admin_map_kind(q));
		return;
	}
	if (admin_map_ref(q) < 0)
		return;
	rc = replace_version(q, 0);
	if (rc < 0)
		admin_msg(q->c, ADMIN_ERR,
			rc == -ERR_NOMEM ? "Out of memory." : "Version number out of range.");
}

/* --- the table --- */

static void
run_map_cmd(void (*what)(struct admin_map_asked *), int is_map, struct admin_conn *c, int argc,
	char **argv)
{
	struct admin_map_asked q = { .c = c, .is_map = is_map, .argc = argc, .argv = argv };

	what(&q);
}

/* Lookups take no lock: changes happen while the workers are paused. */
static void
run_map_change(void (*what)(struct admin_map_asked *), int is_map, struct admin_conn *c, int argc,
	char **argv)
{
	admin_stop_workers(c);
	run_map_cmd(what, is_map, c, argc, argv);
	admin_resume_workers(c);
}

#define COMMAND(verb, how, what, name, is_map)                                         \
	void admin_cmd_##verb##_##name(struct admin_conn *c, int argc, char **argv)    \
	{                                                                              \
		how(what, is_map, c, argc, argv);                                      \
	}
#define COMMANDS(verb, how, what)        \
	COMMAND(verb, how, what, map, 1) \
	COMMAND(verb, how, what, acl, 0)

COMMANDS(show, run_map_cmd, admin_map_show)
COMMANDS(get, run_map_cmd, admin_map_get)
COMMANDS(add, run_map_change, map_cmd_add)
COMMAND(set, run_map_cmd, map_cmd_set, map, 1)
COMMANDS(del, run_map_cmd, map_cmd_del)
COMMANDS(clear, run_map_cmd, map_cmd_clear)
COMMANDS(prepare, run_map_change, map_cmd_prepare)
COMMANDS(commit, run_map_cmd, map_cmd_commit)
