/* `guid`: a name that is unique in the whole configuration, by which counters and states are found
 * after a reload. Main thread, while the configuration is read. */
#include "proxy/config/guid_cfg.h"

#include <ctype.h>
#include <string.h>

#include "proxy/model/proxies.h"

/* HAProxy's bound. */
#define GUID_MAX 127

/* 0, or -1 after a message. */
static int
check_guid(struct cfg_ctx *ctx, const char *guid)
{
	if (!*guid || strlen(guid) > GUID_MAX)
		return cfg_error(ctx, 0, "'guid' : expects 1 to %d characters.", GUID_MAX);
	for (const char *p = guid; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr(".:-_", *p))
			return cfg_error(ctx, 0,
				"'guid' : character '%c' is not permitted; letters, digits, '.', "
				"':', '-' and '_' are.",
				isprint((unsigned char)*p) ? *p : '?');
	}
	return 0;
}

int
guid_take(struct cfg_ctx *ctx, char **guid, struct cfg_where *where)
{
	struct proxies *ps = ctx->root;
	const char *text = cfg_arg(ctx, 0);
	const struct cfg_where *other;

	if (check_guid(ctx, text))
		return -1;
	/* The index has the memory of the one before. */
	if (*guid)
		return cfg_error(ctx, 0, "'guid' : there is one already: '%s'.", *guid);
	other = name_index_find(&ps->guids, text);
	if (other)
		return cfg_error(ctx, 0, "'guid' : '%s' is used at %s:%u already.", text,
			other->file ? other->file->name : "?", other->line);
	if (cfg_arg_dup(ctx, 0, guid))
		return -1;
	if (name_index_add(&ps->guids, *guid, where) < 0)
		return cfg_nomem(ctx);
	return 0;
}
