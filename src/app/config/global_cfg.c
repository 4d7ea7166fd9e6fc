/* The keywords of the section global that concern the process. Main thread, while the
 * configuration is read. */
#include <string.h>

#include "app/config/config.h"
#include "app/config/global.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "cfg/ctx.h"
#include "event/profile.h"
#include "net/bind_cfg.h"
#include "net/listener.h"
#include "proxy/model/engine.h"

static int
begin_global(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	ctx->obj = &c->global;
	return 0;
}

/* A member of struct global_conf by its offset, the keyword's arg. */
#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

static void *
global_field(struct cfg_ctx *ctx)
{
	return (char *)ctx->obj + ctx->kw->arg;
}

/* A switch: on, off with "no", the built-in value with "default". */
static int
parse_flag(struct cfg_ctx *ctx)
{
	int *flag = global_field(ctx);

	*flag = ctx->form == CFG_FORM_SET;
	if (ctx->form == CFG_FORM_DEFAULT)
		*flag = ctx->kw->arg == FIELD(strict_limits);
	return 0;
}

static int
parse_on_or_off(struct cfg_ctx *ctx)
{
	return cfg_arg_bool(ctx, 0, global_field(ctx));
}

static const struct cfg_enum family_words[] = {
	{ "ipv4", DNS_IPV4, "IPv4 addresses." },
	{ "ipv6", DNS_IPV6, "IPv6 addresses." },
	{ "auto", 0, "IPv4 addresses, and IPv6 ones while the system has a route for them; it is "
		"checked every 30 seconds at most." },
	{ 0 },
};

static int
parse_families(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	struct dns_families set = { 0 };

	for (const char *s = cfg_arg(ctx, 0); s;) {
		size_t len = strcspn(s, ",");
		const struct cfg_enum *e = cfg_enum_find(family_words, s, len);

		if (!e)
			return cfg_error(ctx, 0,
				"'dns-accept-family' expects ipv4, ipv6 and auto, separated by "
				"commas, not '%.*s'.", (int)MIN(len, 60), s);
		set.is_auto |= !e->value;
		set.set |= e->value ? (unsigned int)e->value : (unsigned int)DNS_IPV4;
		s = s[len] ? s + len + 1 : NULL;
	}
	c->proxies.families = set;
	return 0;
}

static int
parse_string(struct cfg_ctx *ctx)
{
	return cfg_arg_dup(ctx, 0, global_field(ctx));
}

static int
parse_time(struct cfg_ctx *ctx)
{
	return cfg_arg_timeout(ctx, 0, global_field(ctx));
}

static int
parse_rate(struct cfg_ctx *ctx)
{
	return cfg_arg_int(ctx, 0, 0, INT32_MAX, global_field(ctx));
}

static int
parse_maxconn(struct cfg_ctx *ctx)
{
	return cfg_arg_int(ctx, 0, 0, GLOBAL_MAXCONN_MAX, global_field(ctx));
}

static int
parse_fds(struct cfg_ctx *ctx)
{
	return cfg_arg_int(ctx, 0, 0, GLOBAL_FDS_MAX, global_field(ctx));
}

static int
parse_nbthread(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, GLOBAL_THREADS_MAX, &g->nbthread);
}

/* Newer versions of HAProxy support more threads: a limit above ours has no effect. */
static int
parse_thread_hard_limit(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, 4096, &g->thread_hard_limit);
}

static int
parse_thread_groups(struct cfg_ctx *ctx)
{
	int n;

	if (cfg_arg_int(ctx, 0, 1, 4096, &n))
		return -1;
	return n > 1 ? cfg_error(ctx, 0, "'thread-groups' above 1 is not supported.") : 0;
}

/* A number of a user or group, with its text as the name: (uid_t)-1 is none. */
static int
parse_owner_id(struct cfg_ctx *ctx, uint32_t *id, char **name)
{
	int64_t n;

	if (cfg_arg_int64(ctx, 0, 0, UINT32_MAX - 1, &n))
		return -1;
	*id = (uint32_t)n;
	return cfg_arg_dup(ctx, 0, name);
}

static int
parse_uid(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return parse_owner_id(ctx, &g->uid, &g->user);
}

static int
parse_gid(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return parse_owner_id(ctx, &g->gid, &g->group);
}

static int
parse_user(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (names_user(cfg_arg(ctx, 0), &g->uid))
		return cfg_error(ctx, 0, "'user': unknown user '%s'.", cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &g->user);
}

static int
parse_group(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (names_group(cfg_arg(ctx, 0), &g->gid))
		return cfg_error(ctx, 0, "'group': unknown group '%s'.", cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &g->group);
}

static int
parse_chroot(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (cfg_arg(ctx, 0)[0] != '/')
		return cfg_error(ctx, 0, "'chroot' expects an absolute path.");
	return cfg_arg_dup(ctx, 0, &g->chroot);
}

static const struct cfg_enum master_words[] = {
	{ "exit-on-failure", 1, "When a worker process dies, the master ends, too." },
	{ "no-exit-on-failure", 0, "It replaces the worker process, as without a word." },
	{ 0 },
};

static int
parse_master_worker(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	g->master = ctx->form == CFG_FORM_SET;
	g->exit_on_failure = cfg_arg_word(ctx, 0, master_words) > 0;
	if (ctx->argc > 0 && cfg_arg_word(ctx, 0, master_words) < 0)
		return cfg_error(ctx, 0,
			"'master-worker' : 'exit-on-failure' and 'no-exit-on-failure' are "
			"supported, not '%s'.",
			cfg_arg(ctx, 0));
	return 0;
}

static int
parse_close_spread(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (strcmp(cfg_arg(ctx, 0), "infinite") == 0) {
		g->close_spread_ms = ENGINE_STOP_NEVER;
		return 0;
	}
	return cfg_arg_timeout(ctx, 0, &g->close_spread_ms);
}

static int
parse_max_reloads(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 0, INT32_MAX, &g->max_reloads);
}

/* Names used in other protocols and in file names. */
static int
parse_node(struct cfg_ctx *ctx)
{
	const char *s = cfg_arg(ctx, 0);
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	if (s[n])
		return cfg_error(
			ctx, 0, "'node' : character '%c' is not permitted (letters, digits, '.', "
				"'-' and '_' expected).", s[n]);
	if (n == 0 || n > GLOBAL_NAME_MAX)
		return cfg_error(ctx, 0,
			"'node' expects a name of 1 to %d characters.", GLOBAL_NAME_MAX);
	return cfg_arg_dup(ctx, 0, global_field(ctx));
}

static int
parse_localpeer(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (strlen(cfg_arg(ctx, 0)) > GLOBAL_NAME_MAX)
		return cfg_error(
			ctx, 0, "'localpeer' : too long; the limit is %d characters.",
				GLOBAL_NAME_MAX);
	if (cfg_env_set(ctx->env, "HAPROXY_LOCALPEER", cfg_arg(ctx, 0)))
		return cfg_nomem(ctx);
	return cfg_arg_dup(ctx, 0, &g->localpeer);
}

/* The text may consist of several unquoted words. */
static int
parse_description(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	size_t len = 1, at = 0;
	char *text;

	for (int i = 0; i < ctx->argc; i++)
		len += strlen(cfg_arg(ctx, i)) + 1;
	text = mem_zalloc(len);
	if (!text)
		return cfg_nomem(ctx);
	for (int i = 0; i < ctx->argc; i++)
		at += (size_t)snprintf(text + at, len - at, i ? " %s" : "%s", cfg_arg(ctx, i));
	mem_free(g->description);
	g->description = text;
	return 0;
}

static void
note_admin(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	proxies_note_admin(&c->proxies);
}

static int
parse_stats_timeout(struct cfg_ctx *ctx)
{
	note_admin(ctx);
	return parse_time(ctx);
}

static int
parse_stats_socket(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	struct bind_conf *b;

	note_admin(ctx);
	if (bind_cfg_line(ctx, 0, NULL, &g->admin_binds, NULL, &b) < 0)
		return -1;
	if (b->accept_proxy)
		return cfg_error(ctx, 0, "'stats socket' : 'accept-proxy' is not supported.");
	if (b->proto)
		return cfg_error(ctx, 0, "'stats socket' : 'proto' is not supported.");
	return 0;
}

static int
parse_unix_bind(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return bind_unix_parse(ctx, &c->proxies.unix_bind);
}

static int
parse_stats_maxconn(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	note_admin(ctx);
	return cfg_arg_int(ctx, 0, 1, 65535, &g->stats_maxconn);
}

#define KW(n, lo, hi, fn, syn, text, ...)                                             \
	{                                                                             \
		.name = n, .sections = CFG_GLOBAL, .min = lo, .max = hi, .parse = fn, \
		.syntax = syn, .doc = text, __VA_ARGS__                               \
	}
#define KW_FIELD(n, fn, fld, syn, text, ...)                                        \
	{                                                                           \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, \
		.syntax = syn, .doc = text, .arg = FIELD(fld), __VA_ARGS__          \
	}
#define KW_FLAG(n, fld, text, ...)                                               \
	{                                                                        \
		.name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_NO,           \
		.parse = parse_flag, .doc = text, .arg = FIELD(fld), __VA_ARGS__ \
	}

static const struct cfg_section sections[] = {
	{ .name = "global",
		.bit = CFG_GLOBAL,
		.begin = begin_global,
		.doc = "Settings of the process. The section may appear several times." },
	{ 0 },
};

/* --- paths ----------------------------------------------------------------------------------- */

/* The keyword default-path. Main thread, while the configuration is read. */

static const struct cfg_enum path_policies[] = {
	{ "current", CFG_DIR_CURRENT, "In the directory where tacit was started." },
	{ "config", CFG_DIR_CONFIG, "In the directory of the configuration file." },
	{ "parent", CFG_DIR_PARENT, "In its parent." },
	{ "origin", CFG_DIR_ORIGIN, "In the directory that follows." },
	{ 0 },
};

static int
parse_default_path(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	int policy, has_path, r;

	if (cfg_arg_enum(ctx, 0, path_policies, &policy) < 0)
		return -1;
	has_path = policy == CFG_DIR_ORIGIN;
	if (has_path && !cfg_arg(ctx, 1)[0])
		return cfg_error(ctx, 1, "'default-path origin' expects a directory.");
	if (!has_path && ctx->argc > 1)
		cfg_warn(ctx, 1, "'default-path %s' ignores the argument '%.60s'.", cfg_arg(ctx, 0),
			cfg_arg(ctx, 1));
	r = ctx->sys ? cfg_dir_set(&c->dir, ctx->sys, (enum cfg_dir_policy)policy, cfg_arg(ctx, 1))
		     : 0;
	if (r)
		return cfg_error(ctx, has_path, "'default-path' : cannot change to %s%s: %s.",
			has_path ? "directory " : "the directory", has_path ? cfg_arg(ctx, 1) : "",
			err_text(r));
	return 0;
}

/* --- profiling ------------------------------------------------------------------------------- */

/* The keywords profiling.* of global. Main thread, while the configuration is read. */

static const struct cfg_enum task_modes[] = {
	{ "auto", PROFILE_AUTO, "Each worker turns it on while its turns take 1 ms on average, "
		"and reads the clock once more in each." },
	{ "on", PROFILE_ON, "Always." },
	{ "off", PROFILE_OFF, "Never, which costs nothing." },
	{ 0 },
};

static int
parse_tasks(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, task_modes, &g->profile_tasks);
}

static int
parse_memory_profiling(struct cfg_ctx *ctx)
{
	int on;

	if (cfg_arg_bool(ctx, 0, &on))
		return -1;
	return on ? cfg_error(ctx, 0, "'profiling.memory on' is not supported: use heaptrack(1).")
		  : 0;
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct cfg_kw kws[] = {
	KW_FIELD("maxconn", parse_maxconn, maxconn, "<number>",
		"Maximum number of concurrent connections.",
		.dflt = "as many as the limit on descriptors permits, at most 100000"),
	KW_FIELD("maxconnrate", parse_rate, maxconnrate, "<number>",
		"Maximum number of new connections per second; 0: no limit.",
		.dflt = "0"),
	KW_FIELD("maxsessrate", parse_rate, maxsessrate, "<number>",
		"Maximum number of new sessions per second; 0: no limit.",
		.dflt = "0"),
	KW_FIELD("maxsslconn", parse_maxconn, maxsslconn, "<number>",
		"Maximum number of concurrent TLS connections, with clients and servers together; "
		"a further one is closed. 0: no limit.",
		.dflt = "0"),
	KW_FIELD("maxsslrate", parse_rate, maxsslrate, "<number>",
		"Maximum number of connections per second that clients begin with TLS: their "
		"listeners stop accepting. 0: no limit.",
		.dflt = "0"),
	KW_FIELD("ulimit-n", parse_fds, ulimit_n, "<number>",
		"Limit on descriptors.",
		.dflt = "what maxconn needs"),
	KW_FIELD("fd-hard-limit", parse_fds, fd_hard_limit, "<number>",
		"Maximum number of descriptors to use.",
		.dflt = "the system's limit"),
	KW("nbthread", 1, 1, parse_nbthread, "<number>",
		"Number of workers, each a thread: 1 to 64.",
		.dflt = "the number of CPUs that the process may use"),
	KW("thread-hard-limit", 1, 1, parse_thread_hard_limit, "<number>",
		"Upper limit for the number of workers, whether set by nbthread or by default.",
		.dflt = "none"),
	KW("thread-groups", 1, 1, parse_thread_groups, "<number>",
		"Number of thread groups; only "
		"1 is supported.",
		.dflt = "1"),
	KW("uid", 1, 1, parse_uid, "<number>", "User id to run as.",
		.dflt = "that of the user who starts tacit"),
	KW("gid", 1, 1, parse_gid, "<number>", "Group id to run as.",
		.dflt = "that of the user who starts tacit"),
	KW("unix-bind", 0, CFG_ANY, parse_unix_bind,
		"[prefix <path>] [mode <octal>] [user <name>] [uid <uid>] [group <name>] "
		"[gid <gid>]",
		"Settings of unix sockets of the bind lines that follow, which may say otherwise; "
		"the prefix is put before their paths. Stats sockets have their own only.",
		.dflt = "none",
		.example = "unix-bind prefix /run/tacit/ mode 660 group www-data"),
	KW("user", 1, 1, parse_user, "<name>", "User to run as.",
		.dflt = "that of the user who starts tacit"),
	KW("group", 1, 1, parse_group, "<name>", "Group to run as.",
		.dflt = "that of the user who starts tacit"),
	KW("chroot", 1, 1, parse_chroot, "<directory>",
		"Changes the root directory to this one after the sockets are bound.",
		.dflt = "none"),
	KW_FIELD("pidfile", parse_string, pidfile, "<file>",
		"File that the process id is written "
		"to.",
		.dflt = "none"),
	KW_FIELD("server-state-file", parse_string, state_file, "<file>",
		"File that states of servers are loaded from at start: what 'show servers "
		"state' of the admin socket has printed. See load-server-state-from-file.",
		.dflt = "none"),
	KW_FIELD("server-state-base", parse_string, state_base, "<directory>",
		"Directory of files with states of servers that are named without one.",
		.dflt = "none"),
	KW_FIELD("node", parse_node, node, "<name>", "Name shown by show info.",
		.dflt = "the host's name"),
	KW("description", 1, CFG_ANY, parse_description, "<text>", "Text shown by show info.",
		.dflt = "none"),
	KW("localpeer", 1, 1, parse_localpeer, "<name>",
		"Name of this process among its peers; sets the environment variable "
		"HAPROXY_LOCALPEER.",
		.dflt = "the host's name"),
	KW_FIELD("hard-stop-after", parse_time, hard_stop_after_ms, "<time>",
		"Maximum duration of a soft stop; sessions that are left are closed.",
		.dflt = "none: a soft stop waits for the last session"),
	KW("close-spread-time", 1, 1, parse_close_spread, "<time>|infinite",
		"Time over which a soft stop closes persistent connections, idle or after their "
		"next request. infinite: none is closed.",
		.dflt = "none: idle ones are closed within a second, and others after their "
			"next request"),
	KW_FIELD("grace", parse_time, grace_ms, "<time>",
		"Time during which connections are still accepted after a soft stop is requested. "
		"Meanwhile stopping is true, so that a monitor-uri fails, and tacit --health: load "
		"balancers and keepalived leave before the sockets are closed. A process that a "
		"reload replaces has no such time.",
		.dflt = "0"),
	KW("stats socket", 1, CFG_ANY, parse_stats_socket, "<address> [<option>...]",
		"Socket that accepts admin commands (tacit(8)). The options are those of BIND "
		"OPTIONS; of a stats socket are level, mode, user, uid, group, gid, "
		"severity-output and expose-fd.",
		.dflt = "none",
		.example = "stats socket /run/tacit/admin.sock mode 660 level admin expose-fd "
			"listeners"),
	KW_FIELD("stats timeout", parse_stats_timeout, stats_timeout_ms, "<time>",
		"Idle timeout of an admin connection.",
		.dflt = "10 s"),
	KW("stats maxconn", 1, 1, parse_stats_maxconn, "<number>",
		"Maximum number of concurrent admin connections.",
		.dflt = "10"),
	KW_FLAG("daemon", daemon, "Runs in the background."),
	KW_FLAG("quiet", quiet, "Prints only errors at start."),
	KW_FLAG("zero-warning", zero_warning, "Treats warnings in the configuration as errors."),
	KW_FLAG("strict-limits", strict_limits,
		"Fails to start when a resource limit cannot be raised as needed.",
		.dflt = "on"),
	KW_FLAG("h1-accept-payload-with-any-method", h1_any_payload,
		"Accepts GET, HEAD and DELETE of HTTP/1.0 with a body. Otherwise they get 413: "
		"some servers ignore its length and would take it for a request."),
	KW_FIELD("harden.reject-privileged-ports.tcp", parse_on_or_off, deny_low_ports,
		"{ on | off }",
		"Resets connections of clients whose port is below 1024 right after they are "
		"accepted. Column dcon of 'show stat' counts them. Clients of TCP use higher ports "
		"by themselves; servers of DNS and NTP, whose answers attackers direct at others, "
		"have lower ones.",
		.dflt = "off"),
	KW_FLAG("set-dumpable", set_dumpable, "Allows core dumps."),
	{ .name = "master-worker",
		.values = master_words,
		.dflt = "off",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.min = 0,
		.max = 1,
		.parse = parse_master_worker,
		.syntax = "[exit-on-failure|no-exit-on-failure]",
		.doc = "A master that starts the worker processes, as -W. It replaces one that "
			"dies." },
	KW("mworker-max-reloads", 1, 1, parse_max_reloads, "<number>",
		"Number of reloads that a worker process may survive.",
		.dflt = "no limit"),
	{ .name = "default-path",
		.dflt = "current",
		.values = path_policies,
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 2,
		.parse = parse_default_path,
		.syntax = "current|config|parent|origin <directory>",
		.doc = "The directory of relative file names in the lines that follow. Each "
			"configuration file has its own directory with config and parent. Maps "
			"and certificates keep the names that are written. Sockets, the pid "
			"file and state files are not affected." },
	{ .name = "dns-accept-family",
		.dflt = "ipv4,ipv6",
		.values = family_words,
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_families,
		.syntax = "<family>[,<family>...]",
		.doc = "The addresses of names that are accepted: sections resolvers ask for no "
			"others, and servers of the lines that follow begin with no others. "
			"resolve-prefer says which of them comes first." },
	{ .name = "profiling.tasks",
		.dflt = "off",
		.values = task_modes,
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_tasks,
		.syntax = "{ auto | on | off }",
		.doc = "Counts calls, times and delays of the functions that the workers run, "
			"for 'show profiling'." },
	{ .name = "profiling.memory",
		.dflt = "off",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_memory_profiling,
		.syntax = "off",
		.doc = "Accepted; there is no profile of memory." },
	{ 0 },
};

const struct cfg_module global_cfg_module = {
	.name = "global",
	.kws = kws,
	.sections = sections,
};
