/* Shared by the files of the admin service: connections and the command table. */
#ifndef TACIT_APP_ADMIN_ADMIN_INT_H
#define TACIT_APP_ADMIN_ADMIN_INT_H

#include "app/admin/admin.h"
#include "app/process/cli_line.h"
#include "app/process/process.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "net/conn.h"
#include "net/listener.h"

enum {
	ADMIN_ARGS_MAX = 64,
	ADMIN_SLICE = 65536,         /* bytes of a response produced before they are sent: each
				      * time the client wakes up, on a CPU that others need */
	ADMIN_TURN = 4096,           /* bytes produced in one turn of the loop: others wait */
	ADMIN_STEPS = 256,           /* steps of a response in one turn, even if they produce
				      * little */
	ADMIN_EXPECTED_MS = 2000,    /* for a command to come, after a soft stop */
	ADMIN_DRAIN_MS = 10000,      /* for a client to take an answer, after it */
	ADMIN_OUT_MAX = 4 << 20      /* maximum output of one step: a slice and the longest row */
};

/* States of a connection. */
enum admin_state {
	ADMIN_READING,  /* takes lines */
	ADMIN_CLOSING,  /* sends the rest, then closes */
	ADMIN_LINGERING, /* has sent the FIN, and discards what the client still sends */
	ADMIN_CLOSED    /* freed at the end of the turn */
};

struct admin_conn;

/*
 * Long responses are produced in steps of about a row and are never complete in memory. Between
 * steps bytes are sent, the loop turns, and the data may change. Returns 1: there is more.
 */
typedef int admin_step_fn(struct admin_conn *c, void *state);

/* The current command, whose response is incomplete; step NULL: none. */
struct admin_walk {
	admin_step_fn *step;
	void *state;         /* from mem_alloc() */
	void (*end)(void *state); /* releases what the state refers to; may be NULL */
	int ends_turn;       /* its last step has done as much as others should wait for */
	int stops_on_input;  /* whatever the client sends meanwhile ends it, and is discarded */
	int is_stopped;      /* it did */
};

/* Value of wake_ms: the next step comes after admin_wake(). */
#define ADMIN_WAKE_BY_CALL TIMER_NEVER

/*
 * A worker's sessions, descriptors and trace can be read only on that worker: it gets a message
 * and uses c->out and the walk's state until it has finished.
 */
typedef void admin_visit_fn(struct admin_conn *c, struct worker *w, void *state);

struct admin_ask {
	struct worker *worker; /* the worker that was asked; NULL: none */
	admin_visit_fn *visit;
	int is_answered;       /* it has finished, and the first worker has to be notified */
	void (*on_answer)(struct admin_conn *c); /* called on the first worker's thread */
	struct task again;     /* retries a message that did not fit, in the sender's next turn */
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
	int exposes_fd;      /* `expose-fd` of its socket */
	char *line;          /* the unprocessed rest of the current line, in `in`; NULL: none */
	size_t line_len;     /* bytes of `in` that the line uses, with its payload */
	struct cli_scan scan; /* of `in` */
	char *line_payload;  /* the payload lines after "<<", or NULL */
	struct admin_walk walk;
	uint64_t wake_ms;    /* the walk's next step comes at this time of the loop; 0: now */
	struct admin_ask ask;
	unsigned int modes;  /* a bit for each enum admin_mode that is on */
	int prompt;          /* interactive: "> " after each response */
	int quit;            /* `quit` was received */
	char *payload;       /* the payload lines after "<<" of the current command; NULL: none */
	unsigned int plus;   /* payload lines for which a prompt was sent */
	struct sbuf in;
	struct sbuf out;
	size_t sent;         /* bytes of out that were sent */
};

struct admin {
	struct process *process;
	struct worker *worker; /* the worker that it runs on: the first */
	struct list conns;
	unsigned int n;
	uint64_t lines;      /* number of lines run */
	uint64_t accepted;   /* connections */
};

/*
 * A command: its words, required level, and help text. run() appends to c->out while the other
 * workers continue: counters are read as they are (base/counter.h). A command that changes data of
 * other workers, or reads it step by step, pauses them for that time only.
 */
struct admin_cmd {
	const char *words;   /* "show stat" */
	const char *args;    /* for help: "[<iid> <type> <sid>]" */
	const char *help;    /* without run: why it is not supported */
	enum bind_level level;
	enum admin_mode mode;
	void (*run)(struct admin_conn *c, int argc, char **argv); /* NULL: not supported */
};

/* All commands, NULL-terminated; those that are not supported last. */
extern const struct admin_cmd admin_cmds[];

#define ADMIN_CMD(words, args, help, level, mode, run) \
	void run(struct admin_conn *c, int argc, char **argv);
#include "app/admin/commands.tbl.h"
#undef ADMIN_CMD

enum { ADMIN_ERR = CLI_ERR, ADMIN_NOTICE = CLI_NOTICE, ADMIN_INFO = CLI_INFO };

/* A message for the user, prefixed with its severity if the user asked for that. */
void admin_msg(struct admin_conn *c, int severity, const char *fmt, ...) fmt_printf(3, 4);
/* Only that prefix. */
void admin_severity(struct admin_conn *c, int severity);

/*
 * Pauses the other workers (app/process/wake_worker.h), for less than a millisecond: around changes
 * of their data and walks over it.
 */
void admin_stop_workers(struct admin_conn *c);
void admin_resume_workers(struct admin_conn *c);

/* Finds "<backend>/<server>" by names or ids for a change, which a proxy that is disabled or
 * stopped does not allow: NULL after a message. */
struct server *admin_find_server(struct admin_conn *c, int argc, char **argv);
/* The same, also of a proxy that is disabled or stopped. */
struct server *admin_find_any_server(struct admin_conn *c, int argc, char **argv);

/* Starts a line: each of its commands, separated by `;`; the last one gets the payload, NULL: none.
 * Both must stay in place until it is done. */
void admin_begin_line(struct admin_conn *c, char *line, char *payload);
/*
 * Continues it: a slice of its response is in c->out afterwards. c->line NULL: it is done. While a
 * worker is asked c->out must not be touched: on_answer() follows.
 */
void admin_run_line(struct admin_conn *c);
/* Aborts the line; no worker may be asked (asserted). */
void admin_abandon_line(struct admin_conn *c);

/* Called by a command: the rest of its response is produced by these steps. *state, of this size,
 * is copied. Without memory c->out.failed is set. */
void admin_walk(struct admin_conn *c, admin_step_fn *step, const void *state, size_t size);
/* The same; end() releases what the state refers to, after the walk or without memory for it. */
void admin_walk_with_end(struct admin_conn *c, admin_step_fn *step, void (*end)(void *state),
	void *state, size_t size);
/* Continues a walk that waits (ADMIN_WAKE_BY_CALL). */
void admin_wake(struct admin_conn *c);
/* One step of it. 0: it was the last. */
int admin_walk_on(struct admin_conn *c) must_check;
/* Called by a step: runs visit(c, w, state) on the worker's thread before the next step. */
void admin_ask(struct admin_conn *c, struct worker *w, admin_visit_fn *visit);
void admin_ask_init(struct admin_ask *a, void (*on_answer)(struct admin_conn *c));

/*
 * First member of the state of a walk that visits each worker until it has no more output. The
 * visitor stores its position.
 */
struct admin_tour {
	admin_visit_fn *visit;
	unsigned int worker;   /* the current worker */
	int is_done;           /* set by the visitor: this worker has no more */
	uint64_t after;        /* set by the visitor: the last id it has seen; 0 for each new
			        * worker */
};
void admin_tour(struct admin_conn *c, const void *state, size_t size);

static inline uint64_t
admin_now_ms(const struct admin_conn *c)
{
	return loop_now_ms(c->admin->worker->loop);
}

#endif
