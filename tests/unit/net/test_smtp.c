/* A client of SMTP: its commands, replies in one piece and byte by byte, replies that are none, and
 * texts that would add lines. */
#include "net/smtp.h"

#include <stdio.h>
#include <string.h>

#include "unit/test.h"

#define DATE "Sat, 28 Nov 2026 06:16:49 -0500 (EST)"

static const struct tm date = { .tm_year = 126, .tm_mon = 10, .tm_mday = 28, .tm_hour = 6,
	.tm_min = 16, .tm_sec = 49, .tm_wday = 6, .tm_gmtoff = -18000, .tm_zone = "EST" };

static struct sbuf out, data;
static struct smtp_mail mail = { .helo = "here", .from = "a@b", .to = "c@d" };
static struct smtp smtp;

static int
setup(void **state)
{
	(void)state;
	sbuf_init(&out, 0);
	sbuf_init(&data, 0);
	smtp_put_mail(&data, &mail, &date, "S: ", str_of("text"));
	mail.data = (struct str){ data.p, data.len };
	smtp_begin(&smtp, &mail, &out);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	sbuf_fini(&out);
	sbuf_fini(&data);
	return 0;
}

/* The commands that a reply brings, the reply being given in pieces of n bytes. */
static const char *
told(const char *reply, size_t n, enum smtp_result want)
{
	enum smtp_result r = SMTP_MORE;
	size_t len = strlen(reply);

	sbuf_reset(&out);
	for (size_t at = 0; at < len && r == SMTP_MORE; at += n)
		r = smtp_take(&smtp, reply + at, MIN(n, len - at));
	assert_int_equal(r, want);
	return out.len ? out.p : "";
}

static void
converse(const char *end, size_t n)
{
	char reply[300];

#define REPLY(text) (snprintf(reply, sizeof(reply), "%s%s", text, end), reply)
	assert_string_equal(told(REPLY("220 x ESMTP"), n, SMTP_MORE), "HELO here\r\n");
	assert_string_equal(told(REPLY("250"), n, SMTP_MORE), "MAIL FROM:<a@b>\r\n");
	assert_string_equal(told(REPLY("250 2.1.0 Ok"), n, SMTP_MORE), "RCPT TO:<c@d>\r\n");
	assert_string_equal(told(REPLY("251 forwarded"), n, SMTP_MORE), "DATA\r\n");
	assert_string_equal(told(REPLY("354 go"), n, SMTP_MORE), data.p);
	assert_string_equal(told(REPLY("250 queued"), n, SMTP_TAKEN), "QUIT\r\n");
	assert_int_equal(smtp.step, SMTP_QUIT);
	assert_string_equal(told(REPLY("500 odd"), n, SMTP_MORE), "");
	assert_int_equal(smtp.step, SMTP_OVER);
#undef REPLY
}

static void
an_email_is_given(void **state)
{
	(void)state;
	converse("\r\n", 1000);
	assert_string_equal(data.p, "From: a@b\r\nTo: c@d\r\nDate: " DATE "\r\n"
		"Subject: S: text\r\n\r\n"
		"text\r\n\r\n.\r\n");
}

static void
replies_may_be_cut_anywhere(void **state)
{
	(void)state;
	for (size_t n = 1; n < 12; n++) {
		smtp_begin(&smtp, &mail, &out);
		converse(n % 2 ? "\r\n" : "\n", n);
	}
}

static void
lines_of_a_reply_have_one_code(void **state)
{
	(void)state;
	assert_string_equal(told("220-a\r\n220-\r\n220 c\r\n", 3, SMTP_MORE), "HELO here\r\n");
	assert_string_equal(smtp.reply_text, "220-a");
	told("250-a\r\n251 b\r\n", 50, SMTP_WRONG);
}

static void
refusals_end_it(void **state)
{
	static const struct {
		const char *reply;
		enum smtp_result r;
	} rows[] = { { "421 busy\r\n", SMTP_LATER }, { "554 no\r\n", SMTP_REFUSED },
		{ "354 go\r\n", SMTP_WRONG }, { "100 x\r\n", SMTP_WRONG },
		{ "HTTP/1.1\r\n", SMTP_WRONG },
		{ "2\r\n", SMTP_WRONG }, { "\r\n", SMTP_WRONG }, { "220_x\r\n", SMTP_WRONG },
		{ "2200 x\r\n", SMTP_WRONG }, { "220 a\r\n250 b\r\n", SMTP_WRONG },
		{ "220 a\r\n2", SMTP_WRONG } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		smtp_begin(&smtp, &mail, &out);
		told(rows[i].reply, 1000, rows[i].r);
	}
}

/* A server that never ends a line, or a reply. */
static void
replies_are_bounded(void **state)
{
	enum smtp_result r = SMTP_MORE;
	unsigned int lines = 0;

	(void)state;
	while (r == SMTP_MORE && lines++ < 10000)
		r = smtp_take(&smtp, "220-x\r\n", 7);
	assert_int_equal(r, SMTP_WRONG);
	assert_true(lines < SMTP_REPLY_MAX / 7 + 2);
	smtp_begin(&smtp, &mail, &out);
	for (unsigned int n = 0; n < SMTP_REPLY_MAX; n++)
		assert_int_equal(smtp_take(&smtp, "x", 1), SMTP_MORE);
	assert_int_equal(smtp_take(&smtp, "x", 1), SMTP_WRONG);
	assert_int_equal(strlen(smtp.reply_text), SMTP_SHOWN_MAX);
}

static void
what_a_message_shows_is_printable(void **state)
{
	(void)state;
	told("554 \033[31m\x80no\r\n", 1000, SMTP_REFUSED);
	assert_string_equal(smtp.reply_text, "554 ?[31m?no");
}

static void
texts_add_no_lines(void **state)
{
	struct sbuf b;
	char text[2000];

	(void)state;
	sbuf_init(&b, 0);
	smtp_put_mail(&b, &mail, &date, "S: ", str_of(".a\r\nBcc: x\n.\r\n\xc3\xa4\t"));
	assert_string_equal(strstr(b.p, "Subject"), "Subject: S: .a??Bcc: x?.?????\r\n\r\n"
		"..a??Bcc: x?.?????\r\n\r\n.\r\n");
	sbuf_reset(&b);
	memset(text, 'x', sizeof(text));
	smtp_put_mail(&b, &mail, &date, "S: ", (struct str){ text, sizeof(text) });
	for (const char *p = b.p, *end; (end = strstr(p, "\r\n")); p = end + 2)
		assert_true(end - p <= 998);
	sbuf_fini(&b);
}

static void
words_of_commands_are_checked(void **state)
{
	static const char *const bad[] = { "", "a b", "a>b", "<a", "a\r\nDATA", "a\x7f",
		"\xc3\xa4" };

	(void)state;
	assert_true(smtp_word_is_valid("a.b+c=d@e.example"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(smtp_word_is_valid(bad[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_email_is_given),
		CASE(replies_may_be_cut_anywhere),
		CASE(lines_of_a_reply_have_one_code),
		CASE(refusals_end_it),
		CASE(replies_are_bounded),
		CASE(what_a_message_shows_is_printable),
		CASE(texts_add_no_lines),
		CASE(words_of_commands_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
