/* What the admin service's files share: a connection, and the command table. */
#ifndef TACIT_APP_ADMIN_ADMIN_INT_H
#define TACIT_APP_ADMIN_ADMIN_INT_H

#include "app/admin/admin.h"
#include "app/process/process.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "net/conn.h"
#include "net/listener.h"

enum {
	ADMIN_LINE_MAX = 16384,      /* bytes of one line, `;` and all */
	ADMIN_ARGS_MAX = 64,
	ADMIN_OUT_MAX = 64 << 20     /* bytes of one line's answers */
};

/* What becomes of a connection once its answer is out. */
enum admin_state {
	ADMIN_READING,  /* takes lines */
	ADMIN_CLOSING,  /* sends the rest, then closes */
	ADMIN_CLOSED    /* freed at the end of the turn */
};

struct admin_conn {
	enum admin_state state;
	struct list link;
	struct admin *admin;
	struct listener *listener;
	struct conn conn;
	struct timer timer;
	struct task end;
	uint32_t timeout_ms;
	enum bind_level level;
	enum bind_severity severity;
	int prompt;          /* a dialogue, with "> " after each answer */
	int quit;            /* asked for */
	char *payload;       /* the lines behind "<<", of the command at work; NULL: none */
	unsigned int plus;   /* of the lines of a payload that is still coming: prompted for */
	struct sbuf in;
	struct sbuf out;
	size_t sent;         /* of out */
};

struct admin {
	struct process *process;
	struct worker *worker; /* in whose loop it lives: the first */
	struct list conns;
	unsigned int n;
	uint64_t lines;      /* run so far */
	uint64_t accepted;   /* connections */
};

/*
 * A command: its words, who may use it, what `help` says. run() appends to c->out, while the other
 * workers go on: what they count is read as it is (base/counter.h), and what changes something of
 * theirs, or looks at it piece by piece, stops them for that alone.
 */
struct admin_cmd {
	const char *words;   /* "show stat" */
	const char *args;    /* for help: "[<iid> <type> <sid>]" */
	const char *help;
	enum bind_level level;
	void (*run)(struct admin_conn *c, int argc, char **argv);
};

/* Severities of messages, as syslog's. */
enum { ADMIN_ERR = 3, ADMIN_NOTICE = 5, ADMIN_INFO = 6 };

/* A message for the user, with its severity in front when he asked for that. */
void admin_msg(struct admin_conn *c, int severity, const char *fmt, ...) fmt_printf(3, 4);

/*
 * Around what changes something of other workers, or walks what they change: between the two they
 * stand still (app/process/rendezvous.h). For less than a millisecond.
 */
void admin_stop_workers(struct admin_conn *c);
void admin_resume_workers(struct admin_conn *c);

/* "<backend>/<server>", by names or numbers: NULL after a message. */
struct server *admin_find_server(struct admin_conn *c, int argc, char **argv);

/* Runs one line: every `;` separated command; the last one has the payload, NULL: there is none.
 * Returns nothing: c->out and c->quit say what came of it. */
void admin_run_line(struct admin_conn *c, char *line, char *payload);

/* The tables, each beside what it shows; a NULL `words` ends one. */
extern const struct admin_cmd admin_session_cmds[]; /* help prompt quit ... */
extern const struct admin_cmd admin_info_cmds[];
extern const struct admin_cmd admin_stat_cmds[];
extern const struct admin_cmd admin_sess_cmds[];
extern const struct admin_cmd admin_kernel_cmds[];  /* show fd, show syscalls, show pools */
extern const struct admin_cmd admin_activity_cmds[];
extern const struct admin_cmd admin_shutdown_cmds[];
extern const struct admin_cmd admin_trace_cmds[];
extern const struct admin_cmd admin_server_cmds[];
extern const struct admin_cmd admin_map_cmds[];

static inline uint64_t
admin_now_ms(const struct admin_conn *c)
{
	return loop_now_ms(c->admin->worker->loop);
}

#endif
