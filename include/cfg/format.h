/* The layout of a configuration: --format. Pure. */
#ifndef TACIT_CFG_FORMAT_H
#define TACIT_CFG_FORMAT_H

#include <stddef.h>

#include "base/sbuf.h"

/*
 * Appends the text with one layout: lines of sections are indented by a tab, words are separated by
 * one blank, an empty line stands before each section and no two stand together. Comments stay;
 * those right above a section are not indented. Words, quotes and escapes are not changed, and a
 * text that has been formatted stays as it is.
 */
void cfg_format(struct sbuf *out, const char *text, size_t len);

#endif
