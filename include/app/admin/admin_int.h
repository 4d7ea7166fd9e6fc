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
	ADMIN_SLICE = 16384,         /* bytes of an answer that are made before they are sent */
	ADMIN_STEPS = 256,           /* steps of an answer in one turn, however little they say */
	ADMIN_OUT_MAX = 4 << 20      /* bytes of one step's: a slice and the longest row */
};

/* What becomes of a connection once its answer is out. */
enum admin_state {
	ADMIN_READING,  /* takes lines */
	ADMIN_CLOSING,  /* sends the rest, then closes */
	ADMIN_CLOSED    /* freed at the end of the turn */
};

struct admin_conn;

/*
 * A long answer is made in steps, a row or so each: an answer is never whole in memory. Between two
 * of them bytes are sent, the loop turns, and what is shown may change. 1: there is more.
 */
typedef int admin_step_fn(struct admin_conn *c, void *state);

/* The command at work, whose answer is not over; step NULL: there is none. */
struct admin_walk {
	admin_step_fn *step;
	void *state;         /* of mem_alloc() */
};

/*
 * What a worker's sessions, descriptors and trace look like only the worker itself can say: it is
 * asked by mail. While it is, c->out and the walk's state are its own.
 */
typedef void admin_visit_fn(struct admin_conn *c, struct worker *w, void *state);

struct admin_ask {
	struct worker *worker; /* that is asked; NULL: nobody is */
	admin_visit_fn *visit;
	int is_answered;       /* it has said all, and the first worker is to know */
	void (*on_answer)(struct admin_conn *c); /* on the first one's thread */
	struct task again;     /* the mail did not fit: in the next turn of whoever sends it */
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
	char *line;          /* what is left of the line at work, in `in`; NULL: there is none */
	size_t line_len;     /* bytes of `in` that it takes, with its payload */
	char *line_payload;  /* the lines behind "<<", or NULL */
	struct admin_walk walk;
	struct admin_ask ask;
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

/* A line is to be run: every `;` separated command; the last one has the payload, NULL: there is
 * none. Both stay where they are until it is over. */
void admin_begin_line(struct admin_conn *c, char *line, char *payload);
/*
 * Goes on with it: a slice of what it answers is in c->out afterwards. c->line NULL: it is over.
 * While a worker is asked nothing may be done with c->out: its on_answer() comes by itself.
 */
void admin_run_line(struct admin_conn *c);
/* The line is given up; no worker may be asked (asserted). */
void admin_abandon_line(struct admin_conn *c);

/* From a command: its answer goes on with these steps. *state, of that size, is copied. Without
 * memory c->out.failed is set. */
void admin_walk(struct admin_conn *c, admin_step_fn *step, const void *state, size_t size);
/* One step of it. 0: it was the last. */
int admin_walk_on(struct admin_conn *c) must_check;
void admin_ask_init(struct admin_ask *a, void (*on_answer)(struct admin_conn *c));

/*
 * A walk that visits each worker until it has said all of its own: what a walk's state begins with.
 * The visitor notes how far it came.
 */
struct admin_tour {
	admin_visit_fn *visit;
	unsigned int worker;   /* whose turn it is */
	int is_said;           /* the visitor: that is all of this worker */
	uint64_t after;        /* the visitor: the last number it has seen; 0 with each worker */
};
void admin_tour(struct admin_conn *c, const void *state, size_t size);

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
