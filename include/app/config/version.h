/* Names and versions of this program. */
#ifndef TACIT_APP_CONFIG_VERSION_H
#define TACIT_APP_CONFIG_VERSION_H

#include <stdio.h>

#define VERSION_NAME "tacit"
#define VERSION_DATE "2026/11/29"
#define VERSION_URL "https://tacit.example/"
/* The version for tools that parse "Version: A.B.C": a level of HAProxy's interfaces, then tacit's
 * version. */
#define VERSION_COMPAT "3.0.0-tacit" TACIT_VERSION
/* The version that version_atleast() and similar predicates compare with. */
#define VERSION_LEVEL "3.4.0"

/* -v, and with `build` -vv, of a program that is called so: as haproxy it begins as tools
 * expect. */
void version_print(FILE *to, const char *progname, int build);
/* Names for feature() and enabled(), NULL at the end. */
extern const char *const version_features[];
extern const char *const version_enabled[];

#endif
