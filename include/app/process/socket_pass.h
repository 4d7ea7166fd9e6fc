/*
 * Passes the listening sockets of this process to the one that will replace it, which asked for
 * them on a stats socket (`_getsocks`) or by SIGTTOU. Both listen on them from then on; this
 * process stops when it is asked to.
 *
 * It sends over the unix stream: a line X_SOCKETS=<number>, then for each socket a line with its
 * name (net/listener_key.h) and the descriptor, then so for files of stick tables, which count as
 * sockets (process_tables_passed()). It reads, when the other process is ready:
 * X_USES=<index> for each socket that stays in use, counted from 0, then READY=1. Then it closes.
 * If the other process goes away before, nothing has changed.
 */
#ifndef TACIT_APP_PROCESS_SOCKET_PASS_H
#define TACIT_APP_PROCESS_SOCKET_PASS_H

#include <sys/types.h>

#include "base/compiler.h"
#include "base/sbuf.h"

struct listener;
struct process;
struct sys;

#define SOCKET_PASS_COUNT "X_SOCKETS="
#define SOCKET_PASS_USES "X_USES="
#define SOCKET_PASS_READY "READY=1"
/* The abstract unix socket of a process that sends SIGTTOU, with its pid. */
#define SOCKET_PASS_NAME "tacit-sockets-%ld"

struct socket_pass {
	struct process *process;
	int fd;                /* -1: no process asks */
	struct listener **v;   /* those with a socket of their own */
	unsigned int n, n_files, sent; /* files are sent behind sockets */
	int has_count;         /* the first line was sent */
	struct sbuf in;
};

void socket_pass_init(struct socket_pass *sp, struct process *p);
/* Passes the sockets to the process at the other end of this descriptor, and owns it from now on.
 * A process that asked before and is not ready yet is given up. 0 or a negative reason. */
int socket_pass_start(struct socket_pass *sp, int fd) must_check;
/* Connects to a process that sent SIGTTOU, if it wants the sockets and is one of root or of our own
 * user: the descriptor or a negative reason. */
int socket_pass_connect(struct sys *sys, pid_t pid) must_check;
/* Passes them to such a process. fd: the connection, which it owns from now on; or -1. */
void socket_pass_to(struct socket_pass *sp, pid_t pid, int fd);
/* Stops listening: the process that has the sockets takes over all of them. */
void socket_pass_assume(struct socket_pass *sp);
void socket_pass_close(struct socket_pass *sp);

#endif
