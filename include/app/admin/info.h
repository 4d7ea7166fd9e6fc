/* The fields of `show info` (management manual 9.3), for the admin socket and the metrics. */
#ifndef TACIT_APP_ADMIN_INFO_H
#define TACIT_APP_ADMIN_INFO_H

#include "app/admin/field.h"
#include "app/process/confine.h"
#include "base/compiler.h"

struct process;

enum info_field {
#define INFO_ROW(id, pos, name, tags, type, desc) INFO_##id,
#include "app/admin/info.tbl.h"
#undef INFO_ROW
	INFO_FIELDS
};

struct info {
	struct field_value v[INFO_FIELDS]; /* texts are static, the process's or below */
	char uptime[64];
	char confinement[CONFINEMENT_TEXT_MAX];
	int is_float;   /* times and rates are floating-point numbers */
};

const struct field *info_field_of(enum info_field f);
/* The numbers that outlive the process (process_service.keep and .note), and adding those of
 * previous processes to the values. */
int info_keep(struct process *p) must_check;
void info_note(struct process *p);
/* The values of now. They refer to *i: it must not be copied. */
void info_read(struct info *i, const struct process *p, int is_float);

#endif
