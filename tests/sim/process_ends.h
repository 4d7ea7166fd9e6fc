/*
 * The ends around a process (sim/process_world.h): clients, servers, name servers, and where logs
 * and notifications go. Each notes what it sees.
 */
#ifndef TACIT_SIM_PROCESS_ENDS_H
#define TACIT_SIM_PROCESS_ENDS_H

#include <stdint.h>

#include "base/compiler.h"

struct process_ends;
struct process_tls;
struct process_world;

/* Notes logs and notifications from now on. */
struct process_ends *process_ends_new(struct process_world *w);
void process_ends_free(struct process_ends **e);
/* All clients are reset. */
void process_ends_leave(struct process_ends *e);

/* Lets clients speak TLS, and servers be OCSP responders: sim/process_tls.h. */
void process_ends_use_tls(struct process_ends *e);

enum process_client_kind { PROCESS_CLIENT_PLAIN, PROCESS_CLIENT_TLS, PROCESS_CLIENT_RESUMES };
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
	int is_quiet;       /* what it sees is not noted */
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

#endif
