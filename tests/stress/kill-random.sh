#!/usr/bin/env bash
# kill -9 at random moments of a put of the whole catalogue (ROUNDS=200 of
# them). After each, the store is in the old state or the new one, verify is
# clean, and a small put succeeds; every tenth time the catalogue is put to the
# end. Nothing may pile up.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need_catalogue
ROUNDS=${ROUNDS:-200}
ADDED=22843

fresh() {
	rm -rf store
	"$KISTORE" init store >out 2>err || die "init"
	manifest start | "$KISTORE" -C store put - >out 2>err || die "put"
}

# put_all: to the end; sets $duration.
put_all() {
	local start
	start=$(seconds)
	"$KISTORE" -C store put "$CATALOGUE" >out 2>err || die "$1: put all"
	duration=$(since "$start")
	clean store "$1"
	no_leftovers store "$1"
}

git_files() {
	find store -type f | wc -l
}

fresh
put_all "first"
whole=$(git_files)
fresh
old_count=0
new_count=0
sum=0
for ((round = 1; round <= ROUNDS; round++)); do
	old=$(head_of store)
	entries=$(entries_of store)
	delay=$(awk -v d="$duration" -v r="$RANDOM" \
		'BEGIN { printf "%.4f", d * r / 32768 }')
	(
		"$KISTORE" -C store put "$CATALOGUE" >out 2>err &
		sleep "$delay"
		kill -9 $!
		wait $!
	) 2>/dev/null
	where="round $round, after $delay s"
	old_or_new store "$old" $((entries + ADDED)) "$where"
	clean store "$where"
	manifest "round-$round" | "$KISTORE" -C store put - >out 2>err ||
		die "$where: the next put"
	clean store "$where, put"
	no_leftovers store "$where"
	sum=$((sum + 1))
	if [ "$state" = new ]; then
		new_count=$((new_count + 1))
		fresh
	else
		old_count=$((old_count + 1))
		if [ $((round % 10)) -eq 0 ]; then
			put_all "$where"
			files=$(git_files)
			# A small put is a pack: two files.
			[ "$files" -le $((whole + 2 * sum + 20)) ] ||
				die "$where: $files files"
			sum=0
			fresh
		fi
	fi
done
say "ok, $ROUNDS kills: $old_count times the old state, $new_count times the" \
	"new one; a whole put takes ${duration} s"
