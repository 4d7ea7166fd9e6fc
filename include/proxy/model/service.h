/*
 * Local services: responses of any length that tacit generates itself, such as the statistics. The
 * session's worker makes a job of the request and waits; the first worker, to which the states of
 * servers and checks belong, generates the head and then the body, a slice each time that the
 * client has taken the one before. Between the two workers a job stands in a list under a lock,
 * and a message only announces it: it may be lost.
 */
#ifndef TACIT_PROXY_MODEL_SERVICE_H
#define TACIT_PROXY_MODEL_SERVICE_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "event/loop.h"
#include "proxy/model/shard.h"

struct engine;
struct service_job;
struct stream;

enum {
	SERVICE_SLICE = 12288,      /* bytes generated before the client has to take them */
	SERVICE_TURN = 4096,        /* bytes generated in one turn of the loop: others wait */
	SERVICE_STEPS = 256,        /* steps in one turn, even if they generate little */
	SERVICE_JOBS = 8,           /* jobs that get their part in one turn */
	SERVICE_OUT_MAX = 4 << 20,  /* maximum output of one step: a slice and the longest row */
	SERVICE_FIELDS_MAX = 12,
	SERVICE_HEAD_MAX = 4096     /* the texts of the head's fields */
};

/* Runs on the first worker. The owner is that of struct services. */
struct local_service {
	const char *name;    /* logs show it as the server: "<STATS>" */
	/* Sets the status and fields of the response, and has_body if steps follow. 1: it is called
	 * again in the next turn. */
	int (*begin)(struct service_job *j, void *owner);
	/* Appends about a row to j->out. 1: there is more, 0: this was the last one. The data may
	 * change between two steps. */
	int (*step)(struct service_job *j, void *owner);
	/* Frees j->state. NULL: nothing to free. */
	void (*end)(struct service_job *j);
};

/* A field of the response; the texts lie in j->texts or are static. */
struct service_field {
	struct str name, value;
};

struct service_job {
	struct list link;       /* in struct services */
	/* Written before it is handed over. */
	const struct local_service *service;
	struct services *of;
	unsigned int worker;
	const void *conf;       /* the service's, of the configuration */
	struct str target, body; /* of the request; copies */
	unsigned int flags;     /* the service's */
	/* Its worker's. */
	struct stream *stream; /* NULL: it has ended */
	int is_away;            /* the first worker has it */
	size_t taken;           /* bytes of out that the session has taken */
	/* The first worker's while it is away. */
	int has_begun;
	unsigned int status;    /* 0: it failed */
	struct service_field field[SERVICE_FIELDS_MAX];
	unsigned int n_fields;
	struct sbuf texts;      /* of the fields; it never moves */
	int has_body;
	struct sbuf out;        /* the current slice */
	int is_over;            /* it is the last one */
	void *state;            /* the service's position; from mem_alloc() */
	char copies[];
};

struct services {
	struct engine *first;    /* NULL: there are no services */
	void *owner;             /* for the services: the process */
	const struct local_service *stats, *metrics;
	size_t slice;            /* SERVICE_SLICE */
	struct task task;        /* of the first worker */
	struct list active;      /* struct service_job.link: the first worker generates them */
	struct lock lock;        /* guards the lists below */
	struct list todo;
	struct list done[ENGINES_MAX];
};

/* The first worker's. */
void services_start(struct services *sv, struct engine *first, void *owner);
/* Frees the jobs that it has. */
void services_stop(struct services *sv);

/* A job of this session, whose transaction then refers to it. NULL when memory is out or there are
 * no services. */
struct service_job *service_new(struct stream *s, const struct local_service *service,
	struct str target, struct str body) must_check;
/* Hands it to the first worker, for its head or its next slice; on_service() of the engine's hooks
 * follows. */
void service_ask(struct service_job *j);
/* The session needs it no longer. Frees it, or has it freed when it comes back. */
void service_drop(struct service_job *j);
/* On e's own thread: takes the jobs that have come for it. */
void services_collect(struct engine *e);

/* For the services: adds a field to the head. */
void service_field(struct service_job *j, struct str name, const char *fmt, ...) fmt_printf(3, 4);

#endif
