#!/bin/sh
# The program under valgrind, for bats files that are tagged so: an error of
# memory is exit status 99, which no test expects.
exec valgrind -q --error-exitcode=99 --leak-check=full \
	--errors-for-leak-kinds=definite \
	--suppressions="$(dirname "$(readlink -f "$0")")/valgrind.supp" "$BUILD/kistore" "$@"
