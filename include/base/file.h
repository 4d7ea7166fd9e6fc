/* Files that are read whole. */
#ifndef TACIT_BASE_FILE_H
#define TACIT_BASE_FILE_H

#include <stddef.h>

#include "base/compiler.h"

struct sys;

/* Reads a file, which may be a pipe, of at most max bytes: *text is from mem_alloc(),
 * NUL-terminated. 0, or -errno (including EFBIG, ENOMEM) with *text NULL. */
long file_read(struct sys *sys, const char *path, size_t max, char **text, size_t *len) must_check;

#endif
