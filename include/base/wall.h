/*
 * Wall-clock dates for logs. The broken-down time of the last second is cached, since consecutive
 * messages mostly have the same second.
 */
#ifndef TACIT_BASE_WALL_H
#define TACIT_BASE_WALL_H

#include <stdint.h>
#include <time.h>

#include "base/compiler.h"
#include "base/sbuf.h"

struct wall {
	int64_t sec;     /* of tm; meaningful once valid */
	int valid;
	struct tm tm;    /* local time */
};

/* Broken-down local time of a second since 1970; valid until the next call. */
const struct tm *wall_local(struct wall *w, int64_t sec);

/* "Nov 2 23:37:11", the day padded with a space (RFC 3164, 4.1.2). */
void wall_add_syslog(struct sbuf *b, const struct tm *tm);
/* "2026-11-20T23:37:11.123456+00:00" */
void wall_add_iso(struct sbuf *b, const struct tm *tm, unsigned int usec);
/* "20/Nov/2026:23:37:11", without zone */
void wall_add_clf(struct sbuf *b, const struct tm *tm);
/* "Sat, 28 Nov 2026 06:16:49 -0500 (EST)" (RFC 5322, 3.3) */
void wall_add_mail(struct sbuf *b, const struct tm *tm);
/* "+0100" */
void wall_add_zone(struct sbuf *b, const struct tm *tm);

#endif
