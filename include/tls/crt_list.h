/*
 * Lines of a crt-list: a certificate, options in brackets, and names.
 *
 *	cert.pem [alpn h2,http/1.1 ssl-min-ver TLSv1.3] *.example.org !secret.example.org
 */
#ifndef TACIT_TLS_CRT_LIST_H
#define TACIT_TLS_CRT_LIST_H

#include "base/compiler.h"
#include "tls/settings.h"

enum { TLS_LIST_WORDS_MAX = 1024 };

struct tls_list_line {
	char *path;               /* NULL: there is no certificate on the line */
	struct tls_settings own;
	int has_options;          /* there are brackets */
	char **filter;            /* into the text */
	unsigned int n_filters;
	char *words[TLS_LIST_WORDS_MAX];
};

/* Parses one line, which is changed and must outlive *out. 0, or a negative reason with why
 * (TLS_WHY_MAX); in both cases own has to be freed. */
int tls_list_line_parse(char *text, struct tls_list_line *out, char *why) must_check;
/* Its options in HAProxy's order, from mem_alloc(); ca_base: where files of CAs are, or NULL. NULL
 * when memory is out. */
char *tls_list_options(const struct tls_settings *own, const char *ca_base) must_check;

#endif
