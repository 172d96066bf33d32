#!/usr/bin/env bash
# kill -9 at each system call by which a writer changes files, one after the
# other, until none is left to hit. At once afterwards all readers see the old
# state or the new one, whole; the next writer succeeds, and sweeps.
#
#	tests/stress/kill-anywhere.sh [packed loose worktree …]

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need strace

RENAMES='rename renameat renameat2 link linkat unlink unlinkat'
ALL="$RENAMES rmdir mkdir mkdirat ftruncate fsync fdatasync pwrite64 write
	openat"

# kill_at CALL N COMMAND…: true when it died of it, before the call was done.
kill_at() {
	local call=$1 n=$2
	shift 2
	# In a shell of its own, whose notice of the death goes with it.
	(
		strace -f -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$n" "$@" \
			>out 2>err &
		wait $!
	) 2>/dev/null
	[ $? -eq 137 ]
}

packed() {
	"$KISTORE" init base >out && "$KISTORE" -q -C base put old.json >out
}

# So many packs that a put writes loose objects.
loose() {
	packed
	for n in $(seq 55); do
		manifest "more-$n" >more.json
		"$KISTORE" -q -C base put more.json >out || die "put"
	done
}

worktree() {
	"$KISTORE" init --worktree base >out &&
		"$KISTORE" -q -C base put old.json >out
}

# With a second object, the one that goes.
two() {
	worktree
	"$KISTORE" -q -C base put second.json >out
}

# check_killed MADE ADDED COMMAND…: after a death, in $store, at $where.
check_killed() {
	local made=$1 added=$2
	shift 2
	old_or_new store "$old" $((entries + added)) "$where"
	[ "$state" = old ] || new=$((new + 1))
	clean store "$where"
	"$KISTORE" -C store get old >out 2>err || die "$where: get"
	"$KISTORE" -C store put old.json >out 2>err ||
		die "$where: the next put"
	no_leftovers store "$where"
	# Now the change itself, where it was not done.
	[ "$state" = new ] || "$KISTORE" -C store "$@" >out 2>err ||
		die "$where: the same again"
	[ "$(entries_of store)" = $((entries + added)) ] ||
		die "$where: entries"
	clean store "$where, again"
	no_leftovers store "$where, again"
	[ ! -d store/.git ] || [ -z "$(git -C store status --porcelain)" ] ||
		die "$where: the work tree differs"
	unneeded=$(git -C store fsck --strict --unreachable --no-reflogs \
		2>err | wc -l)
	[ ! -s err ] || die "$where: git fsck"
	[ "$made" = loose ] || [ "$unneeded" -eq 0 ] ||
		die "$where: $unneeded git objects that nothing leads to"
}

# scenario WHAT CALLS MADE ADDED COMMAND…: MADE makes the store, COMMAND adds
# so many entries.
scenario() {
	local what=$1 calls=$2 made=$3 added=$4 call n count=0 new=0
	shift 4
	rm -rf base
	"$made"
	old=$(head_of base)
	entries=$(entries_of base)
	for call in $calls; do
		n=0
		while :; do
			n=$((n + 1))
			rm -rf store
			cp -a base store
			kill_at "$call" "$n" "$KISTORE" -C store "$@" || break
			count=$((count + 1))
			where="$what, $call $n"
			check_killed "$made" "$added" "$@"
		done
		[ "$(head_of store)" != "$old" ] || die "$what: never done"
	done
	say "$what: killed before each of $count calls:" \
		"$((count - new)) times the old state, $new times the new one"
}

manifest new >new.json
manifest old >old.json
manifest second >second.json
digest() {
	"$KISTORE" digest "$1" | cut -d' ' -f1
}
first=$(digest old.json)
second=$(digest second.json)

[ $# -gt 0 ] || set -- packed loose worktree retract takedown catalogue
for what; do
	case $what in
	packed) scenario "$what" "$ALL" packed 1 put new.json ;;
	loose) scenario "$what" "$ALL" loose 1 put new.json ;;
	worktree) scenario "$what" "$ALL" worktree 1 put new.json ;;
	retract)
		scenario "$what" "$RENAMES" packed 1 \
			retract "$first" --reason x
		;;
	takedown)
		scenario "$what" "$RENAMES" two 1 \
			takedown "$second" --reason x
		;;
	catalogue)
		need_catalogue
		scenario "$what" "$RENAMES" packed 22843 put "$CATALOGUE"
		;;
	*) die "what is $what?" ;;
	esac
done
say "ok"
