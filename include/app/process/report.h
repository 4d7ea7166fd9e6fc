/* Messages of the process on its terminal, in HAProxy's form: "[ALERT] (pid) : text". */
#ifndef TACIT_APP_PROCESS_REPORT_H
#define TACIT_APP_PROCESS_REPORT_H

#include <stdio.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/* Longer than a reader of logs stalls. */
#define REPORT_PATIENCE_MS 10000

enum report_level { REPORT_ALERT, REPORT_WARNING, REPORT_NOTICE };

struct report {
	FILE *to;
	struct sys *sys; /* writes to its descriptor; NULL: stdio does */
	int pid;
	int quiet;   /* alerts only */
	int verbose; /* also notices */
	struct sbuf *kept; /* messages are appended to it until is_started is set; NULL: none */
	int is_started;
	unsigned int patience_ms; /* until then: how long a message waits for room in a full pipe */
	/* The stream of the journal: each line for it begins with <N>. Inode 0: there is none. */
	unsigned long long journal_device, journal_inode;
};

struct cfg_diag;

void report_msg(const struct report *r, enum report_level level, const char *fmt, ...)
	fmt_printf(3, 4);
/* Appends that message to a buffer instead, unless it is not to be shown. */
void report_add(const struct report *r, struct sbuf *to, enum report_level level, const char *fmt,
	...) fmt_printf(4, 5);
/* Lines of other messages in this form, as they are. */
void report_text(const struct report *r, const char *text);
/* The messages about a configuration; with `quiet` only those that reject it. */
void report_diag(const struct report *r, const struct cfg_diag *d, int quiet);
/* Takes the journal's stream from $JOURNAL_STREAM ("device:inode", systemd.exec(5); NULL: none).
 * Each message compares it with the file that it goes to: a worker process writes to a pipe until
 * it is ready. */
void report_set_journal(struct report *r, const char *stream);

#endif
