#!/usr/bin/env bats
# The rules of the log (store-layout.md, L, R and X): for each a store that
# breaks it, its lines written by hand and committed with stock git.

load ../lib/common
load ../lib/damage

LOGS=$REPO/fixtures/logs

prepare() {
	need_command git zstd jq
}

# A store without objects, and a branch for each log of fixtures/logs.
make_logs() {
	local made=$BATS_FILE_TMPDIR/logs.git

	cp -R "$LOGS" files
	if [ ! -d "$made" ]; then
		kistore -q init "$made" >/dev/null
		STORE=$made
		branches "$SEGMENT" files
	fi
	STORE=$PWD/logs.git
	cp -R "$made" "$STORE"
	store_git for-each-ref >before
}

# choose LOG: make it the store's. (git symbolic-ref, without the process.)
choose() {
	echo "ref: refs/heads/$1" >"$STORE/HEAD"
}

# No log was changed.
unchanged() {
	store_git for-each-ref | cmp before -
}

# rows VERDICT [N]: file, rule and line (from 1) of the logs, or every Nth, with a
# verdict.
rows() {
	awk -v verdict="$1" -v n="${2-1}" '$3 == verdict && ++count % n == 0 {
		print $1, $2, $4 + 1
	}' "$LOGS/MANIFEST.tsv"
}

# refused STATUS [DIGEST]: put, and ops on a digest that is known, exit with
# this.
refused() {
	expect "$1" in_store put "$SEEDS/000/project.json"
	silent_out
	[ $# -eq 2 ] || return 0
	echo '{"name":"x"}' >metadata.json
	expect "$1" in_store annotate "$2" --metadata metadata.json
	silent_out
	expect "$1" in_store retract "$2" --reason why
	silent_out
}

# one_finding SEVERITY PATH: and no other but absent objects.
one_finding() {
	named "$1" "$2" - &&
		[ "$(grep -c '^damage \|^unsupported ' "$OUT")" -eq 1 ]
}

@test "every log with a fault has it named, and is not extended" {
	make_logs
	count=0
	# Sanitizers are slow; that the rules themselves are right under them
	# the unit tests show with all these logs.
	each=${SANITIZE:+5}
	each=${each:-1}
	while read -r file rule line; do
		choose "$file"
		if ! expect 1 in_store verify ||
			! one_finding damage "$SEGMENT:$line" ||
			{ [ $((count % 4)) -eq 0 ] && ! refused 1; }; then
			echo "$file ($rule)"
			cat "$OUT" "$ERR"
			false
		fi
		count=$((count + 1))
	done < <(rows fault "$each")
	[ "$count" -eq $((120 / each)) ]
	unchanged
}

@test "every log that needs a newer version says so, and is not extended" {
	make_logs
	count=0
	while read -r file rule line; do
		choose "$file"
		if ! expect 8 in_store verify ||
			! one_finding unsupported "$SEGMENT:$line" ||
			! found 0 0 1 || ! refused 8 ||
			! expect 0 in_store log --root; then
			echo "$file ($rule)"
			cat "$OUT" "$ERR"
			false
		fi
		count=$((count + 1))
	done < <(rows unsupported)
	[ "$count" -eq 8 ]
	unchanged
}

@test "every good log is good, and is extended" {
	make_logs
	count=0
	while read -r file _ _; do
		choose "$file"
		# Their objects are fictitious, so some are absent.
		try in_store verify
		if grep '^damage \|^unsupported ' "$OUT"; then
			echo "$file"
			false
		fi
		expect 0 in_store put "$SEEDS/000/project.json"
		count=$((count + 1))
	done < <(rows ok)
	[ "$count" -eq 9 ]
}

# What a branch says of the digests in the file.
states() {
	in_store status --at "$1" --json
	# shellcheck disable=SC2046 # one word a digest
	in_store resolve --at "$1" --json \
		$(grep -oE 'sha256:[0-9a-f]{64}' "$2" | sort -u) || true
}

@test "a line with a fault has no effect on what is told of records" {
	make_logs
	mkdir silent
	names='R7-second-publish R9-retract-after-takedown R11-other-kind
		R12-cycle-of-two R14-restored-twice R16-id-of-another
		R2-fault-without-effect R6-earlier-time L8-supersede-without-by
		L10-empty-metadata L19-id-upper R18-missing-is-published
		X2-line-of-another X4-two-takedowns'
	for name in $names; do
		file=$name.jsonl
		line=$(rows fault | awk -v f="$file" '$1 == f { print $3 }')
		at=$(head -n $((line - 1)) "files/$file" |
			grep -oE '"at":"[^"]*"' | tail -n 1)
		awk -v n="$line" -v text="{$at,\"op\":\"x-nothing\"}" \
			'NR == n { print text; next } { print }' \
			"files/$file" >"silent/silent-$file"
	done
	branches "$SEGMENT" silent
	for name in $names; do
		states "$name.jsonl" "files/$name.jsonl" >>with 2>/dev/null
		states "silent-$name.jsonl" "files/$name.jsonl" >>without \
			2>/dev/null
	done
	told='del(.commit, .branch, .log.root, .log.faults)'
	diff <(jq -cS "$told" with) <(jq -cS "$told" without)
	[ "$(grep -c '"faults":1' with)" -eq 14 ]
	[ "$(grep -c '"faults":0' without)" -eq 14 ]
}

# ---- Rules that need objects ------------------------------------------------

# publish DIGEST KIND [MEMBERS-BEFORE-op [MEMBERS-AFTER]]: a publish line.
publish() {
	printf '{"at":"%s","digest":"%s","kind":"%s",%s"op":"publish"%s}\n' \
		"${AT:-2026-08-17T20:53:20Z}" "$1" "$2" "${3-}" "${4-}"
}

# append: standard input becomes the last lines of the log.
append() {
	{ bytes_of "$SEGMENT"; cat; } >grown
	place "$SEGMENT" <grown
}

# add_object FILE: an object of these bytes; prints its digest.
add_object() {
	local digest
	digest=sha256:$(sha256sum <"$1" | cut -c1-64)
	zstd -q -c "$1" | place "$(path_of "$digest")"
	echo "$digest"
}

@test "R21: missing lists exactly the references that are not published" {
	make_store
	other=sha256:$(printf '%064d' 0)
	# Taking the line of the operation away leaves it missing in three.
	edit "$SEGMENT" sed 3d
	expect 1 in_store verify
	for file in workload implementation; do
		digest=sha256:$(sha256sum "$SEEDS/000/$file.jcs" | cut -c1-64)
		named damage "$(path_of "$digest")" "$digest" "(R21)"
	done
	undo
	# Listed, but published before.
	edit "$SEGMENT" sed "8s/\"op\":/\"missing\":[\"$OPERATION\"],&/"
	expect 1 in_store verify
	named damage "$SEGMENT:8" -
	undo
	# Listed, not published, and not referred to.
	edit "$SEGMENT" sed "8s/\"op\":/\"missing\":[\"$other\"],&/"
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" "(R21)"
	found 1 0
}

@test "R21: what was missing may arrive, and its line stays as it is" {
	kistore -q init "$PWD/store.git" >/dev/null
	STORE=$PWD/store.git
	expect 0 in_store put --allow-missing "$SEEDS/000/workload.json"
	expect_clean
	expect 0 in_store put "$SEEDS/000/operation.json"
	expect_clean
	# An empty or shortened list is not what the bytes say.
	edit "$SEGMENT" sed 's/"missing":\[[^]]*\],//'
	expect 1 in_store verify
	grep -q '^damage objects/c/66/.* (R21)$' "$OUT"
	found 1 0
}

@test "R21: raw bytes refer to nothing" {
	make_store
	echo raw >raw
	digest=$(add_object raw)
	publish "$digest" raw | append
	expect_clean
	undo
	publish "$digest" raw "\"missing\":[\"sha256:$(printf '%064d' 1)\"]," |
		append
	expect 1 in_store verify
	named damage "$(path_of "$digest")" "$digest" "(R21)"
	found 1 0
}

@test "R22: a reference names an object of the kind stated" {
	make_store
	# A workload whose operation is a project.
	sed "s/$OPERATION/${PROJECT?}/" "$SEEDS/000/workload.jcs" >wrong.jcs
	digest=$(add_object wrong.jcs)
	publish "$digest" kernelindex.dev/v1alpha1/WorkloadCase | append
	expect 1 in_store verify
	named damage "$(path_of "$digest")" "$digest" "(R22)"
	found 1 0
}

@test "R22: so do source and project of a line" {
	make_store
	kind=kernelindex.dev/v1alpha1/BenchmarkRun
	sed 's/"observedAt":"[^"]*"/"observedAt":"2026-01-01T00:00:00Z"/' \
		"$SEEDS/000/run.jcs" >run.jcs
	digest=$(add_object run.jcs)
	printf '{"at":"%s","digest":"%s","kind":"%s","op":"publish",%s}\n' \
		2026-08-17T20:53:20Z "$digest" "$kind" \
		"\"provenance\":{\"source\":\"$PROJECT\"}" | append
	expect 1 in_store verify
	named damage "$SEGMENT:9" - "not of kind kistore/v1/Source"
	undo
	# The same said later, by an annotate line.
	printf '{"at":"%s","digest":"%s","op":"annotate",%s}\n' \
		2026-08-17T20:53:20Z "$RUN" \
		"\"provenance\":{\"source\":\"$PROJECT\"}" | append
	expect 1 in_store verify
	named damage "$SEGMENT:9" - "not of kind kistore/v1/Source"
	undo
	undo
	# Writers do not write it.
	expect_clean
	before=$(store_git rev-parse HEAD)
	echo "{\"source\":\"$PROJECT\"}" >provenance.json
	expect 4 in_store annotate "$RUN" --provenance provenance.json
	silent_out
	err_has "not of kind kistore/v1/Source"
	other=$(kistore digest "$SEEDS/003/run.json" | cut -d' ' -f1)
	echo "{\"$other\":{\"source\":\"$PROJECT\"}}" >provenance.json
	expect 4 in_store put --provenance provenance.json "$SEEDS"/003/*.json
	silent_out
	err_has "not of kind kistore/v1/Source"
	[ "$(store_git rev-parse HEAD)" = "$before" ]
}

@test "R22: also where what is named comes later" {
	make_store
	digest=sha256:$(sha256sum "$SEEDS/003/operation.jcs" | cut -c1-64)
	[ "$digest" != "$OPERATION" ]
	edit "$SEGMENT" sed "8s/\"op\":\"publish\"/\"missing\":[\"$digest\"],&,\
\"provenance\":{\"source\":\"$digest\"}/"
	expect_clean
	expect 4 in_store put "$SEEDS/003/operation.json"
	err_has "(R22)"
	expect 0 in_store verify
}

@test "O8: a line's kind is that of its object's bytes" {
	make_store
	kind=kernelindex.dev/v1alpha1
	for other in raw kistore/v1/Source $kind/WorkloadSuite \
		kernelindex.dev/v1alpha2/SoftwareProject \
		x/SoftwareProject; do
		edit "$SEGMENT" sed "s,$kind/SoftwareProject,$other,"
		expect 1 in_store verify
		named damage "$(path_of "$PROJECT")" "$PROJECT" "(O8)"
		undo
	done
	# Raw bytes that the log calls a record.
	for body in 'text' '{"a":1}' \
		'{"apiVersion":"a/v1","kind":"K","spec":[]}' \
		'{"apiVersion":"a/v1","kind":"K","spec":{} }' \
		'{"apiVersion":"a/v1","kind":"K","metadata":{},"spec":{}}'; do
		printf %s "$body" >body
		digest=$(add_object body)
		publish "$digest" a/v1/K | append
		expect 1 in_store verify
		named damage "$(path_of "$digest")" "$digest" "(O8)"
		found 1 0
		undo
		publish "$digest" raw | append
		expect_clean
		undo
		undo
	done
	# And a record of an unknown kind under its own name, which is none.
	printf '{"apiVersion":"a/v1","kind":"K","spec":{}}' >body
	digest=$(add_object body)
	publish "$digest" a/v1/K | append
	expect_clean
	undo
	publish "$digest" raw | append
	expect 1 in_store verify
	named damage "$(path_of "$digest")" "$digest" "(O8)"
}

@test "O10: what a kind's table finds in a stored record is a warning" {
	make_store
	sed 's/"host":/"colour":"red",&/' "$SEEDS/000/project.jcs" >odd
	digest=$(add_object odd)
	publish "$digest" kernelindex.dev/v1alpha1/SoftwareProject | append
	expect 0 in_store verify --warnings
	named warning "$(path_of "$digest")" "$digest" colour
	grep -qx 'found nothing wrong' "$OUT"
}

@test "T12: every object is published, and every published one is there" {
	make_store
	publish "sha256:$(printf '%064d' 7)" raw | append
	expect 1 in_store verify
	named absent "$(path_of "sha256:$(printf '%064d' 7)")" \
		"sha256:$(printf '%064d' 7)" "(T12)"
	found 0 1
	undo
	echo raw >raw
	digest=$(add_object raw)
	expect 1 in_store verify
	named damage "$(path_of "$digest")" "$digest" "(T12)"
	found 1 0
}

@test "L4: a stored line of 65,536 bytes is a fault, one of 65,535 is none" {
	make_store
	echo raw >raw
	digest=$(add_object raw)
	begin=$(printf '{"at":"%s","digest":"%s","kind":"raw",%s' \
		2026-08-17T20:53:20Z "$digest" '"metadata":{"text":"')
	end='"},"op":"publish"}'
	fill=$((65535 - ${#begin} - ${#end}))
	for more in 0 1; do
		{
			printf %s "$begin"
			head -c $((fill + more)) /dev/zero | tr '\0' a
			printf '%s\n' "$end"
		} >line
		[ "$(wc -c <line)" -eq $((65536 + more)) ]
		append <line
		if [ "$more" -eq 0 ]; then
			expect_clean
		else
			expect 1 in_store verify
			named damage "$SEGMENT:9" - 65535
			expect 1 in_store put "$SEEDS"/003/*.json
		fi
		undo
	done
}

@test "L4: metadata that would make a longer line is refused" {
	make_store
	before=$(store_git rev-parse HEAD)
	{
		printf '{"text":"'
		head -c 65535 /dev/zero | tr '\0' a
		printf '"}'
	} >metadata.json
	expect 4 in_store annotate "$RUN" --metadata metadata.json
	silent_out
	[ "$(store_git rev-parse HEAD)" = "$before" ]
	expect_clean
}

@test "I11: a manifest of more than 1 MiB is refused, one of 1 MiB is not" {
	kistore -q init "$PWD/store.git" >/dev/null
	STORE=$PWD/store.git
	head='{"apiVersion":"a/v1","kind":"K","spec":{"text":"'
	for more in 0 1; do
		{
			printf %s "$head"
			head -c $((1048576 + more - ${#head} - 3)) /dev/zero |
				tr '\0' a
			printf '"}}'
		} >big.json
		[ "$(stat -c %s big.json)" -eq $((1048576 + more)) ]
		before=$(store_git rev-parse HEAD)
		if [ "$more" -eq 0 ]; then
			expect 0 in_store put --allow-unknown-kind big.json
			expect_clean
		else
			expect 4 in_store put --allow-unknown-kind big.json
			silent_out
			err_has I11 || err_has 1048576
			[ "$(store_git rev-parse HEAD)" = "$before" ]
		fi
	done
}

# ---- Takedown ---------------------------------------------------------------

# redact N…: replace lines of the log by their leaf hash.
redact() {
	local n
	for n; do
		bytes_of "$SEGMENT" | sed -n "${n}p" | tr -d '\n' >leaf
		leaf=$({ printf '\0'; cat leaf; } | sha256sum | cut -c1-64)
		edit "$SEGMENT" sed "${n}s/.*/-$leaf/"
	done
}

takedown_line() {
	printf '{"at":"2026-08-17T20:53:20Z","digest":"%s",%s%s}\n' "$1" \
		"${2:+\"lines\":[$2],}" '"op":"takedown","reason":"law"'
}

@test "X: a takedown by hand excuses its object, and keeps the root" {
	make_store
	takedown_line "$RUN" 7 | append
	root=$(in_store log --root)
	redact 8
	[ "$(in_store log --root)" = "$root" ]
	remove "$(path_of "$RUN")"
	expect_clean
	grep -qx 'taken down: 1 object' "$OUT"
	get_refuses "$RUN" 3
	err_has "taken down"
	# It counts as published wherever it is referred to (R23).
	expect 0 in_store put "$SEEDS"/003/*.json
	expect_clean
}

@test "X8: an object that was taken down and is still there is named" {
	make_store
	takedown_line "$RUN" | append
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" "(X8)"
	found 1 0
}

@test "X5: a redacted line that only a faulty takedown names is a fault" {
	make_store
	redact 8
	expect 1 in_store verify
	named damage "$SEGMENT:8" -
	refused 1
	# A takedown that names a line of another digest takes no effect.
	takedown_line "$RUN" 2,7 | append
	expect 1 in_store verify
	named damage "$SEGMENT:9" -
	named damage "$SEGMENT:8" - "without fault"
	refused 1
}

@test "X6: the index follows redacted lines as replay does" {
	make_store
	takedown_line "$RUN" 7 | append
	in_store resolve "$RUN" >/dev/null
	redact 8
	remove "$(path_of "$RUN")"
	expect 0 in_store resolve --json "$RUN"
	jq -e '.matches[0] | .takenDown and .name == "" and .title == ""' "$OUT"
	expect 3 in_store resolve liger-rope-backward-huggingface
	in_store log "$RUN" >/dev/null
}

# ---- The index and logs that grow behind its back ---------------------------

@test "a fault that comes later is seen by an index that was made before" {
	make_store
	in_store status >/dev/null
	bytes_of "$SEGMENT" | tail -n 1 | append
	expect 0 in_store --json status
	jq -e '.log.faults == 1 and .log.size == 9' "$OUT"
	refused 1 "$RUN"
	undo
	# And forgotten when it goes.
	expect 0 in_store --json status
	jq -e '.log.faults == 0 and .log.size == 8' "$OUT"
	expect 0 in_store put "$SEEDS"/003/*.json
}

@test "an empty log that gets its lines again is whole again" {
	make_store
	remove log
	expect 1 in_store put "$SEEDS"/003/*.json
	silent_out
	undo
	expect 0 in_store put "$SEEDS"/003/*.json
	expect_clean
}

@test "a log with a fault and with lines for a newer version is a fault" {
	make_store
	{
		bytes_of "$SEGMENT" | tail -n 1
		printf '{"at":"%s","op":"merge"}\n' 2026-08-17T20:53:20Z
	} | append
	expect 1 in_store verify
	named damage "$SEGMENT:9" -
	named unsupported "$SEGMENT:10" -
	found 1 0 1
	refused 1 "$RUN"
}

@test "R3: with lines for a newer version only what the log is can be told" {
	make_store
	printf '{"at":"%s","op":"merge"}\n' 2026-08-17T20:53:20Z | append
	for command in "resolve $RUN" "resolve --tree $RUN" \
		"get --manifest $RUN" "get --page $RUN" "get --bundle $RUN" \
		"get transformers"; do
		# shellcheck disable=SC2086 # words
		expect 8 in_store $command
		silent_out
	done
	in_store get "$RUN" | cmp - "$SEEDS/000/run.jcs"
	expect 0 in_store log --root
	expect 0 in_store log
	expect 8 in_store verify "$RUN"
}
