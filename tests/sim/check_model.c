#include "sim/check_world.h"

#include <stdio.h>

void
check_model_begin(struct check_model *m, enum check_model_begin how)
{
	m->is_up = how == MODEL_UP || how == MODEL_FULLY_UP;
	m->is_last_word = how == MODEL_UP || how == MODEL_DOWN;
	m->is_stopping = 0;
	m->streak = 0;
	m->downs = 0;
}

/* "considered as dead after <count> consecutive unsuccessful health checks", "as operational after
 * <count> consecutive successful" ones. */
void
check_model_result(struct check_model *m, enum check_model_answer answer)
{
	unsigned int bound = m->is_up ? m->fall : m->rise;
	int passed = answer != MODEL_FAILED;

	/* "only evaluated for running servers"; "if the server responds 2xx or 3xx again, it will
	 * immediately be reinserted". */
	if (answer == MODEL_404)
		passed = m->takes_404 && m->is_up;
	if (passed)
		m->is_stopping = answer == MODEL_404;
	if (!passed == !m->is_up) {
		m->streak = 0;
		m->is_last_word = 0;
		return;
	}
	m->streak++;
	if (m->streak < bound && !m->is_last_word)
		return;
	m->downs += (unsigned int)m->is_up;
	m->is_up = !m->is_up;
	m->is_stopping = 0;
	m->streak = 0;
	m->is_last_word = 0;
}

/* The table of `inter`. */
unsigned int
check_model_interval(const struct check_model *m)
{
	unsigned int other;

	if (m->is_up && !m->streak && !m->is_last_word)
		return m->inter;
	other = m->streak || m->is_last_word ? m->fastinter : m->downinter;
	return other ? other : m->inter;
}

const char *
check_model_text(const struct check_model *m, char buf[CHECK_MODEL_TEXT])
{
	unsigned int had = m->streak, left = m->fall - m->streak;
	const char *up = m->is_stopping ? "NOLB" : "UP";

	if (m->is_last_word) {
		had = m->rise - 1;
		left = 1;
	}
	if (m->is_up && left < m->fall)
		snprintf(buf, CHECK_MODEL_TEXT, "%s %u/%u", up, left, m->fall);
	else if (!m->is_up && had)
		snprintf(buf, CHECK_MODEL_TEXT, "DOWN %u/%u", had, m->rise);
	else
		snprintf(buf, CHECK_MODEL_TEXT, "%s", m->is_up ? up : "DOWN");
	return buf;
}
