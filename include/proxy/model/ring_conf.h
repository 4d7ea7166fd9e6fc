/* Sections `ring` (manual 3.9), and the rings that `log` lines to stream addresses make. Main
 * thread, while the configuration is read; their messages belong to the first worker. */
#ifndef TACIT_PROXY_MODEL_RING_CONF_H
#define TACIT_PROXY_MODEL_RING_CONF_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/log_ring.h"
#include "base/log_ring_file.h"
#include "cfg/diag.h"
#include "net/log_client.h"
#include "proxy/model/server_tls.h"

struct tls_server;

struct ring_server {
	struct list link;
	char *name;
	struct log_client_conf conf;
	struct server_tls_conf tls_conf; /* sni: a name, not an expression */
	struct tls_server *tls; /* NULL: no TLS. app/config reads it, app/process opens it */
	struct log_client client;
	struct ring_conf *ring;
	void *process;  /* what reports failures */
	int has_failed; /* which was reported */
};

struct ring_conf {
	struct list link;
	char *name;
	char *description;      /* NULL: the name */
	struct cfg_where where; /* of its section, or of the first line that names it */
	int is_declared;        /* there is a section, or a stream address made it */
	int is_implicit;        /* the latter: it has the format of the line */
	uint32_t connect_ms, server_ms;
	struct list servers;    /* struct ring_server */
	struct log_ring ring;
	char *backing_file;     /* NULL: none */
	struct cfg_where backing_where; /* of its path */
	struct log_ring_file file;
	void *process;          /* what reports its failures */
};

/* NULL: none. */
struct ring_conf *ring_conf_find(const struct list *rings, const char *name);
/* Appends one; NULL when memory is out. */
struct ring_conf *ring_conf_add(struct list *rings, const char *name);
/* The ring buf0, which needs no section: made when a line first names it. NULL when memory is
 * out. */
struct ring_conf *ring_conf_buf0(struct list *rings);
/* Appends a server without an address; NULL when memory is out. */
struct ring_server *ring_conf_add_server(struct ring_conf *c, const char *name);
void ring_confs_free(struct list *rings);
/* Settles sizes and timeouts, and allocates memory for messages. 0, or -1 after a report. */
int ring_confs_finish(struct list *rings, struct cfg_diag *d) must_check;
/* True if there is a server with TLS. */
int ring_confs_use_tls(const struct list *rings);
/* Calls fn for each of those, until it returns something other than 0. */
typedef int ring_server_fn(struct ring_server *s, void *arg);
int ring_confs_each_tls(const struct list *rings, ring_server_fn *fn, void *arg);
/* Descriptors of their files and servers. */
unsigned int ring_confs_descriptors(const struct list *rings);
/* The format of a line to this ring, whose own would be `form`. */
enum log_form ring_conf_form(struct log_ring *r, enum log_form form);

#endif
