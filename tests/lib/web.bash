# shellcheck shell=bash
# Web servers that show a directory on 127.0.0.1: load ../lib/web, after
# ../lib/common. One at a time, at $WEB_URL; it ends with its test. A file that
# has a teardown of its own calls web_stop there.

# web_start DIR: by the server that Python has.
web_start() {
	local python
	python=$(type -P /usr/bin/python3 || type -P python3) ||
		skip "no python3"
	web_prepare
	"$python" -I -c '
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler,
    directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()' "$1" >"$WEB_PLACE/port" 2>"$WEB_PLACE/log" 3>&- &
	WEB_PID=$!
	web_has_written "$WEB_PLACE/port" ||
		skip "no server can be started here"
	WEB_URL=http://127.0.0.1:$(<"$WEB_PLACE/port")
}

# web_start_nginx SERVER: by nginx, as one ordinary process, with the server
# block in the file SERVER, of which LISTEN becomes the address.
web_start_nginx() {
	local nginx tries port
	nginx=$(PATH=$PATH:/usr/sbin type -P nginx) || skip "no nginx"
	# Only nginx itself can tell whether a port is free.
	for tries in 1 2 3 4 5; do
		web_prepare
		port=$((20000 + RANDOM % 12000))
		web_nginx_conf "127.0.0.1:$port" "$1" >"$WEB_PLACE/nginx.conf"
		"$nginx" -p "$WEB_PLACE" -e "$WEB_PLACE/log" \
			-c "$WEB_PLACE/nginx.conf" 3>&- &
		WEB_PID=$!
		# The pid is written once the port is its own.
		if web_has_written "$WEB_PLACE/pid"; then
			WEB_URL=http://127.0.0.1:$port
			return
		fi
		grep -q 'Address already in use' "$WEB_PLACE/log" || break
	done
	echo "nginx, $tries:"
	cat "$WEB_PLACE/log"
	return 1
}

# web_readme_server DIR: the server block of the README, for DIR.
web_readme_server() {
	local block
	block=$(awk '/^```/ { inside = /^```nginx$/; next } inside' \
		"$REPO/README.md")
	[ "$(grep -c '^server {$' <<<"$block")" = 1 ]
	[ "$(grep -c '^    listen 443 ssl;' <<<"$block")" = 1 ]
	[ "$(grep -c '^    root /srv/www/records;$' <<<"$block")" = 1 ]
	sed -e 's|^    listen 443 ssl;|    listen LISTEN;|' \
		-e "s|/srv/www/records|$1|" <<<"$block"
}

# web_nginx_conf ADDRESS SERVER: one process, which touches nothing outside of
# $WEB_PLACE.
web_nginx_conf() {
	local kind
	echo "daemon off;
	master_process off;
	pid $WEB_PLACE/pid;
	error_log $WEB_PLACE/log;
	events { worker_connections 64; }
	http {
	access_log $WEB_PLACE/access;"
	for kind in client_body proxy fastcgi uwsgi scgi; do
		echo "${kind}_temp_path $WEB_PLACE/$kind;"
	done
	sed "s|LISTEN|$1|" "$2"
	echo "}"
}

# A place for what the server writes; no proxy between it and its readers.
web_prepare() {
	WEB_PLACE=$(cd "$BATS_TEST_TMPDIR" && pwd -P)/web
	web_stop
	rm -rf "$WEB_PLACE"
	mkdir "$WEB_PLACE"
	export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
}

# web_has_written FILE: wait for it; false when the server ends without.
web_has_written() {
	while [ ! -s "$1" ]; do
		kill -0 "$WEB_PID" 2>/dev/null || return
		sleep 0.05
	done
}

web_stop() {
	[ -n "${WEB_PID:-}" ] || return 0
	kill "$WEB_PID" 2>/dev/null || true
	wait "$WEB_PID" 2>/dev/null || true
	WEB_PID=
}

teardown() {
	web_stop
}

# clone_is DIR COMMIT: git clones the repository that is served into DIR, and it
# is sound and has that commit.
clone_is() {
	git clone -q "$WEB_URL/repository.git" "$1"
	[ "$(git -C "$1" rev-parse HEAD)" = "$2" ]
	git -C "$1" fsck --strict --no-progress --no-dangling
}
