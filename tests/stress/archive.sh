#!/usr/bin/env bash
# kill -9 at random moments of a snapshot of the catalogue, of an export of it,
# of an import, and of an incremental import (ROUNDS=100 of each). After each,
# the file, and the store, is the old one or the new one, whole.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need_catalogue
ROUNDS=${ROUNDS:-100}
export XDG_STATE_HOME=$WORK/state

snapshot() {
	"$KISTORE" -q -C store snapshot create --key log.key "$@" >out 2>err ||
		die "snapshot create"
}

# timed NAME COMMAND…: to the end; sets $duration.
timed() {
	local start name=$1
	shift
	start=$(seconds)
	"$@" >out 2>err || die "$name"
	duration=$(since "$start")
}

# killed COMMAND…: at a random moment of its $duration, or a little after.
killed() {
	delay=$(awk -v d="$duration" -v r="$RANDOM" \
		'BEGIN { printf "%.4f", 1.3 * d * r / 32768 }')
	(
		"$@" >out 2>err &
		sleep "$delay"
		kill -9 $!
		wait $!
	) 2>/dev/null
	where="round $round, after $delay s"
}

"$KISTORE" key generate --name archive.example/log -o log.key >vkey 2>err ||
	die "key"
"$KISTORE" init store >out 2>err || die "init"
manifest first | "$KISTORE" -C store put - >out 2>err || die "put"
snapshot --first
first=$(entries_of store 2>/dev/null)
"$KISTORE" -C store snapshot export -o old.kistore >out 2>err || die "export"
"$KISTORE" -C store put "$CATALOGUE" >out 2>err || die "put"

create=("$KISTORE" -q -C copy snapshot create --key log.key)
cp -a "$XDG_STATE_HOME" memory
cp -a store copy
timed "snapshot create" "${create[@]}"
created=$duration
unsigned=$(head_of store)
done_count=0
for ((round = 1; round <= ROUNDS; round++)); do
	rm -rf copy "$XDG_STATE_HOME"
	cp -a memory "$XDG_STATE_HOME"
	cp -a store copy
	killed "${create[@]}"
	old_or_new copy "$unsigned" "$(entries_of store)" \
		"snapshot create, $where" 2>/dev/null
	clean copy "snapshot create, $where"
	[ "$state" = old ] || done_count=$((done_count + 1))
	# The signer goes on, whatever it remembers of the one that died.
	"${create[@]}" >out 2>err || die "snapshot create, $where: again"
	"$KISTORE" -C copy verify --key vkey >out 2>err ||
		die "snapshot create, $where, again: verify"
	no_leftovers copy "snapshot create, $where"
done
say "snapshot create: $ROUNDS kills, $done_count times the new snapshot"
rm -rf "$XDG_STATE_HOME"
cp -a memory "$XDG_STATE_HOME"

snapshot
import=("$KISTORE" snapshot import --key vkey)

timed export "$KISTORE" -C store snapshot export -o new.kistore
exported=$duration
done_count=0
for ((round = 1; round <= ROUNDS; round++)); do
	cp old.kistore a.kistore
	killed "$KISTORE" -C store snapshot export -o a.kistore
	rm -f .kistore-out-*
	cmp -s a.kistore old.kistore && continue
	cmp -s a.kistore new.kistore || die "export, $where: neither"
	done_count=$((done_count + 1))
done
say "export: $ROUNDS kills, $done_count times the new file"

timed import "${import[@]}" new.kistore whole
imported=$duration
clean whole "import"
entries=$(entries_of whole 2>/dev/null)
done_count=0
for ((round = 1; round <= ROUNDS; round++)); do
	rm -rf copy .kistore-import-*
	killed "${import[@]}" new.kistore copy
	[ -e copy ] || continue
	clean copy "import, $where"
	[ "$(head_of copy)" = "$(head_of whole)" ] ||
		[ "$(git -C copy rev-parse HEAD:objects)" = \
			"$(git -C whole rev-parse HEAD:objects)" ] ||
		die "import, $where: another store"
	done_count=$((done_count + 1))
done
say "import: $ROUNDS kills, $done_count times the new store"

"$KISTORE" -C store snapshot export --from "$first" -o more.kistore >out \
	2>err || die "export"
# What was accepted already would make the older file a rollback.
XDG_STATE_HOME=$WORK/none "${import[@]}" old.kistore base >out 2>err ||
	die "import"
cp -a base copy
timed "incremental import" "${import[@]}" more.kistore copy
done_count=0
for ((round = 1; round <= ROUNDS; round++)); do
	rm -rf copy
	cp -a base copy
	killed "${import[@]}" more.kistore copy
	old_or_new copy "$(head_of base)" "$entries" \
		"incremental import, $where" 2>/dev/null
	clean copy "incremental import, $where"
	[ "$state" = old ] || done_count=$((done_count + 1))
	# The next one clears away what is left.
	"${import[@]}" more.kistore copy >out 2>err ||
		die "incremental import, $where: again"
	clean copy "incremental import, $where, again"
	no_leftovers copy "incremental import, $where"
done
say "ok, $ROUNDS kills of each; incremental import: $done_count times the new" \
	"store; whole: create $created s, export $exported s, import" \
	"$imported s"
