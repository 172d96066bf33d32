#!/usr/bin/env bash
# kill -9 at each system call by which a writer changes files, one after the
# other, until none is left to hit. At once afterwards all readers see the old
# state or the new one, whole; the next writer succeeds, and sweeps.
#
#	tests/stress/kill-anywhere.sh [SCENARIO…]

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need strace

RENAMES=rename,renameat,renameat2,link,linkat,unlink,unlinkat
CALLS=${CALLS-$RENAMES,rmdir,mkdir,mkdirat,ftruncate,fsync,fdatasync,pwrite64,write,openat}

# kill_at N COMMAND…: true when it died of it. KILL comes before the call.
kill_at() {
	local n=$1
	shift
	# In a shell of its own, whose notice of the death goes with it.
	(strace -f -qq -o /dev/null -e "trace=$CALLS" \
		-e "inject=$CALLS:signal=KILL:when=$n" "$@" >out 2>err &
	wait $!) 2>/dev/null
	[ $? -eq 137 ]
}

packed() {
	"$KISTORE" -q init base && manifest old >old.json &&
		"$KISTORE" -q -C base put old.json >out
}

# So many packs that a put writes loose objects.
loose() {
	packed
	for n in $(seq 55); do
		manifest "more-$n" >more.json
		"$KISTORE" -q -C base put more.json >out || die "put $n"
	done
}

worktree() {
	"$KISTORE" -q init --worktree base && manifest old >old.json &&
		"$KISTORE" -q -C base put old.json >out
}

catalogue() {
	need_catalogue
	packed
	CALLS=$RENAMES
}

# Each scenario: how the store is made, how many entries the change adds, and
# the change itself.
scenario() {
	local make=$1 added=$2
	shift 2
	local old entries n=0 new=0
	rm -rf base
	$make
	old=$(head_of base)
	entries=$(entries_of base)
	while :; do
		n=$((n + 1))
		rm -rf store
		cp -a base store
		kill_at "$n" "$KISTORE" -C store "$@" || break
		old_or_new store "$old" $((entries + added)) "$what at $n"
		[ "$state" = old ] || new=$((new + 1))
		clean store "$what at $n"
		"$KISTORE" -C store get old >out 2>err ||
			die "$what at $n: get"
		"$KISTORE" -C store put old.json >out 2>err ||
			die "$what at $n: the next put"
		no_leftovers store "$what at $n"
		# Now the change itself; where it was done, it is known.
		[ "$state" = new ] || "$KISTORE" -C store "$@" >out 2>err ||
			die "$what at $n: the same again"
		[ "$(entries_of store)" = $((entries + added)) ] ||
			die "$what at $n: entries"
		clean store "$what at $n, again"
		no_leftovers store "$what at $n, again"
		if [ -d store/.git ]; then
			[ -z "$(git -C store status --porcelain)" ] ||
				die "$what at $n: the work tree differs"
		fi
		unreachable=$(git -C store fsck --strict --unreachable \
			--no-reflogs 2>err | wc -l)
		[ ! -s err ] || die "$what at $n: git fsck"
		[ "$make" = loose ] || [ "$unreachable" -eq 0 ] ||
			die "$what at $n: $unreachable objects nobody needs"
	done
	[ "$(head_of store)" != "$old" ] || die "$what: not done at the end"
	say "$what: killed at each of $((n - 1)) calls: $((n - 1 - new)) times" \
		"the old state, $new times the new one"
}

manifest new >new.json
first=sha256:$(manifest old | jq -cjS 'del(.metadata)' | sha256sum | cut -c1-64)

for what in "${@:-packed loose worktree retract takedown dictionary catalogue}"
do
	for what in $what; do
		case $what in
		packed) scenario packed 1 put new.json ;;
		loose) scenario loose 1 put new.json ;;
		worktree) scenario worktree 1 put new.json ;;
		retract) scenario packed 1 retract "$first" --reason x ;;
		takedown) scenario worktree 1 takedown "$first" --reason x ;;
		catalogue) scenario catalogue 22843 put "$CATALOGUE" ;;
		dictionary) : ;;
		esac
	done
done
say "ok"
