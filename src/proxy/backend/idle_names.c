/* A table of lists, of a fixed size: the pool's limits bound what is in it. The names are those
 * that the connections themselves know. */
#include "proxy/backend/idle_names.h"

#include "base/keyhash.h"
#include "base/mem.h"
#include "base/random.h"
#include "net/xprt.h"

/* A power of two. */
#define NAME_SLOTS 256

struct idle_names {
	struct keyhash key;
	struct list slot[NAME_SLOTS]; /* struct idle_conn.name_link, newest first */
};

struct idle_names *
idle_names_new(struct random_source *random)
{
	struct idle_names *n = mem_alloc(sizeof(*n));
	uint64_t bits[2];

	if (!n || random_bytes(random, bits, sizeof(bits)) < 0) {
		mem_free(n);
		return NULL;
	}
	keyhash_init(&n->key, bits);
	for (unsigned int i = 0; i < NAME_SLOTS; i++)
		list_init(&n->slot[i]);
	return n;
}

void
idle_names_free(struct idle_names **n)
{
	for (unsigned int i = 0; *n && i < NAME_SLOTS; i++)
		assert(list_is_empty(&(*n)->slot[i]));
	mem_free(*n);
	*n = NULL;
}

static struct str
name_of_conn(const struct idle_conn *c)
{
	struct str name = { NULL, 0 };

	(void)!conn_query(&c->conn, XPRT_QUERY_SERVER_NAME, &name);
	return name;
}

void
idle_names_add(struct idle_names *n, struct idle_conn *c)
{
	struct list *slot = idle_names_slot(n, name_of_conn(c), &c->name_hash);

	list_append(slot->next, &c->name_link);
}

struct list *
idle_names_slot(struct idle_names *n, struct str name, uint64_t *hash)
{
	*hash = keyhash(&n->key, name.p, name.len);
	return &n->slot[keyhash_slot(*hash, NAME_SLOTS)];
}

int
idle_conn_has_name(const struct idle_conn *c, struct str name, uint64_t hash)
{
	return c->name_hash == hash && str_is(name_of_conn(c), name);
}
