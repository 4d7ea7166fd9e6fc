/*
 * Memory that outlives its process: an anonymous file of records, mapped by the process that writes
 * it and, read-only, by processes that follow. Records are found by a key, or by an alias.
 *
 * The process that has written a file may have been taken over, may have another version, and may
 * write on: a reader verifies the bounds of every record once, copies keys, and must take what a
 * record holds for numbers from outside. The file is sealed: it cannot shrink under its reader, and
 * no other process can write to it.
 */
#ifndef TACIT_BASE_MEMFILE_H
#define TACIT_BASE_MEMFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/lock.h"
#include "base/name_index.h"

struct sys;

/* Changes with the form of a file; what records hold is described by `layout`. */
#define MEMFILE_VERSION 1u
#define MEMFILE_MAGIC "tacitmem"
/* Payloads are aligned to this. */
#define MEMFILE_ALIGN 64u
/* Bytes of the head of a file, before its first record. */
#define MEMFILE_HEAD 64u

struct memfile_head {
	char magic[8];
	uint32_t version;
	uint32_t layout;
	uint64_t generation;    /* higher than that of any file before */
	_Atomic uint64_t used;  /* bytes of all records, with this head */
};

struct memfile_record {
	uint32_t size;          /* of the whole, a multiple of MEMFILE_ALIGN */
	_Atomic uint32_t kind;  /* 0: removed */
	uint16_t key_len, alias_len; /* without the NUL that follows each */
	uint32_t start;         /* of the payload */
	char names[];
};

/* --- the writer --- */

struct memfile {
	struct sys *sys;
	int fd;                 /* -1: closed */
	char *map;              /* NULL: there is no file */
	size_t size;
	struct lock lock;       /* of memfile_add() */
};

/* The bytes that a record takes. 0: it cannot be. */
size_t memfile_record_size(const char *key, const char *alias, size_t payload);
/* Makes a file with room for `size` bytes, of which those that are not written take no memory. 0 or
 * -errno. */
int memfile_create(struct memfile *f, struct sys *sys, size_t size, uint32_t layout,
	uint64_t generation) must_check;
/* Adds a record: its payload, zeroed, of at least that size. kind: not 0. alias: "" for none. NULL:
 * there is no room. Any thread may call it. */
void *memfile_add(struct memfile *f, uint32_t kind, const char *key, const char *alias,
	size_t payload);
/* Readers do not find the record with this payload any more. */
void memfile_remove(struct memfile *f, void *payload);
/* Seals it. 0 or -errno. */
int memfile_seal(struct memfile *f) must_check;
/* The memory stays. */
void memfile_close_fd(struct memfile *f);
void memfile_free(struct memfile *f);

/* --- readers --- */

struct memfile_item {
	const void *payload;
	size_t len;
	char *key, *alias;      /* copies */
	uint32_t kind;
};

struct memfile_view {
	struct sys *sys;
	const char *map;
	size_t size;
	const char *bytes;      /* what is read, `limit` of them, up to `pos` so far */
	size_t limit, pos;
	size_t dropped;         /* memfile_drop() */
	uint64_t generation;
	struct memfile_item *item;
	unsigned int n;
	struct name_index *index; /* keys of each kind, and aliases */
};

/* Kinds that a view can find are below this. */
#define MEMFILE_KINDS 8u

/* Maps a file that another process has written; fd stays open. 0, or a negative reason with
 * *why. */
int memfile_open(struct memfile_view *v, struct sys *sys, int fd, uint32_t layout,
	const char **why) must_check;
/* The same for bytes in memory, which must outlive the view. */
int memfile_read(struct memfile_view *v, const void *bytes, size_t size, uint32_t layout,
	const char **why) must_check;
/* Reads records that were added since, up to a bounded number. Items move. 0 or a negative reason:
 * nothing behind a damaged one is read. */
int memfile_more(struct memfile_view *v);
/* The record of this kind with this alias, if it is not "", else the one with this key that has no
 * alias. NULL: none. */
const struct memfile_item *memfile_find(const struct memfile_view *v, uint32_t kind,
	const char *key, const char *alias);
/* Frees keys and items; the memory stays. Nothing is found any more. */
void memfile_forget_names(struct memfile_view *v);
/* Begins to close it: nothing is found any more, and up to `most` bytes, a multiple of a page, are
 * not mapped any more. 1: there are more. */
int memfile_drop(struct memfile_view *v, size_t most);
void memfile_close(struct memfile_view *v);

#endif
