/* Unix sockets of bind lines: who may connect to them, and where their paths begin (manual 5.1
 * mode, user, group; 3.1 unix-bind). Main thread, while the configuration is read. */
#ifndef TACIT_NET_BIND_UNIX_H
#define TACIT_NET_BIND_UNIX_H

#include <sys/types.h>

#include "base/compiler.h"

struct bind_conf;
struct cfg_ctx;

/* `unix-bind`: what holds for the lines that follow it, unless they say otherwise. */
struct bind_unix {
	char *prefix; /* owned; NULL: none */
	mode_t mode;  /* 0: by umask */
	uid_t uid;    /* -1: unchanged */
	gid_t gid;
};

void bind_unix_init(struct bind_unix *u);
void bind_unix_fini(struct bind_unix *u);
/* Reads `[<setting> <value>]...`, the arguments of ctx. 0, or -1 after cfg_error(). */
int bind_unix_parse(struct cfg_ctx *ctx, struct bind_unix *u) must_check;

/* The values of argument i, of `unix-bind` and of a bind line's options alike. 0, or -1 after
 * cfg_error(). */
int bind_unix_mode(struct cfg_ctx *ctx, int i, mode_t *out) must_check;
int bind_unix_id(struct cfg_ctx *ctx, int i, id_t *out) must_check; /* uid, gid */
int bind_unix_user(struct cfg_ctx *ctx, int i, uid_t *out) must_check;
int bind_unix_group(struct cfg_ctx *ctx, int i, gid_t *out) must_check;

#endif
