/*
 * The file of a ring (configuration manual 3.9, backing-file): the messages of the ring as lines,
 * to be read after a crash. It is written with pwrite(), not mapped: a file that another program
 * truncates, or a full file system, is an error of a call and no signal.
 *
 * The file is as large as the ring and is written in a circle. NUL bytes stand behind the newest
 * line; the first line behind them may be the rest of one that was overwritten. Opened by the main
 * thread at start; then on the thread of the ring's owner.
 */
#ifndef TACIT_BASE_LOG_RING_FILE_H
#define TACIT_BASE_LOG_RING_FILE_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/log_ring.h"

#define LOG_RING_FILE_MODE 0600
#define LOG_RING_FILE_SUFFIX ".bak"

struct sys;

/* The fate of the file that had the name before. */
enum log_ring_former {
	LOG_RING_FORMER_NONE,
	LOG_RING_FORMER_RENAMED,
	LOG_RING_FORMER_OVERWRITTEN /* it was empty, or could not be renamed */
};

struct log_ring_file {
	struct log_ring_reader reader;
	struct sys *sys;
	int fd;               /* valid if out is not NULL */
	char *path, *bak;
	enum log_ring_former former;
	int rename_err;       /* -errno; 0: it was renamed, or was empty */
	size_t at;            /* where out begins in the file */
	char *out;            /* lines that were not written yet; NULL: the file is not open */
	size_t size, len;
	int has_failed;       /* which was reported */
	/* Lines were not written, because of this errno: reported once. May be NULL. */
	void (*on_failure)(void *arg, int err);
	void *arg;
};

/*
 * Makes the file and writes what the ring has. A regular file of this name that is not empty gets
 * the suffix .bak; if that fails it is overwritten. f is zero but for on_failure and arg. The ring
 * is open and outlives the file. 0, -ERR_UNSUPPORTED: it is no regular file, or another negative
 * reason; then nothing has changed but that a previous .bak may be gone.
 */
int log_ring_file_open(struct log_ring_file *f, struct sys *sys, struct log_ring *r,
	const char *path) must_check;
/* Closes it, if it is open. With undo it is removed, and what had the name before gets it back. */
void log_ring_file_close(struct log_ring_file *f, int undo);

#endif
