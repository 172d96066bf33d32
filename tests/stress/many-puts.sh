#!/usr/bin/env bash
# PUTS=20000 single puts, then gc: files, bytes and time before and after; and
# reading with so many packs and loose objects under a limit of 256 open files.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
PUTS=${PUTS:-20000}
PACKS=${PACKS:-400}

report() {
	say "$1: $(find store -type f | wc -l) files," \
		"$(du -s --block-size=MB store | cut -f1)," \
		"$(find store/objects/pack -name '*.pack' | wc -l) packs"
}

# few_files STORE WHAT: everything that reads, and a put, with few descriptors.
few_files() {
	(
		ulimit -n 256
		clean "$1" "$2"
		"$KISTORE" -C "$1" get m-7 >out 2>err || die "$2: get"
		"$KISTORE" -C "$1" resolve --tree m-8 >out 2>err ||
			die "$2: resolve"
		"$KISTORE" -C "$1" log >out 2>err || die "$2: log"
		"$KISTORE" -C "$1" status >out 2>err || die "$2: status"
		rm -f "$1"/kistore-index.sqlite*
		manifest "few-$2" | "$KISTORE" -C "$1" put - >out 2>err ||
			die "$2: put"
	) || exit 1
}

"$KISTORE" init store >out || die init
start=$(seconds)
for ((n = 1; n <= PUTS; n++)); do
	manifest "m-$n" | "$KISTORE" -q -C store put - >out 2>err ||
		die "put $n"
	case $n in
	100 | 1000 | 5000 | 10000)
		report "after $n puts in $(since "$start") s"
		;;
	esac
done
report "after $PUTS puts in $(since "$start") s"
start=$(seconds)
clean store "before gc"
say "verify takes $(since "$start") s"
few_files store before
grep -q 'kistore gc' err || die "a put with 50 packs does not advise gc"

start=$(seconds)
"$KISTORE" -C store gc >out 2>err || die gc
say "gc takes $(since "$start") s"
report "after gc"
start=$(seconds)
clean store "after gc"
say "verify takes $(since "$start") s"
few_files store after
no_leftovers store end
[ "$(git -C store ls-tree -r --name-only HEAD objects | wc -l)" -eq \
	$((PUTS + 2)) ] || die "objects"

# More packs than files may be open, as somebody who repacks has them.
"$KISTORE" init packs >out || die init
for ((n = 1; n <= PACKS; n++)); do
	manifest "m-$n" | "$KISTORE" -q -C packs put - >out 2>err || die "put"
	git -C packs repack -d -q
done
packs=$(find packs/objects/pack -name '*.pack' | wc -l)
[ "$packs" -ge "$PACKS" ] || die "$packs packs"
few_files packs many-packs
say "ok; reading $packs packs with 256 files open at most is clean"
