/* Keywords of `global` that are accepted and have no effect here, each with the reason that its
 * notice gives. */
#include "app/config/global.h"

#define HINT(n, hi, why)                                                                         \
	{ .name = n, .sections = CFG_GLOBAL, .min = 0, .max = hi, .class = CFG_HINT, .doc = why }
#define HINT_NO(n, hi, why)                                                                      \
	{ .name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_NO, .min = 0, .max = hi,            \
	  .class = CFG_HINT, .doc = why }

#define H2 "HTTP/2 is not supported"
#define LUA "Lua is not supported"
#define COMPRESSION "compression is not supported"
#define ABSENT "tacit has nothing of the kind"
#define NEVER "tacit never does it"
#define EXPOSE "keywords do not depend on it"

static const struct cfg_kw kws[] = {
	HINT("tune.h2.header-table-size", 1, H2),
	HINT("tune.h2.initial-window-size", 1, H2),
	HINT("tune.h2.max-concurrent-streams", 1, H2),
	HINT("tune.h2.max-frame-size", 1, H2),
	HINT("tune.http.logurilen", 1, "request lines are cut at 1024 bytes in logs"),
	HINT("tune.comp.maxlevel", 1, COMPRESSION),
	HINT("maxcompcpuusage", 1, COMPRESSION),
	HINT("maxcomprate", 1, COMPRESSION),
	HINT("maxzlibmem", 1, COMPRESSION),
	HINT("expose-deprecated-directives", 0, EXPOSE),
	HINT("expose-experimental-directives", 0, EXPOSE),
	HINT("h2-workaround-bogus-websocket-clients", 0, H2),
	HINT("tune.buffers.limit", 1, ABSENT),
	HINT("tune.buffers.reserve", 1, ABSENT),
	HINT("tune.idletimer", 1, ABSENT),
	HINT("tune.pattern.cache-size", 1, ABSENT),
	HINT("tune.runqueue-depth", 1, ABSENT),
	HINT("tune.sched.low-latency", 1, ABSENT),
	HINT("tune.recv_enough", 1, ABSENT),
	HINT("tune.lua.forced-yield", 1, LUA),
	HINT("tune.lua.maxmem", 1, LUA),
	HINT("tune.lua.service-timeout", 1, LUA),
	HINT("tune.lua.session-timeout", 1, LUA),
	HINT("tune.lua.task-timeout", 1, LUA),
	HINT("tune.peers.max-updates-at-once", 1, "peers are not supported"),
	HINT("ssl-mode-async", 0, "there are no asynchronous engines"),
	HINT_NO("busy-polling", 0, "a worker with nothing to do sleeps"),
	HINT("tune.idle-pool.shared", 1, "each worker keeps its own idle connections"),
	HINT("stats bind-process", CFG_ANY, "there is one process"),
	HINT_NO("numa-cpu-mapping", 0, "workers run where the system or cpu-map lets them"),
	HINT("noevports", 0, NEVER),
	HINT("nokqueue", 0, NEVER),
	HINT("noreuseport", 0, NEVER),
	HINT("nogetaddrinfo", 0, "names are resolved by the C library at start"),
	HINT("no-memory-trimming", 0, NEVER),
	HINT_NO("tune.fd.edge-triggered", 1, "tune.epoll.mode decides this"),
	{ 0 },
};

const struct cfg_module global_hints_module = {
	.name = "global-hints",
	.kws = kws,
};
