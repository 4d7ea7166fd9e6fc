/* wait: the next command of the line comes later (HAProxy 3.0, management manual 9.3). On the
 * first worker; between two checks of a condition nothing runs. */
#include <string.h>

#include "app/admin/admin_add_server.h"
#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "cfg/value.h"

#define LOOK_MS 50
#define NAME_MAX_LEN 512

struct wait {
	uint64_t until_ms;
	char server[NAME_MAX_LEN]; /* "backend/server"; "": no condition */
};

/* 0: it may still become removable. */
static int
look_at_server(struct admin_conn *c, const char *name)
{
	char text[NAME_MAX_LEN], *argv[] = { text };
	struct server *s;
	const char *why;
	int r;

	(void)snprintf(text, sizeof(text), "%s", name);
	s = admin_find_server(c, 1, argv);
	if (!s)
		return 1;
	r = admin_check_removal(c, s, &why);
	if (r > 0)
		admin_msg(c, ADMIN_INFO, "Done.");
	else if (r < 0)
		admin_msg(c, ADMIN_ERR, "%s", why);
	return r != 0;
}

static int
wait_on(struct admin_conn *c, void *state)
{
	const struct wait *w = state;
	uint64_t now = loop_now_ms(c->admin->worker->loop);

	if (w->server[0] && look_at_server(c, w->server))
		return 0;
	if (now >= w->until_ms) {
		if (w->server[0])
			admin_msg(c, ADMIN_ERR, "Wait delay expired.");
		return 0;
	}
	c->wake_ms = w->server[0] ? MIN(w->until_ms, now + LOOK_MS) : w->until_ms;
	return 1;
}

static int
wants_usage(int argc, char *const *argv)
{
	return argc < 1 || strcmp(argv[0], "-h") == 0 || (argc > 1 && strcmp(argv[1], "-h") == 0);
}

/* 0, or -1 after a message. */
static int
take_condition(struct admin_conn *c, int argc, char **argv, struct wait *w)
{
	if (argc > 0 && strcmp(argv[0], "srv-removable") != 0)
		admin_msg(c, ADMIN_ERR, "Unknown condition '%s': it may be 'srv-removable'.",
			argv[0]);
	else if (argc == 1 || argc > 2)
		admin_msg(c, ADMIN_ERR, "'srv-removable' expects <backend>/<server>.");
	else if (argc > 0 && strlen(argv[1]) >= sizeof(w->server))
		admin_msg(c, ADMIN_ERR, "No such server.");
	else {
		(void)snprintf(w->server, sizeof(w->server), "%s", argc > 0 ? argv[1] : "");
		return 0;
	}
	return -1;
}

void
admin_cmd_wait(struct admin_conn *c, int argc, char **argv)
{
	struct wait w = { .until_ms = loop_now_ms(c->admin->worker->loop) };
	struct cfg_value_err err;
	uint64_t ms;

	if (wants_usage(argc, argv)) {
		admin_msg(c, ADMIN_INFO,
			"Usage: wait {-h|<delay>} [srv-removable <backend>/<server>]\n"
			"The delay is in milliseconds, or has a unit: us ms s m h d.");
	} else if (cfg_value_time(argv[0], CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err)) {
		admin_msg(c, ADMIN_ERR, "Invalid delay: %s", err.text);
	} else if (take_condition(c, argc - 1, argv + 1, &w) == 0) {
		w.until_ms += ms;
		admin_walk(c, wait_on, &w, sizeof(w));
	}
}
