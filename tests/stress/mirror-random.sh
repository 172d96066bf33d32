#!/usr/bin/env bash
# What `mirror update` takes over, `verify` finds no fault with, and a new clone
# takes, too; what an update finds damaged, so does a clone. Of ROUNDS=300
# upstreams, each next to an honest one by chance (SEED=1; tests/lib/mutate.py):
# two signed entries more or less, and something wrong with them, with files, or
# with nothing. ONLY=N repeats one round of a run.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need git python3 openssl
ROUNDS=${ROUNDS:-300}
SEED=${SEED:-1}
RECORDS=$REPO/fixtures/seeds/closure/000
unset XDG_STATE_HOME

quiet() {
	"$@" >out 2>err || die "$*"
}

snapshot() {
	XDG_STATE_HOME=$WORK/signer quiet "$KISTORE" -C store snapshot create \
		--key log.key "$@"
	git -C store rev-parse HEAD >>commits
}

"$KISTORE" key generate --name archive.example/log -o log.key >vkey 2>err ||
	die "key generate"
sed 1d log.key >log.pem
export SOURCE_DATE_EPOCH=1790000000
quiet "$KISTORE" init store.git
ln -s store.git store
# An implementation waits for its operation, a run for protocol and environment.
quiet "$KISTORE" -C store put --allow-missing \
	"$RECORDS"/{implementation,workload,run}.json
snapshot --first
quiet "$KISTORE" -C store put "$RECORDS"/project.json
for n in 1 2 3; do
	manifest "some-$n" >"some-$n.json"
done
quiet "$KISTORE" -C store put some-*.json
snapshot
quiet "$KISTORE" -C store put "$RECORDS"/*.json
snapshot
n=$("$KISTORE" -C store log --root 2>err | awk '{ print $1 }')
for ((i = n; i < 255; i++)); do
	manifest "many-$i"
	echo
done >many.jsonl
quiet "$KISTORE" -C store put many.jsonl
snapshot
manifest last >last.json
quiet "$KISTORE" -C store put last.json
snapshot
mapfile -t commits <commits
unset SOURCE_DATE_EPOCH

# One mirror a snapshot.
mv store.git upstream
for commit in "${commits[@]}"; do
	git -C upstream update-ref refs/heads/main "$commit"
	quiet "$KISTORE" mirror clone --key vkey "$WORK/upstream" \
		"mirror.$commit"
done
mv upstream store.git
rm -rf "$HOME/.local"

size_of() {
	git -C "$1" cat-file blob HEAD:checkpoint | sed -n 2p
}

verdict_of() {
	grep -o '"verdict":"[^"]*' "$1" | head -n 1 | cut -d'"' -f4
}

# What an update knows and a clone does not.
differs_rightly() {
	case $1 in
	fork | rollback | stale | "wrong origin" | mismatch) return 0 ;;
	*) return 1 ;;
	esac
}

declare -A counts
one() {
	local round=$1 commit size did code=0 clone=0 verdict
	commit=${commits[$((round % ${#commits[@]}))]}
	size=$(size_of "mirror.$commit")
	rm -rf upstream now fresh states
	cp -a store.git upstream
	did=$(python3 "$REPO/tests/lib/mutate.py" $((SEED * 1000000 + round)) \
		upstream log.pem "$size" "$commit" "$RECORDS") ||
		die "round $round: mutate.py"
	cp -a "mirror.$commit" now
	XDG_STATE_HOME=$WORK/states/a "$KISTORE" -C now mirror update \
		--key vkey --json >out 2>err || code=$?
	verdict=$(verdict_of out)
	XDG_STATE_HOME=$WORK/states/b "$KISTORE" mirror clone --key vkey \
		--json upstream fresh >clone.out 2>clone.err || clone=$?
	did="round $round (SEED=$SEED), $did: $verdict"
	[ -z "${VERBOSE-}" ] || say "$did"
	[ -n "$verdict" ] || die "$did no verdict"
	counts[$verdict]=$((${counts[$verdict]-0} + 1))
	if [ $code -eq 0 ]; then
		[ $clone -eq 0 ] || die "$did, but a clone is" \
			"$(verdict_of clone.out)"
		XDG_STATE_HOME=$WORK/states/c "$KISTORE" -C now verify \
			--key vkey >out 2>err || die "$did, but verify fails"
		[ "$(size_of now)" = "$(size_of fresh)" ] ||
			die "$did: sizes differ"
	elif [ $clone -eq 0 ]; then
		differs_rightly "$verdict" || die "$did, but a clone is" \
			"$(verdict_of clone.out)"
	fi
	if [ $code -ne 0 ]; then
		[ "$(git -C now rev-parse HEAD)" = "$(git -C \
			"mirror.$commit" rev-parse HEAD)" ] ||
			die "$did: it moved"
	fi
}

if [ -n "${ONLY-}" ]; then
	one "$ONLY"
else
	for ((round = 1; round <= ROUNDS; round++)); do
		one "$round"
	done
fi
for verdict in "${!counts[@]}"; do
	say "${counts[$verdict]} $verdict"
done
say "ok, $ROUNDS rounds"
