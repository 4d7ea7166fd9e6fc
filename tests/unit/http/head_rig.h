/* A request's head that tests add fields to. */
#ifndef TESTS_UNIT_HTTP_HEAD_RIG_H
#define TESTS_UNIT_HTTP_HEAD_RIG_H

#include "base/compiler.h"
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

#endif
