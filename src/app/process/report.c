/* Messages of the process to its terminal, each flushed at once. Any thread. Before the other
 * threads start messages are saved for `show startup-logs`. */
#include "app/process/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "base/sys.h"
#include "cfg/diag.h"

static const char *const names[] = { "[ALERT]", "[WARNING]", "[NOTICE]" };

/* As sd-daemon(3) numbers them. A line that continues another one has its priority. */
static int
priority_of(const char *line, int before)
{
	static const int priorities[] = { 1, 4, 5 };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			return priorities[i];
	return before;
}

static void
add_priorities(struct sbuf *out, const char *text)
{
	int priority = 6;

	for (size_t n; *text; text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		priority = priority_of(text, priority);
		sbuf_addf(out, "<%d>", priority);
		sbuf_add(out, text, n);
	}
}

/* The reader has left a pipe full; before the threads start. Messages do not wait for it again. */
static int is_stuck;

/* Waits until a pipe has room that its reader empties too slowly: the log of a worker process makes
 * a pipe that both have non-blocking. 0 if it may not wait, or has waited in vain. */
static int
wait_for_room(const struct report *r, int fd)
{
	struct epoll_event ev = { .events = EPOLLOUT };
	int ep;
	long n;

	if (r->is_started || is_stuck)
		return 0;
	ep = (int)sys_epoll_create1(r->sys, EPOLL_CLOEXEC);
	if (ep < 0)
		return 0;
	n = sys_epoll_ctl(r->sys, ep, EPOLL_CTL_ADD, fd, &ev);
	if (n == 0)
		n = sys_epoll_wait(r->sys, ep, &ev, 1, (int)r->patience_ms);
	is_stuck = n == 0;
	(void)sys_close(r->sys, ep);
	return n > 0 || n == -EINTR;
}

/* Writes the text, or its beginning if the rest finds no room. */
static void
write_report(const struct report *r, const char *text, size_t len)
{
	long n;

	if (!r->sys) {
		(void)!fwrite(text, 1, len, r->to);
		fflush(r->to);
		return;
	}
	for (; len; text += n, len -= (size_t)n) {
		n = sys_write(r->sys, fileno(r->to), text, len);
		if (n >= 0 && !r->is_started)
			is_stuck = 0;
		if (n >= 0)
			continue;
		if (n != -EINTR && (n != -EAGAIN || !wait_for_room(r, fileno(r->to))))
			return;
		n = 0;
	}
}

static int
writes_to_journal(const struct report *r)
{
	struct stat st;

	return r->sys && r->journal_inode && sys_fstat(r->sys, fileno(r->to), &st) >= 0 &&
	       r->journal_device == st.st_dev && r->journal_inode == st.st_ino;
}

void
report_text(const struct report *r, const char *text)
{
	struct sbuf out;

	sbuf_init(&out, 0);
	if (writes_to_journal(r))
		add_priorities(&out, text);
	if (out.len && !out.failed)
		text = out.p;
	write_report(r, text, strlen(text));
	sbuf_fini(&out);
}

void
report_diag(const struct report *r, const struct cfg_diag *d, int quiet)
{
	struct sbuf text;

	sbuf_init(&text, 0);
	cfg_diag_text(d, &text, quiet);
	if (text.len)
		report_text(r, text.p);
	sbuf_fini(&text);
}

void
report_set_journal(struct report *r, const char *stream)
{
	unsigned long long device, inode;
	char *end;

	r->journal_inode = 0;
	if (!stream)
		return;
	device = strtoull(stream, &end, 10);
	if (*end != ':')
		return;
	inode = strtoull(end + 1, &end, 10);
	if (*end)
		return;
	r->journal_device = device;
	r->journal_inode = inode;
}

static void
compose_line(const struct report *r, struct sbuf *to, enum report_level level, const char *fmt,
	va_list ap)
{
	if ((r->quiet && level != REPORT_ALERT) || (level == REPORT_NOTICE && !r->verbose))
		return;
	sbuf_addf(to, "%-11s(%d) : ", names[level], r->pid);
	sbuf_vaddf(to, fmt, ap);
	sbuf_addc(to, '\n');
}

void
report_add(const struct report *r, struct sbuf *to, enum report_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	compose_line(r, to, level, fmt, ap);
	va_end(ap);
}

void
report_msg(const struct report *r, enum report_level level, const char *fmt, ...)
{
	struct sbuf text;
	va_list ap;

	sbuf_init(&text, 0);
	va_start(ap, fmt);
	compose_line(r, &text, level, fmt, ap);
	va_end(ap);
	if (text.len)
		report_text(r, text.p);
	if (r->kept && !r->is_started && text.len)
		sbuf_add(r->kept, text.p, text.len);
	sbuf_fini(&text);
}
