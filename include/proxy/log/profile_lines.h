/*
 * Log lines of frontends with profiles (sections `log-profile`): each target has its own text.
 */
#ifndef TACIT_PROXY_LOG_PROFILE_LINES_H
#define TACIT_PROXY_LOG_PROFILE_LINES_H

#include "base/compiler.h"
#include "proxy/log/log_format.h"

struct cfg_diag;
struct proxies;
struct proxy;

/* Main thread: compiles the formats of the profiles that a frontend's `log` lines name. 0, or -1
 * after a report. */
int profile_lines_compile(struct proxy *p, struct proxies *root, struct cfg_diag *d) must_check;
/* A profile has a text for a line without one of the proxy's at this step. */
int profile_lines_exist(const struct proxy *fe, enum log_step step);
/* Writes the line of e to each target, by its profile. On the session's worker. */
void profile_lines_send(const struct log_entry *e);

#endif
