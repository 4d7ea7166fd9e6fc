/* Maps and ACLs at run time (management manual 9.3): changed, replaced, and the commands. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_version.h"

/* A command on a map or an ACL, and the rest of its words. */
struct admin_map_asked {
	struct admin_conn *c;
	int is_map;
	int argc;
	char **argv;
	int has_version; /* "@<ver>" was given */
	uint32_t version;
	struct pattern_ref *ref;
};

/* In one step. */
#define ENTRIES_SWEPT 16
/* In one turn, for which the workers are paused once. */
#define LINES_ADDED 64

static void admin_map_show(struct admin_map_asked *q);
static void admin_map_get(struct admin_map_asked *q);

static void
report_unknown_map(const struct admin_map_asked *q)
{
	admin_msg(q->c, ADMIN_ERR, "Unknown %s identifier. Please use #<id> or <file>.",
		q->is_map ? "map" : "ACL");
}

/* "map" or "ACL". */
static const char *
admin_map_kind(const struct admin_map_asked *q)
{
	return q->is_map ? "map" : "ACL";
}

/* Parses a leading "@<ver>". 0, or -1 after a message. */
static int
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

/* Finds the map or ACL that the next word names. 0, or -1 after a message. */
static int
admin_map_ref(struct admin_map_asked *q)
{
	return take_ref(q, 0);
}

/* Does the same, but a command for maps accepts an ACL, too, and the reverse: maps and ACLs share
 * their numbers. */
static int
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

/* A key and a value; values may contain blanks. 0, or -1 after a message. */
static int
add_payload_line(const struct admin_map_asked *q, char *line)
{
	char *key, *value;

	line[strcspn(line, "\r")] = '\0';
	if (!*line)
		return 0;
	key = line + strspn(line, " \t");
	value = key + strcspn(key, " \t");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	if (*value)
		return add_one(q, str_of(key), str_of(value));
	admin_msg(q->c, ADMIN_ERR, "Missing value for key '%s'.", key);
	return -1;
}

/* 0, or -1 after a message. */
static int
check_map_version(const struct admin_map_asked *q)
{
	if (pattern_ref_has_version(q->ref, q->version))
		return 0;
	admin_msg(q->c, ADMIN_ERR, "Version number in the future, please use 'prepare %s' before.",
		q->is_map ? "map" : "acl");
	return -1;
}

struct payload_walk {
	struct pattern_ref *ref;
	uint32_t version;
	char *rest;
};

/* A step of `add map` with a payload, which may have thousands of lines. Entries before an invalid
 * one stay. */
static int
add_payload_lines(struct admin_conn *c, void *state)
{
	struct payload_walk *w = state;
	struct admin_map_asked q = { .c = c, .is_map = 1, .ref = w->ref, .version = w->version };
	int r;

	admin_stop_workers(c);
	r = check_map_version(&q);
	for (int n = 0; n < LINES_ADDED && !r && w->rest && *w->rest; n++) {
		char *line = w->rest;

		w->rest = strchr(line, '\n');
		if (w->rest)
			*w->rest++ = '\0';
		r = add_payload_line(&q, line);
	}
	admin_resume_workers(c);
	c->walk.ends_turn = 1;
	return !r && w->rest && *w->rest;
}

static void
map_cmd_add(struct admin_map_asked *q)
{
	char *payload = q->is_map ? q->c->payload : NULL;
	int words = q->is_map ? 3 : 2;
	struct payload_walk w;

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
	if (admin_map_ref_either(q) < 0 || check_map_version(q) < 0)
		return;
	w = (struct payload_walk){ q->ref, q->version, payload };
	if (payload)
		admin_walk(q->c, add_payload_lines, &w, sizeof(w));
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

/* --- look-ups -------------------------------------------------------------------------------- */

/* Maps and ACLs at run time, listed and searched. */

/* The lookup context: memory for conversions and regex matching. */
enum { WORK_ROOM = 16384 };

/* Entries that are examined while rules cannot change them. */
enum { ENTRIES_AT_ONCE = 64 };

/* --- show --- */

struct list_walk {
	int is_map;
	struct list *ref;   /* link of the next ref; refs are never added or removed */
};

static void
print_ref(struct sbuf *out, const struct pattern_ref *ref)
{
	uint64_t refused = atomic_read(&ref->refused);

	sbuf_addf(out, "%lld (%s) ", (long long)ref->id, ref->path ? ref->path : "");
	sbuf_add(out, ref->where, ref->where_len);
	sbuf_addf(out, ". curr_ver=%u next_ver=%u entry_cnt=%llu", ref->version, ref->next,
		(unsigned long long)counter_read(&ref->n));
	if (refused)
		sbuf_addf(out, " refused=%llu", (unsigned long long)refused);
	sbuf_addc(out, '\n');
}

static int
next_ref(struct admin_conn *c, void *state)
{
	struct list_walk *w = state;
	const struct pattern_ref *ref = list_entry(w->ref, const struct pattern_ref, link);

	if (w->ref == &c->admin->process->cfg->proxies.files.refs)
		return 0;
	if (w->is_map ? ref->is_map : ref->is_acl)
		print_ref(&c->out, ref);
	w->ref = w->ref->next;
	return 1;
}

static void
list_all(const struct admin_map_asked *q)
{
	struct list_walk w = { q->is_map, q->c->admin->process->cfg->proxies.files.refs.next };

	sbuf_adds(&q->c->out, "# id (file) description\n");
	admin_walk(q->c, next_ref, &w, sizeof(w));
}

struct entry_walk {
	struct pattern_ref *ref;
	uint32_t version;
	uint64_t after;     /* id of the last entry examined */
};

static void
print_entry(struct sbuf *out, const struct pattern_entry *e)
{
	sbuf_addf(out, "%#llx ", (unsigned long long)e->id);
	sbuf_add(out, e->bytes, pattern_entry_text(e).len);
	if (e->value) {
		sbuf_addc(out, ' ');
		sbuf_add(out, e->value, e->value_len);
	}
	sbuf_addc(out, '\n');
}

/* A few at a time, since writers have to wait. */
static int
next_entries(struct admin_conn *c, void *state)
{
	struct entry_walk *w = state;
	struct list *at;
	int more;

	pattern_ref_look(w->ref, c->admin->worker->sys);
	at = pattern_ref_resume(w->ref, w->after);
	for (int n = 0; n < ENTRIES_AT_ONCE && at != &w->ref->entries; n++, at = at->next) {
		const struct pattern_entry *e = list_entry(at, struct pattern_entry, link);

		if (w->version == w->ref->version ? pattern_ref_is_current(w->ref, e)
						  : e->version == w->version)
			print_entry(&c->out, e);
		w->after = e->id;
	}
	more = at != &w->ref->entries;
	if (more)
		pattern_ref_pause(w->ref, w->after, at);
	pattern_ref_looked(w->ref);
	return more;
}

/* The commands `show` and `get`. */
static void
admin_map_show(struct admin_map_asked *q)
{
	struct entry_walk w = { 0 };

	if (q->argc == 0) {
		list_all(q);
		return;
	}
	if (admin_map_version(q) < 0 || admin_map_ref(q) < 0)
		return;
	w.ref = q->ref;
	w.version = q->version;
	admin_walk(q->c, next_entries, &w, sizeof(w));
}

/* --- get --- */

static const char *
type_name(enum sample_type t)
{
	return t == SAMPLE_SINT    ? "sint"
		: t == SAMPLE_IPV4 ? "ipv4"
		: t == SAMPLE_IPV6 ? "ipv6"
				   : "str";
}

/* As HAProxy stores it; scripts may depend on it. */
static const char *
index_name(const struct pattern_set *set, const struct pattern *t)
{
	int tree = set->method == PATTERN_STR || set->method == PATTERN_BEG ||
		set->method == PATTERN_IP;

	return tree && !t->nocase ? "tree" : "list";
}

static void
print_hit(const struct admin_map_asked *q, const struct pattern_set *set, const struct pattern *t)
{
	struct sbuf *out = &q->c->out;
	const struct pattern_entry *e = pattern_entry_of(t);

	sbuf_addf(out, ", %s=yes, idx=%s, %s=\"", q->is_map ? "found" : "match", index_name(set, t),
		q->is_map ? "key" : "pattern");
	sbuf_add(out, e->bytes, pattern_entry_text(e).len);
	sbuf_addc(out, '"');
	if (q->is_map && set->out == SAMPLE_ANY) {
		sbuf_adds(out, ", value=none");
	} else if (q->is_map) {
		sbuf_adds(out, ", value=\"");
		sbuf_add(out, e->value, e->value_len);
		sbuf_addf(out, "\", type=\"%s\"", type_name(pattern_value(t).type));
	}
}

static void
look_up(const struct admin_map_asked *q, const struct pattern_feed *feed,
	const struct pattern_set *set, struct sample_ctx *cx)
{
	const char *method = pattern_method_name(set->method);
	struct sample s = { .type = SAMPLE_STR, .u.str = str_of(q->argv[0]) };
	const struct pattern *hit;

	pattern_set_look(set, cx->sys);
	hit = pattern_match(set, &s, cx, NULL);
	sbuf_addf(&q->c->out, "type=%s, case=%s", method ? method : "int",
		feed->flags & PATTERN_NOCASE ? "insensitive" : "sensitive");
	if (hit)
		print_hit(q, set, hit);
	else
		sbuf_addf(&q->c->out, ", %s=no", q->is_map ? "found" : "match");
	pattern_set_looked(set);
	sbuf_addc(&q->c->out, '\n');
	arena_release(cx->arena, 0);
}

/* Lines of one ACL share a set: this one's patterns are compared separately. */
static void
look_up_line(const struct admin_map_asked *q, struct sample_ctx *cx)
{
	const struct pattern_feed *feed = q->ref->feed[0];
	struct pattern_set set;
	struct rule_err why;

	pattern_set_init(&set, feed->set->method, SAMPLE_ANY, &q->ref->table.key);
	list_each(it, &q->ref->entries) {
		const struct pattern_entry *e = list_entry(it, const struct pattern_entry, link);

		/* A resolved host name is only found by that name. */
		if (pattern_ref_is_current(q->ref, e) &&
			pattern_set_add(&set, pattern_entry_text(e), PATTERN_EQ, feed->flags,
				(struct str){ NULL, 0 }, &why) == -ERR_NOMEM)
			break;
	}
	look_up(q, feed, &set, cx);
	pattern_set_fini(&set);
}

static void
admin_map_get(struct admin_map_asked *q)
{
	struct arena arena = { .cap = WORK_ROOM };
	struct sample_ctx cx = { .arena = &arena, .sys = q->c->admin->worker->sys };

	if (q->argc < 2) {
		admin_msg(q->c, ADMIN_ERR, "Missing %s identifier and/or key.",
			admin_map_kind(q));
		return;
	}
	if (admin_map_ref_either(q) < 0)
		return;
	arena.p = mem_alloc(WORK_ROOM);
	cx.regex = regex_work_new();
	if (!arena.p || !cx.regex) {
		admin_msg(q->c, ADMIN_ERR, "Out of memory.");
	} else if (!q->ref->path) {
		look_up_line(q, &cx);
	} else {
		for (unsigned int i = 0; i < q->ref->n_feeds; i++)
			look_up(q, q->ref->feed[i], q->ref->feed[i]->set, &cx);
	}
	mem_free(arena.p);
	regex_work_free(&cx.regex);
}
