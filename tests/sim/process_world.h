/*
 * A whole process in virtual time: the process (process_world.c), the ends around it
 * (process_ends.c, process_tls.c), and scenarios that move them (process_script.c,
 * process_scenario.c). Users: test_process_scenarios.c, test_torture_process.c.
 */
#ifndef TACIT_SIM_PROCESS_WORLD_H
#define TACIT_SIM_PROCESS_WORLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "app/process/process.h"
#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/thread.h"
#include "fake/kernel.h"
#include "fake/wire.h"
#include "net/listener_key.h"

/*
 * A whole process on the fake kernel, read from the text of a configuration, with its admin socket,
 * logs and service manager. A script (process_script.c) moves the clients and servers around
 * it. All that these see is noted with the virtual time at which they see it. With a master, which
 * the world plays, it can be replaced: then several processes run, each with its own threads.
 */

struct process_ends;
struct process_script;
struct process_tls;
struct process_world;

#define PROCESS_WORLD_ADMIN 1999 /* port of the admin socket */
#define PROCESS_WORLD_LOG 514    /* UDP port that logs may be sent to */
#define PROCESS_WORLD_NOTIFY "/run/notify"
#define PROCESS_WORLD_RUNS 4     /* processes, one after the other */
#define PROCESS_WORLD_KEPT 32    /* descriptors that the master keeps */

/* One process. */
struct process_run {
	struct process_world *w;
	unsigned int number; /* from 0 */
	struct sys sys;
	struct config cfg;
	struct report report;
	struct notify notify;
	struct master_link link;
	struct inherited_sockets inherited;
	struct fake_sock *master; /* the master's end of its link; NULL: there is none */
	struct process p;
	int is_open;         /* it has a configuration */
	int has_process, has_ended;
	struct thread thread; /* of those after the first */
};

struct process_world {
	struct fake *k;
	struct process_run run[PROCESS_WORLD_RUNS];
	unsigned int n_runs;
	const char *config;
	struct process_ends *ends;
	uint64_t began, until; /* ns; the scenario is over at `until` */
	uint64_t watchdog_ms;  /* the service manager's; 0: it has none */
	int is_notified;       /* there is a service manager */
	int has_master;
	/* The listeners that the master holds. */
	struct {
		char name[LISTENER_KEY_MAX];
		int fd;
	} kept[PROCESS_WORLD_KEPT];
	unsigned int n_kept;
	int is_over;           /* nothing is noted any more */
	int mem_faults;        /* allocation faults apply from the start on: sim/faults.h */
	struct sbuf trace;
	char why[400];         /* the first error; "": none */
};

/* Makes the kernel; files, limits and the ends that are there at the start come next. */
void process_world_open(struct process_world *w);
/* Reads the configuration, binds, and starts to serve. 0, or -1 with w->why. */
int process_world_start(struct process_world *w, const char *config);
/* Serves until all processes have ended, or w->until is reached: then they are stopped hard. */
void process_world_run(struct process_world *w);
/* The master starts another process, and stops the last one softly when that is ready. 0, or -1
 * when there is no master. */
int process_world_reload(struct process_world *w) must_check;
/* Checks that nothing is left open. 0, or -1 with w->why. */
int process_world_close(struct process_world *w);

/* Adds a line to the trace, with the time since the start. */
void process_world_note(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);
/* Records an error, unless there was one before. */
void process_world_error(struct process_world *w, const char *fmt, ...) fmt_printf(2, 3);

/*
 * The ends around a process (process_world.c): clients, servers, name servers, and where logs
 * and notifications go. Each notes what it sees.
 */

/* Notes logs and notifications from now on. */
struct process_ends *process_ends_new(struct process_world *w);
void process_ends_free(struct process_ends **e);
/* All clients are reset. */
void process_ends_leave(struct process_ends *e);

/* Lets clients speak TLS, and servers be OCSP responders: process_tls.c. */
void process_ends_use_tls(struct process_ends *e);

enum process_client_kind {
	PROCESS_CLIENT_PLAIN,
	PROCESS_CLIENT_TLS,
	PROCESS_CLIENT_RESUMES,
	PROCESS_CLIENT_H2
};
/* A client of this name connects; a name may be used again. */
void process_client_connects(struct process_ends *e, const char *name, unsigned int port,
	enum process_client_kind kind);
/* The last client of that name: 0, or -1 when there is none. */
int process_client_sends(struct process_ends *e, const char *name, const char *text) must_check;
enum process_leaving { PROCESS_CLIENT_SHUTS, PROCESS_CLIENT_CLOSES, PROCESS_CLIENT_RESETS };
int process_client_leaves(struct process_ends *e, const char *name, enum process_leaving how)
	must_check;
/* Sends a command to the admin socket. Of its answer those lines are noted that have this text;
 * NULL: all of it. */
void process_admin_asks(struct process_ends *e, const char *command, const char *only);

/* The behaviour of a server from now on. */
struct process_server_plan {
	unsigned int port;
	const char *greeting; /* sent to each connection at once; NULL: none */
	const char *answer; /* sent after each request; NULL: it is silent */
	uint64_t after;     /* ns after the request */
	uint64_t ocsp;      /* ns for which its OCSP responses are valid; 0: it is no responder */
	int hangs_up;       /* it closes after its answer */
	int stays;          /* it does not close when the other side has ended */
	int h2;             /* it speaks HTTP/2 on new connections, its texts are HTTP/1 */
	int is_quiet;       /* what it sees is not noted */
	int is_agent;       /* it is an agent of SPOE: each question is answered */
	int is_mute;        /* but it answers the hello only */
	uint64_t reads;     /* ns from what comes to its next read; 0: it reads at once */
};
/* Opens it, or changes its plan. Strings stay the caller's. */
void process_server_plays(struct process_ends *e, const struct process_server_plan *plan);
/* Stops listening. Its connections stay, or are closed too. */
void process_server_leaves(struct process_ends *e, unsigned int port, int closes);

/* Opens a unix socket at this path, and notes the log lines that it receives. */
void process_logs_open(struct process_ends *e, const char *path);

/* A name server that answers each question for an IPv4 address with these, separated by commas;
 * "": there are none; NULL: it is silent. */
void process_names_are(struct process_ends *e, unsigned int port, const char *addresses,
	unsigned int ttl);

/*
 * TLS of a process world: the files site.pem (a certificate that names an OCSP responder at port
 * PROCESS_TLS_RESPONDER, its key, and its issuer) and ca.pem, clients, and what the responder says.
 * The program has to let OpenSSL see virtual time.
 */

#define PROCESS_TLS_RESPONDER 2080

/* Makes the files, at this virtual time. */
struct process_tls *process_tls_new(struct fake *k);
void process_tls_free(struct process_tls **t);
/* A client's wire; `resumes` offers the last session that one has had. */
struct wire *process_tls_wire(struct process_tls *t, int resumes);
/* An HTTP response with an OCSP response from now on for this time; its length. */
size_t process_tls_ocsp(struct process_tls *t, uint64_t valid_s, char *out, size_t size);

/*
 * Scenarios of a process as texts, tests/sim/process/NAME.txt: comments and lines of the
 * configuration; "--- script", lines of the script; "--- trace", what the process's surroundings
 * see of it, with the virtual time in seconds. A line of the script is an action, done before the
 * process starts, or
 *
 *     TIME [every TIME] [xN] ACTION     done then, N times if xN is given
 *     until TIME                        the end of the scenario
 *
 * and an action one of these; in the text of a client and in its name # is the number of the
 * repetition:
 *
 *     NAME connects PORT [tls | resumes | h2]    resumes: offers the last session that a client
 *          had; h2: HTTP/2, the texts are of HTTP/1 (sim/h2_wire.h)
 *     NAME sends "TEXT" | NAME shuts | NAME closes | NAME resets
 *     server PORT [greets "TEXT"] [answers "TEXT"] [after TIME] [hangs-up] [stays]
 *          [h2] [quiet] [reads TIME]         it reads so long after bytes have come
 *          [ocsp TIME]                       a responder, whose answers are valid for so long
 *     server PORT leaves | server PORT dies    its connections stay, or not
 *     path PORT near | far TIME | blackhole | refused
 *     names PORT "ADDRESS,..." ttl N | names PORT silent
 *     signal NAME                       (USR1, TERM, HUP)
 *     admin "COMMAND" [only "TEXT"]     notes the lines of its answer that have this text
 *     tls                               site.pem and ca.pem are there (process_tls.c)
 *     logs PATH                         a unix socket that logs may be sent to
 *     fds N                             limit of descriptors
 *     buffers N                         bytes in each direction, of sockets from now on
 *     ports N                           clients connect from this port on
 *     manager [watchdog TIME]           a service manager is notified
 *     master                            the process has a master, and can be replaced:
 *     reload                            another one starts, and this one stops softly
 */

/* Does what comes before the start and plans the rest; text is written to. NULL with w->why. */
struct process_script *process_script_read(struct process_world *w, char *text);
void process_script_free(struct process_script **s);

/* The texts of scenarios of a process, tests/sim/process/NAME.txt: see above. */

#define PROCESS_SCENARIO_FOLDER "tests/sim/process"
#define PROCESS_SCENARIO_TEXT 262144
#define PROCESS_SCENARIO_TRACE "--- trace\n"
#define PROCESS_SCENARIO_NAME 64

struct process_scenario {
	char path[300];
	char text[PROCESS_SCENARIO_TEXT]; /* of the file */
	char copy[PROCESS_SCENARIO_TEXT];
	char *config, *script; /* its parts, in the copy; reading a script writes to it */
	const char *trace;     /* "": it has none yet */
	char why[400];
};

/* The names of all of them in order, or of the one that $SCENARIO names: their number, `most` at
 * most. */
unsigned int process_scenario_names(char (*names)[PROCESS_SCENARIO_NAME], unsigned int most);
/* 0, or -1 with why. */
int process_scenario_read(struct process_scenario *sc, const char *name);
/* Sets a trace. 0, or -1 with why. */
int process_scenario_write(struct process_scenario *sc, const char *trace);

#endif
