/* The arguments of `show stat` (management manual 9.3). */
#ifndef TACIT_APP_ADMIN_STAT_ARGS_H
#define TACIT_APP_ADMIN_STAT_ARGS_H

#include "app/admin/stat_row.h"
#include "base/compiler.h"

struct admin_conn;

/* Bits of the types. */
enum { ROW_FRONTEND = 1, ROW_BACKEND = 2, ROW_SERVER = 4, ROW_LISTENER = 8 };

struct stat_args {
	int64_t iid, types, sid; /* -1: all */
	enum field_form form;
	int has_desc;
	enum stat_col only; /* the columns of rows that are needed: app/admin/stat_rows.h */
	enum { STAT_HIDE_NONE, STAT_HIDE_MAINT, STAT_HIDE_DOWN } hide; /* servers */
};

/* 0, or -1 after a message. */
int stat_args_parse(struct admin_conn *c, int argc, char **argv, struct stat_args *a) must_check;

#endif
