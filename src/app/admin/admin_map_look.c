/* Maps and ACLs at run time, listed and searched. */
#include "app/admin/admin_map_int.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"

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

void
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

void
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
