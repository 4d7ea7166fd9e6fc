/* Prints the hostile messages, one per line: "request" or "response", its name, its bytes in
 * hex. */
#include <stdio.h>

#include "system/tools/hostile.h"

static void
print(void *arg, const char *name, int is_response, const char *text, size_t len)
{
	(void)arg;
	printf("%s\t", is_response ? "response" : "request");
	for (; *name; name++)
		if (*name >= ' ' && *name < 0x7f)
			putchar(*name);
	putchar('\t');
	for (size_t i = 0; i < len; i++)
		printf("%02x", (unsigned char)text[i]);
	putchar('\n');
}

int
main(void)
{
	hostile_all(print, NULL);
	return 0;
}
