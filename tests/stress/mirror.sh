#!/usr/bin/env bash
# kill -9 at random moments of an update (ROUNDS=50) of a mirror that follows a
# static directory over HTTP, by nginx as the README configures it, or else by
# Python's server: of kistore alone, and of git with it. After each the mirror
# is the old one or the new one, whole, and verifies; at the end, and now and
# then on the way, an update that nobody disturbs brings it up.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tests/lib/web.bash
. "$REPO/tests/lib/web.bash"
need_catalogue
need git pkill python3 zstd
ROUNDS=${ROUNDS:-50}
export XDG_STATE_HOME=$WORK/state

# What web.bash takes from bats.
export BATS_TEST_TMPDIR=$WORK
skip() {
	say "skipped: $*"
	exit 0
}
trap 'web_stop; wait; rm -rf "$WORK"' EXIT

# put FROM TO: these lines of the catalogue, a snapshot, and what is served.
put() {
	sed -n "$1,$2p" rows >some.jsonl
	"$KISTORE" -q -C store put --allow-missing some.jsonl >out 2>err ||
		die "put"
	XDG_STATE_HOME=$WORK/signer "$KISTORE" -q -C store snapshot create \
		--key log.key "${@:3}" >out 2>err || die "snapshot create"
	"$KISTORE" -q -C store publish www >out 2>err || die "publish"
}

update() {
	"$KISTORE" -C mirror mirror update --wait 60 >out 2>err
}

size_of() {
	git -C "$1" cat-file blob HEAD:checkpoint | sed -n 2p
}

zstd -dcq "$CATALOGUE" >rows
"$KISTORE" key generate --name archive.example/log -o log.key >vkey 2>err ||
	die "key"
"$KISTORE" init store >out 2>err || die "init"
put 1 15000 --first
if PATH=$PATH:/usr/sbin type -P nginx >/dev/null; then
	web_readme_server "$WORK/www" >server.conf
	web_start_nginx server.conf
	server=nginx
else
	web_start www
	server=python
fi
"$KISTORE" mirror clone --key vkey "$WEB_URL/repository.git" mirror >out 2>err ||
	die "mirror clone"
old=$(size_of mirror)
put 15001 25000
new=$(size_of store)

# up WHERE: a last update, undisturbed, after which nothing is left and all is
# right.
up() {
	update || die "$1: update"
	[ "$(size_of mirror)" = "$new" ] || die "$1: not updated"
	no_leftovers mirror "$1"
	if [ -n "$gone" ] && git -C mirror cat-file -e "$gone" 2>err; then
		die "$1: what was taken down is there"
	fi
	"$KISTORE" -C mirror verify --key vkey >out 2>err ||
		die "$1: verify after update"
}

# kill_updates WHAT: of `mirror`, which is to go from $old to $new entries.
kill_updates() {
	local start duration round delay where now resumed=0 completed=0
	cp -a mirror copy
	start=$(seconds)
	XDG_STATE_HOME=$WORK/other "$KISTORE" -C copy mirror update \
		--key vkey >out 2>err || die "$1: mirror update"
	duration=$(since "$start")
	rm -rf copy before other
	cp -a mirror before
	for ((round = 1; round <= ROUNDS; round++)); do
		delay=$(awk -v d="$duration" -v r="$RANDOM" \
			'BEGIN { printf "%.4f", 1.2 * d * r / 32768 }')
		(
			"$KISTORE" -C mirror mirror update --wait 60 \
				>out 2>err &
			sleep "$delay"
			kill -9 $!
			((round % 2)) || pkill -9 -f "$WORK/mirror/"
			wait $!
		) 2>/dev/null
		where="$1, round $round, after $delay s"
		now=$(size_of mirror)
		[ "$now" = "$old" ] || [ "$now" = "$new" ] ||
			die "$where: $now entries"
		[ ! -e mirror/kistore-incoming ] || resumed=$((resumed + 1))
		"$KISTORE" -C mirror verify --key vkey >out 2>err ||
			die "$where: verify"
		if [ "$now" = "$new" ] || ((round % 10 == 0)); then
			up "$where"
			completed=$((completed + 1))
			rm -rf mirror "$XDG_STATE_HOME/kistore/accepted"
			cp -a before mirror
		fi
	done
	up "$1, the last"
	say "$1: $ROUNDS kills by way of $server (an update takes" \
		"$duration s): $resumed left something to go on with," \
		"$completed were followed by an undisturbed update"
}

gone=
kill_updates "new records"

digest=$("$KISTORE" -C store list --limit 1 --json 2>/dev/null |
	sed 's/.*"digest":"sha256:\([0-9a-f]*\)".*/\1/')
gone=$(git -C store rev-parse \
	"HEAD:objects/${digest:0:1}/${digest:1:2}/${digest:3}.zst")
old=$new
"$KISTORE" -q -C store takedown "sha256:$digest" --reason test --lines \
	>out 2>err || die "takedown"
XDG_STATE_HOME=$WORK/signer "$KISTORE" -q -C store snapshot create \
	--key log.key >out 2>err || die "snapshot create"
"$KISTORE" -q -C store gc --purge >out 2>err || die "gc --purge"
"$KISTORE" -q -C store publish www >out 2>err || die "publish"
new=$(size_of store)
kill_updates "a takedown"
say "ok"
