/* Keywords of `global` that are accepted and have no effect here, each with the reason that its
 * notice gives. */
#include "app/config/global.h"

#define HINT(n, hi, why)                                                                         \
	{ .name = n, .sections = CFG_GLOBAL, .min = 0, .max = hi, .class = CFG_HINT, .doc = why }
#define HINT_NO(n, hi, why)                                                                      \
	{ .name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_NO, .min = 0, .max = hi,            \
	  .class = CFG_HINT, .doc = why }

#define FRAMES "frames of 16384 bytes are announced, and larger ones are not sent"
#define LUA "Lua is not supported"
#define ABSENT "tacit has nothing of the kind"
#define QUIC "QUIC is not supported"
#define COPIES "tune.splice.after and tune.zerocopy.threshold decide this"
#define GLITCHES "what is invalid is refused at once, not counted"
#define VARIABLES "each set of variables has 65536 bytes"
#define HTTPCLIENT "only scripts use this client, and they are not supported"
#define STATS_FILE "a reload keeps the counters anyway"
#define CPUS "workers run where the system or cpu-map lets them"
#define NEVER "tacit never does it"
#define EXPOSE "keywords do not depend on it"

static const struct cfg_kw kws[] = {
	HINT("tune.h2.max-frame-size", 1, FRAMES),
	HINT("expose-deprecated-directives", 0, EXPOSE),
	HINT("expose-experimental-directives", 0, EXPOSE),
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
	HINT("tune.peers.max-updates-at-once", 1, "peers are sent as much as their sockets take"),
	HINT("ssl-mode-async", 0, "there are no asynchronous engines"),
	HINT_NO("busy-polling", 0, "a worker with nothing to do sleeps"),
	HINT("tune.idle-pool.shared", 1, "each worker keeps its own idle connections"),
	HINT("stats bind-process", CFG_ANY, "there is one process"),
	HINT_NO("numa-cpu-mapping", 0, CPUS),
	HINT("noevports", 0, NEVER),
	HINT("nokqueue", 0, NEVER),
	HINT("noreuseport", 0, NEVER),
	HINT("nogetaddrinfo", 0, "names are resolved by the C library at start"),
	HINT("no-memory-trimming", 0, NEVER),
	HINT_NO("tune.fd.edge-triggered", 1, "tune.epoll.mode decides this"),
	/* Words of HAProxy's versions after 2.6. */
	HINT("tune.h2.zero-copy-fwd-send", 1, COPIES),
	HINT("cluster-secret", 1, QUIC),
	HINT("harden.reject-privileged-ports.quic", 1, QUIC),
	HINT("limited-quic", 0, QUIC),
	HINT("no-quic", 0, QUIC),
	HINT("tune.quic.be.cc.max-frame-loss", 1, QUIC),
	HINT("tune.quic.cc-hystart", 1, QUIC),
	HINT("tune.quic.cc.cubic.min-losses", 1, QUIC),
	HINT("tune.quic.disable-tx-pacing", 0, QUIC),
	HINT("tune.quic.disable-udp-gso", 0, QUIC),
	HINT("tune.quic.fe.cc.max-frame-loss", 1, QUIC),
	HINT("tune.quic.frontend.conn-tx-buffers.limit", 1, QUIC),
	HINT("tune.quic.frontend.default-max-window-size", 1, QUIC),
	HINT("tune.quic.frontend.glitches-threshold", 1, QUIC),
	HINT("tune.quic.frontend.max-data-size", 1, QUIC),
	HINT("tune.quic.frontend.max-idle-timeout", 1, QUIC),
	HINT("tune.quic.frontend.max-streams-bidi", 1, QUIC),
	HINT("tune.quic.frontend.max-tot-window", 1, QUIC),
	HINT("tune.quic.frontend.stream-data-ratio", 1, QUIC),
	HINT("tune.quic.listen", 1, QUIC),
	HINT("tune.quic.max-frame-loss", 1, QUIC),
	HINT("tune.quic.mem.tx-max", 1, QUIC),
	HINT("tune.quic.reorder-ratio", 1, QUIC),
	HINT("tune.quic.retry-threshold", 1, QUIC),
	HINT("tune.quic.socket-owner", 1, QUIC),
	HINT("tune.quic.zero-copy-fwd-send", 1, QUIC),
	HINT("lua-prepend-path", CFG_ANY, LUA),
	HINT("tune.lua.bool-sample-conversion", 1, LUA),
	HINT("tune.lua.burst-timeout", 1, LUA),
	HINT("tune.lua.log.loggers", 1, LUA),
	HINT("tune.lua.log.stderr", 1, LUA),
	HINT("tune.lua.openlibs", 1, LUA),
	HINT("tune.bufsize.large", 1, ABSENT),
	HINT("tune.bufsize.small", 1, ABSENT),
	HINT("tune.defaults.purge", 0, ABSENT),
	HINT("tune.events.max-events-at-once", 1, ABSENT),
	HINT("tune.max-checks-per-thread", 1, ABSENT),
	HINT("tune.max-rules-at-once", 1, ABSENT),
	HINT("tune.memory.hot-size", 1, ABSENT),
	HINT("tune.ring.queues", 1, ABSENT),
	HINT("tune.ssl.certificate-compression", 1, ABSENT),
	HINT("tune.takeover-other-tg-connections", 1, ABSENT),
	HINT("tune.fail-alloc", 1, ABSENT),
	HINT("stress-level", 1, ABSENT),
	HINT("force-cfg-parser-pause", 1, ABSENT),
	HINT("prealloc-fd", 0, ABSENT),
	HINT("quick-exit", 0, ABSENT),
	HINT("tune.rcvbuf.backend", 1, ABSENT),
	HINT("tune.rcvbuf.frontend", 1, ABSENT),
	HINT("tune.sndbuf.backend", 1, ABSENT),
	HINT("tune.sndbuf.frontend", 1, ABSENT),
	HINT("tune.applet.zero-copy-forwarding", 1, COPIES),
	HINT("tune.disable-fast-forward", 0, COPIES),
	HINT("tune.disable-zero-copy-forwarding", 0, COPIES),
	HINT("tune.h1.zero-copy-fwd-recv", 1, COPIES),
	HINT("tune.h1.zero-copy-fwd-send", 1, COPIES),
	HINT("tune.pt.zero-copy-forwarding", 1, COPIES),
	HINT("tune.glitches.kill.cpu-usage", 1, GLITCHES),
	HINT("tune.h1.be.glitches-threshold", 1, GLITCHES),
	HINT("tune.h1.fe.glitches-threshold", 1, GLITCHES),
	HINT("tune.vars.check-max-size", 1, VARIABLES),
	HINT("tune.vars.global-max-size", 1, VARIABLES),
	HINT("tune.vars.proc-max-size", 1, VARIABLES),
	HINT("tune.vars.reqres-max-size", 1, VARIABLES),
	HINT("tune.vars.sess-max-size", 1, VARIABLES),
	HINT("tune.vars.txn-max-size", 1, VARIABLES),
	HINT("httpclient.resolvers.disabled", 1, HTTPCLIENT),
	HINT("httpclient.resolvers.id", 1, HTTPCLIENT),
	HINT("httpclient.resolvers.prefer", 1, HTTPCLIENT),
	HINT("httpclient.retries", 1, HTTPCLIENT),
	HINT("httpclient.ssl.ca-file", 1, HTTPCLIENT),
	HINT("httpclient.ssl.verify", CFG_ANY, HTTPCLIENT),
	HINT("httpclient.timeout.connect", 1, HTTPCLIENT),
	HINT("stats-file", 1, STATS_FILE),
	HINT("shm-stats-file", 1, STATS_FILE),
	HINT("shm-stats-file-max-objects", 1, STATS_FILE),
	HINT("cpu-policy", CFG_ANY, CPUS),
	HINT("cpu-set", CFG_ANY, CPUS),
	HINT("thread-group", CFG_ANY, CPUS),
	HINT("warn-blocked-traffic-after", 1, "the watchdog reports a worker that hangs"),
	HINT("noktls", 0, "TLS is never moved to the kernel"),
	HINT("tune.epoll.mask-events", 1, ABSENT),
	{ 0 },
};

const struct cfg_module global_hints_module = {
	.name = "global-hints",
	.kws = kws,
};
