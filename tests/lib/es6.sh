#!/bin/sh
# es6.sh PROGRAM LINES: compares the ES6 number file with its published
# checksums, up to that many lines.
set -eu

program=$1
limit=$2
table=${KISTORE_SHARED:-../shared}/vectors/jcs/es6-checksums.tsv
if [ ! -r "$table" ]; then
	echo "es6: skipped: no $table"
	exit 0
fi
grep -v '^#' "$table" | while read -r lines _ want; do
	[ "$lines" -le "$limit" ] || continue
	got=$("$program" "$lines" sha256)
	if [ "$got" != "$want" ]; then
		echo "es6: $lines lines: $got, not $want"
		exit 1
	fi
	echo "es6: $lines lines: $got"
done
