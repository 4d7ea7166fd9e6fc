/* Results that the master computes from numbers and texts alone. Pure. */
#include <string.h>

#include "app/master/master.h"

unsigned int
master_respawn_delay(unsigned int failures)
{
	unsigned int delay = MASTER_DELAY_MS;

	if (failures == 0)
		return 0;
	while (--failures && delay < MASTER_DELAY_MAX_MS)
		delay *= 2;
	return MIN(delay, MASTER_DELAY_MAX_MS);
}

void
master_first_alert(const char *log, char *out, size_t len)
{
	const char *at = strstr(log, "[ALERT]");
	const char *head = at ? strstr(at, ") : ") : NULL;
	size_t n;

	out[0] = '\0';
	if (!head)
		return;
	head += strlen(") : ");
	n = strcspn(head, "\n");
	n = MIN(n, len - 1);
	while (n && strchr(" .", head[n - 1]))
		n--;
	memcpy(out, head, n);
	out[n] = '\0';
}
