/* The way to a value of JSON as it is written in expressions: a subset of JSONPath (RFC 9535). */
#ifndef TACIT_RULE_SAMPLE_JSON_PATH_H
#define TACIT_RULE_SAMPLE_JSON_PATH_H

#include "base/json_find.h"
#include "rule/sample/sample.h"

struct json_path {
	size_t n;
	struct json_step *step;
};

/*
 * Reads "$.name.name[0]['name']"; a backslash makes the next character a part of a name. NULL with
 * why: it is not one, or it may lead to several values. Freed with mem_free().
 */
struct json_path *json_path_parse(struct str text, const char **why);
/*
 * The value as a sample: a number, as it stands, and a string as text, in the arena if it has
 * escapes; as_int: a number as an integer. 0: none, or it is null, a list or an object.
 */
int json_path_sample(const struct json_path *path, int as_int, struct str json, struct arena *arena,
	struct sample *s);

#endif
