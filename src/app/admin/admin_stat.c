/* The walk over the rows of show stat. On the first worker; others count meanwhile. */
#include "app/admin/admin_stat.h"

#include "app/admin/stat_rows.h"
#include "app/process/process.h"
#include "base/atomic.h"
#include "net/listener.h"

static int
is_type_shown(const struct stat_args *a, int type, int sid)
{
	return (a->types < 0 || (a->types & type)) && (a->sid < 0 || a->sid == sid);
}

static int
is_server_wanted(const struct stat_args *a, const struct server *s)
{
	unsigned int admin = atomic_read(&s->admin);

	if (a->hide == STAT_HIDE_MAINT && (admin & SERVER_MAINT))
		return 0;
	if (a->hide == STAT_HIDE_DOWN && !server_is_running(s))
		return 0;
	return is_type_shown(a, ROW_SERVER, s->id);
}

static int
is_proxy_wanted(const struct stat_walk *w, const struct proxy *p)
{
	return !p->disabled && (w->args.iid < 0 || w->args.iid == p->id) &&
		(!w->shows || w->shows(p, w->arg));
}

/* --- all rows --- */

void
stat_walk_init(struct stat_walk *w, const struct process *p)
{
	*w = (struct stat_walk){
		.args = { .iid = -1, .types = -1, .sid = -1, .only = STAT_COLS },
		.proxy = p->cfg->proxies.all.next
	};
}

static enum stat_step
next_frontend(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	w->stage = out->proxy->options & OPT_SOCKET_STATS ? STAT_AT_LISTENERS : STAT_AT_SERVERS;
	if (!(out->proxy->caps & PROXY_FE) || !is_type_shown(&w->args, ROW_FRONTEND, 0))
		return STAT_NOTHING;
	out->type = TYPE_FRONTEND;
	stat_frontend_row(process, out->proxy, &out->row);
	return STAT_ITEM;
}

static enum stat_step
next_listener(struct stat_walk *w, struct stat_item *out)
{
	out->listener = w->listener = proxy_next_listener(out->proxy, w->listener);
	if (!out->listener) {
		w->stage = STAT_AT_SERVERS;
		return STAT_NOTHING;
	}
	if (!is_type_shown(&w->args, ROW_LISTENER, out->listener->id))
		return STAT_NOTHING;
	out->type = TYPE_LISTENER;
	stat_listener_row(out->proxy, out->listener, &out->row, &out->texts);
	return STAT_ITEM;
}

static enum stat_step
next_server(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	if (!is_server_wanted(&w->args, out->server))
		return STAT_NOTHING;
	out->type = TYPE_SERVER;
	stat_server_row(process, out->server, w->args.only, &out->row, &out->texts);
	return STAT_ITEM;
}

static enum stat_step
next_backend(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	w->stage = STAT_AT_FRONTEND;
	w->server = (struct server_walk){ 0 };
	w->proxy = w->proxy->next;
	if (!(out->proxy->caps & PROXY_BE) || !is_type_shown(&w->args, ROW_BACKEND, 0))
		return STAT_NOTHING;
	out->type = TYPE_BACKEND;
	stat_backend_row(process, out->proxy, w->args.only, &out->row);
	return STAT_ITEM;
}

enum stat_step
stat_walk_next(struct stat_walk *w, const struct process *process, struct stat_item *out)
{
	if (w->proxy == &process->cfg->proxies.all)
		return STAT_END;
	out->proxy = list_entry(w->proxy, struct proxy, link);
	out->server = NULL;
	if (!is_proxy_wanted(w, out->proxy)) {
		w->proxy = w->proxy->next;
		return STAT_NOTHING;
	}
	if (w->stage == STAT_AT_FRONTEND)
		return next_frontend(w, process, out);
	if (w->stage == STAT_AT_LISTENERS)
		return next_listener(w, out);
	if (is_type_shown(&w->args, ROW_SERVER, w->args.sid))
		out->server = server_walk_next(out->proxy, &w->server);
	return out->server ? next_server(w, process, out) : next_backend(w, process, out);
}
