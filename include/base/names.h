/* Name lookups by libc, in /etc and name services. Only at start: they may block for seconds. */
#ifndef TACIT_BASE_NAMES_H
#define TACIT_BASE_NAMES_H

#include <sys/socket.h>
#include <sys/types.h>

#include "base/compiler.h"

/* Looks up the address of a host for streams that the C library puts first; family: AF_UNSPEC,
 * AF_INET or AF_INET6. 0 or -ERR_RESOLVE. */
int names_host(const char *host, int family, struct sockaddr_storage *out,
	       socklen_t *len) must_check;
/* 0 or -ERR_UNKNOWN. */
int names_user(const char *name, uid_t *uid) must_check;
int names_group(const char *name, gid_t *gid) must_check;

#endif
