/*
 * Logging to syslog over UDP or a unix datagram socket, to stdout, stderr or fd@N, and to rings
 * (configuration manual, 3.1 and 4.2 `log`). Nothing here blocks: messages are collected in memory
 * during a turn of the loop, and log_flush() passes them to the kernel at its end with one call per
 * target. Messages that a target does not accept at once are dropped and counted; no function
 * reports a failure.
 */
#ifndef TACIT_BASE_LOG_H
#define TACIT_BASE_LOG_H

#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/log_sample.h"
#include "base/str.h"
#include "base/sys.h"
#include "base/wall.h"

/* The words of `log` lines, in the order of their numbers, for tables and for the manual. */
#define LOG_LEVEL_WORDS(X, between)                                                      \
	X(EMERG, "emerg") between X(ALERT, "alert") between X(CRIT, "crit")              \
	between X(ERR, "err") between X(WARNING, "warning") between X(NOTICE, "notice")  \
	between X(INFO, "info") between X(DEBUG, "debug")
#define LOG_FACILITY_WORDS(X, between)                                                   \
	X("kern") between X("user") between X("mail") between X("daemon")                \
	between X("auth") between X("syslog") between X("lpr") between X("news")         \
	between X("uucp") between X("cron") between X("auth2") between X("ftp")          \
	between X("ntp") between X("audit") between X("alert") between X("cron2")        \
	between X("local0") between X("local1") between X("local2") between X("local3")  \
	between X("local4") between X("local5") between X("local6") between X("local7")
#define LOG_FORM_WORDS(X, between)                                                       \
	X(LOCAL, "local", "time, tag, pid") between X(RFC3164, "rfc3164", "with the host") \
	between X(RFC5424, "rfc5424", "with structured data")                            \
	between X(PRIORITY, "priority", "only facility and level, as <134>")             \
	between X(SHORT, "short", "only the level, as <6>")                              \
	between X(TIMED, "timed", "short with the time") between X(ISO, "iso", "the time") \
	between X(RAW, "raw", "none") between X(JSON, "json", "each line an object")

/* Syslog severities; smaller is more severe. */
enum log_level {
#define LOG_ROW(id, name) LOG_LEVEL_##id,
	LOG_LEVEL_WORDS(LOG_ROW, )
#undef LOG_ROW
	LOG_LEVELS
};

/* Formats of the message header. LOCAL is the default; RFC3164 adds the host name. JSON, tacit's
 * own, makes the whole message an object. */
enum log_form {
#define LOG_ROW(id, name, text) LOG_FORM_##id,
	LOG_FORM_WORDS(LOG_ROW, )
#undef LOG_ROW
	LOG_FORMS
};

#define LOG_FACILITIES 24
#define LOG_LEN_MIN 80u
#define LOG_LEN_DEFAULT 1024u
#define LOG_LEN_MAX 65535u
#define LOG_HEAD_MAX 640         /* longest header: every field at its maximum */
#define LOG_PORT 514u            /* of a UDP target without a port */
#define LOG_TARGETS_MAX 64       /* maximum number of different destinations of a process */
#define LOG_RING_SIZE (256u << 10) /* bytes collected in one turn; messages beyond are dropped */
#define LOG_BATCH 64             /* messages per system call */
#define LOG_REST_MS 100          /* time for which a failed target is not tried again */

/* Values of the manual's names; -ERR_UNKNOWN for other names. */
int log_level_parse(const char *name) must_check;
int log_facility_parse(const char *name) must_check;
int log_form_parse(const char *name) must_check;

enum log_dest_kind {
	LOG_DEST_SOCKET, /* datagrams to sa */
	LOG_DEST_FD, /* lines to fd: a pipe, terminal, file or socket opened elsewhere */
	LOG_DEST_RING /* messages to a ring in memory */
};

struct log_profile;
struct log_ring;

struct log_dest {
	enum log_dest_kind kind;
	int fd;
	struct log_ring *ring; /* base/log_ring.h; its format is used */
	socklen_t len;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} u;
};

/* One `log` line of the configuration. */
struct log_line {
	struct list link;
	struct log_dest dest;
	enum log_form form;
	int form_set;          /* a format was given: log-send-hostname does not change it */
	int facility;
	enum log_level level;    /* less severe messages are not sent */
	enum log_level minlevel; /* more severe messages are sent at this level */
	unsigned int max_len;  /* of a message including its header; to a ring without it */
	const char *tag;       /* of all messages; NULL: their own */
	struct log_profile *profile; /* proxy/model/log_profile.h; NULL: none */
	struct log_sample sample; /* of the messages that the level permits */
};

/* Defaults: local format, every level, 1024 bytes. */
void log_line_init(struct log_line *l);

/* Names in log lines. The strings must outlive the sink. */
struct log_ident {
	const char *tag;      /* log-tag, or the program's name */
	const char *hostname; /* log-send-hostname; NULL: the format's nil value */
	int pid;
	const char *node;     /* this machine's name, for %H; NULL: unknown */
};

struct log_target; /* an opened destination */

/* A message, besides its level. */
struct log_message {
	const char *tag;     /* NULL: the sink's */
	const char *sd;      /* structured data for lines in the RFC 5424 format (6.3); NULL: "-" */
	struct str text;
	int is_json;         /* lines in that format take the text as it is */
};

/* One per worker. A target is opened when it is first used, after a chroot. */
struct log_sink {
	struct sys *sys;
	struct log_ident id;
	const struct list *lines;       /* of `global`, for log_msg(); NULL: none */
	uint64_t (*wall_ns)(void *arg); /* wall clock in ns since 1970; NULL: ask the kernel */
	void *wall_arg;
	/* Called when a target fails and is suspended for a while. err: errno. May be NULL. */
	void (*on_failure)(void *arg, const struct log_dest *dest, int err);
	void *failure_arg;
	/* Called when messages were posted to this ring without notice to its owner: it has to
	 * collect them. */
	void (*on_ring)(void *arg, struct log_ring *r);
	void *ring_arg;
	struct wall wall;               /* the date of the last message */
	struct wall wall_past;          /* the date of the event that the last message reports:
					 * %t */
	struct log_target *target;
	unsigned int n_targets;
	char *ring;                     /* records in order; see log.c */
	size_t used;
	_Atomic uint64_t sent;          /* messages that the kernel, or a ring, has accepted */
	_Atomic uint64_t dropped; /* messages lost: ring full, target full or failed, no memory */
};

void log_sink_init(struct log_sink *k, struct sys *sys, const struct log_ident *id);
/* Opens the targets of lines now instead of with their first message. */
void log_open(struct log_sink *k, const struct list *lines);
/* Flushes, then closes the descriptors that it opened. */
void log_sink_fini(struct log_sink *k);

/*
 * Sends a message to each of lines (struct log_line) whose level permits it. tag NULL: the sink's.
 * Control bytes in msg except tabs are written as #XX, so that a client cannot forge log lines. k
 * NULL: does nothing.
 */
void log_send(struct log_sink *k, const struct list *lines, enum log_level level, const char *tag,
	      const char *msg, size_t len);
void log_send_message(struct log_sink *k, const struct list *lines, enum log_level level,
	const struct log_message *m);
/* True if its level and sample permit one more message, which is counted. */
int log_line_takes(struct log_line *l, enum log_level level) must_check;
/* Sends to one line, which takes it. */
void log_line_send(struct log_sink *k, const struct log_line *l, enum log_level level,
	const struct log_message *m);
/* Writes a whole message of now, in this form, to `out` of this size. Its length, without a NUL. */
size_t log_compose(struct log_sink *k, enum log_form form, int facility, enum log_level level,
	const char *text, char *out, size_t size);
/* Maximum length of a message that this line does not truncate; LOG_LEN_MAX if its level does not
 * permit it. */
size_t log_line_room(struct log_sink *k, const struct log_line *l, enum log_level level,
	const char *tag, const char *sd);
/* The same for all of these lines. */
size_t log_room(struct log_sink *k, const struct list *lines, enum log_level level,
	const char *tag, const char *sd);
/* Sends a message of the process itself to the log lines of `global`. k may be NULL. */
void log_msg(struct log_sink *k, enum log_level level, const char *fmt, ...) fmt_printf(3, 4);
/* Passes all collected messages to the kernel; never blocks. Called once per turn, at the end. */
void log_flush(struct log_sink *k);
/* True if messages are collected. */
static inline int
log_has_pending(const struct log_sink *k)
{
	return k->used > 0;
}

#endif
