/*
 * The master's socket (-S; management manual, 9.4): a few commands about the processes, `reload`
 * among them, whose answer comes when the reload has ended, and those that worker processes answer.
 */
#ifndef TACIT_APP_MASTER_MASTER_CLI_H
#define TACIT_APP_MASTER_MASTER_CLI_H

#include "app/process/cli_line.h"
#include "base/compiler.h"
#include "base/sbuf.h"
#include "cfg/entry.h"
#include "net/bind_conf.h"
#include "net/conn.h"
#include "net/listener.h"

struct master;
struct master_conn;

enum {
	MASTER_CLI_CONNS = 10,          /* connections at once; others wait */
	MASTER_CLI_AHEAD = 65536,       /* of an answer that the client has not read yet */
	MASTER_CLI_OUT = 4 << 20,
	MASTER_CLI_LINGER_MS = 10000,   /* for a client to take the end of an answer, and close */
	MASTER_CLI_IDLE_MS = 60000      /* of a client; a worker process may take longer */
};

struct master_cli {
	struct bind_conf *bind;     /* NULL: no socket */
	struct listener listener;
	struct list conns;          /* struct master_conn */
	/* Called when a reload has ended: its number, and whether it was successful. */
	void (*on_reload)(struct master *m, unsigned int number, int success);
	/* Accepts what waits, also beyond the limit. */
	void (*accept_all)(struct master *m);
	/* Reads and sends what is there. */
	void (*serve)(struct master_conn *c);
	unsigned int n;
};

struct master_conn {
	struct list link;
	struct master *master;
	struct conn conn;
	struct sbuf in, out;
	size_t sent;
	struct timer timer;
	struct task end;
	enum bind_level level;
	unsigned int modes;         /* bits of enum admin_mode, for worker processes */
	enum bind_severity severity;
	pid_t target;               /* the worker process that takes commands; 0: the master */
	struct conn relay;          /* to the one that answers the current command */
	struct sbuf ask;            /* what it is sent: a command with its payload */
	size_t asked;               /* bytes of it that were sent */
	int is_relaying;
	/* The current line; `in` may move, so these are places in it. */
	int has_line;
	size_t at;                  /* its rest */
	struct cli_scan scan;       /* where the payload of its last command is */
	size_t line_len;            /* bytes that it uses, with its payload */
	int prompt;
	int quit;                   /* closes when all is sent */
	int is_lingering;           /* has sent the FIN: what the client still sends is discarded */
	int gone;
	unsigned int waits_for;     /* the reload whose result it waits for; 0: none */
};

/* Reads the value of -S: an address, then options with commas between all words. 0, or a negative
 * reason with a text in why. bind_conf_free() in either case. */
int master_cli_parse(struct master_cli *c, const char *value, char *why, size_t len) must_check;
/* Binds it. 0, or a negative reason with a text in why. */
int master_cli_bind(struct master *m, char *why, size_t len) must_check;
/* Starts accepting. 0 or a negative reason. */
int master_cli_start(struct master *m) must_check;
/* In a worker process that was forked: closes its copy. */
void master_cli_close(struct master *m);
/* Calls fn for each command: tacit(8). */
void master_cli_entries(cfg_entry_fn *fn, void *arg);
/* Begins a line: the first bytes of c->in, with the payload that c->scan has found. */
void master_cli_begin(struct master_conn *c, size_t len);
/* Runs its commands up to one whose answer has to be waited for, or until there is much to send;
 * answers are appended to c->out. Afterwards c->has_line is 0 if it is done. */
void master_cli_continue(struct master_conn *c);

/* False if the client has closed its connection, as far as that is known. */
int master_cli_has_client(const struct master_conn *c);
/* Takes the received part of the answer; c->is_relaying 0: it was the last. */
void master_cli_end_relay(struct master_conn *c);

#endif
