#include <unistd.h>

#include "app/main/start.h"

int
main(int argc, char **argv)
{
	return start_main(argc, argv, (const char *const *)environ);
}
