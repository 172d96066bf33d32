#!/bin/sh
# fuzz.sh SECONDS TARGET…: runs each libFuzzer target that long. New inputs go
# to $BUILD/corpus, those that fail, and what the fuzzer said, to
# $BUILD/artifacts; fixtures/corpus is read only.
set -eu

seconds=$1
shift
for target; do
	name=${target##*/}
	mkdir -p "$BUILD/corpus/$name" "$BUILD/artifacts"
	set -- "$BUILD/corpus/$name"
	if [ -d "fixtures/corpus/$name" ]; then
		set -- "$@" "fixtures/corpus/$name"
	fi
	echo "$name: $seconds seconds"
	log=$BUILD/artifacts/$name.log
	"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-artifact_prefix="$BUILD/artifacts/$name-" \
		-print_final_stats=1 "$@" >"$log" 2>&1 || {
		tail -n 60 "$log"
		exit 1
	}
	grep -E '^stat::(number|average|new|peak)' "$log"
done
