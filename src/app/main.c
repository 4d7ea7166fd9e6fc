#include <unistd.h>

#include "app/start.h"

int
main(int argc, char **argv)
{
	return start_main(argc, argv, (const char *const *)environ);
}
