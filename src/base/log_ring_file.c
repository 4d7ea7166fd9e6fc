/* The file of a ring: a reader of the ring that writes lines. One call for all messages of a turn,
 * two when they go past the end of the file. */
#include "base/log_ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"

#define FILE_OUT_SIZE 16384u

/* --- writing --- */

/* Lines that cannot be written are lost for the file; the next ones are tried in their place. */
static int
fail_file(struct log_ring_file *f, int err)
{
	f->len = 0;
	if (!f->has_failed && f->on_failure)
		f->on_failure(f->arg, err);
	f->has_failed = 1;
	return -1;
}

/* more: bytes of out behind the lines, which the next ones overwrite. 0, or -1 after a failure. */
static int
flush_lines(struct log_ring_file *f, size_t more)
{
	size_t done = 0, len = f->len + more;

	while (done < len) {
		long r = sys_pwrite64(
			f->sys, f->fd, f->out + done, len - done, (off_t)(f->at + done));

		if (r <= 0)
			return fail_file(f, r ? (int)-r : EIO);
		done += (size_t)r;
	}
	f->at += f->len;
	f->len = 0;
	return 0;
}

/* Lines are whole: what is left at the end of the file is cleared, since it is the oldest. */
static void
begin_lap(struct log_ring_file *f)
{
	size_t end = f->reader.ring->size;
	int r = flush_lines(f, 0);

	while (!r && f->at < end) {
		f->len = MIN(f->size, end - f->at);
		memset(f->out, 0, f->len);
		r = flush_lines(f, 0);
	}
	f->len = f->at = 0;
}

static void
put_line(struct log_ring_file *f, size_t len)
{
	if (f->reader.ring->size - f->at - f->len < len + 1)
		begin_lap(f);
	/* One byte stays for the mark. */
	if (f->size - f->len < len + 2)
		(void)flush_lines(f, 0);
	(void)log_ring_copy(f->reader.ring, f->reader.at, f->out + f->len);
	f->len += len;
	f->out[f->len++] = '\n';
}

static void
on_file_news(struct log_ring_reader *rd)
{
	struct log_ring_file *f = container_of(rd, struct log_ring_file, reader);
	long len;

	while ((len = log_ring_len(rd->ring, rd->at)) >= 0) {
		put_line(f, (size_t)len);
		log_ring_advance(rd);
	}
	f->out[f->len] = '\0';
	(void)flush_lines(f, f->at + f->len < rd->ring->size);
}

/* --- the start --- */

/* Gives a previous file its other name. 0 or a negative reason. */
static int
rename_former(struct log_ring_file *f)
{
	struct stat st;
	long r = sys_stat(f->sys, f->path, &st);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return (int)r;
	if (!S_ISREG(st.st_mode))
		return -ERR_UNSUPPORTED;
	f->former = LOG_RING_FORMER_OVERWRITTEN;
	if (!st.st_size)
		return 0;
	f->rename_err = (int)sys_rename(f->sys, f->path, f->bak);
	if (!f->rename_err)
		f->former = LOG_RING_FORMER_RENAMED;
	return 0;
}

/* A file system without this call has room for what is written, or the write fails. */
static int
allocate_file(const struct log_ring_file *f, size_t size)
{
	long r = sys_ftruncate(f->sys, f->fd, 0);

	if (r >= 0)
		r = sys_fallocate(f->sys, f->fd, 0, 0, (off_t)size);
	if (r == -EOPNOTSUPP)
		r = sys_ftruncate(f->sys, f->fd, (off_t)size);
	return (int)MIN(r, 0);
}

static int
open_new(struct log_ring_file *f, size_t size)
{
	int is_new = f->former != LOG_RING_FORMER_OVERWRITTEN, r;
	long fd = sys_openat(f->sys, f->path,
		O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (is_new ? O_CREAT | O_EXCL : 0),
		LOG_RING_FILE_MODE);

	if (fd < 0)
		return (int)fd;
	f->fd = (int)fd;
	r = allocate_file(f, size);
	if (r < 0) {
		(void)sys_close(f->sys, f->fd);
		if (is_new)
			(void)sys_unlink(f->sys, f->path);
	}
	return r;
}

static void
free_names(struct log_ring_file *f)
{
	mem_free(f->path);
	mem_free(f->bak);
	mem_free(f->out);
	f->path = f->bak = f->out = NULL;
}

static int
name_file(struct log_ring_file *f, const char *path)
{
	size_t size = strlen(path) + sizeof(LOG_RING_FILE_SUFFIX);

	f->path = mem_strdup(path);
	f->bak = mem_alloc(size);
	f->out = mem_alloc(f->size);
	if (!f->path || !f->bak || !f->out)
		return -ERR_NOMEM;
	(void)snprintf(f->bak, size, "%s" LOG_RING_FILE_SUFFIX, path);
	return 0;
}

int
log_ring_file_open(
	struct log_ring_file *f, struct sys *sys, struct log_ring *r, const char *path)
{
	int result;

	f->sys = sys;
	f->size = MAX(FILE_OUT_SIZE, r->maxlen + 2);
	result = name_file(f, path);
	if (!result)
		result = rename_former(f);
	if (!result) {
		result = open_new(f, r->size);
		if (result && f->former == LOG_RING_FORMER_RENAMED)
			(void)sys_rename(sys, f->bak, f->path);
	}
	if (result) {
		free_names(f);
		return result;
	}
	f->reader.on_news = on_file_news;
	log_ring_join(r, &f->reader, 0);
	if (log_ring_len(r, f->reader.at) >= 0)
		on_file_news(&f->reader);
	return 0;
}

void
log_ring_file_close(struct log_ring_file *f, int undo)
{
	if (!f->out)
		return;
	log_ring_leave(&f->reader);
	(void)sys_close(f->sys, f->fd);
	if (undo && f->former == LOG_RING_FORMER_RENAMED)
		(void)sys_rename(f->sys, f->bak, f->path);
	else if (undo && f->former == LOG_RING_FORMER_NONE)
		(void)sys_unlink(f->sys, f->path);
	free_names(f);
}
