/* The option track of servers. Main thread, when the configuration is complete. A server that is
 * tracked has checks of its own, or tracks another one: there are no loops. */
#include <stdio.h>
#include <string.h>

#include "cfg/diag.h"
#include "proxy/config/check_track.h"
#include "proxy/model/proxies.h"

static int
report_track(const struct server *s, struct cfg_diag *d, const char *what,
	const struct server *tracked, const char *why)
{
	cfg_diag_add(d, CFG_ALERT, &s->where, "'server %s/%s' : %s %s/%s %s.", s->be->name, s->name,
		what, tracked->be->name, tracked->name, why);
	return -1;
}

static void
report_missing(const struct server *s, struct cfg_diag *d, const char *what, const char *name)
{
	cfg_diag_add(d, CFG_ALERT, &s->where,
		"'server %s/%s' : unable to find required %s '%s' for tracking.", s->be->name,
		s->name, what, name);
}

#define BACKEND_NAME_MAX 256

/* The backend that `track` names before the slash, or the server's own. */
static const struct proxy *
find_tracked_backend(const struct proxies *root, const struct server *s, const char *slash,
	struct cfg_diag *d)
{
	char name[BACKEND_NAME_MAX];
	const struct proxy *be;

	if (!slash)
		return s->be;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - s->conf.check.track),
		s->conf.check.track);
	be = proxies_find(root, name, PROXY_BE);
	if (!be && !cfg_diag_is_lost(d, name))
		report_missing(s, d, "proxy", name);
	return be;
}

/* The server that `track` names, "[<backend>/]<server>". */
static struct server *
find_tracked(const struct proxies *root, const struct server *s, struct cfg_diag *d)
{
	const char *slash = strrchr(s->conf.check.track, '/');
	const char *name = slash ? slash + 1 : s->conf.check.track;
	const struct proxy *be = find_tracked_backend(root, s, slash, d);
	struct server *found = be ? proxy_find_server(be, str_of(name)) : NULL;

	if (be && !found && !be->errors_read)
		report_missing(s, d, "server", name);
	return found;
}

/* The server at the end of the chain, or NULL: it is a loop. The slow one of two walks through it
 * meets the fast one in a loop that begins later. */
static const struct server *
end_of_chain(const struct server *s)
{
	const struct server *slow = s;

	for (;;) {
		if (!s->track)
			return s;
		s = s->track;
		if (!s->track)
			return s;
		s = s->track;
		slow = slow->track;
		if (s == slow)
			return NULL;
	}
}

/* A chain ends at a server with checks of its own, and disable-on-404 is the same along it. */
static int
check_tracked(const struct server *s, struct cfg_diag *d)
{
	const struct server *tracked = s->track, *end = end_of_chain(s);

	if (!end)
		return report_track(s, d, "unable to track", tracked,
			"as it belongs to a tracking chain looping back to itself");
	if (!end->conf.check.check && !end->conf.check.agent)
		return report_track(s, d, "unable to use", tracked,
			"for tracking as it does not have any check nor agent enabled");
	if (s->be != tracked->be &&
		s->be->check.disable_on_404 != tracked->be->check.disable_on_404)
		return report_track(s, d, "unable to use", tracked,
			"for tracking: disable-on-404 option inconsistency");
	return 0;
}

static int
resolve_server(const struct proxies *root, struct server *s, struct cfg_diag *d)
{
	if (!s->conf.check.track)
		return 0;
	if (s->conf.check.check) {
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"'server %s/%s' : unable to enable checks and tracking at the same time!",
			s->be->name, s->name);
		return -1;
	}
	s->track = find_tracked(root, s, d);
	return s->track ? 0 : -1;
}

/* A server is in maintenance as long as the one that it tracks. */
static void
inherit_maint(struct server *s)
{
	for (const struct server *it = s->track; it; it = it->track)
		if (it->admin & SERVER_MAINT)
			s->admin |= SERVER_MAINT_TRACKED;
}

static int
follow_tracked(struct server *s, struct cfg_diag *d)
{
	if (check_tracked(s, d))
		return -1;
	list_append(&s->track->trackers, &s->track_link);
	inherit_maint(s);
	return 0;
}

int
check_track_resolve_one(const struct proxies *root, struct server *s, struct cfg_diag *d)
{
	if (resolve_server(root, s, d))
		return -1;
	if (!s->track)
		return 0;
	/* A dynamic server may be removed. */
	if (s->track->is_dynamic)
		return report_track(
			s, d, "unable to use", s->track, "for tracking as it is a dynamic server");
	return follow_tracked(s, d);
}

/* Loops are found when all are resolved; a list of trackers is made only without errors. */
int
check_track_resolve(struct proxies *root, struct cfg_diag *d)
{
	int bad = 0;

	list_each(it, &root->all) {
		list_each(at, &list_entry(it, struct proxy, link)->servers) {
			bad |= resolve_server(root, list_entry(at, struct server, link), d);
		}
	}
	list_each(it, &root->all) {
		list_each(at, &list_entry(it, struct proxy, link)->servers) {
			struct server *s = list_entry(at, struct server, link);

			if (s->track)
				bad |= follow_tracked(s, d);
		}
	}
	return bad;
}
