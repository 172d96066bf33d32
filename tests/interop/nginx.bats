#!/usr/bin/env bats
# What `kistore publish` makes, shown by nginx as the README tells to configure
# it, and read by stock git, curl and kistore: Debian's nginx-light and curl.

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/web

prepare() {
	need_command curl
	PATH=$PATH:/usr/sbin need_command nginx
	signed_store
	mkdir www
	WWW=$(cd www && pwd -P)
}

# serve OPTION…: publish, and show it.
serve() {
	kistore -q publish "$@" "$WWW" >/dev/null
	web_readme_server "$WWW" >server
	web_start_nginx server
}

# fetch PATH: into `body`, its headers into `headers`.
fetch() {
	curl -sS -D headers -o body -w '%{http_code}\n' "$WEB_URL/$1" >code
	tr -d '\r' <headers >plain
}

# shows PATH TYPE [CACHING]: the file that is there, byte for byte, with these
# headers.
shows() {
	fetch "$1"
	[ "$(<code)" = 200 ]
	cmp body "$WWW/$1"
	has_header Content-Type "$2"
	has_header Cache-Control "${3-}"
}

# has_header NAME VALUE: once, or never where that is empty.
has_header() {
	diff <(sed -n "s/^$1: //p" plain) <(printf '%s' "$2${2:+$'\n'}")
}

@test "stock git clones what nginx shows, and fetches what comes later" {
	serve
	clone_is clone "$(commit_id)"
	[ "$(git -C clone tag)" = snapshot/9 ]
	expect 0 kistore -C clone verify --key "$VKEY"
	verdict "signed by $ORIGIN"
	grow 3
	kistore publish "$WWW" >/dev/null
	git -C clone fetch -q
	[ "$(git -C clone rev-parse origin/HEAD)" = "$(commit_id)" ]
	[ "$(git -C clone tag | wc -l)" = 2 ]
	git -C clone merge -q --ff-only
	expect 0 kistore -C clone verify --key "$VKEY"
	verdict "signed by $ORIGIN"
	clone_is another "$(commit_id)"
}

@test "every file is shown as it is, with the headers that the README states" {
	local binary=application/octet-stream week=max-age=604800 path
	grow 300
	serve --cite "$RUN"
	shows checkpoint 'text/plain; charset=utf-8' max-age=5
	for path in tile/0/000 tile/0/001.p/53 tile/1/000.p/1 \
		tile/entries/000 tile/entries/001.p/53 \
		"$(object_path "$RUN")"; do
		shows "$path" $binary $week
	done
	shows "citations/${RUN#sha256:}.json" application/json max-age=300
	for path in info/refs objects/info/packs; do
		shows "repository.git/$path" $binary no-cache
	done
	for path in snapshot/309.kistore repository.git/HEAD; do
		shows "$path" $binary
	done
	# By name, as every file in the directory.
	find "$WWW" -type f -printf '%P\n' | sort >all
	[ "$(wc -l <all)" -gt 300 ]
	while read -r path; do
		echo "url = \"$WEB_URL/$path\""
		echo "output = \"copy/$path\""
	done <all >list
	curl -sSf --create-dirs -K list
	diff -r "$WWW" copy
}

@test "tiles of a large log are found by their long names" {
	local path
	serve
	for path in tile/0/x001/000 tile/0/x001/x234/067.p/5 \
		tile/entries/x001/234.p/255; do
		mkdir -p "$WWW/${path%/*}"
		echo "$path" >"$WWW/$path"
		shows "$path" application/octet-stream max-age=604800
	done
}

@test "a file that was fetched proves what it says to who has the key alone" {
	serve --cite "$RUN"
	fetch "citations/${RUN#sha256:}.json"
	expect 0 env -u KISTORE_DIR "$KISTORE" check --key "$VKEY" body
	fetch snapshot/9.kistore
	expect 0 kistore snapshot verify body --key "$VKEY"
}

@test "nginx lists no directory, follows no link, and has nothing else" {
	serve
	fetch ''
	[ "$(<code)" = 403 ]
	fetch tile/0/
	[ "$(<code)" = 403 ]
	fetch tile/0/000
	[ "$(<code)" = 404 ]
	ln -s "$KISTORE_DIR/HEAD" "$WWW/link"
	ln -s "$KISTORE_DIR" "$WWW/tile/links"
	fetch link
	[ "$(<code)" = 403 ]
	fetch tile/links/HEAD
	[ "$(<code)" = 404 ]
}
