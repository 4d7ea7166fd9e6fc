/* Reads files whole, through struct sys. Any thread. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "base/sys.h"

/* First size of the buffer that a file is read into. */
#define FILE_CHUNK 65536

/* Reads the rest of a file, which may be a pipe: *text is from mem_alloc(). */
static long
read_whole(struct sys *sys, int fd, size_t max, char **text, size_t *len)
{
	size_t cap = 0, n = 0;
	char *buf = NULL, *grown;
	long rc;

	for (;;) {
		if (n + 1 >= cap) {
			if (cap > max) {
				mem_free(buf);
				return -EFBIG;
			}
			cap = cap ? cap * 2 : FILE_CHUNK;
			grown = mem_resize(buf, cap, 1);
			if (!grown) {
				mem_free(buf);
				return -ENOMEM;
			}
			buf = grown;
		}
		rc = sys_read(sys, fd, buf + n, cap - n - 1);
		if (rc <= 0)
			break;
		n += (size_t)rc;
	}
	if (rc == 0 && n > max)
		rc = -EFBIG;
	if (rc < 0) {
		mem_free(buf);
		return rc;
	}
	buf[n] = '\0';
	*text = buf;
	*len = n;
	return 0;
}

long
file_read(struct sys *sys, const char *path, size_t max, char **text, size_t *len)
{
	long rc, fd = sys_openat(sys, path, O_RDONLY | O_CLOEXEC, 0);

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return fd;
	rc = read_whole(sys, (int)fd, max, text, len);
	sys_close(sys, (int)fd);
	return rc;
}

char *
file_text(struct sys *sys, int fd, size_t max)
{
	struct stat st;
	size_t have = 0, size;
	char *text;

	if (sys_fstat(sys, fd, &st) < 0 || st.st_size < 0)
		return NULL;
	size = MIN((size_t)st.st_size, max);
	text = mem_alloc(size + 1);
	while (text && have < size) {
		long r = sys_pread64(sys, fd, text + have, size - have, (off_t)have);

		if (r <= 0) {
			mem_free(text);
			return NULL;
		}
		have += (size_t)r;
	}
	if (text)
		text[have] = '\0';
	return text;
}
