/* Files that are read whole. */
#ifndef TACIT_BASE_FILE_H
#define TACIT_BASE_FILE_H

#include <stddef.h>

#include "base/compiler.h"

struct sys;

/* Reads a file, which may be a pipe, of at most max bytes: *text is from mem_alloc(),
 * NUL-terminated. 0, or -errno (including EFBIG, ENOMEM) with *text NULL. */
long file_read(struct sys *sys, const char *path, size_t max, char **text, size_t *len) must_check;
/* The first max bytes of a regular file that is open, wherever its position is: from mem_alloc(),
 * NUL-terminated; NULL if it cannot be read or memory is out. */
char *file_text(struct sys *sys, int fd, size_t max) must_check;

#endif
