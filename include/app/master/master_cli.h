/*
 * The master's socket (-S; management manual, 9.4): a few commands about the processes, `reload`
 * among them, whose answer comes when the reload has ended.
 */
#ifndef TACIT_APP_MASTER_MASTER_CLI_H
#define TACIT_APP_MASTER_MASTER_CLI_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "net/bind_conf.h"
#include "net/conn.h"
#include "net/listener.h"

struct master;

enum {
	MASTER_CLI_CONNS = 10,          /* connections at once; others wait */
	MASTER_CLI_LINE = 4096,         /* bytes of a line */
	MASTER_CLI_OUT = 4 << 20,
	MASTER_CLI_IDLE_MS = 60000
};

struct master_cli {
	struct bind_conf *bind;     /* NULL: no socket */
	struct listener listener;
	struct list conns;          /* struct master_conn */
	/* Called when a reload has ended: its number, and whether it was successful. */
	void (*on_reload)(struct master *m, unsigned int number, int success);
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
	int prompt;
	int quit;                   /* closes when all is sent */
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
void master_cli_leave(struct master *m);
void master_cli_close(struct master *m);
/* Runs a line without its end; the answer is appended to c->out. */
void master_cli_run(struct master_conn *c, char *line);

#endif
