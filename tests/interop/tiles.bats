#!/usr/bin/env bats
# What `kistore publish` serves, judged by golang.org/x/mod/sumdb: Debian's
# golang-go and golang-golang-x-mod-dev (GOCODE says where the latter is).

load ../lib/common
load ../lib/store
load ../lib/sign

prepare() {
	export GOCODE=${GOCODE:-/usr/share/gocode}
	need_command go
	[ -d "$GOCODE/src/golang.org/x/mod/sumdb/tlog" ] ||
		skip "no golang-golang-x-mod-dev"
	once go build_tiles
	signed_store
}

build_tiles() {
	GO111MODULE=off GOPATH=$GOCODE GOCACHE=$PWD/cache GOFLAGS="" \
		go build -o tiles "$REPO/tests/interop/tiles/main.go"
	rm -rf cache
}

@test "x/mod proves every entry, and each snapshot a prefix of the next" {
	kistore publish www >/dev/null
	[ "$(./tiles www "$VKEY")" = "9 entries proven, 0 taken down" ]
	grow 300
	kistore publish www >/dev/null
	[ "$(./tiles www "$VKEY" 9 256 309)" = \
		"309 entries proven, 0 taken down" ]
	grow 250
	kistore publish www >/dev/null
	[ "$(./tiles www "$VKEY" 9 309 512)" = \
		"559 entries proven, 0 taken down" ]
}

@test "x/mod proves entries by their hashes after a takedown" {
	grow 300
	kistore takedown "$PROJECT" --lines --reason law >/dev/null
	snapshot log.key
	kistore -q publish www >/dev/null
	[ "$(./tiles www "$VKEY" 9 309)" = "310 entries proven, 1 taken down" ]
}

@test "x/mod refuses another key, and tiles and entries that were changed" {
	local file
	grow 300
	kistore publish good >/dev/null
	fails ./tiles good "$THIEF"
	for file in checkpoint tile/0/000 tile/0/001.p/53 tile/1/000.p/1 \
		tile/entries/000; do
		rm -rf www
		cp -R good www
		# One byte might be that already: hashes are other ones each time.
		printf 'XXXX' | dd of="www/$file" bs=1 seek=40 conv=notrunc \
			status=none
		fails ./tiles www "$VKEY"
	done
}
