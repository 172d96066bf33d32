# What run.sh and million.sh share: where things are, measuring, formatting.
# Sourced from the root of the project, with set -eu.
#
# A measurement has a name; its numbers are in $work/NAME.*.
# shellcheck shell=sh

BUILD=${BUILD:-build}
kistore=${KISTORE:-$BUILD/kistore}
shared=${KISTORE_SHARED:-../shared}
case $kistore in /*) ;; *) kistore=$PWD/$kistore ;; esac
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
mkdir -p "$BUILD"

bench_need() {
	missing=
	for tool; do
		command -v "$tool" >/dev/null || missing="$missing $tool"
	done
	[ -z "$missing" ] && return
	echo "bench: missing:$missing; Debian's packages are hyperfine, strace," \
		'time, jq, zstd, python3 and git' >&2
	exit 1
}

# One directory for everything, and settings of nobody: git as it comes, but
# for its own packing in the background, which would disturb what follows.
bench_begin() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/kistore-bench.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	export HOME="$work" LC_ALL=C.UTF-8
	export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0
	export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
	export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost
	unset KISTORE_DIR GIT_DIR GIT_WORK_TREE SOURCE_DATE_EPOCH
	load_before=$(cut -d' ' -f1-3 /proc/loadavg)
}

# Finds the catalogue, or says what stands in for it: $catalogue, $input, and
# $rows (a text file with it).
bench_catalogue() {
	catalogue=
	for f in "$shared"/data/catalog-*.jsonl.zst; do
		[ -r "$f" ] && catalogue=$f
	done
	rows=$work/rows.jsonl
	if [ -n "$catalogue" ]; then
		input="the catalogue, \`${catalogue##*/}\`"
		zstd -qdc "$catalogue" >"$rows"
	else
		input="\`fixtures/liger-runs.jsonl\`, **as the catalogue is not"
		input="$input there**: too small to compare with the goals"
		catalogue=$PWD/fixtures/liger-runs.jsonl
		cp "$catalogue" "$rows"
	fi
}

# ---- Measuring -------------------------------------------------------------

# timed NAME [option of hyperfine]... COMMAND: several runs of it.
timed() {
	record=$1
	shift
	echo "bench: $record" >&2
	hyperfine -N --style none --export-json "$work/$record.json" "$@" \
		>"$work/hyperfine.out" 2>&1 || {
		cat "$work/hyperfine.out" >&2
		exit 1
	}
	jq -r '.results[0] | "\(.median) \(.min) \(.user + .system)"' \
		"$work/$record.json" >"$work/$record.time"
}

# once NAME COMMAND...: a single run, whose peak memory is noted; as its time,
# unless timed has measured that.
once() {
	record=$1
	shift
	/usr/bin/time -o "$work/$record.once" -f '%e %U %S %M' "$@" \
		>"$work/once.out" 2>&1 || {
		cat "$work/once.out" >&2
		exit 1
	}
	awk '{ print $4 }' "$work/$record.once" >"$work/$record.peak"
	[ -e "$work/$record.time" ] || awk '{ print $1, $1, $2 + $3 }' \
		"$work/$record.once" >"$work/$record.time"
}

# traced NAME COMMAND...: counts fsync and fdatasync, and bytes given to write
# and its kin, but for those of stdout and stderr.
traced() {
	record=$1
	shift
	strace -qq -f -o "$work/$record.trace" \
		-e trace=fsync,fdatasync,write,writev,pwrite64,pwritev \
		"$@" >/dev/null 2>&1
	grep -cE 'f(data)?sync\(' "$work/$record.trace" >"$work/$record.fsyncs" || :
	grep -E 'write' "$work/$record.trace" | grep -vE 'write[v]?\([12],' |
		awk '{ sum += $NF } END { print sum + 0 }' >"$work/$record.written"
}

median() { cut -d' ' -f1 "$work/$1.time"; }

# ---- Formatting ------------------------------------------------------------

seconds() {
	awk -v s="$1" 'BEGIN {
		if (s < 0.1) printf "%.1f ms", s * 1000
		else if (s < 10) printf "%.2f s", s
		else printf "%.1f s", s
	}'
}

bytes() {
	awk -v b="$1" 'BEGIN {
		if (b < 1e5) printf "%.1f kB", b / 1e3
		else printf "%.2f MB", b / 1e6
	}'
}

# ratio NAME PEER: how much longer PEER took.
ratio() {
	awk -v a="$(median "$1")" -v b="$(median "$2")" \
		'BEGIN { printf "%.2f", b / a }'
}

# cells NAME: median, shortest, processor time, peak memory.
cells() {
	read -r middle least cpu <"$work/$1.time"
	peak='–'
	[ -e "$work/$1.peak" ] &&
		peak=$(awk '{ printf "%.1f MB", $1 * 1.024e-3 }' "$work/$1.peak")
	echo "$(seconds "$middle") | $(seconds "$least") | $(seconds "$cpu")" \
		"| $peak"
}

# A repository's packs, or with its loose objects and all.
pack_bytes() { cat "$1"/objects/pack/*.pack | wc -c; }
disk_bytes() { du -s --apparent-size -B1 "$1" | cut -f1; }

bench_machine() {
	compiler=$(cut -d' ' -f1 "$BUILD/flags" 2>/dev/null || echo cc)
	model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	memory=$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)
	cat <<-END
	- $(date -u +%Y-%m-%dT%H:%MZ), $("$kistore" --version | head -n 1)
	- ${model:-an unnamed processor}, $(nproc) cores, $memory memory, $(uname -sr),
	  scratch files on $(stat -f -c %T "$work")
	- $("$compiler" --version | head -n 1)
	- libgit2 $(pkg-config --modversion libgit2), zstd $(pkg-config \
		--modversion libzstd), OpenSSL $(pkg-config --modversion \
		libcrypto), SQLite $(pkg-config --modversion sqlite3), zlib \
$(pkg-config --modversion zlib); $(git --version)
	- load average $load_before before, $(cut -d' ' -f1-3 /proc/loadavg) after$(
		awk -v load="${load_before%% *}" -v cores="$(nproc)" 'BEGIN {
			if (load > cores / 4) printf ": **the machine was busy**, " \
				"wall times are too long"
		}')
	END
}
