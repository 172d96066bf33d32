# shellcheck shell=bash
# Stores for the tests of pages, rankings and comparisons: load ../lib/pages,
# after ../lib/common and ../lib/store.

CLOSURE=$REPO/fixtures/seeds/closure
ID=01a016ae-0000-7000-8000-000000000000
IMPLEMENTATION=sha256:459baf6556e5536285c26b26d11eda4980b44d362142461d8e7e5b4f3900ce23
PROTOCOL=sha256:080e6e66e4ec75a131aa0c9121c74b8e8eed64e7b6d621d567c6a28f79548be8
KEY=sha256:63b583a3afe1e4d7203af007389a12cd5122b767a995c960ee58637603b24151
# The runs of the group, by rank.
FIRST=sha256:3de2d5f3d659b1ca7576d2bac363068cb4b35be17ba6a112a753fb9aca30083e
SECOND=sha256:0f5887b03bd8849d7a251fe7d9d5631ece0831775c3d75cdc5ff84832549609b
THIRD=sha256:09e771f055f28262ffb40b9eb6fe53dd6426eaf292f85477d77113feadf4d5d3
export CLOSURE ID IMPLEMENTATION PROTOCOL KEY FIRST SECOND THIRD

# demo.git: both seeds with the other runs of their groups, their source, and
# what KernelIndex says of the first run beside its manifest. It is made once a
# file of tests, and copied.
group_store() {
	export SOURCE_DATE_EPOCH=1787000000 KISTORE_DIR=$PWD/demo.git
	local made=$BATS_FILE_TMPDIR/group.git

	if [ ! -d "$made" ]; then
		kistore init "$made" >/dev/null
		jq -n --arg run "$RUN" --arg id "$ID" --arg project "$PROJECT" \
			--arg implementation "$IMPLEMENTATION" '{
			($run): {id: $id,
				publishedAt: "2026-08-18T09:00:00.000Z"},
			($implementation): {project: $project}}' >provenance.json
		kistore -q -C "$made" put --source "$CLOSURE/source.json" \
			--provenance provenance.json \
			"$CLOSURE"/00[03]/*.json "$CLOSURE"/00[03]/group \
			>/dev/null
	fi
	cp -R "$made" demo.git
}

# edited FILTER FILE: a manifest changed by jq, on standard output.
edited() {
	jq -c "$@"
}

# put_manifest: what jq makes of a manifest is put; $PUT is its digest.
put_manifest() {
	edited "$@" >manifest.json
	PUT=$(kistore digest manifest.json | cut -d ' ' -f 1)
	kistore -q put manifest.json >/dev/null
	export PUT
}

# value_of TITLE LABEL: the values of those rows in the last --json.
value_of() {
	jq -r --arg title "$1" --arg row "$2" '.sections[] |
		select(.title == $title).rows[] |
		select(.label == $row).value' "$OUT"
}

# lacks PATTERN FILE: no line of it matches. fails COMMAND…: it does. ("!" does
# not end a test.)
lacks() {
	grep -q -- "$1" "$2" || return 0
	echo "there is: $1"
	grep -- "$1" "$2" | head -n 3 | cat -v
	return 1
}

fails() {
	"$@" || return 0
	echo "did not fail: $*"
	return 1
}

# on_terminal COLUMNS COMMAND…: what a terminal of that width shows, in $OUT.
on_terminal() {
	local columns=$1
	shift
	OUT=$BATS_TEST_TMPDIR/out
	TERM=xterm python3 - "$columns" "$@" >"$OUT" <<-'END'
	import fcntl, os, pty, struct, sys, termios
	child, master = pty.fork()
	if child == 0:
	    fcntl.ioctl(1, termios.TIOCSWINSZ,
	        struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
	    os.execvp(sys.argv[2], sys.argv[2:])
	said = b""
	while True:
	    try:
	        part = os.read(master, 65536)
	    except OSError:
	        break
	    if not part:
	        break
	    said += part
	status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
	sys.stdout.buffer.write(said.replace(b"\r\n", b"\n"))
	sys.exit(status)
	END
}

# put_raw FILE: archive its bytes; prints their digest.
put_raw() {
	kistore -q artifact put "$1" >/dev/null
	echo "sha256:$(sha256sum <"$1" | cut -c1-64)"
}

# put_serving: a serving run and all that it refers to; $SERVING is its digest.
put_serving() {
	local api=kernelindex.dev/v1alpha1
	: >serving.jsonl
	serving_manifest() {
		jq -nc --arg api "$api" --arg kind "$1" --argjson metadata "$2" \
			--argjson spec "$3" '{apiVersion: $api, kind: $kind,
			metadata: $metadata, spec: $spec}' | tee one.json \
			>>serving.jsonl
		kistore digest one.json | cut -d ' ' -f 1
	}
	local model stack configuration workload
	model=$(serving_manifest ModelRevision \
		'{"name":"m","title":"A model"}' '{"model":"org/m"}')
	stack=$(serving_manifest ServingStackRevision '{"name":"s"}' \
		'{"project":{"name":"vLLM"},"revision":{"version":"0.9"}}')
	configuration=$(serving_manifest ServingConfiguration \
		'{"name":"c","title":"vLLM on eight"}' \
		"{\"stackDigest\":\"$stack\",\"dtype\":\"fp8\",
		\"options\":{\"system\":\"Eight\"}}")
	workload=$(serving_manifest ServingWorkload \
		'{"name":"w","title":"chat, interactive"}' \
		'{"streaming":true,"loadGeneration":"open_loop"}')
	SERVING=$(serving_manifest ServingRun '{"name":"r"}' \
		"{\"modelDigest\":\"$model\",
		\"configurationDigest\":\"$configuration\",
		\"workloadDigest\":\"$workload\",
		\"topology\":{\"acceleratorModel\":\"MI300X\",
		\"acceleratorsPerNode\":8,\"nodeCount\":2},
		\"harness\":{\"name\":\"mlperf_loadgen\",\"version\":\"v5.1\"},
		\"qualityPolicy\":\"mlperf_closed_99\",\"status\":\"valid\",
		\"measurements\":[{\"metric\":\"output_token_throughput_tps\",
		\"statistic\":\"reported\",\"unit\":\"tokens_s\",
		\"value\":${1:-8840.4214}}],
		\"sourceNative\":{\"source\":\"mlperf\",\"benchmark\":\"b\",
		\"scenario\":\"interactive\",\"division\":\"closed\",
		\"category\":\"datacenter\",\"externalId\":\"5.1-${2:-1}\"},
		\"caveats\":[\"One thing\",\"Another\"],
		\"observedAt\":\"2025-09-04T00:00:00Z\"}")
	kistore -q put serving.jsonl >/dev/null
	export SERVING
}
