/* What starting libgit2 costs: the floor for each command that opens a store.
 * Measured against, never shipped. */
#include <git2.h>

int
main(void)
{
	return git_libgit2_init() < 0 || git_libgit2_shutdown() < 0;
}
