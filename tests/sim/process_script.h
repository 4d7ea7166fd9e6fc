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
 *     NAME connects PORT [tls | resumes]    resumes: offers the last session that a client had
 *     NAME sends "TEXT" | NAME shuts | NAME closes | NAME resets
 *     server PORT [greets "TEXT"] [answers "TEXT"] [after TIME] [hangs-up] [stays]
 *          [quiet] [ocsp TIME]          a responder, whose answers are valid for so long
 *     server PORT leaves | server PORT dies    its connections stay, or not
 *     path PORT near | far TIME | blackhole | refused
 *     names PORT "ADDRESS,..." ttl N | names PORT silent
 *     signal NAME                       (USR1, TERM, HUP)
 *     admin "COMMAND" [only "TEXT"]     notes the lines of its answer that have this text
 *     tls                               site.pem and ca.pem are there (sim/process_tls.h)
 *     logs PATH                         a unix socket that logs may be sent to
 *     fds N                             limit of descriptors
 *     manager [watchdog TIME]           a service manager is notified
 *     master                            the process has a master, and can be replaced:
 *     reload                            another one starts, and this one stops softly
 */
#ifndef TACIT_SIM_PROCESS_SCRIPT_H
#define TACIT_SIM_PROCESS_SCRIPT_H

#include "sim/process_world.h"

struct process_script;

/* Does what comes before the start and plans the rest; text is written to. NULL with w->why. */
struct process_script *process_script_read(struct process_world *w, char *text);
void process_script_free(struct process_script **s);

#endif
