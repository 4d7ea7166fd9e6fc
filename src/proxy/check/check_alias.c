/* Variables of formats in health checks. On the checker's thread; without a log context those that
 * need it are empty. */
#include "proxy/check/check_alias.h"

#include <time.h>

#include "base/log.h"
#include "proxy/model/proxy.h"
#include "proxy/sample/eval.h"
#include "rule/sample/fmt.h"

#define NS_PER_MS 1000000u
#define NS_PER_SEC 1000000000u

static const struct server *
checked_server(const struct sample_ctx *cx)
{
	return cx->server;
}

static void
write_name(struct sbuf *out, unsigned int flags, const char *name)
{
	rule_fmt_put(out, flags, name ? str_of(name) : (struct str){ NULL, 0 });
}

static void
write_host(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	const struct log_context *log = cx->log;

	write_name(out, flags, log && log->id ? log->id->node : NULL);
}

static void
write_pid(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	const struct log_context *log = cx->log;

	if (log && log->id)
		sbuf_addf(out, "%d", log->id->pid);
}

static void
write_backend(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	write_name(out, flags, checked_server(cx) ? checked_server(cx)->be->name : NULL);
}

static void
write_server(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	write_name(out, flags, checked_server(cx) ? checked_server(cx)->name : NULL);
}

static void
write_server_host(const struct sample_ctx *cx, unsigned int flags, struct sbuf *out)
{
	char text[ADDR_TEXT];
	struct addr a;

	if (!checked_server(cx))
		return;
	(void)addr_cell_get(&checked_server(cx)->addr, &a);
	write_name(out, flags, addr_host_text(&a, text));
}

static void
write_server_port(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	struct addr a;

	if (!checked_server(cx))
		return;
	(void)addr_cell_get(&checked_server(cx)->addr, &a);
	sbuf_addu(out, addr_port(&a));
}

static time_t
seconds_of(const struct sample_ctx *cx)
{
	return (time_t)(cx->wall_ns / NS_PER_SEC);
}

static unsigned int
millis_of(const struct sample_ctx *cx)
{
	return (unsigned int)(cx->wall_ns / NS_PER_MS % 1000);
}

static void
write_utc(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	time_t sec = seconds_of(cx);
	struct tm tm;

	if (!gmtime_r(&sec, &tm))
		return;
	wall_add_clf(out, &tm);
	sbuf_adds(out, " +0000");
}

static void
write_local(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	time_t sec = seconds_of(cx);
	struct tm tm;

	if (!localtime_r(&sec, &tm))
		return;
	wall_add_clf(out, &tm);
	sbuf_addc(out, ' ');
	wall_add_zone(out, &tm);
}

static void
write_local_millis(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	time_t sec = seconds_of(cx);
	struct tm tm;

	if (!localtime_r(&sec, &tm))
		return;
	wall_add_clf(out, &tm);
	sbuf_addf(out, ".%03u", millis_of(cx));
}

static void
write_seconds(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	sbuf_addu(out, (unsigned long long)seconds_of(cx));
}

static void
write_millis(const struct sample_ctx *cx, unsigned int flags unused, struct sbuf *out)
{
	sbuf_addf(out, "%03u", millis_of(cx));
}

const struct rule_alias check_aliases[] = {
	{ "H", SAMPLE_AT_CHECK, write_host, "The host's name.", 0 },
	{ "T", SAMPLE_AT_CHECK, write_utc, "The time, in UTC.", 0 },
	{ "Tl", SAMPLE_AT_CHECK, write_local, "The time, in local time.", 0 },
	{ "Ts", SAMPLE_AT_CHECK, write_seconds, "The time, in seconds since 1970.", 0 },
	{ "b", SAMPLE_AT_CHECK, write_backend, "The backend's name.", 0 },
	{ "ms", SAMPLE_AT_CHECK, write_millis, "The milliseconds of the time.", 0 },
	{ "pid", SAMPLE_AT_CHECK, write_pid, "The process's id.", 0 },
	{ "s", SAMPLE_AT_CHECK, write_server, "The server's name.", 0 },
	{ "si", SAMPLE_AT_CHECK, write_server_host, "The server's address.", 0 },
	{ "sp", SAMPLE_AT_CHECK, write_server_port, "The server's port.", 0 },
	{ "t", SAMPLE_AT_CHECK, write_local_millis, "The time, in local time, with milliseconds.",
		0 },
	{ NULL, 0, NULL, NULL, 0 },
};
