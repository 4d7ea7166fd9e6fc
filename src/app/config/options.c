/* Parses the command line. Pure: nothing is opened, run or printed. */
#include "app/config/options.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cfg/dump.h"
#include "cfg/value.h"

/* Position in argv, and the error message. */
struct walk {
	struct options *o;
	char *const *argv;
	int argc;
	int i; /* the current word */
	char *why;
	size_t why_len;
};

typedef int option_fn(struct walk *w, int arg);

struct option_row {
	const char *name; /* the whole word, without the dash */
	option_fn *fn;
	int arg;
};

const char *
options_usage(void)
{
	return " [-f <cfgfile|cfgdir>]* [options] [-- <cfgfile>*]\n"
	       "        -v displays version, as --version ; -vv shows build options\n"
	       "        -h displays this text, as --help\n"
	       "        -c checks the configuration and exits ; -cj prints what it finds as JSON\n"
	       "        -cc <cond> evaluates a condition and exits\n"
	       "        -f <file|dir> adds a configuration file, or the *.cfg of a directory\n"
	       "        -C <dir> changes to <dir> before loading files\n"
	       "        -D runs in the background ; -db in the foreground ; -d there, with events\n"
	       "        -W runs a master: SIGUSR2 reloads ; -Ws also stays in the foreground\n"
	       "        -p <file> writes the process's pid to <file>\n"
	       "        -q is quiet ; -V is verbose\n"
	       "        -n <max> sets the most connections at once (global maxconn)\n"
	       "        -N <max> sets the default for each frontend\n"
	       "        -m <MB> limits the memory: what is mapped, and tune.memory\n"
	       "        -L <name> sets the local peer's name\n"
	       "        -de does without epoll() ; -dp without poll() ; -dS without splice()\n"
	       "        -dW treats warnings as errors ; -dD also shows suspicious settings\n"
	       "        -dK<class> dumps the keywords: all, cfg, cnv, man, man8, smp, vim, vscode\n"
	       "        --explain <keyword> shows the manual's entry of a keyword, and exits\n"
	       "        --format <file> prints a configuration in one layout, and exits\n"
	       "        -dr starts servers whose names cannot be resolved without an address\n"
	       "        -dM[<byte>] -dG -dI -dR -dV -dZ -dF are accepted without effect\n"
	       "        -S <addr>[,<option>...] opens a socket of the master with this address\n"
	       "        --reload <path> asks the master with this socket to reload, and exits\n"
	       "        --health <path> asks the process with this stats socket if it serves\n"
	       "        -sf [<pid>]* ends these processes softly when ready ; -st [<pid>]* fast\n"
	       "        -x <path> takes over the listening sockets of a process by its socket\n";
}

static int option_fail(struct walk *w, int reason, const char *fmt, ...) fmt_printf(3, 4);

static int
option_fail(struct walk *w, int reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, w->why_len, fmt, ap);
	va_end(ap);
	return reason;
}

/* The word after this option, which is required. */
static int
next_word(struct walk *w, const char **out)
{
	const char *opt = w->argv[w->i];

	if (w->i + 1 >= w->argc || !w->argv[w->i + 1][0])
		return option_fail(w, -ERR_SYNTAX, "option '%s' needs an argument", opt);
	*out = w->argv[++w->i];
	return 0;
}

static int
next_int(struct walk *w, int max, int *out)
{
	const char *opt = w->argv[w->i];
	const char *s = "";
	struct cfg_value_err err;
	int64_t v;
	int r = next_word(w, &s);

	if (r)
		return r;
	if (cfg_value_int(s, 0, max, &v, &err))
		return option_fail(w, -ERR_RANGE, "option '%s': %s", opt, err.text);
	*out = (int)v;
	return 0;
}

static int
add_file(struct walk *w, const char *path)
{
	if (w->o->n_files >= OPTIONS_FILES_MAX)
		return option_fail(
			w, -ERR_FULL, "more than %d configuration files", OPTIONS_FILES_MAX);
	w->o->files[w->o->n_files++] = path;
	return 0;
}

/* Requests such as -c and -v; the first one applies. */
static void
set_action(struct options *o, enum options_action a)
{
	if (o->action == OPTIONS_RUN || (o->action == OPTIONS_CHECK && a == OPTIONS_COND))
		o->action = a;
}

static int
on_action(struct walk *w, int arg)
{
	set_action(w->o, (enum options_action)arg);
	return 0;
}

static int
on_check_json(struct walk *w, int arg)
{
	w->o->flags |= OPTIONS_JSON;
	return on_action(w, arg);
}

static int
on_flag(struct walk *w, int arg)
{
	w->o->flags |= (unsigned int)arg;
	return 0;
}

/* -D runs in the background, also with -Ws; -db and -d take precedence. */
static int
on_place(struct walk *w, int arg)
{
	struct options *o = w->o;

	if (arg == OPTIONS_SUPERVISED) {
		o->flags |= OPTIONS_MASTER;
		if (o->place == OPTIONS_AS_CONFIGURED)
			o->place = OPTIONS_SUPERVISED;
	} else if (arg == OPTIONS_DAEMON) {
		if (o->place == OPTIONS_AS_CONFIGURED || o->place == OPTIONS_SUPERVISED)
			o->place = OPTIONS_DAEMON;
	} else if (o->place != OPTIONS_DEBUG) {
		o->place = (enum options_place)arg;
	}
	return 0;
}

static int
on_cond(struct walk *w, int arg)
{
	(void)arg;
	set_action(w->o, OPTIONS_COND);
	return next_word(w, &w->o->cond);
}

static int
on_file(struct walk *w, int arg)
{
	const char *path = NULL;
	int r = next_word(w, &path);

	(void)arg;
	return r ? r : add_file(w, path);
}

enum { STR_PIDFILE, STR_DIRECTORY, STR_PEER, STR_MASTER_SOCKET, STR_RELOAD, STR_HEALTH,
	STR_FORMAT, STR_FETCH };

static int
on_string(struct walk *w, int arg)
{
	struct options *o = w->o;
	const char **to[] = {
		[STR_PIDFILE] = &o->pidfile,
		[STR_DIRECTORY] = &o->directory,
		[STR_PEER] = &o->local_peer,
		[STR_MASTER_SOCKET] = &o->master_socket,
		[STR_RELOAD] = &o->reload_socket,
		[STR_HEALTH] = &o->health_socket,
		[STR_FORMAT] = &o->format_file,
		[STR_FETCH] = &o->fetch_from,
	};

	if (arg == STR_RELOAD)
		set_action(o, OPTIONS_RELOAD);
	if (arg == STR_HEALTH)
		set_action(o, OPTIONS_HEALTH);
	if (arg == STR_FORMAT)
		set_action(o, OPTIONS_FORMAT);
	return next_word(w, to[arg]);
}

enum { INT_MAXCONN, INT_PROXY_MAXCONN, INT_MEMORY };

static int
on_int(struct walk *w, int arg)
{
	int *to = arg == INT_MAXCONN ? &w->o->maxconn :
		  arg == INT_PROXY_MAXCONN ? &w->o->proxy_maxconn : &w->o->memory_mb;

	return next_int(w, arg == INT_MEMORY ? OPTIONS_MEM_MAX : OPTIONS_CONN_MAX, to);
}

/* The words up to the next option, perhaps none; the last list applies. */
static int
on_pids(struct walk *w, int sig)
{
	const char *opt = w->argv[w->i];
	struct options *o = w->o;
	struct cfg_value_err err;
	int64_t pid;

	o->n_former = 0;
	o->former_sig = sig;
	while (w->i + 1 < w->argc && w->argv[w->i + 1][0] != '-') {
		if (cfg_value_int(w->argv[++w->i], 1, INT32_MAX, &pid, &err))
			return option_fail(w, -ERR_RANGE, "option '%s': %s", opt, err.text);
		if (o->n_former == OPTIONS_FORMER_MAX)
			return option_fail(w, -ERR_FULL, "option '%s': more than %d processes", opt,
				OPTIONS_FORMER_MAX);
		o->former[o->n_former++] = (pid_t)pid;
	}
	return 0;
}

/* The words up to the next option: a keyword has up to three, "http-request deny" two. */
static int
on_explain(struct walk *w, int arg)
{
	const char *first = NULL;
	int r = next_word(w, &first);

	(void)arg;
	if (r)
		return r;
	set_action(w->o, OPTIONS_EXPLAIN);
	w->o->explain = &w->argv[w->i];
	for (w->o->n_explain = 1; w->i + 1 < w->argc && w->argv[w->i + 1][0] != '-'; w->i++)
		w->o->n_explain++;
	return 0;
}

static int
on_unsupported(struct walk *w, int arg)
{
	(void)arg;
	return option_fail(w, -ERR_UNSUPPORTED, "option '%s' is not supported", w->argv[w->i]);
}

static const struct option_row rows[] = {
	{ "f", on_file, 0 },
	{ "c", on_action, OPTIONS_CHECK },
	{ "cj", on_check_json, OPTIONS_CHECK },
	{ "cc", on_cond, 0 },
	{ "v", on_action, OPTIONS_VERSION },
	{ "vv", on_action, OPTIONS_BUILD },
	{ "h", on_action, OPTIONS_USAGE },
	/* Unknown to HAProxy, but users try them first. */
	{ "-help", on_action, OPTIONS_HELP },
	{ "-version", on_action, OPTIONS_VERSION },
	/* For service managers: its exit code is the result. */
	{ "-reload", on_string, STR_RELOAD },
	{ "-health", on_string, STR_HEALTH },
	{ "-explain", on_explain, 0 },
	{ "-format", on_string, STR_FORMAT },
	{ "V", on_flag, OPTIONS_VERBOSE },
	{ "q", on_flag, OPTIONS_QUIET },
	{ "d", on_place, OPTIONS_DEBUG },
	{ "db", on_place, OPTIONS_FOREGROUND },
	{ "D", on_place, OPTIONS_DAEMON },
	{ "W", on_flag, OPTIONS_MASTER },
	{ "Ws", on_place, OPTIONS_SUPERVISED },
	{ "p", on_string, STR_PIDFILE },
	{ "C", on_string, STR_DIRECTORY },
	{ "L", on_string, STR_PEER },
	{ "n", on_int, INT_MAXCONN },
	{ "N", on_int, INT_PROXY_MAXCONN },
	{ "m", on_int, INT_MEMORY },
	{ "de", on_flag, OPTIONS_NO_EPOLL },
	{ "dp", on_flag, OPTIONS_NO_POLL },
	{ "dS", on_flag, OPTIONS_NO_SPLICE },
	{ "dW", on_flag, OPTIONS_WERROR },
	{ "dD", on_flag, OPTIONS_DIAG },
	{ "dr", on_flag, OPTIONS_KEEP_NAMES },
	{ "dL", on_unsupported, 0 },
	{ "S", on_string, STR_MASTER_SOCKET },
	{ "x", on_string, STR_FETCH },
	{ "sf", on_pids, SIGUSR1 },
	{ "st", on_pids, SIGTERM },
};

static int
on_keywords(struct walk *w, const char *kind)
{
	/* HAProxy appends the class to -dK; a separate word is accepted too. */
	if (!kind[0] && w->i + 1 < w->argc && w->argv[w->i + 1][0] != '-')
		kind = w->argv[++w->i];
	if (!kind[0] || strcmp(kind, "help") == 0) {
		set_action(w->o, OPTIONS_DUMP_HELP);
		return 0;
	}
	w->o->dump = cfg_dump_kind(kind);
	if (w->o->dump < 0)
		return option_fail(w, -ERR_UNKNOWN, "option '-dK': unknown class '%s'", kind);
	set_action(w->o, OPTIONS_KEYWORDS);
	return 0;
}

/*
 * -dM poisons memory, -dI checks it, -dG is about getaddrinfo(), -dZ and -dF disable features that
 * do not exist here, -dR SO_REUSEPORT, -dV certificate checks.
 */
static int
is_hint(const char *word)
{
	return word[0] == 'd' && word[1] && strchr("MIGZFRV", word[1]) &&
		(word[1] == 'M' || !word[2]);
}

static int
on_word(struct walk *w)
{
	const char *arg = w->argv[w->i];
	const char *word = arg + 1;

	for (size_t k = 0; k < ARRAY_LEN(rows); k++)
		if (strcmp(rows[k].name, word) == 0)
			return rows[k].fn(w, rows[k].arg);
	if (strncmp(word, "dK", 2) == 0)
		return on_keywords(w, word + 2);
	if (is_hint(word)) {
		if (w->o->n_hints + 1 < sizeof(w->o->hints) && !strchr(w->o->hints, word[1]))
			w->o->hints[w->o->n_hints++] = word[1];
		return 0;
	}
	return option_fail(w, -ERR_UNKNOWN, "unknown option '%s'", arg);
}

int
options_parse(struct options *o, int argc, char *const *argv, char *why, size_t why_len)
{
	struct walk w = { .o = o, .argv = argv, .argc = argc, .why = why, .why_len = why_len };
	const char *slash;
	int r = 0;

	memset(o, 0, sizeof(*o));
	if (why_len)
		why[0] = '\0';
	o->progname = argc > 0 && argv[0][0] ? argv[0] : "tacit";
	slash = strrchr(o->progname, '/');
	if (slash && slash[1])
		o->progname = slash + 1;
	for (w.i = 1; w.i < argc && !r; w.i++) {
		if (strcmp(argv[w.i], "--") == 0) {
			while (++w.i < argc && !r)
				r = add_file(&w, argv[w.i]);
			break;
		}
		/* "-c FILE" */
		if (o->action == OPTIONS_CHECK && argv[w.i][0] != '-')
			r = add_file(&w, argv[w.i]);
		else if (argv[w.i][0] != '-' || !argv[w.i][1])
			r = option_fail(&w, -ERR_UNKNOWN, "unexpected argument '%s'", argv[w.i]);
		else
			r = on_word(&w);
	}
	if (r || o->n_files > 0 || (o->action != OPTIONS_RUN && o->action != OPTIONS_CHECK))
		return r;
	if (argc > 1)
		return option_fail(
			&w, -ERR_SYNTAX, "there is no configuration; -f names a file or directory");
	o->action = OPTIONS_USAGE;
	return r;
}
