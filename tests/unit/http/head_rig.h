/* A request's head that tests add fields to. */
#ifndef TESTS_UNIT_HTTP_HEAD_RIG_H
#define TESTS_UNIT_HTTP_HEAD_RIG_H

#include <string.h>

#include "base/compiler.h"
#include "http/h1_write.h"
#include "http/head.h"
#include "unit/test.h"

#define PLACES 8

static struct http_field places[PLACES];

static inline struct http_head
a_request(void)
{
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, places, PLACES);
	h.method = HTTP_GET;
	h.method_text = STR("GET");
	h.target = STR("/");
	return h;
}

static inline void
add(struct http_head *h, const char *name, const char *value)
{
	assert_int_equal(http_add(h, str_of(name), str_of(value)), 0);
}

/* The written text is the expected one, and as long as announced. */
static inline void
assert_written(const struct http_head *h, const char *expected)
{
	char out[1024];

	memset(out, '#', sizeof(out));
	assert_int_equal(h1_size(h), strlen(expected));
	assert_int_equal(h1_write(h, out), strlen(expected));
	assert_memory_equal(out, expected, strlen(expected));
	assert_int_equal(out[strlen(expected)], '#');
}

#endif
