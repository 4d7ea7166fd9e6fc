/* What the commands of maps and ACLs share. */
#ifndef TACIT_APP_ADMIN_ADMIN_MAP_INT_H
#define TACIT_APP_ADMIN_ADMIN_MAP_INT_H

#include "app/admin/admin_int.h"
#include "base/compiler.h"
#include "rule/match/pattern_file.h"

/* Where a command stands: a map or an ACL, and what is left of its words. */
struct admin_map_asked {
	struct admin_conn *c;
	int is_map;
	int argc;
	char **argv;
	int has_version; /* "@<ver>" was said */
	uint32_t version;
	struct pattern_ref *ref;
};

/* "map" or "ACL". */
const char *admin_map_kind(const struct admin_map_asked *q);
/* "@<ver>" in front. 0, or -1 after a message. */
int admin_map_version(struct admin_map_asked *q) must_check;
/* The map or ACL that the next word names. 0, or -1 after a message. */
int admin_map_ref(struct admin_map_asked *q) must_check;

/* The commands `show` and `get`. */
void admin_map_show(struct admin_map_asked *q);
void admin_map_get(struct admin_map_asked *q);

#endif
