/* A server's change of state, on each worker: idle connections and sessions. Reads the state
 * without a lock: a later change is announced again. */
#include "proxy/session/server_change.h"

#include "base/atomic.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http2/h2_server.h"
#include "proxy/session/session.h"

static void
kill_sessions_on(struct engine *e, const struct server *srv, char cause)
{
	list_each_safe(it, &e->streams) {
		struct stream *s = list_entry(it, struct stream, link);

		if (stream_is_on(s, srv))
			stream_kill(s, cause);
	}
}

static void
end_backup_sessions(struct engine *e, const struct proxy *be)
{
	list_each(it, &be->servers) {
		const struct server *srv = list_entry(it, const struct server, link);

		if (srv->conf.backup)
			kill_sessions_on(e, srv, 'U');
	}
}

void
server_change_apply(struct engine *e, struct server *srv)
{
	struct server_shard *mine = &srv->shard[e->index];
	unsigned int changes = atomic_read(&srv->changes);

	if (mine->seen_changes == changes)
		return;
	mine->seen_changes = changes;
	if (server_is_running(srv)) {
		if (srv->conf.check.shutdown_backups_on_up && !srv->conf.backup &&
			server_is_usable(srv))
			end_backup_sessions(e, srv->be);
		return;
	}
	conn_pool_drop_server(e, srv);
	h2_server_leave(e, srv, 0);
	if (srv->conf.check.shutdown_on_down)
		kill_sessions_on(e, srv, 'D');
}
