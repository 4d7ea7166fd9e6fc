/* Memory files. One thread writes records of a file and one opens a view; the layout of payloads is
 * known to the callers alone. No offset that a reader has verified is read from the file again. */
#include "base/memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/sys.h"

_Static_assert(sizeof(struct memfile_head) <= MEMFILE_HEAD, "the head has its room");

static size_t
round_up(size_t n)
{
	return (n + MEMFILE_ALIGN - 1) & ~(size_t)(MEMFILE_ALIGN - 1);
}

static struct memfile_head *
head_of(struct memfile *f)
{
	return (struct memfile_head *)(void *)f->map;
}

/* --- the writer --- */

/* The place of the payload. */
static size_t
payload_start(const char *key, const char *alias)
{
	return round_up(sizeof(struct memfile_record) + strlen(key) + strlen(alias) + 2);
}

size_t
memfile_record_size(const char *key, const char *alias, size_t payload)
{
	if (strlen(key) > UINT16_MAX || strlen(alias) > UINT16_MAX || payload > UINT32_MAX / 2)
		return 0;
	return payload_start(key, alias) + round_up(payload);
}

int
memfile_create(struct memfile *f, struct sys *sys, size_t size, uint32_t layout,
	uint64_t generation)
{
	struct memfile_head head = { .version = MEMFILE_VERSION, .layout = layout,
		.generation = generation, .used = MEMFILE_HEAD };
	void *map = NULL;
	long r;

	*f = (struct memfile){ .sys = sys, .fd = -1 };
	r = sys_memfd_create(sys, "kept", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r < 0)
		return (int)r;
	f->fd = (int)r;
	r = sys_ftruncate(sys, f->fd, (off_t)size);
	if (r >= 0)
		r = sys_mmap(sys, size, PROT_READ | PROT_WRITE, f->fd, &map);
	if (r < 0) {
		memfile_close_fd(f);
		return (int)r;
	}
	memcpy(head.magic, MEMFILE_MAGIC, sizeof(head.magic));
	memcpy(map, &head, sizeof(head));
	f->map = map;
	f->size = size;
	return 0;
}

static void *
add_record_locked(
	struct memfile *f, uint32_t kind, const char *key, const char *alias, size_t payload)
{
	size_t size = memfile_record_size(key, alias, payload);
	struct memfile_record *r;
	uint64_t used;

	lock_assert_held(&f->lock);
	if (!f->map)
		return NULL;
	used = counter_read(&head_of(f)->used);
	if (!size || size > f->size - used)
		return NULL;
	r = (struct memfile_record *)(void *)(f->map + used);
	r->size = (uint32_t)size;
	r->key_len = (uint16_t)strlen(key);
	r->alias_len = (uint16_t)strlen(alias);
	r->start = (uint32_t)payload_start(key, alias);
	memcpy(r->names, key, r->key_len + 1u);
	memcpy(r->names + r->key_len + 1, alias, r->alias_len + 1u);
	counter_set(&r->kind, kind);
	/* Readers see a whole record, or none. */
	atomic_store_explicit(&head_of(f)->used, used + size, memory_order_release);
	return (char *)r + r->start;
}

void *
memfile_add(struct memfile *f, uint32_t kind, const char *key, const char *alias, size_t payload)
{
	void *p;

	lock_take(&f->lock, f->sys);
	p = add_record_locked(f, kind, key, alias, payload);
	lock_drop(&f->lock);
	return p;
}

void
memfile_remove(struct memfile *f, void *payload)
{
	uint64_t at = MEMFILE_HEAD, used = counter_read(&head_of(f)->used);

	while (at < used) {
		struct memfile_record *r = (struct memfile_record *)(void *)(f->map + at);

		if (f->map + at + r->start == (char *)payload)
			counter_set(&r->kind, 0);
		at += r->size;
	}
}

/* F_SEAL_FUTURE_WRITE leaves the mapping that there is as it is. */
int
memfile_seal(struct memfile *f)
{
	long r = sys_fcntl(f->sys, f->fd, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);

	return r < 0 ? (int)r : 0;
}

void
memfile_close_fd(struct memfile *f)
{
	if (f->fd >= 0)
		(void)sys_close(f->sys, f->fd);
	f->fd = -1;
}

void
memfile_free(struct memfile *f)
{
	if (!f->map)
		return;
	memfile_close_fd(f);
	(void)sys_munmap(f->sys, f->map, f->size);
	f->map = NULL;
}

/* --- mapping one of another process --- */

int
memfile_open(struct memfile_view *v, struct sys *sys, int fd, uint32_t layout, const char **why)
{
	long seals = sys_fcntl(sys, fd, F_GET_SEALS, 0);
	struct stat st;
	void *map = NULL;
	long r;

	*why = "it cannot be mapped";
	memset(v, 0, sizeof(*v));
	/* A file that shrinks under its reader would end the reader. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		{
		*why = "it is not sealed";
		return -ERR_INVAL;
	}
	r = sys_fstat(sys, fd, &st);
	if (r >= 0 && st.st_size <= 0)
		r = -EINVAL;
	if (r >= 0)
		r = sys_mmap(sys, (size_t)st.st_size, PROT_READ, fd, &map);
	if (r < 0)
		return (int)r;
	r = memfile_read(v, map, (size_t)st.st_size, layout, why);
	if (r < 0) {
		(void)sys_munmap(sys, map, (size_t)st.st_size);
		return (int)r;
	}
	/* The file may hold secrets; a core of this process can do without it. */
	(void)sys_madvise(sys, map, (size_t)st.st_size, MADV_DONTDUMP);
	v->sys = sys;
	v->map = map;
	v->size = (size_t)st.st_size;
	return 0;
}

int
memfile_drop(struct memfile_view *v, size_t most)
{
	size_t n = MIN(most, v->size - v->dropped);

	memfile_forget_names(v);
	/* Pages that are not present are unmapped in no time. */
	if (n)
		(void)sys_madvise(v->sys, (char *)(uintptr_t)v->map + v->dropped, n, MADV_DONTNEED);
	v->dropped += n;
	return v->dropped < v->size;
}
