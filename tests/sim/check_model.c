#include "sim/check_model.h"

#include <stdio.h>

void
check_model_begin(struct check_model *m, enum check_model_begin how)
{
	m->is_up = how == MODEL_UP || how == MODEL_FULLY_UP;
	m->is_last_word = how == MODEL_UP || how == MODEL_DOWN;
	m->streak = 0;
	m->downs = 0;
}

/* "considered as dead after <count> consecutive unsuccessful health checks", "as operational after
 * <count> consecutive successful" ones. */
void
check_model_result(struct check_model *m, int passed)
{
	unsigned int bound = m->is_up ? m->fall : m->rise;

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

	if (m->is_last_word) {
		had = m->rise - 1;
		left = 1;
	}
	if (m->is_up && left < m->fall)
		snprintf(buf, CHECK_MODEL_TEXT, "UP %u/%u", left, m->fall);
	else if (!m->is_up && had)
		snprintf(buf, CHECK_MODEL_TEXT, "DOWN %u/%u", had, m->rise);
	else
		snprintf(buf, CHECK_MODEL_TEXT, "%s", m->is_up ? "UP" : "DOWN");
	return buf;
}
