/*
 * The name of a listening socket: its address and whatever is settled when it is bound. Two
 * configurations that want a socket with the same name can use the same socket. One word without
 * line ends.
 */
#ifndef TACIT_NET_LISTENER_KEY_H
#define TACIT_NET_LISTENER_KEY_H

#include <stddef.h>

#include "base/compiler.h"

struct listener;

/* Three bytes for each byte of a path, and the options. */
#define LISTENER_KEY_MAX 512

/* The key of a listener with a socket of its own, before or after it is bound. */
void listener_key(const struct listener *ln, char key[LISTENER_KEY_MAX]);
/* The path of the unix socket that a key names. 0, or -ERR_INVAL: it names another socket. */
int listener_key_path(const char *key, char *path, size_t len) must_check;

#endif
