/* main(): hands the command line to start.c. Nothing else is here, so that tests can link
 * everything else. */
#include <unistd.h>

#include "app/main/start.h"

int
main(int argc, char **argv)
{
	return start_main(argc, argv, (const char *const *)environ);
}
