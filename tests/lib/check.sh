#!/bin/sh
# Runs test programs and bats files, JOBS at a time, and counts.
#
#	BUILD=build tests/lib/check.sh build/unit/test_buf tests/cli/canon.bats …
#
# Of bats files the tests that are tagged "long" are left out; TAGS=long runs
# those. Each file's output is kept as TAP in $BUILD/check. Failures are shown
# in full, reasons of skipped tests once each, and the last line is
# "N passed, N failed" with ", N skipped" where there are any. Exits with 1
# when anything failed.
set -u

if [ "${1-}" = --one ]; then
	file=$2
	name=$(printf '%s' "${file#"$BUILD"/}" | tr / .)
	tap=$BUILD/check/$name.tap
	case $file in
	*.bats)
		set -- bats --tap --filter-tags "${TAGS:-!long}" "$file"
		;;
	*/replay/*) set -- "$file" "fixtures/corpus/${file##*/}" ;;
	*) set -- "$file" ;;
	esac
	if [ -n "${VALGRIND-}" ] && [ "${file%.bats}" = "$file" ]; then
		set -- valgrind -q --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite \
			--suppressions=tests/lib/valgrind.supp "$@"
	fi
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "${TEST_TIMEOUT:-900}" "$@" \
		>"$tap" 2>&1 </dev/null
	echo "# exit status $?" >>"$tap"
	exec awk -v name="$name" -f tests/lib/tap.awk "$tap"
fi

export BUILD
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
KISTORE=$BUILD/kistore
if [ -n "${VALGRIND-}" ]; then
	KISTORE=$PWD/tests/lib/valgrind-kistore.sh
	TAGS=valgrind
	export TAGS
fi
KISTORE_SHARED=${KISTORE_SHARED:-$PWD/../shared}
export KISTORE KISTORE_SHARED
export ASAN_OPTIONS="abort_on_error=0:detect_leaks=1:${ASAN_OPTIONS-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS-}"

# Stores are written to disk durably, file by file: in memory that costs nothing.
if [ -z "${TMPDIR-}" ] && [ -w /dev/shm ] && [ "$(df -Pk /dev/shm |
	awk 'NR == 2 { print $4 }')" -gt 2000000 ]; then
	export TMPDIR=/dev/shm
fi

rm -rf "$BUILD/check"
mkdir -p "$BUILD/check"
for file; do
	case $file in /* | tests/*) ;; *) file=$PWD/$file ;; esac
	printf '%s\0' "$file"
done | xargs -0 -r -n 1 -P "${JOBS:-2}" "$0" --one |
	tee "$BUILD/check/summary"
exec awk -f tests/lib/total.awk "$BUILD/check/summary"
