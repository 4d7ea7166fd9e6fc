/* Sampling of logs: what is accepted, and which messages are sent. */
#include "base/log_sample.h"

#include <stdio.h>
#include <string.h>

#include "unit/test.h"

/* The ones of the first 12 messages that are sent, as digits and letters. */
static const char *
taken(struct log_sample *s)
{
	static char out[13];
	size_t n = 0;

	for (int i = 0; i < 12; i++)
		if (log_sample_take(s))
			out[n++] = "123456789abc"[i];
	out[n] = '\0';
	return out;
}

static void
messages_in_ranges_are_sent(void **st)
{
	static const struct {
		const char *text, *sent;
	} t[] = {
		{ "1:1", "123456789abc" },
		{ "1:2", "13579b" },
		{ "2:3", "258b" },
		{ "1,4-5:5", "14569ab" },
		{ "4-5,1:5", "14569ab" },
		{ "1-3:10", "123bc" },
		{ "12:12", "c" },
		{ "2:4294967295", "2" },
		{ "1-4294967295:4294967295", "123456789abc" },
	};
	struct log_sample s = { 0 };
	const char *why;

	(void)st;
	assert_string_equal(taken(&s), "123456789abc");
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(log_sample_parse(t[i].text, &s, &why), 0);
		assert_string_equal(taken(&s), t[i].sent);
	}
}

static void
invalid_samples_are_refused(void **st)
{
	static const struct {
		const char *text, *why;
	} t[] = {
		{ "", "a range is" }, { ":5", "a range is" }, { "x:5", "a range is" },
		{ "0:2", "a range is" }, { "3-1:5", "a range is" }, { "1-:5", "a range is" },
		{ "-2:5", "a range is" }, { "1,,2:5", "a range is" }, { "1,:5", "a range is" },
		{ "4294967296:5", "a range is" }, { "1", "the size is missing" },
		{ "1 :2", "the size is missing" }, { "1-2-3:5", "the size is missing" },
		{ "1:", "the size must" }, { "1:0", "the size must" }, { "1:-3", "the size must" },
		{ "1:2x", "the size must" }, { "1:4294967296", "the size must" },
		{ "3:2", "a range goes beyond" }, { "1,2-4:3", "a range goes beyond" },
		{ "1-2,2:4", "ranges overlap" }, { "3,1-5:9", "ranges overlap" },
		{ "1,1:4", "ranges overlap" },
		{ "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17:20", "there are too many" },
	};
	struct log_sample s;
	const char *why;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		if (log_sample_parse(t[i].text, &s, &why) != -1 ||
			strncmp(why, t[i].why, strlen(t[i].why)) != 0)
			fail_msg("%s: %s", t[i].text, why ? why : "accepted");
	}
	assert_int_equal(
		log_sample_parse("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16:20", &s, &why), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_in_ranges_are_sent),
		cmocka_unit_test(invalid_samples_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
